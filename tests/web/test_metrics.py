"""What Prometheus is shown: right figures, no people, to whom it is meant, and at little cost."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

from chatserver.metrics import ANSWER_WITHIN_S
from chatserver.server import serve
from dialogs.record.figures import figures
from duologue.recruiting_metrics import RecruitingMetrics
from hit_manager.counts import Counts
from hit_manager.outbox import Paid
from hit_manager.reconciler import Report
from tests.live import Live, eventually
from tests.services import PostgresServer

TOKEN = "a token that only Prometheus knows"


class Shown:
    """An exposition, as Prometheus reads it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.families: list[Metric] = list(text_string_to_metric_families(text))
        self._values = {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in self.families
            for sample in family.samples
        }

    def __call__(self, name: str, **labels: str) -> float:
        return self._values[f"duologue_{name}", frozenset(labels.items())]

    @property
    def ours(self) -> Iterable[Metric]:
        return [family for family in self.families if family.name.startswith("duologue_")]


async def shown(live: Live, headers: dict[str, str] | None = None) -> Shown:
    async with live.http.get(f"{live.urls[0]}/metrics", headers=headers) as response:
        assert response.status == 200
        assert response.content_type == "text/plain"
        return Shown(await response.text())


async def shows(live: Live, name: str, value: float, **labels: str) -> Shown:
    """The exposition, as soon as it has this value: it may be a second old."""

    async def ask() -> Shown | None:
        now = await shown(live)
        return now if now(name, **labels) == value else None

    found = await eventually(ask, told=f"{name} {labels} = {value}")
    assert found is not None
    return found


async def refused(live: Live, headers: dict[str, str] | None = None) -> str:
    async with live.http.get(f"{live.urls[0]}/metrics", headers=headers) as response:
        assert response.status == 403
        answer: dict[str, Any] = await response.json()
        return str(answer["error"])


# --- What is shown ---------------------------------------------------------------------------


async def test_a_study_in_figures(live_each: Live) -> None:
    live = live_each
    asker, teller = await live.two(items=3)
    await live.converse(asker, teller, 4)
    assert (await teller.say("out of turn"))["code"] == "not_your_turn"
    (waits,) = await live.people(1)
    await waits.do("ready")

    now = await shows(live, "study_lobby_people", 1)
    assert now("ready") == now("database_up") == now("redis_up") == now("study_read") == 1
    assert now("sockets") == now("pages") == 3
    assert now("dialogs_served") == now("dialogs_opened_total") == 1
    assert now("arrivals_total", recruiter="link") == 3
    assert now("messages_acknowledged_total") == 4
    assert now("message_acknowledgement_seconds_count") == 4
    assert 0 < now("message_acknowledgement_seconds_sum") < 4 * 30
    assert now("messages_refused_total", code="not_your_turn") == 1
    assert now("messages_refused_total", code="bad_text") == 0
    batches = now("writer_batch_decisions_count")
    assert 0 < batches == now("writer_batch_decisions_bucket", le="+Inf")
    assert now("writer_batch_decisions_sum") >= batches
    assert now("writer_failures_total") == now("writer_waiting") == 0
    assert now("study_open") == 1
    assert (now("study_items"), now("study_places"), now("study_places_done")) == (3, 3, 0)
    assert now("study_people", status="seated") == 2
    assert 0 < now("study_lobby_oldest_wait_seconds") < 30
    assert now("study_dialogs_live", phase="paired") == 1
    assert now("study_dialogs_live", phase="solo") == 0

    await live.converse(asker, teller)
    now = await shows(live, "study_places_done", 1)
    assert now("dialogs_ended_total", outcome="complete") == 1
    assert now("study_dialogs_ended_total", outcome="complete") == 1
    assert now("study_payments", state="owed") == 2
    assert now("study_payments_cents", state="owed", currency="USD") == 300


async def test_losses_and_relaunches_are_counted_once_by_two_processes(
    live_postgres: Live,
) -> None:
    live = live_postgres
    await live.begin(items=1)
    await live.serve()
    one = (await live.people(1, live.urls[0]))[0]
    two = (await live.people(1, live.urls[1]))[0]
    asker, teller = await live.pair(one, two)
    await teller.do("leave", {"reason": ""})
    await asker.until(lambda: asker.phase == "solo")
    await live.alone(asker, 10)
    await asker.shows("released")

    both = []
    for url in live.urls:

        async def ask(url: str = url) -> Shown | None:
            async with live.http.get(f"{url}/metrics") as response:
                now = Shown(await response.text())
            return now if now("study_dialogs_ended_total", outcome="solo") else None

        both.append(await eventually(ask))
    assert sum(now("seats_lost_total", why="leave") for now in both if now) == 1
    assert sum(now("dialogs_solo_total") for now in both if now) == 1
    assert sum(now("dialogs_opened_total") for now in both if now) == 1
    assert sum(now("dialogs_ended_total", outcome="solo") for now in both if now) == 1
    assert [now("study_relaunches_total") for now in both if now] == [1, 1]


NAME = re.compile(r"duologue_[a-z]+(_[a-z]+)*")


async def test_names_and_labels_follow_the_rules_and_name_nobody(live: Live) -> None:
    asker, teller = await live.two(items=1)
    await live.converse(asker, teller, 2)
    now = await shows(live, "messages_acknowledged_total", 2)
    for family in now.ours:
        assert NAME.fullmatch(family.name), family.name
        assert family.documentation.endswith("."), family.name
        assert len(family.samples) <= 20, family.name
        for sample in family.samples:
            assert (family.type == "counter") == sample.name.endswith("_total"), sample.name
    rows = [*await live.rows_of("workers"), *await live.rows_of("arrivals")]
    dialogs = await live.rows_of("dialogs")
    hidden = {row.id for row in rows} | {row.id for row in dialogs}
    hidden |= {getattr(row, "external_id", row.id) for row in rows} | {"message 1"}
    assert not [each for each in hidden if each in now.text]


async def test_what_the_hit_manager_counts_is_shown_beside(live: Live) -> None:
    counts = Counts(failed=2)
    counts.did(Report(posted=3, problems=("no money",)), Paid(2, 300, waiting=1), 1_700_000_000.0)
    counts.calls["hits"] += 4
    counts.errors["approve", "not_yet"] += 1
    await live.prepare(items=1)
    collectors = [RecruitingMetrics(counts, "USD")]
    async with (
        serve(live.config, live.database_url, live.redis_url, collectors=collectors) as server,
        live.http.get(f"{server.url}/metrics") as response,
    ):
        now = Shown(await response.text())
    assert now("recruiting_rounds_total", result="done") == 1
    assert now("recruiting_rounds_total", result="failed") == 2
    assert now("recruiting_hits_total", what="posted") == 3
    assert now("recruiting_payments_total", result="paid") == 2
    assert now("recruiting_payments_total", result="put_off") == 1
    assert now("recruiting_paid_cents_total", currency="USD") == 300
    assert now("recruiting_problems_total") == 1
    assert now("recruiting_last_round_timestamp_seconds") == 1_700_000_000
    assert now("recruiter_calls_total", call="hits") == 4
    assert now("recruiter_errors_total", call="approve", kind="not_yet") == 1


# --- To whom ---------------------------------------------------------------------------------


async def test_without_a_token_only_this_machine_is_answered(live: Live) -> None:
    await live.begin()
    await shown(live)
    for name in ("X-Forwarded-For", "Forwarded", "X-Real-IP", "Via"):
        assert "DUOLOGUE_METRICS_TOKEN" in await refused(live, {name: "127.0.0.1"})


async def test_with_a_token_who_bears_it_is_answered(live: Live) -> None:
    await live.begin(metrics_token=TOKEN)
    for given in ("", TOKEN, f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer", "Bearer \xe9\xff"):
        assert TOKEN not in await refused(live, {"Authorization": given} if given else None)
    for given in (f"Bearer {TOKEN}", f"bearer  {TOKEN}"):
        # By whatever way it comes.
        await shown(live, {"Authorization": given, "X-Forwarded-For": "192.0.2.1"})


# --- At what cost ----------------------------------------------------------------------------


@asynccontextmanager
async def counted_reads(live: Live) -> AsyncIterator[list[object]]:
    """How often the figures of the study are read while the context is open."""
    record = live.servers[0].service.record
    read, made = record.read, []

    async def count(query: Any, *args: Any) -> Any:
        made.extend([query] if query is figures else [])
        return await read(query, *args)

    record.read = count  # type: ignore[method-assign, assignment]
    try:
        yield made
    finally:
        record.read = read  # type: ignore[method-assign]


async def test_however_many_ask_the_record_is_asked_once_a_second(live: Live) -> None:
    await live.begin()
    loop = asyncio.get_running_loop()
    async with counted_reads(live) as made:
        began = loop.time()
        for _ in range(5):
            await asyncio.gather(*(shown(live) for _ in range(20)))
        assert 1 <= len(made) <= 1 + (loop.time() - began)


async def test_a_database_that_stands_still_takes_only_its_own_figures_away(
    live_frozen: Live, postgres_server: PostgresServer
) -> None:
    live = live_frozen
    await live.begin()
    await shown(live)
    postgres_server.pause()
    try:
        now = await shows(live, "study_read", 0)
        assert now("redis_up") == 1
        assert "duologue_study_places" not in now.text
        now = await shows(live, "database_up", 0)
        assert now("ready") == 0
        loop = asyncio.get_running_loop()
        async with counted_reads(live) as made:
            began = loop.time()
            await asyncio.gather(*(shown(live) for _ in range(20)))
            # All wait for one question, and for no longer than that may take.
            assert len(made) <= 1 + (loop.time() - began) / ANSWER_WITHIN_S
    finally:
        postgres_server.resume()
    await shows(live, "study_read", 1)
