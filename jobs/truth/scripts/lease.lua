-- Give a worker waiting segments in fair order (Truth.lease).
-- ARGV: worker, want, token, '1' for live jobs only. Returns the SegmentTask JSON of each. Error: FENCED worker.
-- Reads: K.worker, K.ready, K.job, K.suspects. Writes: K.waiting, K.suspects, K.held, K.ready, K.virtual_now, K.events.
--
-- * The token names the call: repeating it (the reply was lost) returns the same segments and takes no new ones.
-- * Suspects first, one group on board at a time. One that was blamed already is served truly alone: only to an
--   empty worker, with nothing beside it. So a crash with it on board is proof.
-- * Strict between classes; inside one, start-time fair queueing: the lane with the smallest virtual time gives up
--   to QUANTUM segments and its time goes on by as many (all lanes weigh the same).
local worker, want, token, live_only = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4] == '1'
local me = call('HMGET', K.worker .. worker, 'info', 'lease_token', 'lease_refs')
if not me[1] then return redis.error_reply('FENCED ' .. worker) end
local held = K.held .. worker
local tasks, refs = {}, {}

if me[2] == token then
  local surplus = {}
  for _, ref in ipairs(cjson.decode(me[3])) do
    local job, segment = split(ref)
    local task = call('HGET', K.segments .. job, segment)
    if call('SISMEMBER', held, ref) == 1 and task then
      if #tasks < want then tasks[#tasks + 1] = task else surplus[#surplus + 1] = ref end
    end
  end
  for _, ref in ipairs(surplus) do call('SREM', held, ref) end
  put_back(surplus)
  return tasks
end

local models = {}
for _, name in ipairs(cjson.decode(me[1]).models) do models[name] = true end

local function hold(job, segment)
  local ref = job .. '|' .. segment
  call('SADD', held, ref)
  call('HINCRBY', K.job .. job, 'held', 1)
  refs[#refs + 1] = ref
  tasks[#tasks + 1] = call('HGET', K.segments .. job, segment)
  if state_of(job) == 'queued' then set_state(job, 'running', '') end
end

local function may_take(job)
  local lane = call('HMGET', K.job .. job, 'state', 'model', 'class')
  return is_open(lane[1]) and models[lane[2]] and (lane[3] == '0' or not live_only)
end

-- Takes the first group that has something for this worker; what it cannot take stays a group in its place.
local function take_suspects(on_board)
  for place, text in ipairs(call('LRANGE', K.suspects, 0, -1)) do
    local group, taken, kept, blamed = cjson.decode(text), {}, {}, false
    for _, ref in ipairs(group) do
      blamed = blamed or tonumber(call('HGET', K.blame, ref)) > 0
      local fits = #taken < want and may_take((split(ref)))
      if fits then taken[#taken + 1] = ref else kept[#kept + 1] = ref end
    end
    if #taken > 0 and not (blamed and on_board > 0) then
      call('LSET', K.suspects, place - 1, #kept > 0 and cjson.encode(kept) or '')
      if #kept == 0 then call('LREM', K.suspects, 1, '') end
      for _, ref in ipairs(taken) do hold(split(ref)) end
      return blamed
    end
  end
  return false
end

local function take_lanes(class)
  local ready = K.ready .. class
  local skipped = 0 -- lanes before the one that is looked at: what is taken from that one moves it back, never them
  while #tasks < want do
    local lane = call('ZRANGE', ready, skipped, skipped, 'WITHSCORES')
    local job, virtual_time = lane[1], tonumber(lane[2])
    if not job then return end
    if may_take(job) then
      local popped = call('ZPOPMIN', K.waiting .. job, math.min(QUANTUM, want - #tasks))
      local virtual_now = tonumber(call('GET', K.virtual_now .. class) or 0)
      call('SET', K.virtual_now .. class, math.max(virtual_now, virtual_time))
      call('HSET', K.job .. job, 'virtual_time', virtual_time + #popped / 2)
      call('ZADD', ready, virtual_time + #popped / 2, job)
      for place = 1, #popped, 2 do hold(job, popped[place]) end
      sync_lane(job)
    else
      skipped = skipped + 1
    end
  end
end

local alone = false
if want > 0 and call('HLEN', K.blame) > 0 then
  local on_board, suspects = call('SMEMBERS', held), 0
  for _, ref in ipairs(on_board) do
    local blame = call('HGET', K.blame, ref)
    if blame then suspects = suspects + 1 end
    alone = alone or (blame and tonumber(blame) > 0)
  end
  if suspects == 0 then alone = take_suspects(#on_board) end
end
if not alone then
  for class = 0, live_only and 0 or 2 do take_lanes(class) end
end
if #refs > 0 then call('HSET', K.worker .. worker, 'lease_token', token, 'lease_refs', cjson.encode(refs)) end
return tasks
