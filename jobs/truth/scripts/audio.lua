-- Append a chunk to a job's live audio stream and keep it within its bound and all streams within theirs
-- (Streams.write_audio). ARGV: job, max_bytes, max_total_bytes, '1' if this call repeats one whose reply was lost, then
-- the entry's fields and values, with the four that name a chunk first (segment, take, chunk, discard) and the data
-- last. Returns the entry's id.
-- Writes: K.audio, K.audio_bytes and K.audio_total (sums of the data). Trimmed is only the job's own stream, oldest
-- first, its newest entry never: so all streams together exceed their bound by one entry each at most.
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

-- Returns the bytes of the stream and of all streams.
local function count(bytes)
  return call('HINCRBY', K.audio_bytes, job, bytes), call('INCRBY', K.audio_total, bytes)
end

id = call('XADD', stream, '*', unpack(ARGV, 5))
if call('XLEN', stream) == 1 then uncount_audio(job) end -- an older stream of this job may have expired
local bytes, total = count(#ARGV[#ARGV])
if total > max_total_bytes then
  for _, other in ipairs(call('HKEYS', K.audio_bytes)) do
    if call('EXISTS', K.audio .. other) == 0 then uncount_audio(other) end
  end
  total = tonumber(call('GET', K.audio_total))
end
while (bytes > max_bytes or total > max_total_bytes) and call('XLEN', stream) > 1 do
  local oldest = call('XRANGE', stream, '-', '+', 'COUNT', 1)[1]
  call('XDEL', stream, oldest[1])
  bytes, total = count(-#oldest[2][#oldest[2]])
end
-- A stream written after its job's end would stay for ever.
local state = state_of(job)
if (not state or FINAL[state]) and call('PTTL', stream) == -1 then call('PEXPIRE', stream, STREAM_TTL_MS) end
return id
