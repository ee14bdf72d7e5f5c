-- Queue a planned job (Truth.enqueue).
-- ARGV: job, total_chars, how many tasks, then segment, chapter, SegmentTask JSON of each; then the SegmentResult JSON
-- of each segment that is finished already. Returns 1, or 0 if the job is past planning (nothing changes).
-- Writes: K.starts, K.segments, K.waiting, K.left, K.done, K.results, K.job, K.ready, K.events, K.outbox, K.wake.
local job, tasks = ARGV[1], tonumber(ARGV[3])
local state = state_of(job)
if not state then return unknown_job(job) end
if state ~= 'planning' then return 0 end

local left, finished = {}, {}
local rows = {}
for place = 4, 3 + 3 * tasks, 3 do
  local segment, chapter, task = ARGV[place], ARGV[place + 1], ARGV[place + 2]
  rows[#rows + 1], rows[#rows + 2] = segment, task
  left[chapter] = (left[chapter] or 0) + 1
end
put_waiting(job, rows)
for place = 4 + 3 * tasks, #ARGV do
  local result = cjson.decode(ARGV[place])
  finished[#finished + 1] = {result, ARGV[place]}
  local chapter = tostring(result.chapter)
  left[chapter] = (left[chapter] or 0) + 1
end
call('DEL', K.starts .. job)
local chapters = 0
for chapter, count in pairs(left) do
  call('HSET', K.left .. job, chapter, count)
  chapters = chapters + 1
end
call('HSET', K.job .. job, 'planned', 1, 'total', tasks + #finished, 'chapters', chapters, 'total_chars', ARGV[2])
for _, entry in ipairs(finished) do
  record_result(job, tostring(entry[1].chapter), entry[1], entry[2])
end
if tasks > 0 then
  set_state(job, 'queued', '')
else
  set_state(job, 'assembling', '')
  if chapters == 0 then step('finish', job) end
end
return 1
