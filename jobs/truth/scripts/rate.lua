-- Count one request of a token, unless it is over its rate (Gate.count_request): a bucket that fills up evenly.
-- ARGV: token id, requests that the bucket holds, seconds in which it fills.
-- Returns {ms to wait (0: it was counted), requests left, ms until the bucket is full}. A repeated call counts twice.
-- Writes: K.rate (a string: when the bucket is full again; it goes away then).
local key, limit, window_s = K.rate .. ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local now, each_s = now_s(), window_s / limit
local full_at_s = math.max(tonumber(call('GET', key) or 0), now)
local wait_s = full_at_s + each_s - now - window_s
if wait_s > 0 then return {math.max(1, math.ceil(wait_s * 1000)), 0, math.ceil((full_at_s - now) * 1000)} end

full_at_s = full_at_s + each_s
local reset_ms = math.ceil((full_at_s - now) * 1000)
call('SET', key, string.format('%.6f', full_at_s), 'PX', math.max(1, reset_ms))
return {0, math.floor((window_s - (full_at_s - now)) / each_s + 0.000001), reset_ms}
