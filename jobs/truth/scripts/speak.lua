-- Register a speech request and queue its segments (Truth.speak).
-- ARGV: job, created_at_s, how many fields and values, '1' if this call repeats one whose reply was lost, then field,
-- value, ... of the job hash, then segment, SegmentTask JSON of each.
-- Returns 1, or 0 if the job exists already (a repeated call knows its own job by the time).
-- Writes: K.job, K.speech, K.segments, K.waiting, K.ready, K.virtual_now, K.events, K.wake.
--
-- Requests that come while others wait are served in the order they came: each starts a little later in the virtual
-- time of the class, where lanes that start at the same time would be served by their names.
local job, created_at_s, fields, again = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4] == '1'
if call('EXISTS', K.job .. job) == 1 then
  return again and call('HGET', K.job .. job, 'created_at_s') == created_at_s and 1 or 0
end
call('HSET', K.job .. job, unpack(ARGV, 5, 4 + fields))
call('HSET', K.job .. job, 'wanted_at_s', stamp())
call('SADD', K.speech, job)
local rows = {}
for place = 5 + fields, #ARGV do rows[#rows + 1] = ARGV[place] end
put_waiting(job, rows)
set_state(job, 'queued', '')
-- Not INCRBYFLOAT: a Redis 6.2.14 died of broken memory soon after this script had called it.
call('SET', K.virtual_now .. 0, tonumber(call('GET', K.virtual_now .. 0) or 0) + SPEECH_TURN)
return 1
