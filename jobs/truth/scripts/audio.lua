-- Append a chunk to a job's live audio stream and keep it within its bound and all streams within theirs
-- (Streams.write_audio). ARGV: job, max_bytes, max_total_bytes, '1' if this call repeats one whose reply was lost, then
-- the entry's fields and values, with the four that name a chunk first (segment, take, chunk, discard) and the data
-- last. Returns the entry's id.
-- Writes: K.audio, K.audio_ended, K.audio_bytes and K.audio_total (sums of the data). When all streams are over their
-- bound, those of finished jobs give way, oldest end first, then the job's own, always oldest entries first. The newest
-- entry of a job that goes on stays: so all streams together exceed their bound by one entry of each such job at most.
local job, max_bytes, max_total_bytes, again = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4] == '1'
local stream = K.audio .. job

local function written_before()
  for _, entry in ipairs(call('XREVRANGE', stream, '+', '-', 'COUNT', 256)) do
    local same = true
    for place = 1, 8 do same = same and entry[2][place] == ARGV[4 + place] end
    if same then return entry[1] end
  end
  return false
end
local id = again and written_before()
if id then return id end

local function count(name, bytes)
  if bytes == 0 then bytes = 0 end -- Redis up to 7.0 writes the -0 of an empty chunk that is dropped as -0
  call('HINCRBY', K.audio_bytes, name, bytes)
  call('INCRBY', K.audio_total, bytes)
end

local function exceeds(name, bound)
  return tonumber(call('HGET', K.audio_bytes, name)) > bound
end

local function is_full()
  return tonumber(call('GET', K.audio_total)) > max_total_bytes
end

local function drop_oldest(name)
  local oldest = call('XRANGE', K.audio .. name, '-', '+', 'COUNT', 1)[1]
  call('XDEL', K.audio .. name, oldest[1])
  count(name, -#oldest[2][#oldest[2]])
end

-- The other job whose stream will expire next: it ended first.
local function ended_first()
  for _, name in ipairs(call('ZRANGE', K.audio_ended, 0, 1)) do
    if name ~= job then return name end
  end
end

-- What an earlier release wrote is counted, but not in K.audio_ended.
local function note_ended()
  for _, name in ipairs(call('HKEYS', K.audio_bytes)) do
    local left_ms = call('PTTL', K.audio .. name)
    if left_ms == -2 then uncount_audio(name) end
    if left_ms >= 0 then note_audio_end(name, left_ms) end
  end
  return ended_first()
end

local function make_room()
  while is_full() do
    local other = ended_first() or note_ended()
    if not other then break end
    if call('XLEN', K.audio .. other) > 0 then drop_oldest(other) end -- else it has expired
    if call('XLEN', K.audio .. other) == 0 then
      call('DEL', K.audio .. other)
      uncount_audio(other)
    end
  end
  while is_full() and call('XLEN', stream) > 1 do drop_oldest(job) end
end

id = call('XADD', stream, '*', unpack(ARGV, 5))
if call('XLEN', stream) == 1 then uncount_audio(job) end -- an older stream of this job may have expired
count(job, #ARGV[#ARGV])
while exceeds(job, max_bytes) and call('XLEN', stream) > 1 do drop_oldest(job) end
if is_full() then make_room() end
-- A stream written after its job's end would stay for ever.
local state = state_of(job)
if (not state or FINAL[state]) and call('PTTL', stream) == -1 then
  local left_ms = speech_ttl_ms(job) or STREAM_TTL_MS
  call('PEXPIRE', stream, left_ms)
  note_audio_end(job, left_ms)
end
return id
