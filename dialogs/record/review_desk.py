"""The review of a study as reviewers go about it: what is next, judging, taking back, all at once.

Whatever two reviewers do at a time, the record decides: who loses looks again.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from sqlalchemy import Connection

from dialogs.record.cases import Case, Judgement, case, cases
from dialogs.record.errors import BadRow, Conflict
from dialogs.record.judging import Judged, Overtaken, Pay, judged, standing
from dialogs.record.review_queue import (
    ANY,
    CLAIM_S,
    Claim,
    Filters,
    Waiting,
    all_owed,
    all_waiting,
    claim_of,
    claimed,
    claims_on,
    left_alone,
    next_waiting,
    number_waiting,
)
from dialogs.record.store import Record
from dialogs.record.undoing import last_judgement, undone
from dialogs.rules import Acceptance, LedgerState

ATTEMPTS: Final = 20
_AT_ONCE: Final = 100
"""Dialogs that are judged together: more would keep the writer from messages for too long."""
_MOST_SKIPPED: Final = 300

NOBODY: Final = ""
"""Who has judged nothing and holds nothing."""
_BUSY: Final = "Too much is going on at once; please try again."


@dataclass(frozen=True, slots=True)
class Given:
    """A dialog in a reviewer's hands until `until`."""

    dialog_id: str
    until: float
    second: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is judged at once: dialogs, and the payments of theirs that are approved."""

    dialogs: int
    payments: int
    cents: int


class ReviewDesk:
    """`twice` is the share of dialogs that two people are to judge. `on_place(item_id, place)`
    is told of a place that is free again, once that is committed; `on_taken` of one that is not
    after all."""

    def __init__(
        self,
        record: Record,
        study_id: str,
        *,
        twice: float = 0.0,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._record = record
        self._study_id = study_id
        self._twice = twice
        self._now = now
        self._in_turn = asyncio.Lock()
        # Of this process only: what is skipped elsewhere is offered once more.
        self._skipped: dict[str, dict[str, None]] = defaultdict(dict)
        self.on_place: Callable[[str, int], None] = lambda item_id, place: None
        self.on_taken: Callable[[str, int], None] = lambda item_id, place: None

    # --- The queue -------------------------------------------------------------------------

    async def waiting(self, admin_id: str, filters: Filters) -> int:
        """How many dialogs wait for this reviewer, those in other hands not counted."""
        now = self._now()
        return await self._record.read(number_waiting, self._study_id, admin_id, filters, now)

    async def undecided(self) -> int:
        """How many dialogs wait for whoever it be, in somebody's hands or not."""
        return await self._record.read(
            number_waiting, self._study_id, NOBODY, ANY, self._now(), in_hands=True
        )

    async def next(self, admin_id: str, filters: Filters) -> Given | None:
        """What this reviewer has in hand, for longer from now on; else what waits longest."""
        # Who asks in one process takes turns; the record decides between processes.
        async with self._in_turn:
            for _ in range(ATTEMPTS):
                now = self._now()
                earlier, found, theirs = await self._record.read(self._look, admin_id, filters, now)
                if found is None:
                    if earlier is not None:
                        await self._leave(earlier)
                    return None
                taken = claimed(found.dialog_id, admin_id, earlier, theirs, now)
                try:
                    await self._record.writer.commit(taken)
                except Conflict:
                    continue
                if await self._record.read(self._waits, admin_id, found.dialog_id):
                    return Given(found.dialog_id, now + CLAIM_S, found.second)
        raise Overtaken(_BUSY)

    def _look(
        self, connection: Connection, admin_id: str, filters: Filters, now: float
    ) -> tuple[Claim | None, Waiting | None, Claim | None]:
        earlier = claim_of(connection, admin_id)
        asked = (self._study_id, admin_id, filters, now)
        found = None
        if earlier is not None:
            found = next_waiting(connection, *asked, only=earlier.dialog_id)
        if found is None:
            found = next_waiting(connection, *asked, skipped=tuple(self._skipped[admin_id]))
        theirs = None
        if found is not None:
            theirs = claims_on(connection, [found.dialog_id]).get(found.dialog_id)
        return earlier, found, theirs

    def _waits(self, connection: Connection, admin_id: str, dialog_id: str) -> bool:
        asked = (self._study_id, admin_id, Filters(), self._now())
        return next_waiting(connection, *asked, only=dialog_id) is not None

    async def skip(self, admin_id: str, dialog_id: str) -> None:
        """This reviewer would rather have another one; this comes after everything else.

        Raises:
            LookupError: there is no such dialog, or it has not ended.
        """
        await self._case(dialog_id)
        skipped = self._skipped[admin_id]
        skipped.pop(dialog_id, None)
        skipped[dialog_id] = None
        if len(skipped) > _MOST_SKIPPED:
            del skipped[next(iter(skipped))]
        held = await self._record.read(claim_of, admin_id)
        if held is not None and held.dialog_id == dialog_id:
            await self._leave(held)

    async def _leave(self, claim: Claim) -> None:
        try:
            await self._record.writer.commit(left_alone(claim))
        except Conflict:
            # Somebody has taken it since, or the same reviewer in another window.
            return

    # --- Judging ---------------------------------------------------------------------------

    async def judge(
        self,
        admin_id: str,
        dialog_id: str,
        verdict: Acceptance | None,
        reason: str = "",
        pay: Mapping[str, Pay] | None = None,
        *,
        approve_pay: bool = True,
    ) -> Judged:
        """Store a judgement; pay of whoever is not in `pay` is approved, or without `approve_pay`
        left as it is. The same one sent again, of data and of pay, changes nothing and gets the
        answer of the first.

        Raises:
            LookupError: there is no such dialog, or it has not ended.
            BadJudgement, Overtaken: as `judging.judged`.
        """
        for _ in range(ATTEMPTS):
            found = await self._case(dialog_id)
            approved = {arrival_id: Pay() for arrival_id in found.arrivals} if approve_pay else {}
            everybody = approved | dict(pay or {})
            earlier = found.judged_by(admin_id)
            if earlier is not None and (earlier.verdict, earlier.reason) == (verdict, reason):
                return standing(found, earlier, everybody)
            done = judged(
                found, admin_id, verdict, reason, everybody, self._now(), twice=self._twice
            )
            try:
                await self._record.writer.commit(done.decision)
            except Conflict:
                continue
            self._skipped[admin_id].pop(dialog_id, None)
            if done.frees:
                self.on_place(found.item_id, found.place)
            return done
        raise Overtaken(_BUSY)

    async def _case(self, dialog_id: str) -> Case:
        found = await self._record.read(case, self._study_id, dialog_id)
        if found is None:
            raise LookupError(dialog_id)
        return found

    async def undo(
        self, admin_id: str, dialog_id: str | None = None, *, of_anybody: bool = False
    ) -> Given:
        """Take back what this reviewer judged last, or their judgement of `dialog_id`, with
        `of_anybody` whoever decided on it. They have the dialog in hand again.

        Raises:
            LookupError: there is no such dialog, or it has not ended.
            Overtaken: nothing was judged, or something has followed from it.
        """
        for _ in range(ATTEMPTS):
            judgement, found = await self._judgement(admin_id, dialog_id, of_anybody=of_anybody)
            earlier = await self._record.read(claim_of, admin_id)
            now = self._now()
            decision = undone(found, judgement, admin_id, earlier, now)
            try:
                await self._record.writer.commit(decision)
            except (Conflict, BadRow):
                # A relaunch that is posted meanwhile is a row that this one is named in.
                continue
            self._skipped[admin_id].pop(found.dialog_id, None)
            if judgement.decides and judgement.verdict is Acceptance.REJECTED:
                self.on_taken(found.item_id, found.place)
            return Given(found.dialog_id, now + CLAIM_S, not judgement.decides)
        raise Overtaken(_BUSY)

    async def _judgement(
        self, admin_id: str, dialog_id: str | None, *, of_anybody: bool
    ) -> tuple[Judgement, Case]:
        if dialog_id is None:
            last = await self._record.read(last_judgement, self._study_id, admin_id)
            if last is None:
                raise Overtaken("You have judged nothing that could be taken back.")
            dialog_id = last.dialog_id
        found = await self._case(dialog_id)
        mine = found.judged_by(admin_id)
        if mine is None and of_anybody:
            mine = found.decided_by
        if mine is None:
            raise Overtaken("You have not judged this dialog.")
        return mine, found

    # --- All at once -----------------------------------------------------------------------

    async def plan(
        self, admin_id: str, verdict: Acceptance | None, filters: Filters, *, approve_pay: bool
    ) -> Plan:
        """What `bulk` would do now."""
        asked = self._fitting(admin_id, verdict, filters)
        ids = await self._record.read(all_waiting, *asked)
        payments, cents = 0, 0
        if approve_pay:
            payments, cents = await self._record.read(all_owed, *asked)
        return Plan(len(ids), payments, cents)

    def _fitting(
        self, admin_id: str, verdict: Acceptance | None, filters: Filters
    ) -> tuple[str, str, Filters, float]:
        """What to ask the queue for: only complete dialogs have a verdict."""
        fitting = replace(filters, complete=verdict is not None)
        return self._study_id, admin_id, fitting, self._now()

    async def bulk(
        self,
        admin_id: str,
        verdict: Acceptance | None,
        filters: Filters,
        *,
        approve_pay: bool,
        expected: int,
    ) -> Plan:
        """Judge all that wait and match, each by itself; what has changed meanwhile, or is in
        other hands, is left out. Returns what was done.

        Raises:
            Overtaken: it would be another number than was `expected`; nothing was done.
        """
        asked = self._fitting(admin_id, verdict, filters)
        ids = await self._record.read(all_waiting, *asked)
        if len(ids) != expected:
            raise Overtaken(f"It would be {len(ids)} dialogs now, not {expected}; look again.")
        done = Plan(0, 0, 0)
        for start in range(0, len(ids), _AT_ONCE):
            found = await self._record.read(cases, self._study_id, ids[start : start + _AT_ONCE])
            results = await asyncio.gather(
                *(
                    self._one_of_many(each, admin_id, verdict, approve_pay=approve_pay)
                    for each in found.values()
                )
            )
            for approved in results:
                if approved is not None:
                    payments, cents = len(approved), sum(approved)
                    done = Plan(done.dialogs + 1, done.payments + payments, done.cents + cents)
        return done

    async def _one_of_many(
        self, found: Case, admin_id: str, verdict: Acceptance | None, *, approve_pay: bool
    ) -> list[int] | None:
        """The cents that are approved with it, payment by payment; None if it was left out."""
        pay = {arrival_id: Pay() for arrival_id in found.arrivals} if approve_pay else {}
        try:
            done = judged(found, admin_id, verdict, "", pay, self._now(), twice=self._twice)
            if not done.decides:
                return None
            await self._record.writer.commit(done.decision)
        except (Conflict, Overtaken):
            return None
        if done.frees:
            self.on_place(found.item_id, found.place)
        return [p.cents for p in done.pay if p.moved and p.state is LedgerState.APPROVED]
