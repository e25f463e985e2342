-- Finds two people who fit and a place, and makes a match of them. Appended to common.lua.
-- ARGV: match id, coin (1: the older asks), seconds to start, seconds after which a silent arrival
-- is forgotten, whether one address may hold both seats (1, 0), seed for what is tried at random.
-- Returns {match id, JSON}, 1 if it is worth calling again at once, or false.
--
-- The work of a call is bounded whoever waits: at most 64 people are looked at, 64 items, and
-- 64 * 63 / 2 pairs. People are tried in this order, each with all before them:
--   the 16 oldest; two blocks of 16 at a cursor; 8 at random; the 8 newest.
-- The cursor stays where it finds pairs and goes on where it finds none, so that behind people who
-- fit with nobody the next oldest are served first. Blocks p and p + d are compared, for
-- d = 1, 2, .. and all p, so in a lobby of n where nothing changes every two people meet within
-- (n / 16 + 1) ^ 2 / 2 calls; up to 64 people, in one.

local OLDEST, BLOCK, RANDOM, NEWEST = 16, 16, 8, 8
local PEOPLE = OLDEST + 2 * BLOCK + RANDOM + NEWEST
-- Two people have seen 40 items at most under the usual cap of 20 dialogs: 41 in order suffice.
local IN_ORDER, ITEMS_TRIED = 48, 64
local FORGET_AT_ONCE = 32
local NO_GROUP = string.rep(' ', TAG)

local match_id, coin = ARGV[4], ARGV[5] == '1'
local start_s, forget_s, same_address = tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8] == '1'
math.randomseed(tonumber(ARGV[9]))

-- A whole number from 0 to n - 1.
local function random(n)
  return math.floor(math.random() * n)
end

local silent = call('ZRANGEBYSCORE', BEATS, '-inf', stamp(now - forget_s),
  'LIMIT', 0, FORGET_AT_ONCE)
for _, arrival in ipairs(silent) do
  local abandoned = call('HGET', MATCHED, arrival)
  if abandoned then
    dissolve(abandoned, {})
  end
  forget(arrival)
end

if call('EXISTS', ITEMS) == 0 then
  return false
end

-- --- People and items -----------------------------------------------------------------------

local function read(person)
  local entry = person.entry
  local one = string.find(entry, '\n', 1, true)
  local two = string.find(entry, '\n', one + 1, true)
  local three = string.find(entry, '\n', two + 1, true)
  local who = cjson.decode(string.sub(entry, one + 1, two - 1))
  person.worker, person.language, person.address = who.worker, who.language, who.address
  person.asks, person.answers = who.asks, who.answers
  person.seen = string.sub(entry, two + 1, three - 1)
  person.met = string.sub(entry, three + 1)
  person.busy = call('HEXISTS', WORKERS, who.worker) == 1
end

local function is_in(tags, id)
  local tag = string.sub(id, 1, TAG)
  local at = string.find(tags, tag, 1, true)
  while at and at % TAG ~= 1 do
    at = string.find(tags, tag, at + 1, true)
  end
  return at
end

local items, first_items

-- A mask of 64 bits, in two words: which of `items` the person has not seen.
local function unseen(person)
  if not items then
    if call('ZCARD', ITEMS) <= ITEMS_TRIED then
      items = call('ZRANGE', ITEMS, 0, ITEMS_TRIED - 1)
    else
      items = call('ZRANGE', ITEMS, 0, IN_ORDER - 1)
      local start = IN_ORDER + random(call('ZCARD', ITEMS) - ITEMS_TRIED + 1)
      local others = call('ZRANGE', ITEMS, start, start + ITEMS_TRIED - IN_ORDER - 1)
      for _, item in ipairs(others) do
        items[#items + 1] = item
      end
    end
  end
  local words = {0, 0}
  for i, item in ipairs(items) do
    if not is_in(person.seen, item) then
      local word = i <= 32 and 1 or 2
      words[word] = bit.bor(words[word], bit.lshift(1, (i - 1) % 32))
    end
  end
  person.low, person.high = words[1], words[2]
end

local function item_for(a, b)
  first_items = first_items or call('ZRANGE', ITEMS, 0, 3)
  for _, item in ipairs(first_items) do
    if not is_in(a.seen, item) and not is_in(b.seen, item) then
      return item
    end
  end
  if not a.low then
    unseen(a)
  end
  if not b.low then
    unseen(b)
  end
  local low, high = bit.band(a.low, b.low), bit.band(a.high, b.high)
  if low == 0 and high == 0 then
    return nil
  end
  for i, item in ipairs(items) do
    if bit.band(i <= 32 and low or high, bit.lshift(1, (i - 1) % 32)) ~= 0 then
      return item
    end
  end
end

-- The first item for two people who fit, or nil.
local function fit(a, b)
  if not a.worker then
    read(a)
  end
  if not b.worker then
    read(b)
  end
  if a.worker == b.worker or a.language ~= b.language or a.busy or b.busy
    or not ((a.asks and b.answers) or (b.asks and a.answers))
    or (not same_address and a.address ~= '' and a.address == b.address)
    or is_in(a.met, b.worker) or is_in(b.met, a.worker)
  then
    return nil
  end
  return item_for(a, b)
end

local ghosts = 0
local looked_at = {}
-- Language → those who speak it, as tried. Who is alone with theirs is not even read.
local groups = {}

-- Tries these arrivals, in order, with all that were tried before: the first pair that fits and
-- its item.
local function try(arrivals)
  if #arrivals == 0 then
    return nil
  end
  local entries = call('HMGET', ARRIVALS, unpack(arrivals))
  local beats = call('ZMSCORE', BEATS, unpack(arrivals))
  for i, arrival in ipairs(arrivals) do
    if not looked_at[arrival] then
      looked_at[arrival] = true
      if not (entries[i] and beats[i] and tonumber(beats[i]) >= fresh_since) then
        ghosts = ghosts + 1
        call('ZREM', LOBBY, arrival)
      else
        local group = string.sub(entries[i], 1, TAG)
        local person = {arrival = arrival, entry = entries[i]}
        local others = groups[group]
        if not others then
          groups[group] = {person}
        elseif group ~= NO_GROUP then
          for _, other in ipairs(others) do
            local item = fit(other, person)
            if item then
              return other, person, item
            end
          end
          others[#others + 1] = person
        end
      end
    end
  end
  return nil
end

local function find()
  local size = call('ZCARD', LOBBY)
  if size <= PEOPLE then
    return try(call('ZRANGE', LOBBY, 0, PEOPLE - 1))
  end
  local a, b, item = try(call('ZRANGE', LOBBY, 0, OLDEST - 1))
  if a then
    return a, b, item
  end
  local blocks = math.ceil(size / BLOCK)
  local p, d = string.match(call('GET', CURSOR) or '0 1', '(%d+) (%d+)')
  p, d = tonumber(p), tonumber(d)
  if p >= blocks then
    p, d = 0, d + 1
  end
  if d > math.floor(blocks / 2) then
    d = 1
  end
  for _, i in ipairs({p, (p + d) % blocks}) do
    a, b, item = try(call('ZRANGE', LOBBY, i * BLOCK, i * BLOCK + BLOCK - 1))
    if a then
      return a, b, item
    end
  end
  call('SET', CURSOR, (p + 1) .. ' ' .. d, 'EX', DAY)
  -- ZRANDMEMBER costs 4 µs a member, a rank 1.
  local some = {}
  for _ = 1, RANDOM do
    local rank = random(size)
    -- None where ghosts have left since.
    some[#some + 1] = call('ZRANGE', LOBBY, rank, rank)[1]
  end
  a, b, item = try(some)
  if a then
    return a, b, item
  end
  return try(call('ZRANGE', LOBBY, -NEWEST, -1))
end

local a, b, item = find()
if not a then
  return ghosts > 0 and 1 or false
end

-- --- The match ------------------------------------------------------------------------------

local order = call('ZSCORE', ITEMS, item)
local number = string.match(call('HGET', NUMBERS, item) or '', '%d+')
if not number then
  call('ZREM', ITEMS, item)
  return 1
end
take(item, number)

local function waited(person)
  return stamp(math.max(now - tonumber(ready_at(person.entry)), 0))
end

local asking, answering = a, b
if not (a.asks and b.answers) or (b.asks and a.answers and not coin) then
  asking, answering = b, a
end
local raw = cjson.encode({
  q = asking.arrival, qw = asking.worker, a = answering.arrival, aw = answering.worker,
  item = item, n = number, order = order, by = stamp(now + start_s), started = {},
  waits = {waited(a), waited(b)},
})
call('ZREM', LOBBY, a.arrival, b.arrival)
call('HSET', MATCHED, a.arrival, match_id, b.arrival, match_id)
call('HSET', WORKERS, a.worker, match_id, b.worker, match_id)
call('HSET', HELD, place_of(item, number), match_id)
call('HSET', MATCHES, match_id, raw)
call('ZADD', DUE, stamp(now + start_s), match_id)
expire(MATCHED, WORKERS, HELD, MATCHES, DUE)
return {match_id, raw}
