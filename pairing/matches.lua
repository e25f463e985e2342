-- Matches are started, dissolved and sealed. Appended to common.lua.
-- A match is returned as {match id, JSON}, and as false where there is none.

local LATE_S = 1

local function read(match_id)
  local raw = match_id and call('HGET', MATCHES, match_id)
  return raw and {match_id, raw}
end

if op == 'get' then
  return read(ARGV[4])
end

if op == 'of' then
  return read(call('HGET', MATCHED, ARGV[4]))
end

if op == 'start' then
  local match_id, arrival = ARGV[4], ARGV[5]
  local found = read(match_id)
  if not found then
    return false
  end
  local match = cjson.decode(found[2])
  if match.q ~= arrival and match.a ~= arrival then
    return false
  end
  if not match.started[arrival] and now <= tonumber(match.by) + LATE_S then
    match.started[arrival] = true
    found[2] = cjson.encode(match)
    call('HSET', MATCHES, match_id, found[2])
  end
  return found
end

if op == 'dissolve' then
  -- ARGV: match, arrival to keep*
  local keep = {}
  for i = 5, #ARGV do
    keep[ARGV[i]] = true
  end
  return dissolve(ARGV[4], keep)
end

if op == 'seal' then
  -- ARGV: match, its two arrivals, item, number
  local match_id, item, number = ARGV[4], ARGV[7], ARGV[8]
  local match = close(match_id)
  if match then
    call('LPUSH', WAITS, match.waits[1], match.waits[2])
    call('LTRIM', WAITS, 0, 99)
    expire(WAITS)
  end
  local place = place_of(item, number)
  local holder = call('HGET', HELD, place)
  if holder == match_id or holder == '!' .. match_id then
    call('HDEL', HELD, place)
  end
  -- Somebody may have dissolved the match while its dialog was being stored.
  take(item, number)
  for i = 5, 6 do
    if call('HEXISTS', MATCHED, ARGV[i]) == 0 then
      forget(ARGV[i])
    end
  end
  call('ZADD', SEALED, stamp(now), place)
  call('ZREMRANGEBYSCORE', SEALED, '-inf', stamp(now - 60))
  expire(SEALED)
  return false
end

if op == 'overdue' then
  local found = {}
  local ids = call('ZRANGEBYSCORE', DUE, '-inf', '(' .. stamp(now - LATE_S), 'LIMIT', 0, 100)
  for _, match_id in ipairs(ids) do
    local match = read(match_id)
    if match then
      found[#found + 1] = match
    else
      call('ZREM', DUE, match_id)
    end
  end
  return found
end
