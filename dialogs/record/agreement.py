"""How far a review has come, and how far reviewers agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from dialogs.record.queries import is_alone
from dialogs.record.tables import admins, dialogs, judgements
from dialogs.rules import Acceptance


@dataclass(frozen=True, slots=True)
class Reviewer:
    """How much one person has judged; of the `twice` that somebody else judged too, they said the
    same `alike` times."""

    admin_id: str
    name: str
    judged: int
    rejected: int
    twice: int
    alike: int


@dataclass(frozen=True, slots=True)
class Reviewed:
    """Dialogs that are decided on, and the agreement on those that two people judged."""

    judged: int
    accepted: int
    rejected: int
    twice: int
    agree: float | None
    kappa: float | None
    reviewers: tuple[Reviewer, ...]


Pairs = Mapping[tuple[Acceptance, Acceptance], int]
"""How often the first person said the one and the second the other."""


def agreement(pairs: Pairs) -> float | None:
    """The share of dialogs on which both said the same; None if there are none."""
    n = sum(pairs.values())
    return sum(count for (a, b), count in pairs.items() if a is b) / n if n else None


def kappa(pairs: Pairs) -> float | None:
    """Cohen's kappa (1960), (p_o - p_e) / (1 - p_e), where p_o is the share on which both agree
    and p_e the one to be expected of two people who judge by chance, each as often for as they
    did. Who was first and who second counts, not who they were.

    None below two dialogs, and where p_e is 1, since both said the same of every dialog: by its
    definition it is 0/0 there, and such dialogs cannot tell agreement from habit.
    """
    n = sum(pairs.values())
    if n < 2:
        return None
    first: Counter[Acceptance] = Counter()
    second: Counter[Acceptance] = Counter()
    for (a, b), count in pairs.items():
        first[a] += count
        second[b] += count
    # In whole numbers, so that what is certain comes out as exactly that.
    expected = sum(first[label] * second[label] for label in Acceptance)
    if expected == n * n:
        return None
    observed = sum(count for (a, b), count in pairs.items() if a is b)
    return (observed * n - expected) / (n * n - expected)


def review_stats(connection: Connection, study_id: str) -> Reviewed:
    """Counts over all judgements of a study."""
    counts = select(
        judgements.c.admin_id,
        judgements.c.decides,
        judgements.c.verdict,
        func.count().label("n"),
    ).group_by(judgements.c.admin_id, judgements.c.decides, judgements.c.verdict)
    if not is_alone(connection, study_id):
        counts = counts.join(dialogs, dialogs.c.id == judgements.c.dialog_id)
        counts = counts.where(dialogs.c.study_id == study_id)
    counted = connection.execute(counts).all()
    decided: Counter[str | None] = Counter()
    judged: Counter[str] = Counter()
    rejected: Counter[str] = Counter()
    for row in counted:
        judged[row.admin_id] += row.n
        rejected[row.admin_id] += row.n if row.verdict == Acceptance.REJECTED.value else 0
        decided[row.verdict] += row.n if row.decides else 0
    first, second = judgements.alias("first"), judgements.alias("second")
    both = connection.execute(
        select(
            first.c.admin_id.label("a"),
            second.c.admin_id.label("b"),
            first.c.verdict.label("said"),
            second.c.verdict.label("also"),
            func.count().label("n"),
        )
        .select_from(second)
        .join(first, (first.c.dialog_id == second.c.dialog_id) & first.c.decides.is_(True))
        .join(dialogs, dialogs.c.id == second.c.dialog_id)
        # Not the bare column: SQLite would begin with all dialogs of the study.
        .where(second.c.decides.is_(False), func.coalesce(dialogs.c.study_id, "") == study_id)
        .group_by(first.c.admin_id, second.c.admin_id, first.c.verdict, second.c.verdict)
    )
    pairs: Counter[tuple[Acceptance, Acceptance]] = Counter()
    twice: Counter[str] = Counter()
    alike: Counter[str] = Counter()
    for row in both:
        pairs[Acceptance(row.said), Acceptance(row.also)] += row.n
        for admin_id in (row.a, row.b):
            twice[admin_id] += row.n
            alike[admin_id] += row.n if row.said == row.also else 0
    names = connection.execute(select(admins.c.id, admins.c.name).order_by(admins.c.name))
    return Reviewed(
        sum(decided.values()),
        decided[Acceptance.ACCEPTED.value],
        decided[Acceptance.REJECTED.value],
        sum(pairs.values()),
        agreement(pairs),
        kappa(pairs),
        tuple(
            Reviewer(row.id, row.name, judged[row.id], rejected[row.id], twice[row.id],
                     alike[row.id])
            for row in names
            if judged[row.id]
        ),
    )  # fmt: skip
