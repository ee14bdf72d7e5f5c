-- Register a job and put its PLAN step into the outbox (Truth.create_job).
-- ARGV: job, created_at_s, then field, value, ... of the job hash. Returns 1, or 0 if the job exists already.
-- Writes: K.job, K.jobs, K.events, K.outbox.
local job, created_at_s = ARGV[1], ARGV[2]
if call('EXISTS', K.job .. job) == 1 then return 0 end
call('HSET', K.job .. job, unpack(ARGV, 3))
call('ZADD', K.jobs, created_at_s, job)
emit(job, 'job', {})
step('plan', job)
return 1
