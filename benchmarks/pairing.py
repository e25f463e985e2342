"""How long does it take to pair two people, however many wait and however few of them fit?

    python -m benchmarks.pairing [redis URL]

Everybody has seen 20 items and met 20 partners. The number waiting is kept: who is matched is
replaced by somebody new. Each figure stands beside that of 100 waiting in the same run.
`call_us` is what the caller waits for one `match()`, `script_us` the part that occupies Redis; both
are medians.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Final

from redis.asyncio import Redis

from pairing.lobby import Lobby
from pairing.rules import Match, Waiting

_PLACES: Final = 20_000
_ROUNDS: Final = 40
_AT_ONCE: Final = 20
_BASE: Final = "100 waiting, 10 % fit nobody"


@dataclass
class _Crowd:
    """Makes people; `odd` ones speak a language that nobody else speaks."""

    rng: random.Random = field(default_factory=lambda: random.Random(7))
    count: int = 0

    def person(self, *, odd: bool = False, met: frozenset[str] | None = None) -> Waiting:
        self.count += 1
        if met is None:
            met = frozenset(f"worker-{self.rng.randrange(10**9):09d}" for _ in range(20))
        return Waiting(
            arrival_id=f"arrival-{self.count:08d}",
            worker_id=f"worker-{self.count:09d}",
            language=f"odd-{self.count}" if odd else "en",
            ready_at=1_700_000_000.0 + self.count,
            seen=frozenset(_item(self.rng.randrange(_PLACES)) for _ in range(20)),
            met=met,
            dialogs_left=5,
        )


def _item(number: int) -> str:
    return f"item-{number:09d}"


async def _script_use(client: Redis) -> tuple[int, float]:
    """Script calls so far and the microseconds they took in Redis."""
    stats = (await client.info("commandstats")).get("cmdstat_evalsha", {"calls": 0, "usec": 0})
    return int(stats["calls"]), float(stats["usec"])


class _Lobby:
    """A lobby under test, and what was measured of it."""

    def __init__(self, client: Redis, number: int, people: list[Waiting], crowd: _Crowd) -> None:
        self.people, self.found = people, 0
        self.times: list[float] = []
        self.script_us: list[float] = []
        self._client, self._crowd = client, crowd
        # Nobody's page answers heartbeats here.
        self._lobby = Lobby(client, f"bench-{number}", rng=crowd.rng, fresh_s=1e6, forget_s=1e6)

    async def fill(self) -> None:
        before = await _memory(self._client)
        await self._lobby.join(*self.people)
        self.bytes_each = (await _memory(self._client) - before) / len(self.people)
        await self._lobby.offer((_item(i), 1) for i in range(_PLACES))

    async def round(self) -> None:
        """Times some calls of `match()`, and puts new people in the place of those matched."""
        matches: list[Match] = []
        calls_before, usec_before = await _script_use(self._client)
        for _ in range(_AT_ONCE):
            started = time.perf_counter()
            match = await self._lobby.match()
            self.times.append(time.perf_counter() - started)
            if match is not None:
                matches.append(match)
        calls_after, usec_after = await _script_use(self._client)
        self.script_us.append((usec_after - usec_before) / (calls_after - calls_before))
        self.found += len(matches)
        for match in matches:
            await self._lobby.seal(match)
        await self._lobby.join(*(self._crowd.person() for _ in range(2 * len(matches))))

    def row(self, name: str) -> dict[str, Any]:
        return {
            "lobby": name,
            "waiting": len(self.people),
            "calls": len(self.times),
            "pairs": self.found,
            "pairs_per_s": round(self.found / sum(self.times), 1),
            "call_us": round(1e6 * median(self.times), 1),
            "call_p99_us": round(1e6 * sorted(self.times)[int(len(self.times) * 0.99)], 1),
            "script_us": round(median(self.script_us), 1),
            "bytes_an_arrival": round(self.bytes_each),
        }


async def _memory(client: Redis) -> int:
    return int((await client.info("memory"))["used_memory"])


def _lobbies(crowd: _Crowd) -> Iterator[tuple[str, list[Waiting]]]:
    for size in (100, 10_000, 100_000):
        name = f"{size:,} waiting, 10 % fit nobody"
        yield name, [crowd.person(odd=i % 10 == 0) for i in range(size)]
    odd = [crowd.person(odd=True) for _ in range(1_000)]
    yield (
        "100,000 waiting, the first 1,000 fit nobody",
        [
            *odd,
            *(crowd.person() for _ in range(99_000)),
        ],
    )
    for size in (21, 1_000):
        first = crowd.count + 1
        all_of_them = frozenset(f"worker-{first + i:09d}" for i in range(size))
        everybody = [crowd.person(met=all_of_them) for _ in range(size)]
        yield f"{size:,} waiting, everybody has met everybody", everybody
    yield "100,000 waiting, nobody fits anybody", [crowd.person(odd=True) for _ in range(100_000)]


async def run(redis_url: str) -> dict[str, Any]:
    """Measure every lobby, in a database that is emptied. One to two minutes, 250 MB in Redis.

    The result can be written as JSON: `rows`, one a lobby, with times in microseconds and
    `ratio`, the script's time as a multiple of that with 100 waiting.
    """
    crowd = _Crowd()
    async with Redis.from_url(redis_url) as client:
        await client.flushdb()
        lobbies: dict[str, _Lobby] = {}
        for name, people in _lobbies(crowd):
            lobbies[name] = _Lobby(client, len(lobbies), people, crowd)
            await lobbies[name].fill()
        # In turns, so that what else the machine does falls on all of them alike.
        for _ in range(_ROUNDS):
            for lobby in lobbies.values():
                await lobby.round()
        rows = [lobby.row(name) for name, lobby in lobbies.items()]
        server = (await client.info("server")).get("redis_version")
        await client.flushdb()
    base = next(row["script_us"] for row in rows if row["lobby"] == _BASE)
    for row in rows:
        row["ratio"] = round(row["script_us"] / base, 2)
    return {
        "question": "time to make a match",
        "redis_version": server,
        "bound": "a call looks at no more than 64 people, 64 items and 2016 pairs, whoever waits",
        "rows": rows,
    }


def table(result: dict[str, Any]) -> str:
    """The result as a table for people."""
    columns = ("pairs", "pairs_per_s", "call_us", "call_p99_us", "script_us", "ratio")
    width = max(len(row["lobby"]) for row in result["rows"])
    lines = [" ".join([f"{'lobby':<{width}}", *(f"{c:>12}" for c in columns)])]
    for row in result["rows"]:
        lines.append(" ".join([f"{row['lobby']:<{width}}", *(f"{row[c]:>12}" for c in columns)]))
    return "\n".join([*lines, result["bound"]])


if __name__ == "__main__":
    measured = asyncio.run(run(sys.argv[1] if len(sys.argv) > 1 else "redis://127.0.0.1:6379/15"))
    print(table(measured))
    print(json.dumps(measured))
