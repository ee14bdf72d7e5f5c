-- Append a chunk to a job's live audio stream and keep the stream within its bound (Streams.write_audio).
-- ARGV: job, max_bytes, '1' if this call repeats one whose reply was lost, then the entry's fields and values, with
-- the four that name a chunk first (segment, take, chunk, discard) and the data last. Returns the entry's id.
-- Writes: K.audio, K.audio_bytes (sum of the data in the stream). The newest entry is never trimmed.
local job, max_bytes, again = ARGV[1], tonumber(ARGV[2]), ARGV[3] == '1'
local stream, counter = K.audio .. job, K.audio_bytes .. job

local function written_before()
  for _, entry in ipairs(call('XREVRANGE', stream, '+', '-', 'COUNT', 256)) do
    local same = true
    for place = 1, 8 do same = same and entry[2][place] == ARGV[3 + place] end
    if same then return entry[1] end
  end
  return false
end
local id = again and written_before()
if id then return id end

id = call('XADD', stream, '*', unpack(ARGV, 4))
local bytes = #ARGV[#ARGV]
if call('XLEN', stream) == 1 then call('SET', counter, bytes) else bytes = call('INCRBY', counter, bytes) end
while bytes > max_bytes and call('XLEN', stream) > 1 do
  local oldest = call('XRANGE', stream, '-', '+', 'COUNT', 1)[1]
  call('XDEL', stream, oldest[1])
  bytes = call('DECRBY', counter, #oldest[2][#oldest[2]])
end
-- A stream written after its job's end would stay for ever.
local state = state_of(job)
if not state or FINAL[state] then
  for _, key in ipairs({stream, counter}) do
    if call('PTTL', key) == -1 then call('PEXPIRE', key, STREAM_TTL_MS) end
  end
end
return id
