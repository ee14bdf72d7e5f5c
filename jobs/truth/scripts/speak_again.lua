-- Put done segments whose take is lost back to waiting (Truth.speak_again).
-- ARGV: job, '1' if this call repeats one whose reply was lost, then segment, chapter, SegmentTask JSON of each.
-- Returns how many wait again; a repeated call counts those that are not finished (the lost call put them back).
-- Errors: UNKNOWNJOB job; ILLEGALMOVE old new unfinished; SPEECH job.
-- Writes: K.done, K.results, K.segments, K.waiting, K.left, K.assembled, K.job, K.ready, K.events, K.outbox, K.wake.
local job, again = ARGV[1], ARGV[2] == '1'
local state = state_of(job)
if not state then return unknown_job(job) end
if speech_ttl_ms(job) then return not_for_speech(job) end
if FINAL[state] and state ~= 'failed' then
  return redis.error_reply('ILLEGALMOVE ' .. state .. ' queued ' .. unfinished(job))
end

local function take_back(segment, chapter, task)
  local result = cjson.decode(call('HGET', K.results .. job, segment))
  if result.state ~= 'done' then return false end
  unfinish(job, segment, chapter, task)
  return true
end

local put_back_now, put_back_before = 0, 0
for place = 3, #ARGV, 3 do
  local segment = ARGV[place]
  if call('HEXISTS', K.results .. job, segment) == 1 then
    if take_back(segment, ARGV[place + 1], ARGV[place + 2]) then put_back_now = put_back_now + 1 end
  elseif again and call('HEXISTS', K.segments .. job, segment) == 1 then
    put_back_before = put_back_before + 1
  end
end
if put_back_now > 0 then
  count_total(TOTAL.spoken_again, 'missing', put_back_now)
  touch(job)
  sync_lane(job)
  if state == 'assembling' or state == 'failed' then reopen(job, state) end
end
return put_back_now + put_back_before
