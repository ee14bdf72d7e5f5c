-- Take one of a token's places for speech, or keep it for longer (Gate.speaking).
-- ARGV: token id, request, places (-1: it holds one, whatever others do), ms for which it is kept. Repeating changes nothing.
-- Returns 1 if the request holds a place, 0 if all are taken.
-- Writes: K.speaking (a zset: request -> when its place is free again, unless it is kept for longer).
local key, request, places, lease_ms = K.speaking .. ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local now = now_s()
call('ZREMRANGEBYSCORE', key, '-inf', now)
local held = call('ZSCORE', key, request)
if places >= 0 and not held and call('ZCARD', key) >= places then return 0 end

call('ZADD', key, string.format('%.3f', now + lease_ms / 1000), request)
call('PEXPIRE', key, lease_ms)
return 1
