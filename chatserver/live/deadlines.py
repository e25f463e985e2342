"""Moments at which the rules must be asked again, in a Redis sorted set, by Redis TIME.

Any process serves them. A claim moves a deadline 30 s on, so that a process that dies with it
loses nothing; it is removed after the commit. What a deadline means is judged by the pure
rules on the reloaded state, so firing twice, late or stale changes nothing.

Time here is service time: Redis TIME less the seconds in which no process was healthy. An
outage of ours therefore shortens nobody's limit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from redis.asyncio import Redis

from chatserver.live.batcher import Batcher
from dialogs.dialog import PRESENCE_S, Deadline, DeadlineKind, deadlines
from dialogs.rules import Role
from dialogs.state import DialogState
from pairing.keys import Keys

CLAIM_S: Final = 30.0
PAUSE_S: Final = 0.2
"""How long arming waits for company, in seconds: nothing here is about fractions of a second."""


class ArrivalDeadline(StrEnum):
    """Deadlines that belong to an arrival instead of a dialog."""

    EXPIRY = "expiry"


class Due(NamedTuple):
    """A deadline: its kind, whose it is (dialog or arrival id), and what armed it.

    `stretch` counts how often signs of typing have prolonged this turn.
    """

    kind: DeadlineKind | ArrivalDeadline
    subject: str
    role: Role | None = None
    seq: int = 0
    stretch: int = 0

    def member(self) -> str:
        return f"{self.kind}|{self.subject}|{self.role or ''}|{self.seq}|{self.stretch}"

    @classmethod
    def parse(cls, member: str) -> Due:
        kind, subject, role, seq, stretch = member.split("|")
        known = ArrivalDeadline if kind in set(ArrivalDeadline) else DeadlineKind
        return cls(known(kind), subject, Role(role) if role else None, int(seq), int(stretch))

    def named(self) -> dict[str, str]:
        """Whose it is, for programs that read the log."""
        return {"arrival" if isinstance(self.kind, ArrivalDeadline) else "dialog": self.subject}

    @classmethod
    def of(cls, dialog_id: str, deadline: Deadline) -> Due:
        return cls(deadline.kind, dialog_id, deadline.role, deadline.seq)


class Order(NamedTuple):
    """What is to happen to one member of the set: `set` and `new` as in `_ARM`, or `rem`."""

    mode: str
    due: Due
    delay_s: float = 0.0


@dataclass(slots=True)
class Change:
    """What has become of a dialog since deadlines were last sent: its state then and now."""

    before: DialogState
    after: DialogState


@dataclass(frozen=True, slots=True)
class Claim:
    due: Due
    score: float


# KEYS: deadlines, clock. The clock is a hash: `lost` = seconds of outage so far, `alive` = when
# a healthy process last said so.
_NOW = """
local t = redis.call('TIME')
local raw = t[1] + t[2] / 1000000
local now = raw - tonumber(redis.call('HGET', KEYS[2], 'lost') or '0')
"""

# ARGV: number of members to remove, those members, then (mode, member, delay) triples.
# Mode 'set' moves a deadline, 'new' leaves one that exists.
_ARM = (
    _NOW
    + """
local n = tonumber(ARGV[1])
for i = 2, n + 1 do redis.call('ZREM', KEYS[1], ARGV[i]) end
for i = n + 2, #ARGV, 3 do
  local score = string.format('%.6f', now + tonumber(ARGV[i + 2]))
  if ARGV[i] == 'new' then redis.call('ZADD', KEYS[1], 'NX', score, ARGV[i + 1])
  else redis.call('ZADD', KEYS[1], score, ARGV[i + 1]) end
end
return 0
"""
)

# ARGV: most, claim length. Returns member, score pairs.
_CLAIM = (
    _NOW
    + """
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])
local out = {}
for _, member in ipairs(due) do
  local score = string.format('%.6f', now + tonumber(ARGV[2]))
  redis.call('ZADD', KEYS[1], score, member)
  out[#out + 1] = member
  out[#out + 1] = score
end
return out
"""
)

# Remove a claimed deadline unless it was armed anew meanwhile. ARGV: member, score.
_DONE = """
local score = redis.call('ZSCORE', KEYS[1], ARGV[1])
if score and math.abs(tonumber(score) - tonumber(ARGV[2])) < 0.0005 then
  return redis.call('ZREM', KEYS[1], ARGV[1])
end
return 0
"""

# A write that changes nothing of meaning: a Redis whose disk is full still answers reads.
_PROBE = """
local t = redis.call('TIME')
local raw = t[1] + t[2] / 1000000
redis.call('HSET', KEYS[2], 'probed', string.format('%.6f', raw))
return string.format('%.6f', raw)
"""

# A healthy process says so. ARGV: longest silence that is no outage (s). Returns Redis TIME.
_ALIVE = """
local t = redis.call('TIME')
local raw = t[1] + t[2] / 1000000
local last = redis.call('HGET', KEYS[2], 'alive')
if last and raw - tonumber(last) > tonumber(ARGV[1]) then
  redis.call('HINCRBYFLOAT', KEYS[2], 'lost', string.format('%.6f', raw - tonumber(last)))
end
redis.call('HSET', KEYS[2], 'alive', string.format('%.6f', raw))
return string.format('%.6f', raw)
"""


class Deadlines:
    """The deadlines of a study. Arming is gathered and sent in the background.

    `presence_s` is how long a page may be silent, `stretches` how many limits a turn can have.
    """

    def __init__(
        self, redis: Redis, keys: Keys, *, stretches: int, presence_s: float = PRESENCE_S
    ) -> None:
        self._presence_s = presence_s
        self._stretches = stretches
        self._all_keys = keys
        self._keys = [keys.deadlines, keys.clock]
        self._redis = redis
        self._arm = redis.register_script(_ARM)
        self._claim = redis.register_script(_CLAIM)
        self._done = redis.register_script(_DONE)
        self._alive = redis.register_script(_ALIVE)
        self._probe = redis.register_script(_PROBE)
        self._changes: dict[str, Change] = {}
        self._batcher: Batcher[Order | Change] = Batcher(self._send, "deadlines", pause_s=PAUSE_S)

    def arm(self, due: Due, delay_s: float) -> None:
        """Set a deadline `delay_s` seconds from now, whether or not it is set already."""
        self._batcher.add(Order("set", due, delay_s))

    def arm_missing(self, due: Due, delay_s: float) -> None:
        """Set a deadline unless it is set already."""
        self._batcher.add(Order("new", due, delay_s))

    def full_length(self, deadline: Deadline) -> float:
        """The seconds from what armed this deadline of a dialog until it fires."""
        return self._presence_s if deadline.kind is DeadlineKind.PRESENCE else deadline.delay_s

    def disarm(self, due: Due) -> None:
        """Remove a deadline, and for a turn every stretch of it."""
        for order in self._removal(due):
            self._batcher.add(order)

    def change(self, before: DialogState, after: DialogState) -> None:
        """Arm what a dialog's new state needs and remove what it no longer needs.

        Of several changes until the next call to Redis only the first and the last state count:
        a lively dialog costs no more than a slow one.
        """
        known = self._changes.get(after.dialog_id)
        if known is not None:
            known.after = after
            return
        self._changes[after.dialog_id] = change = Change(before, after)
        self._batcher.add(change)

    def _removal(self, due: Due) -> Iterator[Order]:
        stretches = self._stretches if due.kind is DeadlineKind.TURN else 1
        for n in range(stretches):
            yield Order("rem", due._replace(stretch=n))

    def _orders(self, change: Change) -> Iterator[Order]:
        dialog_id = change.after.dialog_id
        before, after = deadlines(change.before), deadlines(change.after)
        for deadline in before:
            if deadline not in after:
                yield from self._removal(Due.of(dialog_id, deadline))
        for deadline in after:
            if deadline not in before:
                yield Order("set", Due.of(dialog_id, deadline), self.full_length(deadline))

    async def _send(self, items: list[Order | Change]) -> None:
        self._changes.clear()
        # Each member is sent once.
        final: dict[str, Order] = {}
        for item in items:
            for order in [item] if isinstance(item, Order) else self._orders(item):
                member = order.due.member()
                final[member] = _as_one(final.get(member), order)
        removed = [member for member, order in final.items() if order.mode == "rem"]
        armed = [
            field
            for member, order in final.items()
            if order.mode != "rem"
            for field in (order.mode, member, f"{order.delay_s:.6f}")
        ]
        await self._arm(keys=self._keys, args=[len(removed), *removed, *armed])

    async def send(self) -> None:
        """Send what is armed until cancelled."""
        await self._batcher.run()

    async def flushed(self) -> None:
        await self._batcher.flushed()

    async def claim(self, most: int = 50) -> list[Claim]:
        """Take deadlines that are due; each comes again after 30 s unless `done` is called."""
        found: Sequence[bytes] = await self._claim(keys=self._keys, args=[most, CLAIM_S])
        texts = [raw.decode() for raw in found]
        return [
            Claim(Due.parse(member), float(score))
            for member, score in zip(texts[::2], texts[1::2], strict=True)
        ]

    async def done(self, claim: Claim) -> None:
        """The claimed deadline has been dealt with."""
        await self._done(keys=self._keys[:1], args=[claim.due.member(), claim.score])

    async def alive(self, silence_s: float) -> float:
        """Say that a healthy process is at work; returns Redis TIME in seconds.

        When nobody said so for more than `silence_s` seconds, the gap does not count.
        """
        return float(await self._alive(keys=self._keys, args=[silence_s]))

    async def probe(self) -> float:
        """Redis TIME in seconds, if Redis takes writes."""
        return float(await self._probe(keys=self._keys))

    async def redis_time(self) -> float:
        seconds, micros = await self._redis.time()
        return float(seconds) + float(micros) / 1e6

    async def forget_all(self) -> None:
        """Remove every deadline; the sweep arms them anew at full length."""
        await self._redis.delete(self._keys[0])

    async def typed(self, dialog_id: str, role: Role, turn_seq: int, lasting_s: float) -> None:
        """Remember for `lasting_s` seconds that somebody typed in this turn."""
        lasting_ms = max(int(lasting_s * 1000), 1)
        await self._redis.set(self._typing(dialog_id, role, turn_seq), 1, px=lasting_ms)

    async def was_typing(self, dialog_id: str, role: Role, turn_seq: int) -> bool:
        """Whether a sign of typing in this turn is remembered."""
        return bool(await self._redis.exists(self._typing(dialog_id, role, turn_seq)))

    def _typing(self, dialog_id: str, role: Role, turn_seq: int) -> str:
        return self._all_keys.typing(f"{dialog_id}:{role}:{turn_seq}")


def _as_one(earlier: Order | None, later: Order) -> Order:
    """What two orders about one member come to: the later one, but that what is to be set only if
    it is missing is there by then, or is missing by then."""
    if earlier is None or later.mode != "new":
        return later
    return later._replace(mode="set") if earlier.mode == "rem" else earlier


async def every(seconds: float, stop: asyncio.Event) -> bool:
    """Wait `seconds`, or less when `stop` is set; False then."""
    try:
        async with asyncio.timeout(seconds):
            await stop.wait()
    except TimeoutError:
        return True
    return False
