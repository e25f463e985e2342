"""What can be broken, and where it was."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Rule(StrEnum):
    """A promise that a run can break; the worst first."""

    LOST = "acknowledged, and not in the record"
    MISPLACED = "stored elsewhere or otherwise than acknowledged"
    DOUBLED = "stored twice"
    REORDERED = "not in its sender's order"
    PHANTOM = "stored, and never sent or refused"
    DISAGREES = "a page was shown something else than the record holds"
    UNDELIVERED = "a connected page was not shown it in time"
    MISINFORMED = "the worker was told another end than the record's"
    UNFINISHED = "a worker did not come to an end"
    PAGE = "a page found a fault itself"
    NUMBERING = "events are not numbered from 1 without a gap"
    TURNS = "not this person's turn, or too many messages"
    ENDING = "a dialog has not ended as its events say"
    RELEASE = "an arrival is not released exactly once"
    CODE = "a completion code is missing or not unique"
    LEDGER = "owed is not what the rules say"
    RELAUNCH = "relaunches are not the dialogs that did not complete"
    PLACE = "a place was used twice"
    SEAT = "seats that must not be"
    UNFAIR = "a seat was taken from somebody who stayed"
    TURNED_OUT = "told that nothing is left while something was"


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken rule; `seq` is the event it is about, `key` the message, where there is one."""

    rule: Rule
    what: str
    dialog_id: str | None = None
    arrival_id: str | None = None
    seq: int | None = None
    key: str | None = None

    def __str__(self) -> str:
        where = self.dialog_id or self.arrival_id or "the run"
        return f"{self.rule.name} in {where}: {self.rule}: {self.what}"
