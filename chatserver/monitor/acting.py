"""What the team does from the monitor: to dialogs, people, payments and the study.

Each action is a row of the audit, and both are one decision.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

from chatserver.live.dialogs import Beside, Busy, Rows
from chatserver.live.service import LiveService
from chatserver.monitor.answers import NotDone, bad_request, conflict, unknown
from chatserver.monitor.changing import Changing, Who
from chatserver.monitor.failed import Failed
from chatserver.monitor.wire import (
    BonusWish,
    ChangeStudy,
    Done,
    End,
    Extend,
    Flag,
    Note,
    Nothing,
    OnFailed,
    PaymentNames,
    Reason,
    Tell,
    Trouble,
    WorkerMessage,
)
from dialogs.dialog import Known, Refusal
from dialogs.record import findings, payments, queries, requests
from dialogs.record.audit import audited
from dialogs.record.endings import DIALOG_END
from dialogs.record.errors import Conflict
from dialogs.record.excluding import WorkerRow, allowed_again, workers_by_id
from dialogs.record.notes import noted, notes_by_id
from dialogs.record.payments import PaymentRow
from dialogs.record.stuck import NEED_A_PERSON
from dialogs.record.whole import whole
from dialogs.record.writer import Decision, together
from dialogs.rules import LedgerState, RequestKind, Role


class Steers(Protocol):
    """What a live dialog can be told by the team (`chatserver.live.steering`)."""

    async def tell(
        self, dialog_id: str, to: Role | None, text: str, key: str, beside: Beside
    ) -> Known | Refusal: ...

    async def extend(
        self, dialog_id: str, by_s: float, key: str, beside: Beside
    ) -> Known | Refusal: ...

    async def end(
        self, dialog_id: str, reason: str, cents: dict[Role, int], key: str, beside: Beside
    ) -> Known | Refusal: ...


@dataclass(frozen=True, slots=True)
class Able:
    """What the study's recruiter can do."""

    messages: bool = False
    blocks: bool = False


FLAG_ATTEMPTS: Final = 5
_SOMETHING_ELSE: Final = "This was asked before, and for something else."
_CAN_BE_APPROVED: Final = (LedgerState.OWED,)
_CAN_BE_RETRIED: Final = NEED_A_PERSON


def _nobody_looks(what: str) -> None:
    """Where nobody is told of changes."""


class Acting:
    """The actions. Each takes who acts, and what its body says, and answers for the page.

    `changed(what)` tells open pages that what they show is older than the record, by the names
    of `Changed`.
    """

    def __init__(
        self,
        service: LiveService,
        *,
        able: Able,
        steering: Steers | None = None,
        changed: Callable[[str], None] = _nobody_looks,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._service = service
        self._record = service.record
        self._study_id = service.config.study.id
        self._able = able
        self._steering = steering
        self._changed = changed
        self._now = now
        self.study = Changing(service, changed=changed, now=now)
        self.failed = Failed(service, changed=changed, now=now)

    def _audited(
        self, who: Who, action: str, target: str, before: Any = None, after: Any = None
    ) -> Decision:
        row = audited(self._study_id, who.id, action, target, before, after, self._now())
        return Decision(target, (row,))

    # --- Dialogs -----------------------------------------------------------------------------

    async def tell(self, who: Who, dialog_id: str, asked: Tell) -> Done:
        to = asked.to.value if asked.to is not None else "both"
        beside = self._beside_event(who, "dialog.message", dialog_id, {"to": to})
        return await self._steered(
            self._steers().tell(dialog_id, asked.to, asked.text, asked.key, beside)
        )

    async def extend(self, who: Who, dialog_id: str, asked: Extend) -> Done:
        beside = self._beside_event(who, "dialog.extend", dialog_id, {"minutes": asked.minutes})
        return await self._steered(
            self._steers().extend(dialog_id, asked.minutes * 60.0, asked.key, beside)
        )

    async def end(self, who: Who, dialog_id: str, asked: End) -> Done:
        cents = {role.value: cents for role, cents in asked.cents.items()}
        beside = self._beside_event(who, DIALOG_END, dialog_id, {"cents": cents})
        return await self._steered(
            self._steers().end(dialog_id, asked.reason, asked.cents, asked.key, beside)
        )

    def _beside_event(self, who: Who, action: str, dialog_id: str, after: dict[str, Any]) -> Beside:
        """The row of the audit that is stored with the event by which this is done."""

        def beside(seq: int) -> Rows:
            told = {**after, "seq": seq}
            now = self._now()
            return (audited(self._study_id, who.id, action, dialog_id, None, told, now),)

        return beside

    def _steers(self) -> Steers:
        assert self._steering is not None, "the monitor of a server has it"
        return self._steering

    async def _steered(self, work: Awaitable[Known | Refusal]) -> Done:
        try:
            answer = await work
        except LookupError:
            raise unknown("dialog") from None
        except Busy:
            raise NotDone(503, Trouble.TRY_AGAIN, "Please try again in a moment.") from None
        if isinstance(answer, Refusal):
            raise conflict(answer.text)
        self._changed("dialogs")
        return Done()

    async def flag(self, who: Who, dialog_id: str, asked: Flag) -> Done:
        """Somebody saw something in a dialog, running or not; once for each key."""
        found = await self._record.read(whole, self._study_id, dialog_id)
        if found is None:
            raise unknown("dialog")
        if asked.seq is not None and asked.seq > found.state.seq:
            raise bad_request(f"seq: the dialog has {found.state.seq} events.")
        name = None if asked.key is None else f"{dialog_id}.flag.{asked.key}"
        for _ in range(FLAG_ATTEMPTS):
            if name is not None and await self._is_raised(dialog_id, name, asked):
                return Done()
            number = await self._record.read(findings.next_number, dialog_id)
            raised = findings.raised(
                self._study_id,
                dialog_id,
                number,
                who.id,
                asked.reason,
                asked.role,
                asked.seq,
                self._now(),
                name,
            )
            try:
                await self._record.writer.commit(raised)
            except Conflict:
                # Somebody else has raised one in this moment, or this one was sent twice.
                continue
            self._changed("dialogs")
            return Done()
        raise NotDone(503, Trouble.TRY_AGAIN, "Please try again in a moment.")

    async def _is_raised(self, dialog_id: str, name: str, asked: Flag) -> bool:
        known = await self._record.read(findings.raised_as, dialog_id, name)
        if known is None:
            return False
        if (known.reason, known.role, known.seq) != (asked.reason, asked.role, asked.seq):
            raise conflict(_SOMETHING_ELSE)
        return True

    # --- Workers -----------------------------------------------------------------------------

    async def _worker(self, worker_id: str) -> WorkerRow:
        found = await self._record.one(workers_by_id, worker_id)
        if found is None or found.study_id != self._study_id:
            raise unknown("worker")
        return found

    async def exclude(self, who: Who, worker_id: str, asked: Reason) -> Done:
        await self._worker(worker_id)
        after = {"excluded": True, "why": asked.reason}
        with_it = [
            self._audited(who, "worker.exclude", worker_id, {"excluded": False}, after),
            *self._beside(who, RequestKind.BLOCK, worker_id, {"reason": asked.reason}),
        ]
        if not await self._service.exclusion.exclude(worker_id, asked.reason, *with_it):
            raise conflict("This worker is excluded already.")
        return self._asked("workers")

    async def allow(self, who: Who, worker_id: str, asked: Nothing) -> Done:
        known = await self._worker(worker_id)
        before = {"excluded": True, "why": known.excluded_why}
        parts = [
            allowed_again(worker_id),
            self._audited(who, "worker.allow", worker_id, before, {"excluded": False}),
            *self._beside(who, RequestKind.UNBLOCK, worker_id, {}),
        ]
        try:
            await self._record.writer.commit(together(*parts))
        except Conflict:
            raise conflict("This worker is not excluded.") from None
        return self._asked("workers")

    def _beside(
        self, who: Who, kind: RequestKind, worker_id: str, data: dict[str, Any]
    ) -> list[Decision]:
        """What is asked of the recruiter as well, where it can keep people away."""
        if not self._able.blocks:
            return []
        name, now = secrets.token_urlsafe(12), self._now()
        return [requests.asked(self._study_id, name, who.id, kind, worker_id, data, now)]

    async def note(self, who: Who, worker_id: str, asked: Note) -> Done:
        await self._worker(worker_id)
        name = asked.key or secrets.token_urlsafe(12)
        written = noted(name, worker_id, who.id, asked.text, self._now())
        audit = self._audited(who, "worker.note", worker_id, None, {"note": name})
        try:
            await self._record.writer.commit(together(written, audit))
        except Conflict:
            known = await self._record.one(notes_by_id, name)
            if known is None or (known.worker_id, known.text) != (worker_id, asked.text):
                raise conflict(_SOMETHING_ELSE) from None
        self._changed("workers")
        return Done()

    async def message(self, who: Who, worker_id: str, asked: WorkerMessage) -> Done:
        await self._worker(worker_id)
        if not self._able.messages:
            raise conflict(
                "Who came by this recruiter cannot be reached by it; write to them by other means."
            )
        data = {"subject": asked.subject, "text": asked.text}
        return await self._wish(
            who,
            "worker.message",
            asked.key or secrets.token_urlsafe(12),
            RequestKind.MESSAGE,
            worker_id,
            data,
            {},
        )

    async def bonus(self, who: Who, worker_id: str, asked: BonusWish) -> Done:
        await self._worker(worker_id)
        arrival_id = asked.arrival_id
        if arrival_id is None:
            newest = await self._record.read(queries.latest_arrival, worker_id)
            arrival_id = newest.id if newest is not None else ""
        row = await self._record.one(queries.arrivals_by_id, arrival_id)
        if row is None or row.worker_id != worker_id:
            raise unknown("arrival of this worker")
        data = {"cents": asked.cents, "reason": asked.reason}
        return await self._wish(
            who,
            "worker.bonus",
            asked.key,
            RequestKind.BONUS,
            row.id,
            data,
            {"worker": worker_id, "cents": asked.cents},
        )

    async def _wish(
        self,
        who: Who,
        action: str,
        key: str,
        kind: RequestKind,
        target: str,
        data: dict[str, Any],
        after: dict[str, Any],
    ) -> Done:
        """Write down what the hit manager is to do, once for each key."""
        wish = requests.asked(self._study_id, key, who.id, kind, target, data, self._now())
        audit = self._audited(who, action, target, None, {"request": key, **after})
        try:
            await self._record.writer.commit(together(wish, audit))
        except Conflict:
            known = (await self._record.read(requests.requests_by_id, [key])).get(key)
            if known is None or (known.kind, known.target) != (kind, target) or known.data != data:
                raise conflict(_SOMETHING_ELSE) from None
        return self._asked("workers", key)

    def _asked(self, what: str, request: str | None = None) -> Done:
        self._service.on_wish()
        self._changed(what)
        return Done(request=request)

    # --- The study ---------------------------------------------------------------------------

    async def pause(self, who: Who, asked: Nothing) -> Done:
        return await self.study.pause(who, asked)

    async def resume(self, who: Who, asked: Nothing) -> Done:
        return await self.study.resume(who, asked)

    async def change(self, who: Who, asked: ChangeStudy) -> Done:
        return await self.study.change(who, asked)

    # --- What failed -------------------------------------------------------------------------

    async def again(self, who: Who, request_id: str, asked: OnFailed) -> Done:
        return await self.failed.again(who, request_id, asked)

    async def dismiss(self, who: Who, request_id: str, asked: OnFailed) -> Done:
        return await self.failed.dismiss(who, request_id, asked)

    # --- Payments ----------------------------------------------------------------------------

    async def approve(self, who: Who, asked: PaymentNames) -> Done:
        """Let payments that are owed go out, all of these or none."""
        now, parts = self._now(), []
        for payment in await self._payments(asked, _CAN_BE_APPROVED):
            before, after = {"state": payment.state}, {"state": LedgerState.APPROVED}
            named = {"reason": payment.reason, "cents": payment.cents}
            parts += [
                payments.approved(payment, now),
                self._audited(
                    who, "ledger.approve", payment.arrival_id, before | named, after | named
                ),
            ]
        await self._all_or_none(parts)
        return self._asked("ledger")

    async def retry(self, who: Who, asked: PaymentNames) -> Done:
        """Try payments again that failed or were held, all of these or none."""
        now, parts = self._now(), []
        for payment in await self._payments(asked, _CAN_BE_RETRIED):
            name = secrets.token_urlsafe(12)
            data = {"reason": payment.reason}
            before = {"state": payment.state, "problem": payment.problem}
            parts += [
                requests.asked(
                    self._study_id,
                    name,
                    who.id,
                    RequestKind.RETRY,
                    payment.arrival_id,
                    data,
                    now,
                ),
                self._audited(
                    who, "ledger.retry", payment.arrival_id, before | data, {"request": name}
                ),
            ]
        await self._all_or_none(parts)
        return self._asked("ledger")

    async def _payments(
        self, asked: PaymentNames, states: tuple[LedgerState, ...]
    ) -> list[PaymentRow]:
        wanted = {(each.arrival_id, each.reason) for each in asked.payments}
        rows = await self._record.read(queries.arrivals_by_id, [name for name, _ in wanted])
        mine = [row.id for row in rows.values() if row.study_id == self._study_id]
        found = [
            payment
            for payment in await self._record.read(payments.payments_of, mine)
            if (payment.arrival_id, payment.reason) in wanted
        ]
        if len(found) < len(wanted):
            raise unknown("payment among these")
        if other := [payment for payment in found if payment.state not in states]:
            raise conflict(
                f"The payment {other[0].reason} of {other[0].arrival_id} is "
                f"{other[0].state.value} by now."
            )
        return found

    async def _all_or_none(self, parts: list[Decision]) -> None:
        try:
            await self._record.writer.commit(together(*parts))
        except Conflict:
            raise conflict("Something else happened to one of these payments meanwhile.") from None
