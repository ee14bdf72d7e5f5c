-- Heartbeat (Truth.beat). ARGV: worker, slots_busy, segments_done, audio_s, figures as JSON ('': as they were).
-- Returns the jobs among those it holds that are final or forgotten: it should drop their segments.
-- Error: FENCED worker. Writes: K.workers, K.worker.
local worker = ARGV[1]
if not call('ZSCORE', K.workers, worker) then return redis.error_reply('FENCED ' .. worker) end
call('ZADD', K.workers, stamp(), worker)
call('HSET', K.worker .. worker, 'slots_busy', ARGV[2], 'segments_done', ARGV[3], 'audio_s', ARGV[4])
if ARGV[5] ~= '' then call('HSET', K.worker .. worker, 'figures', ARGV[5]) end
local seen, over = {}, {}
for _, ref in ipairs(call('SMEMBERS', K.held .. worker)) do
  local job = split(ref)
  if not seen[job] then
    seen[job] = true
    local state = state_of(job)
    if not state or FINAL[state] then over[#over + 1] = job end
  end
end
return over
