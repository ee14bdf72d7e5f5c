-- A worker says good-bye (Truth.retire). ARGV: worker. Returns how many segments wait again.
-- Writes: K.workers, K.worker, K.held and what give_back.lua writes.
local refs = held_by(ARGV[1])
remove_worker(ARGV[1])
local returned = #put_back(refs)
count_total(TOTAL.given_back, 'retired', returned)
return returned
