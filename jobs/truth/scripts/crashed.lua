-- The worker's process died: apply the poison rule and bury the worker (Truth.crashed).
-- ARGV: worker, reason for dead letters. Returns {returned, suspects, dead}; an unknown worker held nothing.
-- Writes: K.workers, K.worker, K.held, K.blame, K.suspects, K.waiting, K.ready, K.job, K.events, K.dead, ...
--
-- To blame is the only suspect on board, and its company is suspected too (there may be more than one poison).
-- Several suspects on board: each is tried apart. None: all on board become suspects, in groups of SUSPECT_GROUP.
-- BLAME_LIMIT blames: given up; the last one fell on it alone (lease.lua).
local worker, reason = ARGV[1], ARGV[2]
local held = held_by(worker)
remove_worker(worker)

local board, over, suspects = {}, {}, {}
for _, ref in ipairs(held) do
  local state = state_of((split(ref)))
  if not state or FINAL[state] then
    over[#over + 1] = ref
  else
    board[#board + 1] = ref
    if call('HEXISTS', K.blame, ref) == 1 then suspects[#suspects + 1] = ref end
  end
end
local several = #suspects > 1
local culprit = not several and suspects[1]

local function give_up(ref)
  local job, segment = split(ref)
  local task = cjson.decode(call('HGET', K.segments .. job, segment))
  local attempt = task.attempt or 0
  local result = {job = job, segment = task.segment, chapter = task.chapter, state = 'failed', take = task.take,
    reason = reason, attempt = attempt, takes = attempt + 1, grade = 'unusable'}
  finish_segment(job, tostring(task.chapter), result, cjson.encode(result))
end

local function stand_alone(ref)
  call('HINCRBY', K.job .. split(ref), 'held', -1)
  push_suspects({ref}, 1)
end

local apart, rest, dead = {}, {}, {}
for _, ref in ipairs(board) do
  if ref == culprit then
    if call('HINCRBY', K.blame, ref, 1) >= BLAME_LIMIT then dead[1] = ref else apart[1] = ref end
  elseif several and call('HEXISTS', K.blame, ref) == 1 then
    apart[#apart + 1] = ref
  else
    if not several then call('HSETNX', K.blame, ref, 0) end
    rest[#rest + 1] = ref
  end
end
for _, ref in ipairs(apart) do stand_alone(ref) end
for _, ref in ipairs(dead) do give_up(ref) end
local returned = put_back(over)
for _, ref in ipairs(put_back(rest)) do
  local list = call('HEXISTS', K.blame, ref) == 1 and apart or returned
  list[#list + 1] = ref
end
count_total(TOTAL.given_back, 'crashed', #returned + #apart)
count_total(TOTAL.suspects, nil, #apart)
return {returned, apart, dead}
