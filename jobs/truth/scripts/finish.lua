-- Report held segments as done or failed (Truth.finish).
-- ARGV: worker, '1' if this call repeats one whose reply was lost, then the SegmentResult JSON of each.
-- Returns 1 or 0 for each: 0 for one that is finished already, that this worker does not hold, or whose job is over.
-- A repeated call answers 1 for a result that is stored exactly as reported: the first call did it.
-- Error: FENCED worker (nothing changes).
-- Writes: K.held, K.done, K.results, K.segments, K.left, K.job, K.blame, K.events, K.outbox, K.dead.
local worker, again = ARGV[1], ARGV[2] == '1'
if not call('ZSCORE', K.workers, worker) then return redis.error_reply('FENCED ' .. worker) end

local function accept(json)
  local result = cjson.decode(json)
  local job, segment = result.job, result.segment
  local ref = job .. '|' .. segment
  if call('SREM', K.held .. worker, ref) == 0 then
    return again and call('HGET', K.results .. job, segment) == json
  end
  local state = state_of(job)
  if not state or FINAL[state] then
    put_back({ref})
    return false
  end
  local task = cjson.decode(call('HGET', K.segments .. job, segment))
  finish_segment(job, tostring(task.chapter), result, json)
  return true
end

local accepted = {}
for place = 3, #ARGV do accepted[#accepted + 1] = accept(ARGV[place]) and 1 or 0 end
return accepted
