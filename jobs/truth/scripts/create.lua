-- Register a job and put its PLAN step into the outbox (Truth.create_job).
-- ARGV: job, created_at_s, '1' if this call repeats one whose reply was lost, then field, value, ... of the job hash.
-- Returns 1, or 0 if the job exists already (a repeated call knows its own job by the time).
-- Writes: K.job, K.jobs, K.open, K.events, K.outbox.
local job, created_at_s, again = ARGV[1], ARGV[2], ARGV[3] == '1'
if call('EXISTS', K.job .. job) == 1 then
  return again and call('HGET', K.job .. job, 'created_at_s') == created_at_s and 1 or 0
end
call('HSET', K.job .. job, unpack(ARGV, 4))
call('ZADD', K.jobs, created_at_s, job)
call('SADD', K.open, job)
emit(job, 'job', {})
step('plan', job)
return 1
