"""`/metrics`: this process and its study in figures, in Prometheus' text format.

What a process counts itself (`duologue_…`) is to be added up over processes. What the record says
of the whole study (`duologue_study_…`) is the same in each, so of those the largest counts. No
label has more values than the code names.
"""

from __future__ import annotations

import asyncio
import ipaddress
import secrets
import time
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sized
from contextlib import suppress
from typing import Final, TypeVar

from aiohttp import hdrs, web
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    GCCollector,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
)
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from chatserver.live.service import LiveService
from chatserver.tally import LATENCIES
from chatserver.wire import ErrorCode
from dialogs.dialog import RefusalCode
from dialogs.record.errors import RecordError
from dialogs.record.figures import Figures, figures
from dialogs.record.writer import MAX_BATCH
from dialogs.rules import ArrivalStatus, HitState, Outcome, SeatEnd, StudyStatus

FRESH_S: Final = 1.0
"""However often it is asked for, all this is found out at most so often, in seconds."""
ANSWER_WITHIN_S: Final = 2.0
"""How long the record may take; after that, what only it knows is left out."""

_BATCHES: Final = (1, 2, 5, 10, 20, 50, 100, 200, MAX_BATCH)

Label = TypeVar("Label", bound=str)

_PROXIED: Final = ("X-Forwarded-For", "Forwarded", "X-Real-IP", "Via")


class Metrics:
    """What a server process shows; `more` are further collectors, from the composition root."""

    def __init__(
        self, service: LiveService, sockets: Sized, more: Iterable[Collector] = ()
    ) -> None:
        self._service = service
        self._registry = CollectorRegistry()
        self._text = b""
        self._made_at = float("-inf")
        self._making: asyncio.Task[None] | None = None
        self._reading: asyncio.Task[Figures | None] | None = None
        self._of_study = _OfStudy(service)
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)
        GCCollector(registry=self._registry)
        for collector in (_OfProcess(service, sockets), self._of_study, *more):
            self._registry.register(collector)

    async def text(self) -> bytes:
        """The exposition, not older than `FRESH_S`."""
        if self._making is None and time.monotonic() - self._made_at >= FRESH_S:
            self._making = asyncio.ensure_future(self._make())
        if self._making is not None:
            # Who hangs up leaves the others their answer.
            await asyncio.shield(self._making)
        return self._text

    async def close(self, _app: web.Application) -> None:
        """Leave nothing running."""
        for task in (self._making, self._reading):
            if task is not None:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    async def _make(self) -> None:
        try:
            self._of_study.figures = await self._figures()
            self._text = generate_latest(self._registry)
            self._made_at = time.monotonic()
        finally:
            self._making = None

    async def _figures(self) -> Figures | None:
        # One question at a time: a database that does not answer is not asked by all threads.
        if self._reading is None:
            self._reading = asyncio.ensure_future(self._read())
        reading = self._reading
        await asyncio.wait([reading], timeout=ANSWER_WITHIN_S)
        if not reading.done():
            return None
        self._reading = None
        return reading.result()

    async def _read(self) -> Figures | None:
        service = self._service
        try:
            return await service.record.read(figures, service.config.study.id, service.now())
        except (RecordError, LookupError):
            return None


class _OfProcess(Collector):
    """What this process counts and has at hand."""

    def __init__(self, service: LiveService, sockets: Sized) -> None:
        self._service = service
        self._sockets = sockets

    def collect(self) -> Iterator[Metric]:
        service = self._service
        health, tally, stats = service.health, service.tally, service.record.writer.stats
        yield InfoMetricFamily(
            "duologue_server",
            "The study that this process serves, and its recruiter.",
            {"study": service.config.study.id, "recruiter": service.door.recruiter},
        )
        yield _gauge(
            "ready", "Whether people may be sent here.", health.ready and not service.stopping
        )
        yield _gauge("database_up", "Whether the database took the last write.", health.database_ok)
        yield _gauge("redis_up", "Whether Redis took the last write.", health.redis_ok)
        yield _gauge("sockets", "Connections of pages, joined or about to.", len(self._sockets))
        yield _gauge("pages", "Pages of people that are connected here.", len(service.hub))
        yield _gauge("dialogs_served", "Dialogs with a page here.", len(service.dialogs.served()))
        yield _counter(
            "arrivals",
            "People who came in.",
            "recruiter",
            {service.door.recruiter: 0} | tally.arrivals,
        )
        yield _counted(
            "messages_acknowledged",
            "Messages acknowledged, repeated ones included.",
            sum(tally.acknowledged),
        )
        yield _histogram(
            "message_acknowledgement_seconds",
            "From a message's arrival at this process until it was acknowledged.",
            dict(zip(LATENCIES, tally.acknowledged, strict=False)),
            tally.acknowledged[-1],
            tally.acknowledged_s,
        )
        yield _counter(
            "messages_refused",
            "Messages refused, by the code of the refusal.",
            "code",
            {code: tally.refused[code] for code in (*RefusalCode, *ErrorCode)},
        )
        yield _counter(
            "seats_lost",
            "Seats lost: after an absence, by the turn's limit, or left.",
            "why",
            {why: tally.lost[why] for why in SeatEnd},
        )
        yield _counted("dialogs_opened", "Dialogs opened.", tally.opened)
        yield _counted("dialogs_solo", "Dialogs of which one person remained.", tally.solo)
        yield _counter(
            "dialogs_ended",
            "Dialogs ended, by outcome.",
            "outcome",
            {each: tally.ended[each] for each in Outcome},
        )
        yield _histogram(
            "writer_batch_decisions",
            "Decisions that were committed together.",
            _batches(stats.sizes),
            0,
            stats.decisions,
        )
        yield _counted("writer_conflicts", "Decisions that were decided anew.", stats.conflicts)
        yield _counted(
            "writer_failures", "Transactions that failed for another reason.", stats.failures
        )
        yield _gauge(
            "writer_waiting",
            "Decisions that wait for a transaction.",
            service.record.writer.waiting,
        )


class _OfStudy(Collector):
    """What the record says of the whole study, as read last; nothing while it cannot be read."""

    figures: Figures | None = None

    def __init__(self, service: LiveService) -> None:
        self._currency = service.config.study.rules.pay.currency

    def collect(self) -> Iterator[Metric]:
        now = self.figures
        yield _gauge(
            "study_read", "Whether the figures of the study could be read.", now is not None
        )
        if now is None:
            return
        yield _gauge(
            "study_open", "Whether the study takes new people.", now.status is StudyStatus.OPEN
        )
        yield _gauge("study_items", "Items.", now.items)
        yield _gauge("study_places", "Dialogs wanted in all.", now.places)
        yield _gauge(
            "study_places_done", "Dialogs wanted that are complete and not rejected.", now.done
        )
        yield _gauges(
            "study_people",
            "Arrivals by where they are in their life.",
            "status",
            {each: now.people[each] for each in ArrivalStatus},
        )
        yield _gauge("study_lobby_people", "Arrivals that wait for a partner.", now.in_lobby)
        yield _gauge(
            "study_lobby_oldest_wait_seconds",
            "The longest wait of those who wait now.",
            now.oldest_wait_s,
        )
        yield _gauges("study_dialogs_live", "Dialogs that go on, by phase.", "phase", now.live)
        yield _counter(
            "study_dialogs_ended", "Dialogs that have ended, by outcome.", "outcome", now.ended
        )
        yield _counted("study_relaunches", "Dialogs to be held once more.", now.relaunches)
        payments = {state: total.payments for state, total in now.ledger.items()}
        yield _gauges("study_payments", "Payments by state.", "state", payments)
        cents = GaugeMetricFamily(
            "duologue_study_payments_cents",
            "What the payments in each state come to, in the currency's smallest unit.",
            labels=("state", "currency"),
        )
        for state, total in now.ledger.items():
            cents.add_metric((state, self._currency), total.cents)
        yield cents
        yield _gauge(
            "study_payments_put_off",
            "Payments that did not go out and are tried again.",
            now.put_off,
        )
        hits = {state: found.hits for state, found in now.hits.items()}
        yield _gauges("study_hits", "HITs by state.", "state", hits)
        yield _gauge(
            "study_hit_seats_free",
            "Seats of open HITs that nobody has taken.",
            now.hits[HitState.OPEN].free,
        )
        yield _counted("study_problems_reported", "Problems that people reported.", now.reported)
        if now.recruits_until is not None:
            yield _gauge(
                "study_recruiting_lease_seconds",
                "For how long a process that recruits and pays still holds the lease.",
                max(now.recruits_until - now.at, 0.0),
            )


def _gauge(name: str, help_: str, value: float) -> Metric:
    return GaugeMetricFamily(f"duologue_{name}", help_, value=float(value))


def _gauges(name: str, help_: str, label: str, values: Mapping[Label, float]) -> Metric:
    family = GaugeMetricFamily(f"duologue_{name}", help_, labels=(label,))
    for value, number in values.items():
        family.add_metric((value,), number)
    return family


def _counted(name: str, help_: str, value: float) -> Metric:
    return CounterMetricFamily(f"duologue_{name}", help_, value=value)


def _counter(name: str, help_: str, label: str, values: Mapping[Label, float]) -> Metric:
    family = CounterMetricFamily(f"duologue_{name}", help_, labels=(label,))
    # A copy: the loop may count on while this is read.
    for value, number in dict(values).items():
        family.add_metric((value,), number)
    return family


def _batches(sizes: Mapping[int, int]) -> dict[int, int]:
    """The transactions of the writer by how many decisions they had at most."""
    counts = dict.fromkeys(_BATCHES, 0)
    for size, number in dict(sizes).items():
        counts[_BATCHES[bisect_left(_BATCHES, size)]] += number
    return counts


def _histogram(
    name: str, help_: str, counts: Mapping[float, int] | Mapping[int, int], more: int, total: float
) -> Metric:
    """From how many lie up to each bound, and how many beyond the last."""
    buckets, so_far = [], 0
    for bound, number in counts.items():
        so_far += number
        buckets.append((str(bound), float(so_far)))
    return HistogramMetricFamily(
        f"duologue_{name}",
        help_,
        buckets=[*buckets, ("+Inf", float(so_far + more))],
        sum_value=total,
    )


# --- Who may see it ------------------------------------------------------------------------


def why_not(request: web.Request, token: str) -> str | None:
    """Why this request may not see the metrics, if it may not.

    With a `token`, whoever bears it; without one, programs on this machine that come directly:
    behind a proxy everybody has this machine's address.
    """
    if token:
        scheme, _, given = request.headers.get(hdrs.AUTHORIZATION, "").partition(" ")
        # As bytes: characters that are not ASCII cannot be compared.
        borne = given.strip().encode(errors="replace")
        if scheme.lower() == "bearer" and secrets.compare_digest(borne, token.encode()):
            return None
        return "Metrics are for those who bear the token of DUOLOGUE_METRICS_TOKEN."
    if _is_loopback(request.remote) and not any(name in request.headers for name in _PROXIED):
        return None
    return (
        "Without DUOLOGUE_METRICS_TOKEN, metrics are only for this machine, and not through a "
        "proxy."
    )


def _is_loopback(address: str | None) -> bool:
    try:
        return ipaddress.ip_address(address or "").is_loopback
    except ValueError:
        return False


def exposition(text: bytes) -> web.Response:
    return web.Response(body=text, headers={hdrs.CONTENT_TYPE: CONTENT_TYPE_LATEST})
