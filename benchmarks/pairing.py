"""How long does it take to pair two people, however many wait and however few of them fit?

    python -m benchmarks.pairing [redis URL]

Everybody has seen 20 items and met 20 partners. The number waiting is kept: who is matched is
replaced by somebody new. Each figure stands beside that of 100 waiting in the same run.
`call_us` is what the caller waits for one `match()` (median), `script_us` the part that occupies
Redis (mean).
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
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


async def _measure(client: Redis, name: str, people: list[Waiting], crowd: _Crowd) -> Any:
    """Times `match()`; where it finds pairs, replaces them between the timed rounds."""
    await client.flushdb()
    lobby = Lobby(client, "bench", rng=crowd.rng)
    before = await _memory(client)
    await lobby.join(*people)
    bytes_each = (await _memory(client) - before) / len(people)
    await lobby.offer((_item(i), 1) for i in range(_PLACES))
    times: list[float] = []
    calls, usec, found = 0, 0.0, 0
    for _ in range(_ROUNDS):
        matches: list[Match] = []
        calls_before, usec_before = await _script_use(client)
        for _ in range(_AT_ONCE):
            started = time.perf_counter()
            match = await lobby.match()
            times.append(time.perf_counter() - started)
            if match is not None:
                matches.append(match)
        calls_after, usec_after = await _script_use(client)
        calls, usec = calls + calls_after - calls_before, usec + usec_after - usec_before
        found += len(matches)
        for match in matches:
            await lobby.seal(match)
        await lobby.join(*(crowd.person() for _ in range(2 * len(matches))))
        await lobby.beat([w.arrival_id for w in people[:1000]])
    times.sort()
    return {
        "lobby": name,
        "waiting": len(people),
        "calls": len(times),
        "pairs": found,
        "pairs_per_s": round(found / sum(times), 1),
        "call_us": round(1e6 * times[len(times) // 2], 1),
        "call_p99_us": round(1e6 * times[int(len(times) * 0.99)], 1),
        "script_us": round(usec / calls, 1),
        "bytes_an_arrival": round(bytes_each),
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
    """Measure every lobby, in a database that is emptied. About a minute.

    The result can be written as JSON: `rows`, one a lobby, with times in microseconds and
    `ratio`, the script's time as a multiple of that with 100 waiting.
    """
    client = Redis.from_url(redis_url)
    try:
        crowd = _Crowd()
        rows = [await _measure(client, name, people, crowd) for name, people in _lobbies(crowd)]
        server = (await client.info("server")).get("redis_version")
    finally:
        await client.flushdb()
        await client.aclose()
    base = next(row["script_us"] for row in rows if row["lobby"] == _BASE)
    for row in rows:
        row["ratio"] = round(row["script_us"] / base, 2)
    return {
        "question": "time to make a match",
        "redis_version": server,
        "bound": "a call looks at no more than 64 people, 64 items and 2016 pairs",
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
