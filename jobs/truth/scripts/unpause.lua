-- Let a paused job go on (Truth.unpause): back to queued, to assembling (with the steps to its end) if its last segments
-- were finished meanwhile, or to planning (with a new PLAN step) if it was held before it was planned. ARGV: job. Returns 1, or 0 if it is not paused. Error: UNKNOWNJOB job.
-- Writes: K.job, K.ready, K.events, K.outbox, K.wake.
local job = ARGV[1]
local state = state_of(job)
if not state then return unknown_job(job) end
if state ~= 'paused' then return 0 end
if call('HGET', K.job .. job, 'planned') ~= '1' then
  set_state(job, 'planning', '')
  step('plan', job)
elseif unfinished(job) > 0 then
  set_state(job, 'queued', '')
else
  set_state(job, 'assembling', '')
  put_closing_steps(job)
end
return 1
