-- Count the start of a step since its job last moved forward (Truth.step_started).
-- ARGV: job, step kind, chapter or '', part or '', token. The token names the call: repeating it (the reply was lost) counts once.
-- Returns how often it was started; 0 and nothing counted if the truth does not call for it. Error: UNKNOWNJOB job.
-- Writes: K.starts (step -> '<count> <token>'), K.job.
local job, kind, chapter, part, token = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local state = state_of(job)
if not state then return unknown_job(job) end

local function is_called_for()
  if FINAL[state] then return false end
  if kind == 'plan' then return state == 'planning' end
  if kind == 'assemble' or kind == 'check' then return awaits_assembly(job, chapter) end
  return state == 'assembling' and all_assembled(job)
end
if not is_called_for() then return 0 end

local name = step_name(kind, chapter, part)
local count, last = string.match(call('HGET', K.starts .. job, name) or '0 ', '^(%d+) (.*)$')
if last == token then return tonumber(count) end
count = tonumber(count) + 1
call('HSET', K.starts .. job, name, count .. ' ' .. token)
call('HSET', K.job .. job, 'touched_at_s', stamp())
return count
