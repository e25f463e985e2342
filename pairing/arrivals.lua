-- Arrivals come, answer heartbeats, fall asleep and leave. Appended to common.lua.
-- Every known arrival is in ARRIVALS and BEATS, and besides in LOBBY (awake), in MATCHED, or in
-- neither (asleep).

if op == 'join' then
  -- ARGV: (arrival, tag of the language, ready_at, the other lines of its entry)*
  for i = 4, #ARGV, 4 do
    local arrival, group, ready, lines = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
    local entry = call('HGET', ARRIVALS, arrival)
    if entry and tonumber(ready_at(entry)) < tonumber(ready) then
      ready = ready_at(entry)
    end
    call('HSET', ARRIVALS, arrival, group .. ready .. '\n' .. lines)
    call('ZADD', BEATS, stamp(now), arrival)
    if call('HEXISTS', MATCHED, arrival) == 0 then
      call('ZADD', LOBBY, ready, arrival)
    end
  end
  expire(ARRIVALS, BEATS, LOBBY)
  return false
end

if op == 'beat' then
  -- ARGV: arrival*; returns those that are not known
  local unknown = {}
  for i = 4, #ARGV do
    local arrival = ARGV[i]
    if call('ZSCORE', LOBBY, arrival) then
      call('ZADD', BEATS, stamp(now), arrival)
    else
      local entry = call('HGET', ARRIVALS, arrival)
      if entry then
        call('ZADD', BEATS, stamp(now), arrival)
        if call('HEXISTS', MATCHED, arrival) == 0 then
          call('ZADD', LOBBY, ready_at(entry), arrival)
        end
      else
        unknown[#unknown + 1] = arrival
      end
    end
  end
  expire(ARRIVALS, BEATS, LOBBY)
  return unknown
end

if op == 'sleep' then
  -- The last heartbeat is made too old, so that the end of a match does not wake it either.
  call('ZREM', LOBBY, ARGV[4])
  call('ZADD', BEATS, 'XX', 'LT', stamp(fresh_since - 1), ARGV[4])
  return false
end

if op == 'leave' then
  local arrival = ARGV[4]
  local match_id = call('HGET', MATCHED, arrival)
  local dissolved = false
  if match_id then
    local raw = call('HGET', MATCHES, match_id)
    local match = raw and cjson.decode(raw)
    dissolved = match and dissolve(match_id, {[match.q] = true, [match.a] = true})
    call('HDEL', MATCHED, arrival)
  end
  forget(arrival)
  return dissolved
end

if op == 'view' then
  -- ARGV: arrival*; returns the size of the lobby, then a rank from 0 for each, -1: not waiting
  local answer = {call('ZCARD', LOBBY)}
  for i = 4, #ARGV do
    local rank = call('ZRANK', LOBBY, ARGV[i])
    if not rank then
      local entry = call('HGET', ARRIVALS, ARGV[i])
      local waiting = entry and call('HEXISTS', MATCHED, ARGV[i]) == 0
      rank = waiting and call('ZCOUNT', LOBBY, '-inf', '(' .. ready_at(entry)) or -1
    end
    answer[#answer + 1] = rank
  end
  return answer
end
