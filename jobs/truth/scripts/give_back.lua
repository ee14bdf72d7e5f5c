-- Put held segments back to waiting, in front; nobody is blamed (Truth.give_back).
-- ARGV: worker, '1' for all it holds, then references. Returns how many wait again; an unknown worker holds nothing.
-- Writes: K.held, K.waiting, K.suspects, K.ready, K.job, K.wake, K.totals.
local worker, refs = ARGV[1], {}
if ARGV[2] == '1' then
  refs = held_by(worker)
  call('DEL', K.held .. worker)
else
  for place = 3, #ARGV do
    if call('SREM', K.held .. worker, ARGV[place]) == 1 then refs[#refs + 1] = ARGV[place] end
  end
  table.sort(refs, by_place)
end
local returned = #put_back(refs)
count_total(TOTAL.given_back, 'asked', returned)
return returned
