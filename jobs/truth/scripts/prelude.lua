-- The common part in front of every script: time, events, states, lanes, suspects, results.
-- jobs/truth/lua.py puts the constants before it: K (key prefixes by their name in jobs/keys.py), the transition
-- table MOVES, FINAL, and the limits of jobs/truth/rules.py. Redis runs a script whole or not at all.
--
-- Invariant 1: an unfinished segment is in exactly one of: K.waiting, K.suspects, the K.held of one worker.
-- Invariant 2: a lane is in K.ready if and only if its job is queued or running and has waiting segments.

local call = redis.call

local function now_s()
  local time = call('TIME')
  return tonumber(time[1]) + math.floor(tonumber(time[2]) / 1000) / 1000
end

local function stamp()
  return string.format('%.3f', now_s()) -- a bare number would be written with 17 digits
end

local function state_of(job)
  return call('HGET', K.job .. job, 'state')
end

local function is_open(state)
  return state == 'queued' or state == 'running'
end

-- How long all that is kept of a speech request (Truth.speak) stays after its end, in ms; false: it is another job.
local function speech_ttl_ms(job)
  return call('HGET', K.job .. job, 'speech_ttl_ms')
end

local function touch(job)
  local now = stamp()
  call('HSET', K.job .. job, 'updated_at_s', now, 'touched_at_s', now)
end

-- Add to what is counted of the whole deployment (jobs/figures.py).
local function count_total(name, label, number)
  if number > 0 then call('HINCRBY', K.totals, label and name .. ':' .. label or name, number) end
end

local function unknown_job(job)
  return redis.error_reply('UNKNOWNJOB ' .. job)
end

local function not_for_speech(job)
  return redis.error_reply('SPEECH ' .. job)
end

local function unfinished(job)
  local counts = call('HMGET', K.job .. job, 'total', 'done', 'failed')
  return tonumber(counts[1]) - tonumber(counts[2]) - tonumber(counts[3])
end

local function wake(class)
  call('XADD', K.wake, 'MAXLEN', WAKE_KEPT, '*', 'class', class)
end

-- How a step is named in K.starts: `plan`, `check:<chapter>:<part>`, `assemble:<chapter>`, `finish`.
local function step_name(kind, chapter, part)
  local name = kind
  for _, place in ipairs({chapter or '', part or ''}) do
    if place ~= '' then name = name .. ':' .. place end
  end
  return name
end

-- Forget how often the steps of a kind were started for a chapter, whichever part they were for.
local function forget_starts(job, kind, chapter)
  local whole = step_name(kind, chapter)
  for _, name in ipairs(call('HKEYS', K.starts .. job)) do
    if name == whole or string.sub(name, 1, #whole + 1) == whole .. ':' then call('HDEL', K.starts .. job, name) end
  end
end

-- Put a step into the outbox; returns its entry id. `chapter` and `part` may be missing or ''.
local function step(kind, job, chapter, part)
  call('HSET', K.job .. job, 'touched_at_s', stamp())
  local fields = {'kind', kind, 'job', job}
  for _, place in ipairs({{'chapter', chapter or ''}, {'part', part or ''}}) do
    if place[2] ~= '' then
      fields[#fields + 1], fields[#fields + 2] = place[1], place[2]
    end
  end
  return call('XADD', K.outbox, '*', unpack(fields))
end

-- Append an event; the fields of jobs.events.Event beside the counters come in `fields`.
local function emit(job, kind, fields)
  local counts = call('HMGET', K.job .. job, 'state', 'total', 'done', 'failed', 'audio_s')
  fields.v, fields.kind, fields.job, fields.at_s = EVENT_VERSION, kind, job, now_s()
  fields.state, fields.total, fields.done = counts[1], tonumber(counts[2]), tonumber(counts[3])
  fields.failed, fields.audio_s = tonumber(counts[4]), tonumber(counts[5])
  call('XADD', K.events .. job, '*', 'v', EVENT_VERSION, 'kind', kind, 'data', cjson.encode(fields))
end

-- Keep invariant 2. A lane that comes back starts at the class's virtual now, never before its own last turn.
local function sync_lane(job)
  local lane = call('HMGET', K.job .. job, 'state', 'class', 'virtual_time')
  local ready = K.ready .. lane[2]
  if not is_open(lane[1]) or call('ZCARD', K.waiting .. job) == 0 then
    call('ZREM', ready, job)
  elseif not call('ZSCORE', ready, job) then
    local virtual_now = tonumber(call('GET', K.virtual_now .. lane[2]) or 0)
    call('ZADD', ready, math.max(virtual_now, tonumber(lane[3])), job)
    wake(lane[2])
  end
end

-- The jobs that are not at their end (and may be some more: while scripts of an older version run beside ours, jobs that
-- they ended or forgot stay on the list until it is built anew).
local function open_jobs()
  if call('SET', K.open_built, '1', 'NX', 'PX', OPEN_BUILT_EVERY_MS) then
    call('DEL', K.open)
    for _, job in ipairs(call('ZRANGE', K.jobs, 0, -1)) do
      local state = state_of(job)
      if state and not FINAL[state] then call('SADD', K.open, job) end
    end
  end
  return call('SMEMBERS', K.open)
end

local function keys_of(job)
  local found = {}
  for _, kind in ipairs({'job', 'segments', 'waiting', 'left', 'assembled', 'done', 'results', 'starts', 'events', 'audio'}) do
    found[#found + 1] = K[kind] .. job
  end
  return found
end

-- Live audio that expires, the next one first, so that it need not be looked for when all audio is at its bound.
local function note_audio_end(job, left_ms)
  call('ZADD', K.audio_ended, math.floor(now_s() * 1000 + 0.5) + left_ms, job)
end

-- After its end a job's streams go away by themselves, of a speech request everything.
local function let_expire(job, final)
  local ttl_ms = speech_ttl_ms(job)
  if ttl_ms and not final then return end -- nothing of it expires before its end, and no end is taken back
  for _, key in ipairs(ttl_ms and keys_of(job) or {K.events .. job, K.audio .. job}) do
    if final then call('PEXPIRE', key, ttl_ms or STREAM_TTL_MS) else call('PERSIST', key) end
  end
  if final and ttl_ms then call('SREM', K.speech, job) end
  if not final then
    call('ZREM', K.audio_ended, job)
  elseif call('EXISTS', K.audio .. job) == 1 then
    note_audio_end(job, ttl_ms or STREAM_TTL_MS)
  end
end

-- The data of a live audio stream that is gone counts no more.
local function uncount_audio(job)
  local bytes = call('HGET', K.audio_bytes, job)
  call('ZREM', K.audio_ended, job)
  if not bytes then return end
  call('HDEL', K.audio_bytes, job)
  call('DECRBY', K.audio_total, bytes)
end

-- Starts of steps are counted only while the job goes on.
local function set_state(job, new, reason)
  if FINAL[new] then call('DEL', K.starts .. job) end
  if not speech_ttl_ms(job) then call(FINAL[new] and 'SREM' or 'SADD', K.open, job) end
  call('HSET', K.job .. job, 'state', new, 'reason', reason)
  touch(job)
  emit(job, 'job', {reason = reason ~= '' and reason or nil})
  let_expire(job, FINAL[new])
  sync_lane(job)
  if new == 'queued' and call('LLEN', K.suspects) > 0 then wake(1) end
end

-- References are `<job>|<segment>`.
local function split(ref)
  return string.match(ref, '^(.*)|(%d+)$')
end

local function by_place(left, right)
  local left_job, left_segment = split(left)
  local right_job, right_segment = split(right)
  if left_job ~= right_job then return left_job < right_job end
  return tonumber(left_segment) < tonumber(right_segment)
end

local function held_by(worker)
  local refs = call('SMEMBERS', K.held .. worker)
  table.sort(refs, by_place)
  return refs
end

-- Suspects wait in groups: JSON lists of references.
local function push_suspects(refs, size)
  for first = 1, #refs, size do
    local group = {}
    for place = first, math.min(first + size - 1, #refs) do group[#group + 1] = refs[place] end
    call('RPUSH', K.suspects, cjson.encode(group))
  end
  if #refs > 0 then wake(1) end
end

-- Put segments that nobody holds any more back, in front; suspects as a group of suspects. Those of jobs that were
-- cancelled or forgotten vanish, and those of speech requests that are over. Returns the references that wait again.
local function put_back(refs)
  local placed, suspects, lanes = {}, {}, {}
  for _, ref in ipairs(refs) do
    local job, segment = split(ref)
    local state = state_of(job)
    if state and state ~= 'cancelled' and not (FINAL[state] and speech_ttl_ms(job)) then
      call('HINCRBY', K.job .. job, 'held', -1)
      placed[#placed + 1] = ref
      if call('HEXISTS', K.blame, ref) == 1 then
        suspects[#suspects + 1] = ref
      else
        call('ZADD', K.waiting .. job, FRONT + segment, segment)
        lanes[job] = true
      end
    end
  end
  push_suspects(suspects, SUSPECT_GROUP)
  for job in pairs(lanes) do sync_lane(job) end
  return placed
end

-- Let segments wait in the order of their numbers. `rows` is segment, task, segment, task, ...
local function put_waiting(job, rows)
  for first = 1, #rows, 2000 do -- unpack() has a limit
    local last, order = math.min(first + 1999, #rows), {}
    for place = first, last, 2 do order[#order + 1], order[#order + 2] = rows[place], rows[place] end
    call('HSET', K.segments .. job, unpack(rows, first, last))
    call('ZADD', K.waiting .. job, unpack(order))
  end
end

local function remove_worker(worker)
  call('DEL', K.worker .. worker, K.held .. worker)
  return call('ZREM', K.workers, worker)
end

-- Take a job's references out of the suspects and the blame; returns how many suspects were waiting.
local function drop_suspects(job)
  local groups, dropped = call('LRANGE', K.suspects, 0, -1), 0
  call('DEL', K.suspects)
  for _, text in ipairs(groups) do
    local kept = {}
    for _, ref in ipairs(cjson.decode(text)) do
      if split(ref) == job then dropped = dropped + 1 else kept[#kept + 1] = ref end
    end
    if #kept > 0 then call('RPUSH', K.suspects, cjson.encode(kept)) end
  end
  for _, ref in ipairs(call('HKEYS', K.blame)) do
    if split(ref) == job then call('HDEL', K.blame, ref) end
  end
  return dropped
end

-- Nothing of a job waits any more; returns how many segments did. Held ones are dropped by their worker.
local function drop_waiting(job)
  local vanished = call('ZCARD', K.waiting .. job) + drop_suspects(job)
  call('UNLINK', K.waiting .. job, K.segments .. job)
  call('HSET', K.job .. job, 'held', 0)
  return vanished
end

-- Whether the audio of every chapter is in the store: only then a job may be finished.
local function all_assembled(job)
  local counts = call('HMGET', K.job .. job, 'chapters', 'chapters_assembled')
  return counts[1] == counts[2]
end

-- Whether a chapter can be assembled and is not yet.
local function awaits_assembly(job, chapter)
  return call('HGET', K.left .. job, chapter) == '0' and call('SISMEMBER', K.assembled .. job, chapter) == 0
end

-- Steps that stand between a planned job and its end and can be done now: {kind, chapter or false} of each.
local function closing_steps(job)
  local entries = {}
  local left = call('HGETALL', K.left .. job) -- at once: a job of many items has as many chapters
  for place = 1, #left, 2 do
    local chapter = left[place]
    if left[place + 1] == '0' and call('SISMEMBER', K.assembled .. job, chapter) == 0 then
      entries[#entries + 1] = {'assemble', chapter}
    end
  end
  table.sort(entries, function(a, b) return tonumber(a[2]) < tonumber(b[2]) end)
  if #entries == 0 and unfinished(job) == 0 then entries[1] = {'finish', false} end
  return entries
end

local function put_closing_steps(job)
  for _, entry in ipairs(closing_steps(job)) do step(entry[1], job, entry[2]) end
end

-- Count a finished segment (sign 1), or count it no more (-1). A result that does not say so had one attempt.
local function count_result(job, result, sign)
  local hash, good = K.job .. job, result.state == 'done'
  call('HINCRBY', hash, result.state, sign)
  local retakes = (result.takes or 1) - 1
  if retakes > 0 then call('HINCRBY', hash, 'retakes', sign * retakes) end -- Redis up to 7.0 writes -1 * 0 as -0
  if result.reused then call('HINCRBY', hash, 'reused', sign) end
  if good and result.grade == 'bad' then call('HINCRBY', hash, 'marked', sign) end
  if good and result.sample_rate_hz > 0 then
    local audio_s = tonumber(call('HGET', hash, 'audio_s')) + sign * result.samples / result.sample_rate_hz
    call('HSET', hash, 'audio_s', string.format('%.9f', math.max(0, audio_s)))
  end
end

-- A finished segment waits again as `task` says: its result is gone and its chapter is not assembled.
local function unfinish(job, segment, chapter, task)
  count_result(job, cjson.decode(call('HGET', K.results .. job, segment)), -1)
  call('HSET', K.segments .. job, segment, task)
  call('SETBIT', K.done .. job, segment, 0)
  call('HDEL', K.results .. job, segment)
  call('ZADD', K.waiting .. job, segment, segment)
  call('HINCRBY', K.left .. job, chapter, 1)
  if call('SREM', K.assembled .. job, chapter) == 1 then call('HINCRBY', K.job .. job, 'chapters_assembled', -1) end
end

-- A job that was assembling or at its end goes on. After a failure its steps were ignored: they are sent again.
local function reopen(job, old)
  set_state(job, unfinished(job) > 0 and 'queued' or 'assembling', '')
  if old == 'failed' then put_closing_steps(job) end
end

-- Events about a finished segment: a kind and what it tells of the take, or why there is none.
local function emit_take(job, kind, chapter, result)
  emit(job, kind, {segment = result.segment, chapter = tonumber(chapter), take = result.take, samples = result.samples,
    sample_rate_hz = result.sample_rate_hz, reused = result.reused, takes = result.takes, grade = result.grade,
    reason = result.reason ~= '' and result.reason or nil})
end

local function emit_failed(job, chapter, result)
  emit(job, 'segment_failed', {segment = result.segment, chapter = tonumber(chapter), reason = result.reason})
end

local function bury(job, result)
  count_total(TOTAL.dead_letters, nil, 1)
  call('XADD', K.dead, 'MAXLEN', '~', DEAD_KEPT, '*', 'job', job, 'segment', result.segment, 'reason', result.reason)
end

-- Count a result that is accepted: bitmap, result, counters, event, ASSEMBLE at the chapter's last segment (a speech
-- request has no chapters).
-- A failed segment keeps its payload, so that it can be tried again.
local function record_result(job, chapter, result, json)
  local segment, good = result.segment, result.state == 'done'
  call('SETBIT', K.done .. job, segment, 1)
  call('HSET', K.results .. job, segment, json)
  call('HDEL', K.blame, job .. '|' .. segment)
  count_result(job, result, 1)
  if good then call('HDEL', K.segments .. job, segment) end
  touch(job)
  if good then emit_take(job, 'segment_done', chapter, result) else emit_failed(job, chapter, result) end
  if not speech_ttl_ms(job) and call('HINCRBY', K.left .. job, chapter, -1) == 0 then step('assemble', job, chapter) end
end

-- Count a result of a held segment; dead letter and the job's own move at its last segment. A paused job stays paused:
-- the second look at its chapters may give it segments to speak again. A speech request needs nothing but its takes.
local function finish_segment(job, chapter, result, json)
  call('HINCRBY', K.job .. job, 'held', -1)
  count_total(TOTAL.segments, result.state, 1)
  if result.state == 'done' then count_total(TOTAL.grades, result.grade or 'good', 1) end
  record_result(job, chapter, result, json)
  if result.state == 'failed' then bury(job, result) end
  if unfinished(job) > 0 or state_of(job) == 'paused' then return end
  set_state(job, 'assembling', '')
  if speech_ttl_ms(job) then
    local failed = tonumber(call('HGET', K.job .. job, 'failed'))
    set_state(job, failed > 0 and 'done_with_failures' or 'done', '')
  end
end
