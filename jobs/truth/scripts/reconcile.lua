-- Put lost steps back into the outbox (Truth.reconcile): of jobs in planning or assembling about which nothing has
-- changed for a while. Steps that still stand in the outbox are not lost.
-- ARGV: quiet time in s. Returns {kind, job, entry id, chapter or ''} of each. Writes: K.outbox, K.job.
local waiting, steps = {}, {}
local function name(kind, job, chapter)
  return kind .. '|' .. job .. '|' .. (chapter or '')
end
for _, entry in ipairs(call('XRANGE', K.outbox, '-', '+')) do
  local fields = {}
  for place = 1, #entry[2], 2 do fields[entry[2][place]] = entry[2][place + 1] end
  waiting[name(fields.kind, fields.job, fields.chapter)] = true
end

local function put(kind, job, chapter)
  if not waiting[name(kind, job, chapter)] then
    steps[#steps + 1] = {kind, job, step(kind, job, chapter), chapter or ''}
  end
end

local quiet_since = now_s() - tonumber(ARGV[1])
for _, job in ipairs(call('ZRANGE', K.jobs, 0, -1)) do
  local about = call('HMGET', K.job .. job, 'state', 'touched_at_s')
  if tonumber(about[2]) <= quiet_since then
    if about[1] == 'planning' then put('plan', job) end
    if about[1] == 'assembling' then
      for _, entry in ipairs(closing_steps(job)) do put(entry[1], job, entry[2]) end
    end
  end
end
return steps
