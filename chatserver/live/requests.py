"""What a page may ask of the server, one method for each event of the wire."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from redis.exceptions import RedisError

from chatserver.config import StudyConfig
from chatserver.live.deadlines import Deadlines
from chatserver.live.dialogs import Dialogs
from chatserver.live.fanout import Fanout
from chatserver.live.frames import frame
from chatserver.live.hub import Hub, Page
from chatserver.live.matching import Matching
from chatserver.live.presence import Presence
from chatserver.live.screens import Screens
from chatserver.tokens import new_code, new_id
from chatserver.wire import (
    Done,
    ErrorCode,
    Events,
    Finish,
    LeaveRequest,
    Nothing,
    Refused,
    Report,
    SendMessage,
    Sent,
    Sync,
    Typing,
)
from dialogs.dialog import Command, Known, Leave, PairAgain, Refusal, Say
from dialogs.events import Meta, Part
from dialogs.record import decisions, queries
from dialogs.record.errors import Conflict
from dialogs.record.queries import ArrivalRow
from dialogs.record.store import Record
from dialogs.rules import ArrivalStatus, Phase, Release, ReportKind, Role
from dialogs.state import evolve, fold

log = logging.getLogger("duologue.live")

TYPING_SIGN_S: Final = 5.0
"""How often a sign of typing is remembered at most, in seconds."""

MOST_REPORTS: Final = 50
"""Problems that one person can report."""

NOT_NOW: Final = Refused(error="This is not possible right now.", code=ErrorCode.NOT_NOW)


class Requests:
    """Answers pages. A request that finds nothing to do answers like the first time.

    `on_typing(dialog_id, role, on)` tells of signs of typing, wherever they were given.
    """

    def __init__(
        self,
        record: Record,
        hub: Hub,
        fanout: Fanout,
        dialogs: Dialogs,
        matching: Matching,
        screens: Screens,
        presence: Presence,
        deadlines: Deadlines,
        study: Callable[[], StudyConfig],
        *,
        is_open: Callable[[], bool],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._record = record
        self._hub = hub
        self._fanout = fanout
        self._dialogs = dialogs
        self._matching = matching
        self._screens = screens
        self._presence = presence
        self._deadlines = deadlines
        self._study = study
        self._is_open = is_open
        self._now = now
        self._tasks: set[asyncio.Task[None]] = set()
        self.on_typing: Callable[[str, Role, bool], None] | None = None
        fanout.on("typing", self._typing_elsewhere)

    # --- What a page may ask ---------------------------------------------------------------

    async def message(self, page: Page, ask: SendMessage) -> Sent | Refused:
        seat = await self._seat(page)
        if seat is None:
            return NOT_NOW
        dialog_id, role = seat
        parts = tuple(Part(part.text) for part in ask.parts)
        meta = Meta(ask.meta.pasted, ask.meta.composed_ms, ask.meta.edits)
        answer = await self._dialogs.carry_out(dialog_id, Say(role, ask.key, parts, meta))
        self._presence.heard(page)
        match answer:
            case Known(seq):
                return Sent(seq=seq)
            case Refusal(code, text):
                return Refused(error=text, code=code)
            case _:
                return NOT_NOW

    async def ready(self, page: Page, _: Nothing) -> Done | Refused:
        row = await self._row(page)
        if row.status is ArrivalStatus.WAITING:
            return Done()
        if row.status is not ArrivalStatus.ARRIVED:
            self._screens.refresh(page.arrival_id)
            return NOT_NOW
        if not self._is_open():
            return Refused(
                error="The study is paused and takes nobody new at the moment.",
                code=ErrorCode.STUDY_PAUSED,
            )
        await self._record.writer.commit(decisions.ready(page.arrival_id, self._now()))
        page.status = ArrivalStatus.WAITING
        with suppress(RedisError, OSError, TimeoutError):
            # Without Redis the next answered heartbeat joins it.
            await self._matching.join([page.arrival_id])
        self._screens.refresh(page.arrival_id)
        return Done()

    async def start(self, page: Page, _: Nothing) -> Done | Refused:
        if await self._matching.start(page.arrival_id):
            return Done()
        self._screens.refresh(page.arrival_id)
        row = await self._row(page)
        return Done() if row.status is ArrivalStatus.SEATED else NOT_NOW

    async def decline(self, page: Page, _: Nothing) -> Done | Refused:
        return Done() if await self._matching.decline(page.arrival_id) else NOT_NOW

    async def leave(self, page: Page, ask: LeaveRequest) -> Done | Refused:
        """The work ends for this person: the seat is lost, or the assignment returned."""
        row = await self._row(page)
        match row.status:
            case ArrivalStatus.RELEASED:
                return Done()
            case ArrivalStatus.SEATED:
                given = await self._seat_command(page, Leave)
            case ArrivalStatus.ARRIVED | ArrivalStatus.WAITING:
                given = await self._release_unseated(row, Release.RETURNED, 0)
        if _kept(ask.reason) and isinstance(given, Done):
            await self._tell_team(page, ReportKind.LEAVING, ask.reason)
        return given

    async def stop_waiting(self, page: Page, _: Nothing) -> Done | Refused:
        """Submit now and be paid for the wait, once the lobby limit has passed."""
        row = await self._row(page)
        if row.status is ArrivalStatus.RELEASED:
            return Done()
        if row.status is not ArrivalStatus.WAITING:
            return NOT_NOW
        waited = row.waited(self._now())
        nothing_left = await self._screens.nothing_left(row)
        if not (waited >= self._study().lobby_limit_s or nothing_left or not self._is_open()):
            return NOT_NOW
        release = Release.STUDY_FULL if nothing_left else Release.NEVER_PAIRED
        return await self._release_unseated(
            row, release, self._study().rules.pay.for_waiting(waited)
        )

    async def pair_again(self, page: Page, _: Nothing) -> Done | Refused:
        return await self._seat_command(page, PairAgain)

    async def finish(self, page: Page, ask: Finish) -> Done | Refused:
        """Keep the feedback of who is done. Nothing else changes, so no `state` follows."""
        if page.status is not ArrivalStatus.RELEASED:
            row = await self._row(page)
            if row.status is not ArrivalStatus.RELEASED:
                return NOT_NOW
        await self._record.writer.commit(
            decisions.feedback(page.arrival_id, _kept(ask.feedback), self._now())
        )
        return Done()

    async def report(self, page: Page, ask: Report) -> Done | Refused:
        told = await self._record.read(queries.reports_of, page.arrival_id)
        if told >= MOST_REPORTS:
            return Refused(
                error="We have all your reports, and will read them. Please write to the team by "
                "mail if there is more.",
                code=ErrorCode.CAP_REACHED,
            )
        if not _kept(ask.text):
            return Refused(
                error="The report is empty. Please write what is wrong.",
                code=ErrorCode.BAD_REQUEST,
            )
        await self._tell_team(page, ReportKind.PROBLEM, ask.text)
        # Neither who nor what: logs are kept elsewhere, and read by others.
        log.info("a worker reported a problem: `duologue reports` shows it")
        return Done()

    async def _tell_team(self, page: Page, kind: ReportKind, text: str) -> None:
        told = decisions.report(new_id("r"), page.arrival_id, kind, _kept(text), self._now())
        await self._record.writer.commit(told)

    async def sync(self, page: Page, ask: Sync) -> Events | Refused:
        role = self._role(page)
        if role is None or page.dialog_id is None:
            self._screens.refresh(page.arrival_id)
            return NOT_NOW
        events = await self._record.read(queries.events_after, page.dialog_id, 0)
        known = events[: ask.after_seq]
        if not known:
            return NOT_NOW
        state, frames = fold(page.dialog_id, known), []
        for event in events[ask.after_seq :]:
            state = evolve(state, event)
            frames.append(frame(state, event, role, self._now())[1])
        return Events.model_validate({"seq": state.seq, "frames": frames})

    async def typing(self, page: Page, ask: Typing) -> None:
        state = self._dialogs.peek(page.dialog_id) if page.dialog_id else None
        seat = state.seat_of(page.arrival_id) if state else None
        if state is None or seat is None or seat.gone or state.phase is Phase.ENDED:
            return
        for other in state.seats.values():
            if other is not seat and not other.gone:
                self._fanout.tell("typing", [other.arrival_id, ask.on, state.dialog_id, seat.role])
                self._hub.emit(other.arrival_id, "typing", ask)
        if self.on_typing is not None:
            self.on_typing(state.dialog_id, seat.role, ask.on)
        now = time.monotonic()
        lasting = state.rules.turn_limit_s
        again_s = min(TYPING_SIGN_S, lasting / 4)
        if ask.on and state.turn is seat.role and now - page.typed_at >= again_s:
            page.typed_at = now
            # Without waiting: what the page sends next must not stand behind a silent Redis.
            task = asyncio.ensure_future(
                self._remember_typing(state.dialog_id, seat.role, state.turn_seq, lasting)
            )
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _remember_typing(
        self, dialog_id: str, role: Role, turn_seq: int, lasting_s: float
    ) -> None:
        try:
            await self._deadlines.typed(dialog_id, role, turn_seq, lasting_s)
        except (RedisError, OSError, TimeoutError) as error:
            # The next sign counts as well; and while Redis is away no turn ends.
            log.info(
                "dialog %s: a sign of typing is lost: %r",
                dialog_id,
                error,
                extra={"dialog": dialog_id},
            )

    def _typing_elsewhere(self, note: Any) -> None:
        arrival_id, on, dialog_id, role = note
        self._hub.emit(arrival_id, "typing", Typing(on=on))
        if self.on_typing is not None:
            self.on_typing(dialog_id, Role(role), on)

    # --- Helpers ---------------------------------------------------------------------------

    def _role(self, page: Page) -> Role | None:
        state = self._dialogs.peek(page.dialog_id) if page.dialog_id else None
        seat = state.seat_of(page.arrival_id) if state else None
        return seat.role if seat else None

    async def _seat(self, page: Page) -> tuple[str, Role] | None:
        """The dialog and role of the page's seat, also when the dialog is over: a message that
        was stored is known for ever."""
        if page.dialog_id is not None and (role := self._role(page)) is not None:
            return page.dialog_id, role
        row = await self._row(page)
        if row.dialog_id is None:
            return None
        seat = (await self._dialogs.read(row.dialog_id)).seat_of(row.id)
        return (row.dialog_id, seat.role) if seat is not None else None

    async def _row(self, page: Page) -> ArrivalRow:
        row = await self._record.one(queries.arrivals_by_id, page.arrival_id)
        assert row is not None, "arrivals are never deleted"
        return row

    async def _seat_command(self, page: Page, make: Callable[[Role], Command]) -> Done | Refused:
        seat = await self._seat(page)
        if seat is None:
            return NOT_NOW
        dialog_id, role = seat
        answer = await self._dialogs.carry_out(dialog_id, make(role))
        if isinstance(answer, Refusal):
            return Refused(error=answer.text, code=answer.code)
        return Done()

    async def _release_unseated(
        self, row: ArrivalRow, release: Release, cents: int
    ) -> Done | Refused:
        currency = self._study().rules.pay.currency
        decision = decisions.release_unseated(
            row.id, row.status, release, cents, currency, self._now(), new_code
        )
        try:
            await self._record.writer.commit(decision)
        except Conflict:
            # A dialog was opened, or another page was faster: the record decides.
            self._screens.refresh(row.id)
            return NOT_NOW
        with suppress(RedisError, OSError, TimeoutError):
            # A partner in a match learns it when the match runs out.
            await self._matching.forget(row.id)
        self._screens.refresh_everywhere([row.id])
        return Done()


def _kept(text: str) -> str:
    """What people wrote to the team, as PostgreSQL can keep it."""
    return text.replace("\0", "").strip()
