-- Places become free and are withdrawn. Appended to common.lua.
-- ARGV: (item, number)*; returns how many places became free or were taken.

local changed = 0
for i = 4, #ARGV, 2 do
  local item, number = ARGV[i], ARGV[i + 1]
  local place = place_of(item, number)
  local holder = call('HGET', HELD, place)
  if op == 'withdraw' then
    if holder and string.sub(holder, 1, 1) ~= '!' then
      call('HSET', HELD, place, '!' .. holder)
    end
    if take(item, number) then
      changed = changed + 1
    end
  else
    if op == 'offer' then
      call('ZREM', SEALED, place)
    end
    local sealed = call('ZSCORE', SEALED, place)
    if holder then
      call('HSET', HELD, place, (string.gsub(holder, '^!', '')))
    elseif not (sealed and tonumber(sealed) > now - 60) and give(item, number) then
      changed = changed + 1
    end
  end
end
if op ~= 'withdraw' and changed > 0 then
  -- Who was in vain compared before may fit now: begin again with the oldest.
  call('DEL', CURSOR)
end
expire(unpack(KEYS))
return changed
