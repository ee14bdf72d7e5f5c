-- How much waits and is held (Truth.depth). ARGV: none.
-- Returns how many segments wait in the classes 0, 1, 2, then how many workers hold, then steps in the outbox. Suspects wait in their own class;
-- what waits in paused jobs counts for nothing. Writes: nothing.
local depth = {0, 0, 0, 0}
local function count(place, segments)
  depth[place] = depth[place] + segments
end
for class = 0, 2 do
  for _, job in ipairs(call('ZRANGE', K.ready .. class, 0, -1)) do count(class + 1, call('ZCARD', K.waiting .. job)) end
end
for _, text in ipairs(call('LRANGE', K.suspects, 0, -1)) do
  for _, ref in ipairs(cjson.decode(text)) do
    local about = call('HMGET', K.job .. split(ref), 'state', 'class')
    if is_open(about[1]) then count(about[2] + 1, 1) end
  end
end
for _, worker in ipairs(call('ZRANGE', K.workers, 0, -1)) do count(4, call('SCARD', K.held .. worker)) end
depth[5] = call('XLEN', K.outbox)
return depth
