"""Review by spreadsheet: what was handed in goes out as a CSV file, and decisions come back.

A row is one arrival that ended. In the column `decision`, a person writes `approve` or `reject`
about its pay, and in the column `verdict`, `accept` or `reject` about its dialog as data; an empty
cell decides nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from enum import StrEnum
from typing import Final

from dialogs.limits import is_blank, not_a_line
from dialogs.record.reviewing import Reviewed
from dialogs.rules import Acceptance
from hit_manager.csvfiles import CsvError
from hit_manager.recruiters.link import invitation_of

COLUMNS: Final = (
    "arrival",
    "code",
    "image_id",
    "release",
    "dialog",
    "outcome",
    "acceptance",
    "messages",
    "owed_cents",
    "state",
    "handed_in",
    "verdict",
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


@dataclass(frozen=True, slots=True)
class JudgedData:
    """A dialog's verdict in a file, with the line that says so first; that line's arrival has part
    in the dialog, if the file is right. A rejection has a reason."""

    line: int
    arrival_id: str
    dialog_id: str
    acceptance: Acceptance
    reason: str


ACCEPTANCES: Final = {"accept": Acceptance.ACCEPTED, "reject": Acceptance.REJECTED}

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
            each.dialog_id or "",
            each.outcome or "",
            each.acceptance or "",
            each.messages,
            each.owed_cents,
            each.state or "",
            each.status or "",
            "",
            "",
            "",
        )
        yield (*row, invitation_of(each.worker or "")) if invitations else row


_READ: Final = ("arrival", "dialog", "verdict", "decision", "feedback")
"""The columns in which something is looked for; the others are there to be read."""
_LIKENESS: Final = 0.75


def passed_over(names: Collection[str]) -> list[str]:
    """The columns of a file that came back of which nothing is known: a team may add its own.

    Raises:
        CsvError: nothing can be decided in it, or a column seems to be a known one, misspelt.
    """
    own = [name for name in names if name and name not in (*COLUMNS, INVITATION)]
    missing = [name for name in _READ if name not in names]
    for name in own:
        if meant := get_close_matches(name.lower(), missing, n=1, cutoff=_LIKENESS):
            raise CsvError(
                f"line 1: the column {name!r} is none of the file's; is it {meant[0]!r}? Else call "
                "it something else"
            )
    if "verdict" in missing and "decision" in missing:
        raise CsvError(
            "line 1: there is neither a column 'verdict' nor a column 'decision'; what is to be "
            "done is written there"
        )
    return own


def _texts(line: int, row: Mapping[str, str]) -> dict[str, str]:
    """What a row says, trimmed, with what cannot be seen as nothing.

    Raises:
        CsvError: a text is none that the record or a recruiter would take.
    """
    found = {}
    for name in _READ:
        text = row.get(name, "").strip()
        if problem := not_a_line(text):
            raise CsvError(f"line {line}: {name} {problem}")
        found[name] = "" if is_blank(text) else text
    return found


def decisions(rows: Iterable[tuple[int, Mapping[str, str]]]) -> list[Decided]:
    """The decisions in a file that came back. Files without the column have none.

    Raises:
        CsvError: a text cannot be stored, a decision is neither `approve` nor `reject`, a
            rejection gives no reason, or an arrival is decided on twice.
    """
    found: list[Decided] = []
    lines: dict[str, int] = {}
    for line, row in rows:
        texts = _texts(line, row)
        said = texts["decision"].lower()
        if not said:
            continue
        if said not in set(Verdict):
            raise CsvError(f"line {line}: decision must be approve, reject or empty, not {said!r}")
        arrival, feedback = texts["arrival"], texts["feedback"]
        if (earlier := lines.setdefault(arrival, line)) != line:
            raise CsvError(f"line {line}: the arrival {arrival} stands in line {earlier} too")
        if said == Verdict.REJECT and not feedback:
            raise CsvError(f"line {line}: say in feedback why the work is rejected")
        found.append(Decided(line, arrival, Verdict(said), feedback))
    return found


def verdicts(rows: Iterable[tuple[int, Mapping[str, str]]]) -> list[JudgedData]:
    """The verdicts in a file that came back, each dialog once: one of its two rows is enough. Files
    without the column have none.

    Raises:
        CsvError: a text cannot be stored, a verdict is neither `accept` nor `reject`, names no
            dialog, differs from that of the other row of its dialog, or rejects and neither row
            gives a reason.
    """
    found: dict[str, JudgedData] = {}
    for line, row in rows:
        texts = _texts(line, row)
        said = texts["verdict"].lower()
        if not said:
            continue
        acceptance = ACCEPTANCES.get(said)
        if acceptance is None:
            raise CsvError(f"line {line}: verdict must be accept, reject or empty, not {said!r}")
        dialog = texts["dialog"]
        if not dialog:
            raise CsvError(f"line {line}: the verdict is about no dialog")
        reason = texts["feedback"]
        first = found.get(dialog)
        if first is None:
            found[dialog] = JudgedData(line, texts["arrival"], dialog, acceptance, reason)
        elif first.acceptance is not acceptance:
            raise CsvError(f"line {line}: the verdict on {dialog} is not that of line {first.line}")
        elif not first.reason:
            found[dialog] = replace(first, reason=reason)
    for each in found.values():
        if each.acceptance is Acceptance.REJECTED and not each.reason:
            raise CsvError(f"line {each.line}: say in feedback why the dialog is no data")
    return list(found.values())
