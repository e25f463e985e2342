-- What all scripts of the lobby share: put in front of each of them.
-- ARGV[1] is added to the server's clock (seconds; only tests move it), ARGV[2] is the heartbeat's
-- greatest age (seconds), ARGV[3] the operation.
--
-- Ids of workers and items come with a tag in front, TAG characters of a digest, so that "has a seen
-- this item" is one search in a row of tags, with nothing to decode. An entry of ARRIVALS is four
-- lines: the tag of the language (spaces: over the cap) and ready_at; who it is (JSON); the tags of
-- the items seen; those of the workers met.

local LOBBY, ARRIVALS, BEATS, MATCHES, DUE, MATCHED, WORKERS, ITEMS, NUMBERS, FREE, HELD, SEALED,
  ORDER, CURSOR, WAITS = unpack(KEYS)
local DAY = 86400
local TAG = 8
local call = redis.call

local clock = call('TIME')
local now = tonumber(clock[1]) + tonumber(clock[2]) / 1e6 + tonumber(ARGV[1])
local fresh_since = now - tonumber(ARGV[2])
local op = ARGV[3]

-- Lua prints 14 digits, a time needs 16.
local function stamp(time)
  return string.format('%.6f', time)
end

-- A study that nobody serves any more leaves nothing behind. Reading is cheap; the writes are rare.
local function expire(...)
  for _, key in ipairs({...}) do
    if call('TTL', key) < DAY / 2 then
      call('EXPIRE', key, DAY)
    end
  end
end

local function ready_at(entry)
  return string.match(entry, '^[^\n]+', TAG + 1)
end

local function is_fresh(arrival)
  local beat = call('ZSCORE', BEATS, arrival)
  return beat and tonumber(beat) >= fresh_since
end

local function forget(arrival)
  call('HDEL', ARRIVALS, arrival)
  call('ZREM', LOBBY, arrival)
  call('ZREM', BEATS, arrival)
end

-- --- Places -------------------------------------------------------------------------------

local function place_of(item, number)
  return number .. ':' .. item
end

-- Makes a place free; false if it was. The item keeps its position, or gets `order`, or the last.
local function give(item, number, order)
  local numbers = call('HGET', NUMBERS, item)
  if numbers and string.find(' ' .. numbers .. ' ', ' ' .. number .. ' ', 1, true) then
    return false
  end
  call('HSET', NUMBERS, item, numbers and numbers .. ' ' .. number or number)
  if not numbers then
    call('ZADD', ITEMS, order or call('INCR', ORDER), item)
  end
  call('INCR', FREE)
  expire(NUMBERS, ITEMS, ORDER, FREE)
  return true
end

-- Takes a place that may be free; false if it was not.
local function take(item, number)
  local numbers = call('HGET', NUMBERS, item)
  local left, found = {}, false
  for other in string.gmatch(numbers or '', '%d+') do
    if other == number then
      found = true
    else
      left[#left + 1] = other
    end
  end
  if not found then
    return false
  end
  if #left == 0 then
    call('HDEL', NUMBERS, item)
    call('ZREM', ITEMS, item)
  else
    call('HSET', NUMBERS, item, table.concat(left, ' '))
  end
  call('DECR', FREE)
  return true
end

-- --- Matches ------------------------------------------------------------------------------

local function release(hash, field, match_id)
  if call('HGET', hash, field) == match_id then
    call('HDEL', hash, field)
  end
end

-- Removes a match, and nothing that it holds; nil if there is none.
local function close(match_id)
  local raw = call('HGET', MATCHES, match_id)
  if not raw then
    return nil
  end
  local match = cjson.decode(raw)
  call('HDEL', MATCHES, match_id)
  call('ZREM', DUE, match_id)
  release(MATCHED, match.q, match_id)
  release(MATCHED, match.a, match_id)
  release(WORKERS, match.qw, match_id)
  release(WORKERS, match.aw, match_id)
  return match, raw
end

-- Ends a proposal: the place goes back unless it was withdrawn, the arrivals in `keep` wait again.
local function dissolve(match_id, keep)
  local match, raw = close(match_id)
  if not match then
    return false
  end
  local place = place_of(match.item, match.n)
  local holder = call('HGET', HELD, place)
  if holder == match_id then
    give(match.item, match.n, match.order)
  end
  if holder == match_id or holder == '!' .. match_id then
    call('HDEL', HELD, place)
  end
  for _, arrival in ipairs({match.q, match.a}) do
    local entry = keep[arrival] and call('HGET', ARRIVALS, arrival)
    if not entry then
      forget(arrival)
    elseif is_fresh(arrival) then
      call('ZADD', LOBBY, ready_at(entry), arrival)
      expire(LOBBY)
    end
  end
  return {match_id, raw}
end
