"""From *ready* to an open dialog: who waits, who is matched, and when a match becomes true.

Redis proposes, the record decides. Nothing here is remembered in the process but what it told
its pages last.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Final

from redis.exceptions import RedisError

from chatserver.config import SameAddress, StudyConfig
from chatserver.live.deadlines import Deadlines, Due, every
from chatserver.tokens import new_id
from dialogs.dialog import deadlines, open_dialog
from dialogs.events import Opened, SeatTaken
from dialogs.record import queries
from dialogs.record.decisions import opening, unready
from dialogs.record.errors import BadRow, Conflict, RecordError, Unavailable
from dialogs.record.queries import ArrivalRow
from dialogs.record.store import Record
from dialogs.rules import ArrivalStatus, Role
from dialogs.state import begin
from pairing.lobby import Lobby
from pairing.rules import Match, Waiting

log = logging.getLogger("duologue.matching")

LOOK_AGAIN_S: Final = 0.5
"""How often the lobby is looked through when nothing has happened."""

ATTEMPTS: Final = 5
RETRY_S: Final = 0.1


async def _nothing() -> None:
    return None


class Matching:
    """Brings waiting arrivals together.

    `on_change(arrival_ids)` asks for a new `state` to those pages, in whatever process.
    `on_opened()` is told of each dialog that this process opened.
    `on_refused()` is called when the record refused a dialog: the study may have been paused.
    `is_open` says whether the study takes new dialogs, `ready_for` for how many seconds this
    process has been fit to serve without a break.
    """

    def __init__(
        self,
        record: Record,
        lobby: Lobby,
        deadlines: Deadlines,
        study: Callable[[], StudyConfig],
        *,
        is_open: Callable[[], bool],
        ready_for: Callable[[], float],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._record = record
        self._lobby = lobby
        self._deadlines = deadlines
        self._study = study
        self._is_open = is_open
        self._ready_for = ready_for
        self._now = now
        self._look = asyncio.Event()
        self.on_change: Callable[[Iterable[str]], None] = lambda arrival_ids: None
        self.on_opened: Callable[[], None] = lambda: None
        self.on_refused: Callable[[], Awaitable[None]] = _nothing

    # --- The lobby -------------------------------------------------------------------------

    async def join(self, arrival_ids: Iterable[str]) -> None:
        """Put these arrivals into the lobby, as the record knows them; others are passed over."""
        rows = await self._record.read(queries.arrivals_by_id, list(arrival_ids))
        waiting = [r for r in rows.values() if r.status is ArrivalStatus.WAITING]
        await self._join_rows(waiting)

    async def _join_rows(self, rows: Iterable[ArrivalRow]) -> None:
        rows = list(rows)
        if not rows:
            return
        known = await self._record.read(queries.histories, {r.worker_id for r in rows})
        people = []
        for row in rows:
            history = known[row.worker_id]
            people.append(
                Waiting(
                    arrival_id=row.id,
                    worker_id=row.worker_id,
                    language=row.language,
                    ready_at=row.ready_at or self._now(),
                    address=row.address,
                    seen=history.seen,
                    met=frozenset() if self._study().repeat_partners else history.met,
                    dialogs_left=self._study().dialogs_per_worker - history.dialogs,
                )
            )
        await self._lobby.join(*people)
        self._look.set()

    def look(self) -> None:
        """Something has changed: see whether two people fit."""
        self._look.set()

    async def sync_places(self) -> None:
        """Make the free places those that the record says."""
        free = await self._record.read(queries.free_places, self._study().id)
        await self._lobby.sync_places(free)
        self._look.set()

    async def run(self, stop: asyncio.Event) -> None:
        """Match people and clear away what ran out, until `stop`."""
        while not stop.is_set():
            try:
                await self._match_all()
                await self._clear_overdue()
            except (RedisError, RecordError, OSError, TimeoutError) as error:
                log.warning("matching waits: %s", error)
                await every(LOOK_AGAIN_S, stop)
            self._look.clear()
            looking = asyncio.ensure_future(self._look.wait())
            stopping = asyncio.ensure_future(stop.wait())
            await asyncio.wait(
                (looking, stopping),
                timeout=LOOK_AGAIN_S,
                return_when=asyncio.FIRST_COMPLETED,
            )
            looking.cancel()
            stopping.cancel()

    async def _match_all(self) -> None:
        while self._is_open() and (match := await self._lobby.match()) is not None:
            log.info("match %s of arrivals %s", match.match_id, match.arrivals, extra=_named(match))
            self.on_change(match.arrivals)

    # --- Matches ---------------------------------------------------------------------------

    async def start(self, arrival_id: str) -> bool:
        """The arrival pressed *start*; when both have, the dialog is opened.

        Returns False when the arrival is in no match (any more), or pressed too late.
        """
        match = await self._lobby.match_of(arrival_id)
        if match is None:
            return False
        match = await self._lobby.start(match.match_id, arrival_id)
        if match is None or arrival_id not in match.started:
            return False
        if match.both_started:
            await self._open(match)
        else:
            self.on_change(match.arrivals)
        return True

    async def decline(self, arrival_id: str) -> bool:
        """*Not now*: back to the start without blame; the partner waits on at the old position."""
        row = (await self._record.read(queries.arrivals_by_id, [arrival_id])).get(arrival_id)
        if row is None or row.status is not ArrivalStatus.WAITING:
            return False
        waited = row.waited(self._now()) - row.waited_s
        await self._record.writer.commit(unready(arrival_id, waited, missed_start=False))
        match = await self._lobby.leave(arrival_id)
        self.on_change(match.arrivals if match else [arrival_id])
        self._look.set()
        return True

    async def forget(self, arrival_id: str) -> None:
        """The arrival waits no longer, by the record; a partner in a match waits on."""
        match = await self._lobby.leave(arrival_id)
        if match is not None:
            self.on_change(match.arrivals)
        self._look.set()

    async def _clear_overdue(self) -> None:
        for match in await self._lobby.overdue():
            # In a pause nothing could be started, and in an outage nobody could press *start*.
            is_open, reachable = self._is_open(), self._ready_for() >= self._study().start_s
            await self._settle(match, blame_late=is_open and reachable, rejoin=not is_open)

    async def _settle(self, match: Match, *, blame_late: bool, rejoin: bool) -> None:
        """End a match that led to no dialog, as the record says: who may wait on does.

        With `blame_late`, who has not pressed *start* must press *ready* again. With `rejoin`,
        the lobby learns anew who waits.
        """
        rows = await self._record.read(queries.arrivals_by_id, match.arrivals)
        waiting = {a for a, r in rows.items() if r.status is ArrivalStatus.WAITING}
        late = waiting - match.started if blame_late else set()
        if await self._lobby.dissolve(match.match_id, waiting - late) is None:
            return
        for arrival_id in late:
            row = rows[arrival_id]
            waited = row.waited(self._now()) - row.waited_s
            try:
                await self._record.writer.commit(unready(arrival_id, waited, missed_start=True))
            except Conflict:
                log.info("arrival %s has moved on", arrival_id, extra={"arrival": arrival_id})
        if rejoin:
            # What Redis knew of them was wrong. Not after a match that merely ran out: joining
            # counts as a heartbeat, and would wake a page that is closed.
            await self._join_rows(rows[a] for a in waiting)
        self.on_change(match.arrivals)

    async def _open(self, match: Match) -> None:
        """Make the match true in the record, or end it."""
        rows = await self._record.read(queries.arrivals_by_id, match.arrivals)
        if len(rows) == 2 and await self._commit_opening(match, rows):
            await self._lobby.seal(match)
            self.on_change(match.arrivals)
            return
        # Whatever Redis believed is older than the record: places and people are read anew.
        await self.on_refused()
        await self._lobby.withdraw([(match.item_id, match.place)])
        await self._settle(match, blame_late=False, rejoin=True)
        await self.sync_places()

    async def _commit_opening(self, match: Match, rows: dict[str, ArrivalRow]) -> bool:
        opened = open_dialog(
            self._study().rules,
            match.item_id,
            match.place,
            (
                SeatTaken(Role.QUESTIONER, match.questioner.arrival_id, match.questioner.worker_id),
                SeatTaken(Role.ANSWERER, match.answerer.arrival_id, match.answerer.worker_id),
            ),
            self._now(),
        )
        first, second = (rows[a] for a in match.arrivals)
        same = first.address is not None and first.address == second.address
        flagged = same and self._study().same_address is SameAddress.FLAG
        dialog_id = new_id("d")
        decision = opening(
            self._study().id, dialog_id, opened, first.language, same_address=flagged
        )
        for attempt in range(ATTEMPTS):
            try:
                await self._record.writer.commit(decision)
            except Conflict as error:
                stored = await self._record.read(queries.last_seqs, [dialog_id])
                if dialog_id in stored:
                    # An earlier attempt was committed after all.
                    break
                log.info(
                    "match %s was refused by the record: %s",
                    match.match_id,
                    error,
                    extra=_named(match),
                )
                return False
            except BadRow as error:
                log.error(
                    "match %s cannot be stored: %s", match.match_id, error, extra=_named(match)
                )
                return False
            except Unavailable as error:
                log.warning("match %s: %s", match.match_id, error, extra=_named(match))
                await asyncio.sleep(RETRY_S * 2**attempt)
            else:
                break
        else:
            return False
        self._arm(dialog_id, opened)
        return True

    def _arm(self, dialog_id: str, opened: Opened) -> None:
        for deadline in deadlines(begin(dialog_id, opened)):
            delay_s = self._deadlines.full_length(deadline)
            self._deadlines.arm(Due.of(dialog_id, deadline), delay_s)
        self.on_opened()
        log.info("dialog %s opened", dialog_id, extra={"dialog": dialog_id})


def _named(match: Match) -> dict[str, tuple[str, ...]]:
    """Whom a line of the log is about, for programs that read it."""
    return {"arrivals": match.arrivals}
