-- Somebody waits for speech requests (Truth.still_wanted). ARGV: jobs. Those that are over are passed over.
-- Returns nothing. Writes: K.job.
for _, job in ipairs(ARGV) do
  if call('SISMEMBER', K.speech, job) == 1 then call('HSET', K.job .. job, 'wanted_at_s', stamp()) end
end
