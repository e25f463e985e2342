"""What the hit manager of this process counts, as Prometheus reads it: the live server shows it
and knows nothing of recruiting."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from hit_manager.counts import Counts


class RecruitingMetrics(Collector):
    """Shows the counts of a process that recruits or pays; money in `currency`."""

    def __init__(self, counts: Counts, currency: str) -> None:
        self._counts = counts
        self._currency = currency

    def collect(self) -> Iterator[Metric]:
        now = self._counts
        yield _by(
            "recruiting_rounds",
            "Rounds of recruiting and paying: done, left to another process, or failed.",
            "result",
            {"done": now.rounds, "stood_by": now.stood_by, "failed": now.failed},
        )
        yield CounterMetricFamily(
            "duologue_recruiting_problems",
            "Problems that rounds told of; one that lasts is told in each.",
            value=now.problems,
        )
        yield _by(
            "recruiting_hits",
            "What rounds did with HITs.",
            "what",
            {
                "posted": now.posted,
                "grown": now.grown,
                "expired": now.expired,
                "strays": now.strays,
                "disposed": now.disposed,
            },
        )
        yield _by(
            "recruiting_payments",
            "What became of payments that rounds tried.",
            "result",
            {
                "paid": now.paid,
                "put_off": now.put_off,
                "held": now.held,
                "failed": now.refused,
            },
        )
        cents = CounterMetricFamily(
            "duologue_recruiting_paid_cents",
            "What went out to people, in the currency's smallest unit, without commission.",
            labels=("currency",),
        )
        cents.add_metric((self._currency,), now.paid_cents)
        yield cents
        if now.last_at is not None:
            yield GaugeMetricFamily(
                "duologue_recruiting_last_round_timestamp_seconds",
                "When the last round ended that did not fail.",
                value=now.last_at,
            )
        yield _by("recruiter_calls", "Calls of the recruiter.", "call", dict(now.calls))
        errors = CounterMetricFamily(
            "duologue_recruiter_errors",
            "Calls that the recruiter did not do, by the kind of error.",
            labels=("call", "kind"),
        )
        for (call, kind), number in dict(now.errors).items():
            errors.add_metric((call, kind), number)
        yield errors


def _by(name: str, help_: str, label: str, values: dict[str, int]) -> Metric:
    family = CounterMetricFamily(f"duologue_{name}", help_, labels=(label,))
    for value, number in values.items():
        family.add_metric((value,), number)
    return family
