-- Put the failed segments of a job back (Truth.retry_failed). A job that failed as a whole goes on where it stood.
-- ARGV: job, '1' if this call repeats one whose reply was lost. Returns how many segments (0 if the lost call did it).
-- Errors: UNKNOWNJOB job; ILLEGALMOVE old new unfinished.
-- Writes: K.waiting, K.done, K.results, K.left, K.assembled, K.job, K.ready, K.events, K.outbox, K.wake.
local job = ARGV[1]
local hash = K.job .. job
local state = state_of(job)
if not state then return unknown_job(job) end
if ARGV[2] == '1' and not FINAL[state] then return 0 end
local planned = call('HGET', hash, 'planned') == '1'
if not (state == 'done_with_failures' or (state == 'failed' and planned)) then
  return redis.error_reply('ILLEGALMOVE ' .. state .. ' queued ' .. unfinished(job))
end

local retried = 0
for _, segment in ipairs(call('HKEYS', K.segments .. job)) do
  if call('GETBIT', K.done .. job, segment) == 1 then
    local chapter = cjson.decode(call('HGET', K.segments .. job, segment)).chapter
    call('HINCRBY', hash, 'failed', -1)
    unfinish(job, segment, chapter)
    retried = retried + 1
  end
end
if unfinished(job) > 0 or state == 'failed' then reopen(job, state) end
return retried
