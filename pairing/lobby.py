"""The lobby: arrivals wait, two of them and a place become a match, a match starts or ends.

Everything here is coordination. Redis may lose it all at any moment: then every method answers as
for an empty lobby, and the server fills it again from the record. Nothing is raised but
`redis.exceptions.RedisError`.

Memory with 100,000 waiting, each having seen 20 items and met 20 partners, is about 0.7 KB an
arrival. An arrival that nobody hears of for `forget_s` is forgotten, and every key expires after a
day in which it is not used.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Sequence
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from random import Random, SystemRandom
from typing import Any, Final, TypeVar

from redis.asyncio import Redis
from redis.commands.core import AsyncScript

from dialogs.rules import Role
from pairing.keys import Keys
from pairing.rules import ArrivalId, Match, MatchSeat, Place, Waiting

FRESH_S: Final = 25.0
START_S: Final = 20.0
FORGET_S: Final = 3600.0

_T = TypeVar("_T")

_CHUNK: Final = 500
"""Arrivals or places a script call; keeps every call under a few milliseconds."""

_TAG: Final = 8

_GHOST_ROUNDS: Final = 16
"""Script calls that one `match` may make, while each of them put ghosts to sleep."""


class Lobby:
    """The arrivals that wait in one study, its free places, and the matches made of them.

    `fresh_s`: an arrival whose last answered heartbeat is older is not matched. `start_s`: how
    long both have to press *start*. `forget_s`: after how long without a heartbeat an arrival is
    dropped. `same_address_allowed`: whether both seats may be behind one address. `rng` makes
    match ids and tosses the coin for the roles. All times are in seconds, by the Redis server's
    clock plus `offset_s`, which only tests set.

    Several processes may use the same study at once; each method that changes something is
    atomic, but for those that say that they work in chunks.
    """

    def __init__(
        self,
        client: Redis,
        study_id: str,
        *,
        fresh_s: float = FRESH_S,
        start_s: float = START_S,
        forget_s: float = FORGET_S,
        same_address_allowed: bool = True,
        rng: Random | None = None,
    ) -> None:
        self.keys = Keys(study_id)
        self.offset_s = 0.0
        self._client = client
        self._fresh_s = fresh_s
        self._start_s = start_s
        self._forget_s = forget_s
        self._same_address_allowed = same_address_allowed
        self._rng = rng or SystemRandom()
        # A script that Redis does not know (any more) is loaded by the call that needs it.
        self._arrivals = client.register_script(_lua("arrivals"))
        self._matches = client.register_script(_lua("matches"))
        self._places = client.register_script(_lua("places"))
        self._match = client.register_script(_lua("match"))

    # --- Arrivals ---

    async def join(self, *waiting: Waiting) -> None:
        """Let these arrivals wait; a call counts as an answered heartbeat of each.

        May be repeated: the earliest `ready_at` stays, everything else is taken from the last
        call. An arrival that is in a match stays there. In chunks.
        """
        for some in _chunks(waiting):
            args: list[str] = []
            for w in some:
                group = _tag(w.language) if w.dialogs_left > 0 else " " * _TAG
                args += (w.arrival_id, group, repr(float(w.ready_at)), _lines(w))
            await self._run(self._arrivals, "join", *args)

    async def leave(self, arrival_id: ArrivalId) -> Match | None:
        """Forget an arrival. If it was in a match, that is dissolved and returned.

        The partner waits again at the old position. Exactly one caller gets the match.
        """
        return _match_or_none(await self._run(self._arrivals, "leave", arrival_id))

    async def beat(self, arrival_ids: Sequence[ArrivalId]) -> list[ArrivalId]:
        """Record that these pages answered a heartbeat; who was asleep is awake again.

        Returns those that are not known here (forgotten, sealed, lost with Redis): whoever of
        them waits by the record must `join` again. In chunks.
        """
        unknown: list[ArrivalId] = []
        for some in _chunks(arrival_ids):
            unknown += map(_text, await self._run(self._arrivals, "beat", *some))
        return unknown

    async def sleep(self, arrival_id: ArrivalId) -> None:
        """The page's socket closed: do not match this arrival before its next heartbeat.

        A match that it is in goes on; should that be dissolved, the arrival is still asleep.
        """
        await self._run(self._arrivals, "sleep", arrival_id)

    async def view(self, arrival_id: ArrivalId) -> tuple[int, int] | None:
        """The position in the queue, from 1, and how many are in it; `None`: not waiting.

        For an arrival that is asleep, the position it would have. O(log n).
        """
        return (await self.views((arrival_id,)))[arrival_id]

    async def views(
        self, arrival_ids: Sequence[ArrivalId]
    ) -> dict[ArrivalId, tuple[int, int] | None]:
        """`view` for many arrivals. In chunks."""
        found: dict[ArrivalId, tuple[int, int] | None] = {}
        for some in _chunks(arrival_ids):
            size, *ranks = await self._run(self._arrivals, "view", *some)
            for arrival_id, rank in zip(some, ranks, strict=True):
                found[arrival_id] = (rank + 1, max(size, rank + 1)) if rank >= 0 else None
        return found

    async def waits(self) -> list[float]:
        """The last 100 waits that ended in a dialog, in seconds, for `rules.estimate`."""
        return [float(w) for w in await self._client.lrange(self.keys.waits, 0, -1)]

    # --- Places ---

    async def offer(self, places: Iterable[Place]) -> None:
        """Make places free, in this order, after those already free. In chunks.

        A place that is free or held by a match stays what it is, but a withdrawal of a held place
        is taken back. Items keep their position while a place of theirs is free.
        """
        await self._change_places("offer", places)

    async def withdraw(self, places: Iterable[Place]) -> None:
        """Take places away; those held by a match do not come back when it ends. In chunks.

        Before dissolving a match because the record refused its place, withdraw that place.
        """
        await self._change_places("withdraw", places)

    async def places(self) -> int:
        """How many places are free; those held by matches do not count."""
        return int(await self._client.get(self.keys.free) or 0)

    async def free_items(self) -> int:
        """How many items have a free place; those held by matches do not count."""
        return int(await self._client.zcard(self.keys.items))

    async def sync_places(self, wanted: Iterable[Place]) -> None:
        """Make the free places those that the record wants, minus what live matches hold.

        `wanted` are all places without a live or complete dialog, in order of priority; what is
        missing comes after what is free. Reads everything and writes only differences, in chunks;
        what matches do meanwhile is respected. A place sealed in the last 60 s is not added:
        `wanted` may have been read before.
        """
        in_order = dict.fromkeys(wanted)
        settled = {place async for place in self._free_places()}
        for field, holder in (await self._client.hgetall(self.keys.held)).items():
            number, _, item_id = _text(field).partition(":")
            if not _text(holder).startswith("!"):
                settled.add((_untagged(item_id), int(number)))
        await self._change_places("withdraw", (p for p in settled if p not in in_order))
        await self._change_places("sync", (p for p in in_order if p not in settled))

    async def _free_places(self) -> AsyncIterator[Place]:
        async for item_id, numbers in self._client.hscan_iter(self.keys.numbers, count=_CHUNK):
            for number in _text(numbers).split():
                yield _untagged(_text(item_id)), int(number)

    async def _change_places(self, op: str, places: Iterable[Place]) -> None:
        for some in _chunks(places):
            args = [part for item_id, number in some for part in (_tagged(item_id), number)]
            await self._run(self._places, op, *args)

    # --- Matches ---

    async def match(self) -> Match | None:
        """Make one match of two compatible arrivals and a free place, oldest first.

        One atomic script call, which looks at no more than 64 people, 64 items and 2016 pairs
        whoever waits: the 16 oldest, 32 at a cursor, 8 at random and the 8 newest; 48 items in
        order and 16 at random. Only while a call puts ghosts to sleep is it repeated, up to 16
        times.

        `None`: nothing was found in this call's share. With up to 64 waiting (and 64 items) that
        is final until something changes; with n waiting call again, a few times a second: the
        cursor compares every two of them within (n / 16 + 1)² / 2 calls.
        """
        match_id = f"{self._rng.getrandbits(96):024x}"
        coin = int(self._rng.random() < 0.5)
        same = int(self._same_address_allowed)
        for _ in range(_GHOST_ROUNDS):
            seed = self._rng.getrandbits(31)
            found = await self._run(
                self._match, "match", match_id, coin, self._start_s, self._forget_s, same, seed
            )
            if found != 1:
                return _match_or_none(found)
        return None

    async def get(self, match_id: str) -> Match | None:
        return _match_or_none(await self._run(self._matches, "get", match_id))

    async def match_of(self, arrival_id: ArrivalId) -> Match | None:
        """The match that this arrival is in."""
        return _match_or_none(await self._run(self._matches, "of", arrival_id))

    async def start(self, match_id: str, arrival_id: ArrivalId) -> Match | None:
        """This arrival pressed *start*. The match as it is now; `None`: no match of theirs.

        May be repeated. A press more than a second after `start_by` does not count, so that what
        `overdue` returns no longer changes.
        """
        return _match_or_none(await self._run(self._matches, "start", match_id, arrival_id))

    async def dissolve(self, match_id: str, keep: Collection[ArrivalId]) -> Match | None:
        """End a proposal; its place is free again unless it was withdrawn.

        Its arrivals in `keep` wait again with their old `ready_at`, asleep if their pages do not
        answer; the others are forgotten. Exactly one caller gets the match.
        """
        return _match_or_none(await self._run(self._matches, "dissolve", match_id, *keep))

    async def seal(self, match: Match) -> None:
        """The dialog is open in the record: forget the match and its arrivals, not the place.

        Also right when the match was dissolved meanwhile: its arrivals leave the lobby and its
        place is taken again. May be repeated.
        """
        place = (_tagged(match.item_id), match.place)
        await self._run(self._matches, "seal", match.match_id, *match.arrivals, *place)

    async def overdue(self) -> list[Match]:
        """Up to 100 matches that ran out more than a second ago, longest first.

        They stay until `dissolve` or `seal`. Both may have started: then a process died with
        the dialog not opened, or with the match not sealed; the record knows.
        """
        return [_match(raw) for raw in await self._run(self._matches, "overdue")]

    # --- How ---

    async def _run(self, script: AsyncScript, op: str, *args: str | int | float) -> Any:
        head = (repr(self.offset_s), repr(self._fresh_s), op)
        return await script(keys=self.keys.pairing, args=(*head, *args))


# --- What the scripts read and write ---------------------------------------------------------


@cache
def _lua(name: str) -> str:
    folder = files("pairing")
    return "\n".join(folder.joinpath(f"{n}.lua").read_text("utf-8") for n in ("common", name))


def _lines(w: Waiting) -> str:
    head = {
        "worker": _tagged(w.worker_id),
        "language": w.language,
        "address": w.address or "",
        "asks": Role.QUESTIONER in w.roles,
        "answers": Role.ANSWERER in w.roles,
    }
    who = json.dumps(head, ensure_ascii=False, separators=(",", ":"))
    return f"{who}\n{''.join(map(_tag, w.seen))}\n{''.join(map(_tag, w.met))}"


def _tag(text: str) -> str:
    """48 bits of a digest in `_TAG` characters. Two ids with one tag look like one person or item
    where "seen" and "met" are asked, which refuses a pair that would be right, never the reverse.
    """
    return urlsafe_b64encode(blake2b(text.encode(), digest_size=6).digest()).decode()


def _tagged(text: str) -> str:
    return _tag(text) + text


def _untagged(text: str) -> str:
    return text[_TAG:]


def _match(raw: Sequence[Any]) -> Match:
    match_id, data = _text(raw[0]), json.loads(raw[1])
    return Match(
        match_id=match_id,
        questioner=MatchSeat(data["q"], _untagged(data["qw"])),
        answerer=MatchSeat(data["a"], _untagged(data["aw"])),
        item_id=_untagged(data["item"]),
        place=int(data["n"]),
        start_by=float(data["by"]),
        started=frozenset(data["started"]),
    )


def _match_or_none(raw: Sequence[Any] | None) -> Match | None:
    return _match(raw) if raw else None


def _text(raw: bytes | str) -> str:
    return raw.decode() if isinstance(raw, bytes) else raw


def _chunks(things: Iterable[_T]) -> Iterator[list[_T]]:
    some: list[_T] = []
    for thing in things:
        some.append(thing)
        if len(some) == _CHUNK:
            yield some
            some = []
    if some:
        yield some
