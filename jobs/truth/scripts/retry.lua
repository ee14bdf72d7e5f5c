-- Put the failed segments of a job back (Truth.retry_failed). A job that failed as a whole goes on where it stood.
-- ARGV: job, '1' if all failed segments go back, '1' if this call repeats one whose reply was lost, then segment,
-- SegmentTask JSON of each whose task is not the one that was kept; done segments among them go back too.
-- Returns how many segments (0 if the lost call did it).
-- Errors: UNKNOWNJOB job; ILLEGALMOVE old new unfinished; SPEECH job.
-- Writes: K.segments, K.waiting, K.done, K.results, K.left, K.assembled, K.job, K.ready, K.events, K.outbox, K.wake.
local job = ARGV[1]
local state = state_of(job)
if not state then return unknown_job(job) end
if speech_ttl_ms(job) then return not_for_speech(job) end
if ARGV[3] == '1' and not FINAL[state] then return 0 end
local planned = call('HGET', K.job .. job, 'planned') == '1'
if not (state == 'done_with_failures' or (state == 'failed' and planned)) then
  return redis.error_reply('ILLEGALMOVE ' .. state .. ' queued ' .. unfinished(job))
end

local retried = 0
local function go_again(segment, task)
  local result = call('HGET', K.results .. job, segment)
  if not result then return end -- it waits already
  unfinish(job, segment, tostring(cjson.decode(result).chapter), task)
  retried = retried + 1
end
for place = 4, #ARGV, 2 do go_again(ARGV[place], ARGV[place + 1]) end
for _, segment in ipairs(ARGV[2] == '1' and call('HKEYS', K.segments .. job) or {}) do
  go_again(segment, call('HGET', K.segments .. job, segment))
end
if unfinished(job) > 0 or state == 'failed' then reopen(job, state) end
count_total(TOTAL.spoken_again, 'retry', retried)
return retried
