"""What the team may do in a dialog that runs: write to its people, give them time, end it.

Each is a command like those of the pages: carried out means committed, and what has the key of an
earlier one changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from chatserver.config import StudyConfig
from chatserver.doors import Door
from chatserver.live.dialogs import Beside, Busy, Dialogs
from dialogs.dialog import Command, EndByTeam, Extend, Known, Refusal, RefusalCode, Tell
from dialogs.record import queries
from dialogs.record.errors import Unavailable
from dialogs.record.queries import ArrivalRow
from dialogs.record.store import Record
from dialogs.rules import Phase, Role
from dialogs.state import DialogState

HANDING_IN_S: Final = 300.0
"""What is left of an assignment's time after the dialog's limit, so that it can be handed in."""


class Steering:
    """The team's hand in the dialogs of a study.

    Every method answers `Known` with the number of the event by which it is done, now or earlier
    under the same key, or a refusal with a sentence for the team. `key` is a string of the
    caller's making, new for every action and the same when it is tried again. The rows of
    `beside(seq)` are stored with the event, so that what was done and who did it are one.

    Each raises:
        LookupError: this study has no such dialog.
        Busy: it cannot be done now; try again with the same key.
    """

    def __init__(self, record: Record, dialogs: Dialogs, study: StudyConfig, door: Door) -> None:
        self._record = record
        self._dialogs = dialogs
        self._study = study
        self._door = door

    async def tell(
        self, dialog_id: str, to: Role | None, text: str, key: str, beside: Beside | None = None
    ) -> Known | Refusal:
        """Write to one person, or to everybody who is still there (`to` None)."""
        await self._people(dialog_id)
        return await self._carry_out(dialog_id, Tell(key, to, text), beside)

    async def extend(
        self, dialog_id: str, by_s: float, key: str, beside: Beside | None = None
    ) -> Known | Refusal:
        """Give `by_s` seconds more, as far as the assignments of those who are there allow."""
        state, people = await self._people(dialog_id)
        begun = [people[s.arrival_id].created_at for s in state.seats.values() if not s.gone]
        latest = min(begun, default=0.0) + self._study.assignment_duration_s - HANDING_IN_S
        return await self._carry_out(dialog_id, Extend(key, by_s, latest), beside)

    async def end(
        self,
        dialog_id: str,
        reason: str,
        cents: Mapping[Role, int],
        key: str,
        beside: Beside | None = None,
    ) -> Known | Refusal:
        """End the dialog for whoever is still there; `cents` is the pay of each who is not to be
        paid in full. `reason` is shown to them, and may be empty."""
        state, people = await self._people(dialog_id)
        if key not in state.team_keys and state.phase is not Phase.ENDED:
            for role, pay in cents.items():
                row = people[state.seats[role].arrival_id]
                with _busy():
                    why = await self._door.cannot_pay(row, pay)
                if why is not None:
                    return Refusal(RefusalCode.NOT_POSSIBLE, f"The {role}: {why}")
        return await self._carry_out(dialog_id, EndByTeam(key, reason, cents), beside)

    async def _people(self, dialog_id: str) -> tuple[DialogState, Mapping[str, ArrivalRow]]:
        """The dialog, and its arrivals by their ids."""
        with _busy():
            state = await self._dialogs.read(dialog_id)
            ids = [seat.arrival_id for seat in state.seats.values()]
            people = await self._record.read(queries.arrivals_by_id, ids)
        if any(row.study_id != self._study.id for row in people.values()):
            raise LookupError(f"there is no dialog {dialog_id} in study {self._study.id}")
        return state, people

    async def _carry_out(
        self, dialog_id: str, command: Command, beside: Beside | None
    ) -> Known | Refusal:
        with _busy():
            answer = await self._dialogs.carry_out(dialog_id, command, beside)
        assert isinstance(answer, Known | Refusal), "a command of the team is never stale"
        return answer


@contextmanager
def _busy() -> Iterator[None]:
    """A record that does not answer is no other trouble to the team than one that is busy."""
    try:
        yield
    except Unavailable as error:
        raise Busy from error
