"""One chaos run from start to verdict: a cluster, a crowd, what is done to them, the evidence."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import psycopg

from tests.chaos.checker import check, report
from tests.chaos.cluster import Cluster, ended, running_cluster, start_process
from tests.chaos.crowd import Crowd, run_crowd
from tests.chaos.evidence import Evidence, read_logs, read_tables
from tests.chaos.faults import Damage
from tests.chaos.stalls import STALLS_FILE, merged, read_stalls, watch_stalls
from tests.chaos.violations import Violation

SETTLED_WITHIN_S: Final = 75.0
"""After the last person has gone and everything runs: the longest deadline, and some more."""

RUINED_WITHIN_S: Final = 60.0
"""After the last person has gone: what still is to be done to the cluster."""

MIX: Final = "normal=66,slow=4,leaver=10,flaky=14,two_tabs=3,spammer=2,silent=1"

Ruin = Callable[[Cluster, Damage], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run."""

    evidence: Evidence
    violations: Sequence[Violation]
    damage: Damage
    crowd_seconds: float
    seconds: float
    everybody_done: bool
    durability: dict[str, str] = field(default_factory=dict)

    def report(self) -> str:
        return report(self.evidence, self.violations)

    def summary(self, title: str) -> str:
        """A few lines for the end of a test run."""
        people, damage = self.evidence.people, self.damage
        acked = {line["key"] for person in people for line in person.of("acked")}
        outcomes = Counter(dialog.row["outcome"] for dialog in self.evidence.dialogs.values())
        done = Counter(recovery.fault for recovery in damage.recoveries)
        recovery = max((r.seconds for r in damage.recoveries), default=0.0)
        waits = sorted(acknowledgement_waits(self.evidence))
        lines = {
            "people": f"{len(people)}, "
            + ", ".join(f"{n} {kind}" for kind, n in Counter(p.kind for p in people).items()),
            "messages acknowledged": len(acked),
            "dialogs": f"{len(self.evidence.dialogs)}, "
            + ", ".join(f"{n} {outcome}" for outcome, n in outcomes.items()),
            "faults": ", ".join(f"{n} × {what}" for what, n in done.items()),
            "worst time until all was ready again": f"{recovery:.1f} s" if recovery else "-",
            "a message waited for its acknowledgement": f"{statistics.median(waits):.3f} s "
            f"(median), {waits[-1]:.1f} s (longest)"
            if waits
            else "-",
            "took": f"{self.seconds:.0f} s ({self.crowd_seconds:.0f} s of it with people)",
            "violations": len(self.violations),
        }
        return "\n".join((title, *(f"  {name}: {value}" for name, value in lines.items())))


def acknowledgement_waits(evidence: Evidence) -> list[float]:
    """Seconds from the first sending of each message to its first acknowledgement."""
    waits = []
    for person in evidence.people:
        first: dict[str, float] = {}
        for line in person.of("sent", "acked"):
            if line["event"] == "sent":
                first.setdefault(line["key"], line["at"])
            elif line["key"] in first:
                waits.append(line["at"] - first.pop(line["key"]))
    return waits


async def run(
    folder: Path, crowd: Crowd, ruin: Ruin, *, items: int, stay_s: float | None = None
) -> Outcome:
    """Let the crowd come while `ruin` does its work, wait until all has settled, and check.

    `ruin` starts the servers, and leaves everything running. `crowd` gets its addresses and
    folder here. With `stay_s` the people are swept away so long after the ruin is complete, and
    nothing is waited for: most of what is open then counts as a violation.
    """
    began = time.monotonic()
    damage = Damage()
    async with running_cluster(folder, items=items) as cluster:
        crowd = replace(crowd, urls=cluster.urls, folder=folder / "logs")
        people = start_process(run_crowd, crowd, folder / "crowd.log")
        crowd_began = time.monotonic()
        watch = asyncio.ensure_future(watch_stalls(folder / STALLS_FILE))
        ruining = asyncio.ensure_future(ruin(cluster, damage))
        going = asyncio.ensure_future(ended(people))
        try:
            await asyncio.wait((going, ruining), return_when=asyncio.FIRST_COMPLETED)
            if ruining.done():
                ruining.result()
                await asyncio.wait((going,), timeout=stay_s)
                people.kill()
            await going
            crowd_seconds = time.monotonic() - crowd_began
            async with asyncio.timeout(RUINED_WITHIN_S):
                await ruining
            if stay_s is None:
                await _settled(cluster)
        finally:
            for task in (ruining, going, watch):
                task.cancel()
            people.kill()
            people.join()
        durability = _durability(cluster.database_url)
        for server in cluster.servers:
            await server.stop()
        crowd_stalls = crowd.folder / STALLS_FILE
        told = (f"{line.at:.3f} {line.what}\n" for line in cluster.journal.lines)
        (folder / "journal.txt").write_text("".join(told), encoding="utf-8")
        evidence = Evidence(
            read_tables(cluster.database_url),
            read_logs([crowd.folder]),
            cluster.journal.lines,
            merged((*damage.outages, *read_stalls((folder / STALLS_FILE, crowd_stalls)))),
        )
    return Outcome(
        evidence,
        check(evidence),
        damage,
        crowd_seconds,
        time.monotonic() - began,
        people.exitcode == 0,
        durability,
    )


async def _settled(cluster: Cluster) -> None:
    """Wait until every dialog has ended and everybody is released, or should have been."""
    give_up_at = time.monotonic() + SETTLED_WITHIN_S
    while time.monotonic() < give_up_at:
        if not await asyncio.to_thread(_open, cluster.database_url):
            return
        await asyncio.sleep(0.2)


def _open(database_url: str) -> int:
    """How many dialogs and arrivals have not come to their end."""
    with psycopg.connect(database_url) as connection:
        row = connection.execute(
            "SELECT (SELECT count(*) FROM dialogs WHERE phase <> 'ended')"
            " + (SELECT count(*) FROM arrivals WHERE status <> 'released')"
        ).fetchone()
    assert row is not None, "a count has a row"
    return int(row[0])


def _durability(database_url: str) -> dict[str, str]:
    with psycopg.connect(database_url) as connection:
        return {
            name: str(connection.execute(f"SHOW {name}").fetchone()[0])  # type: ignore[index]
            for name in ("fsync", "synchronous_commit", "full_page_writes")
        }
