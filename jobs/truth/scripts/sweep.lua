-- Bury workers without a heartbeat (nobody is blamed) and mend counts (Truth.sweep).
-- ARGV: oldest heartbeat age allowed in s, '1' if burying is allowed now, '1' if this call repeats one that met a lost
-- connection (then nobody is buried: after an outage all heartbeats are old), for how long nobody may have said to wait
-- for a speech request before it is given up ('' if none is now), and the reason. Returns the buried workers.
-- Writes: what retire.lua writes; K.swept, K.open; K.waiting and K.job of jobs whose segments do not add up; of speech
-- requests that are given up what move.lua writes.
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

-- Counts are looked at by one caller now and then: the sums of each open job, and all that is held together. Only where
-- these do not add up is every held segment of every worker read, which takes long in a large cluster.
if not call('SET', K.swept, '1', 'NX', 'PX', COUNTED_EVERY_MS) then return buried end
local suspects = {}
for _, text in ipairs(call('LRANGE', K.suspects, 0, -1)) do
  for _, ref in ipairs(cjson.decode(text)) do
    local job, segment = split(ref)
    suspects[job] = suspects[job] or {}
    table.insert(suspects[job], segment)
  end
end

local looked, held_of_jobs, held_by_workers, wrong = {}, 0, 0, false
for _, jobs in ipairs({open_jobs(), call('SMEMBERS', K.speech)}) do
  for _, job in ipairs(jobs) do
    local about = call('HMGET', K.job .. job, 'planned', 'held')
    if about[1] == '1' then
      looked[#looked + 1] = job
      held_of_jobs = held_of_jobs + tonumber(about[2] or 0)
      local places = call('ZCARD', K.waiting .. job) + tonumber(about[2] or 0) + #(suspects[job] or {})
      wrong = wrong or places ~= unfinished(job)
    end
  end
end
for _, worker in ipairs(call('ZRANGE', K.workers, 0, -1)) do
  held_by_workers = held_by_workers + call('SCARD', K.held .. worker)
end
if not wrong and held_of_jobs == held_by_workers then return buried end

-- Where every segment is that is not waiting: job -> segment -> true.
local placed, held = {}, {}
for job, segments in pairs(suspects) do
  placed[job] = {}
  for _, segment in ipairs(segments) do placed[job][segment] = true end
end
for _, worker in ipairs(call('ZRANGE', K.workers, 0, -1)) do
  for _, ref in ipairs(call('SMEMBERS', K.held .. worker)) do
    local job, segment = split(ref)
    placed[job] = placed[job] or {}
    placed[job][segment] = true
    held[job] = (held[job] or 0) + 1
  end
end
for _, job in ipairs(looked) do
  call('HSET', K.job .. job, 'held', held[job] or 0)
  if call('ZCARD', K.waiting .. job) + (held[job] or 0) + #(suspects[job] or {}) ~= unfinished(job) then
    for _, segment in ipairs(call('HKEYS', K.segments .. job)) do
      local known = placed[job] and placed[job][segment]
      if not known and call('GETBIT', K.done .. job, segment) == 0 then
        call('ZADD', K.waiting .. job, 'NX', segment, segment)
      end
    end
    sync_lane(job)
  end
end
return buried
