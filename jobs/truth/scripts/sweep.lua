-- Bury workers without a heartbeat (nobody is blamed) and mend counts (Truth.sweep).
-- ARGV: oldest heartbeat age allowed in s, '1' if burying is allowed now, '1' if this call repeats one that met a lost
-- connection (then nobody is buried: after an outage all heartbeats are old), for how long nobody may have said to wait
-- for a speech request before it is given up ('' if none is now), and the reason. Returns the buried workers.
-- Writes: what retire.lua writes; K.waiting and K.job of jobs whose segments do not add up; of speech requests that are
-- given up what move.lua writes.
local buried = {}
if ARGV[2] == '1' and ARGV[3] == '0' then
  local stale = string.format('(%.3f', now_s() - tonumber(ARGV[1]))
  for _, worker in ipairs(call('ZRANGEBYSCORE', K.workers, '-inf', stale)) do
    local refs = held_by(worker)
    remove_worker(worker)
    count_total(TOTAL.given_back, 'silent', #put_back(refs))
    buried[#buried + 1] = worker
  end
end

if ARGV[4] ~= '' and ARGV[3] == '0' then
  for _, job in ipairs(call('SMEMBERS', K.speech)) do
    if now_s() - call('HGET', K.job .. job, 'wanted_at_s') > tonumber(ARGV[4]) then
      drop_waiting(job)
      set_state(job, 'failed', ARGV[5])
    end
  end
end

-- Where every segment is that is not waiting: job -> segment -> true.
local placed, held = {}, {}
local function note(ref, counts)
  local job, segment = split(ref)
  placed[job] = placed[job] or {}
  placed[job][segment] = true
  counts[job] = (counts[job] or 0) + 1
end
for _, worker in ipairs(call('ZRANGE', K.workers, 0, -1)) do
  for _, ref in ipairs(call('SMEMBERS', K.held .. worker)) do note(ref, held) end
end
local suspects = {}
for _, text in ipairs(call('LRANGE', K.suspects, 0, -1)) do
  for _, ref in ipairs(cjson.decode(text)) do note(ref, suspects) end
end

local function mend(job)
  call('HSET', K.job .. job, 'held', held[job] or 0)
  if call('ZCARD', K.waiting .. job) + (held[job] or 0) + (suspects[job] or 0) == unfinished(job) then return end
  for _, segment in ipairs(call('HKEYS', K.segments .. job)) do
    local known = placed[job] and placed[job][segment]
    if not known and call('GETBIT', K.done .. job, segment) == 0 then
      call('ZADD', K.waiting .. job, 'NX', segment, segment)
    end
  end
  sync_lane(job)
end
for _, jobs in ipairs({call('ZRANGE', K.jobs, 0, -1), call('SMEMBERS', K.speech)}) do
  for _, job in ipairs(jobs) do
    local about = call('HMGET', K.job .. job, 'state', 'planned')
    if about[2] == '1' and not FINAL[about[1]] then mend(job) end
  end
end
return buried
