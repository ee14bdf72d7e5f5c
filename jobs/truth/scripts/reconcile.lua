-- Put lost steps back into the outbox (Truth.reconcile): those that somebody took and did not confirm, and those that
-- the truth calls for of jobs about which nothing has changed for a while. What waits in the outbox is not lost.
-- ARGV: quiet time in s. Returns {kind, job, entry id, chapter or '', part or ''} of each. Writes: K.outbox, K.job.
local quiet_s = tonumber(ARGV[1])
local waiting, steps = {}, {}
local function name_of(kind, job, chapter, part)
  return table.concat({kind, job, chapter or '', part or ''}, '|')
end
local function put(kind, job, chapter, part)
  local name = name_of(kind, job, chapter, part)
  if waiting[name] then return end
  waiting[name] = true
  steps[#steps + 1] = {kind, job, step(kind, job, chapter, part), chapter or '', part or ''}
end

local quiet_since, quiet_jobs = now_s() - quiet_s, {}
for _, job in ipairs(open_jobs()) do
  local touched_at_s = call('HGET', K.job .. job, 'touched_at_s') -- false: a script of an older version forgot the job
  if touched_at_s and tonumber(touched_at_s) <= quiet_since then quiet_jobs[#quiet_jobs + 1] = job end
end

local unconfirmed, left = {}, {}
local pending = redis.pcall('XPENDING', K.outbox, OUTBOX_GROUP, 'IDLE', math.floor(quiet_s * 1000), '-', '+', 1000000)
if not pending.err then -- there is no group before the first reader
  for _, entry in ipairs(pending) do unconfirmed[entry[1]] = true end
end
for _, entry in ipairs(call('XRANGE', K.outbox, '-', '+')) do
  local fields = {}
  for place = 1, #entry[2], 2 do fields[entry[2][place]] = entry[2][place + 1] end
  if unconfirmed[entry[1]] then
    call('XACK', K.outbox, OUTBOX_GROUP, entry[1])
    call('XDEL', K.outbox, entry[1])
    if state_of(fields.job) then left[#left + 1] = fields end
  else
    waiting[name_of(fields.kind, fields.job, fields.chapter, fields.part)] = true
  end
end
for _, fields in ipairs(left) do put(fields.kind, fields.job, fields.chapter, fields.part) end

for _, job in ipairs(quiet_jobs) do
  local state = state_of(job)
  if state == 'planning' then put('plan', job) end
  if is_open(state) or state == 'assembling' then
    for _, entry in ipairs(closing_steps(job)) do put(entry[1], job, entry[2]) end
  end
end
return steps
