-- Delete all that is kept of a final job (Truth.forget). ARGV: job, '1' if this call repeats one whose reply was lost.
-- Returns 1.
-- Errors: UNKNOWNJOB job; NOTFINAL state job.
-- Deletes every key of the job; its references leave K.suspects, K.blame and K.held, its audio's bytes K.audio_bytes
-- and K.audio_total.
local job = ARGV[1]
local state = state_of(job)
if not state then return ARGV[2] == '1' and 1 or unknown_job(job) end
if not FINAL[state] then return redis.error_reply('NOTFINAL ' .. state .. ' ' .. job) end
drop_suspects(job)
-- Of a job that ended long ago no worker holds anything: each has heard of its end, or was buried.
if now_s() - tonumber(call('HGET', K.job .. job, 'updated_at_s')) < HELD_LONGEST_S then
  for _, worker in ipairs(call('ZRANGE', K.workers, 0, -1)) do
    for _, ref in ipairs(call('SMEMBERS', K.held .. worker)) do
      if split(ref) == job then call('SREM', K.held .. worker, ref) end
    end
  end
end
call('UNLINK', unpack(keys_of(job)))
uncount_audio(job)
call('ZREM', K.jobs, job)
call('SREM', K.open, job)
return 1
