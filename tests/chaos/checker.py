"""Decides from the workers' own logs and the record whether anything was broken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tests.chaos.client_rules import check_clients
from tests.chaos.evidence import Evidence
from tests.chaos.history import history
from tests.chaos.record_rules import check_record
from tests.chaos.violations import Rule, Violation

HISTORIES = 3
"""How many of the broken dialogs are told in full."""


def check(evidence: Evidence) -> list[Violation]:
    """Every violation, none twice, the worst first."""
    found = dict.fromkeys((*check_clients(evidence), *check_record(evidence)))
    order = list(Rule)
    return sorted(found, key=lambda violation: order.index(violation.rule))


def report(evidence: Evidence, violations: Sequence[Violation]) -> str:
    """The violations for a person, with what happened in the first of the dialogs concerned."""
    counts = Counter(violation.rule for violation in violations)
    lines = [f"{count} × {rule.name}: {rule}" for rule, count in counts.most_common()]
    lines += ["", *(str(violation) for violation in violations[:40])]
    told: set[tuple[str | None, str | None]] = set()
    for violation in violations:
        subject = (violation.dialog_id, violation.arrival_id if not violation.dialog_id else None)
        if subject not in told and len(told) < HISTORIES:
            told.add(subject)
            lines += ["", str(violation), *history(evidence, violation)]
    return "\n".join(lines)
