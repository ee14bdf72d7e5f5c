-- Apply what the checks of a complete chapter found (Truth.rule).
-- ARGV: job, chapter, how many results, the SegmentResult JSON of each, then segment, SegmentTask JSON of each segment
-- that is spoken again. Returns how many segments of the chapter are not finished now; repeating it changes nothing.
-- Errors: UNKNOWNJOB job; ILLEGALMOVE old new unfinished; SPEECH job.
-- Writes: K.results, K.done, K.segments, K.waiting, K.left, K.starts, K.job, K.ready, K.events, K.dead, K.wake.
local job, chapter, settled = ARGV[1], ARGV[2], tonumber(ARGV[3])
local state = state_of(job)
if not state then return unknown_job(job) end
if speech_ttl_ms(job) then return not_for_speech(job) end
if FINAL[state] then return redis.error_reply('ILLEGALMOVE ' .. state .. ' queued ' .. unfinished(job)) end

-- The result of a segment that may still be ruled about: done, and not settled.
local function open_result(segment)
  local json = call('HGET', K.results .. job, segment)
  local result = json and cjson.decode(json)
  local is_open = result and result.state == 'done' and not result.settled and tostring(result.chapter) == chapter
  return is_open and result
end

local function settle(new, json)
  local old = open_result(new.segment)
  if not old then return end
  count_result(job, old, -1)
  count_result(job, new, 1)
  call('HSET', K.results .. job, new.segment, json)
  if new.state == 'failed' then
    bury(job, new)
    emit_failed(job, chapter, new)
  elseif new.take ~= old.take or new.grade ~= (old.grade or 'good') then
    emit_take(job, 'segment_settled', chapter, new)
  end
end

local function send_back(segment, task)
  if not open_result(segment) then return false end
  unfinish(job, segment, chapter, task)
  count_total(TOTAL.spoken_again, 'rule', 1)
  emit(job, 'segment_again', {segment = tonumber(segment), chapter = tonumber(chapter)})
  return true
end

local function left()
  return tonumber(call('HGET', K.left .. job, chapter) or 0)
end

if not awaits_assembly(job, chapter) then return left() end
for place = 4, 3 + settled do settle(cjson.decode(ARGV[place]), ARGV[place]) end
local went_back = false
for place = 4 + settled, #ARGV, 2 do went_back = send_back(ARGV[place], ARGV[place + 1]) or went_back end
touch(job)
if went_back then
  for _, kind in ipairs({'check', 'assemble'}) do forget_starts(job, kind, chapter) end
  sync_lane(job)
  if state == 'assembling' then reopen(job, state) end
end
return left()
