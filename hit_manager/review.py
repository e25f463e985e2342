"""Review by spreadsheet: what was handed in goes out as a CSV file, and decisions come back.

A row is one arrival that ended. In the column `decision`, a person writes `approve` or `reject`;
an empty cell decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from dialogs.record.reviewing import Reviewed
from hit_manager.csvfiles import CsvError
from hit_manager.recruiters.link import invitation_of

COLUMNS: Final = (
    "arrival",
    "code",
    "image_id",
    "release",
    "outcome",
    "messages",
    "owed_cents",
    "state",
    "handed_in",
    "decision",
    "feedback",
)


class Verdict(StrEnum):
    """What a person decided about one arrival's pay."""

    APPROVE = "approve"
    REJECT = "reject"


@dataclass(frozen=True, slots=True)
class Decided:
    """One decision of a file, with the line it stands in."""

    line: int
    arrival_id: str
    verdict: Verdict
    feedback: str


INVITATION: Final = "invitation"
"""The column with the codes of those who came by an invitation."""


def table(found: Iterable[Reviewed], *, invitations: bool = False) -> Iterator[tuple[object, ...]]:
    """The rows of the file, its heading first; with `invitations`, each says by which code the
    person came."""
    yield (*COLUMNS, INVITATION) if invitations else COLUMNS
    for each in found:
        row = (
            each.arrival_id,
            each.code,
            each.image_id or "",
            each.release,
            each.outcome or "",
            each.messages,
            each.owed_cents,
            each.state or "",
            each.status or "",
            "",
            "",
        )
        yield (*row, invitation_of(each.worker or "")) if invitations else row


def decisions(rows: Iterable[tuple[int, Mapping[str, str]]]) -> list[Decided]:
    """The decisions in a file that came back.

    Raises:
        CsvError: a decision is neither `approve` nor `reject`, a rejection gives no reason, or an
            arrival is decided on twice.
    """
    found: list[Decided] = []
    lines: dict[str, int] = {}
    for line, row in rows:
        said = row["decision"].strip().lower()
        if not said:
            continue
        if said not in set(Verdict):
            raise CsvError(f"line {line}: decision must be approve, reject or empty, not {said!r}")
        arrival, feedback = row["arrival"].strip(), row.get("feedback", "").strip()
        if (earlier := lines.setdefault(arrival, line)) != line:
            raise CsvError(f"line {line}: the arrival {arrival} stands in line {earlier} too")
        if said == Verdict.REJECT and not feedback:
            raise CsvError(f"line {line}: say in feedback why the work is rejected")
        found.append(Decided(line, arrival, Verdict(said), feedback))
    return found
