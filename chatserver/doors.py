"""How people come in and how they hand in: the front door of a recruiter.

The live server knows only this much of recruiters. The door of a plain link is here; the
composition root brings those of crowd platforms.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from chatserver.config import StudyConfig
from chatserver.wire import ErrorCode, Submit
from dialogs.record.queries import ArrivalRow, ReleaseRow


class NotAdmitted(Exception):
    """The person does not get an arrival; the text may be shown."""

    def __init__(self, status: int, code: ErrorCode, error: str) -> None:
        super().__init__(error)
        self.status = status
        self.code = code
        self.error = error


class WrongAnswers(NotAdmitted):
    """The check of the instructions is not passed: the numbers of its wrong `questions`, from 1."""

    def __init__(self, questions: Sequence[int]) -> None:
        numbers = [str(n) for n in questions]
        listed = " and ".join(part for part in (", ".join(numbers[:-1]), numbers[-1]) if part)
        noun = "question" if len(numbers) == 1 else "questions"
        super().__init__(
            422,
            ErrorCode.WRONG_ANSWERS,
            f"Not quite: please look at {noun} {listed} again. The instructions have the answer"
            f"{'' if len(numbers) == 1 else 's'}.",
        )
        self.questions = tuple(questions)


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody at the door, as the recruiter knows them.

    With an `assignment_id` every assignment is an arrival of its own; without, the person has
    one until it is released. `hit_id` is our id of the HIT they come from.
    """

    external_id: str
    assignment_id: str | None = None
    hit_id: str | None = None
    submit_to: str | None = None


class Door(ABC):
    """The front door of one recruiter."""

    recruiter: str
    begins_anew: ClassVar[bool] = False
    """Whether who is done may begin another dialog by the same link. Where work comes as
    assignments, that takes another assignment."""

    def preview(self, query: Mapping[str, str]) -> bool:
        """Whether whoever opens this link only wants to look: they never get an arrival."""
        return query.get("preview") == "1"

    @abstractmethod
    async def visitor(self, query: Mapping[str, str], worker_key: str | None) -> Visitor:
        """Who comes with this query; `worker_key` is the random id that the page keeps.

        Raises:
            NotAdmitted: nobody who may come in.
        """

    async def submit(self, row: ArrivalRow, release: ReleaseRow) -> Submit | None:
        """How the end page hands the work in; None where the completion code is all."""
        return None

    async def cannot_pay(self, row: ArrivalRow, cents: int) -> str | None:
        """Why this arrival's work cannot be paid with so little, in a sentence; None if it can."""
        return None


class LinkDoor(Door):
    """A plain link, open to whoever has it or with one-time invitations.

    With `guests`, `?guest=NAME` is a person of its own (see `ServerConfig`).
    """

    recruiter = "link"
    begins_anew = True

    def __init__(self, study: StudyConfig, *, guests: bool = False) -> None:
        self._study = study
        self._guests = guests

    async def visitor(self, query: Mapping[str, str], worker_key: str | None) -> Visitor:
        if self._guests and (guest := query.get("guest")):
            return Visitor(f"guest:{guest[:40]}")
        if self._study.invitations is not None:
            code = query.get("invite", "")
            if not code:
                raise NotAdmitted(
                    403,
                    ErrorCode.NO_INVITATION,
                    "This study needs an invitation link, and yours has no invitation code in it. "
                    "Please open the link you were sent, exactly as it is.",
                )
            if code not in self._study.invitations:
                raise NotAdmitted(
                    403,
                    ErrorCode.UNKNOWN_INVITATION,
                    "This study needs an invitation link, and the code in yours is not one of its "
                    "invitations. Please open the link you were sent, exactly as it is. If you "
                    "did, ask whoever sent it for a new one.",
                )
            return Visitor(f"invite:{code}")
        if worker_key is None:
            raise NotAdmitted(
                400, ErrorCode.BAD_REQUEST, "The page did not say who you are. Please reload it."
            )
        return Visitor(f"key:{worker_key}")
