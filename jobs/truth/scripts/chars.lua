-- Count characters of a token if they are within its quota of the day, in UTC (Gate.count_chars).
-- ARGV: token id, characters, quota, a day in seconds, call. `call` names the call: repeating it (the reply was lost)
-- counts once.
-- Returns 0 if they were counted, else how many ms are left of the day; nothing was counted then.
-- Writes: K.chars (a hash: day, used, call; it goes away after its day).
local key, chars, limit, day_s = K.chars .. ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local now = now_s()
local today = math.floor(now / day_s)
local left_ms = math.max(1, math.ceil(((today + 1) * day_s - now) * 1000))
local kept = call('HMGET', key, 'day', 'used', 'call')
local used = kept[1] == tostring(today) and tonumber(kept[2]) or 0
if kept[3] == ARGV[5] then return 0 end
if used + chars > limit then return left_ms end

call('HSET', key, 'day', today, 'used', used + chars, 'call', ARGV[5])
call('PEXPIRE', key, left_ms)
return 0
