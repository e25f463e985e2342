"""Amazon Mechanical Turk, or a server that speaks its API, as a recruiter."""

from __future__ import annotations

import logging
import math
import re
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlsplit

from dialogs.rules import AssignmentStatus
from hit_manager.config import MAX_SEATS
from hit_manager.recruiters.backoff import Patience
from hit_manager.recruiters.base import (
    Arriving,
    Bonus,
    Capabilities,
    HitStatus,
    Keep,
    NotThere,
    Posting,
    Proof,
    Recruiter,
    Refused,
    RemoteAssignment,
    RemoteHit,
    Unavailable,
    keep_nothing,
)
from hit_manager.recruiters.mturk import money
from hit_manager.recruiters.mturk.blocking import SoftBlock
from hit_manager.recruiters.mturk.client import Client, show
from hit_manager.recruiters.mturk.config import MturkConfig
from hit_manager.recruiters.mturk.errors import AlreadyDone, WrongState, hit_named_in
from hit_manager.recruiters.mturk.keys import MAX_KEY, reason_with_reference, request_token
from hit_manager.recruiters.mturk.messages import notify
from hit_manager.recruiters.mturk.qualifications import requirements
from hit_manager.recruiters.mturk.questions import answers, external_question

log = logging.getLogger("duologue.mturk")

PREVIEW: Final = "ASSIGNMENT_ID_NOT_AVAILABLE"
_ID: Final = re.compile(r"[A-Z0-9]{1,64}")
_WORKER_ID: Final = re.compile(r"A[A-Z0-9]{1,63}")
_SHORTEST_EXTENSION_S: Final = 60.0
_CLOCK_S: Final = 1.0
"""What two moments may differ by and count as one: the API counts in whole seconds."""

_ASSIGNMENTS: Final = {
    "Submitted": AssignmentStatus.SUBMITTED,
    "Approved": AssignmentStatus.APPROVED,
    "Rejected": AssignmentStatus.REJECTED,
}


class Mturk(Recruiter):
    """HITs with a page of ours in a frame.

    Who comes is proved by what they submit: before, the worker id in the URL is a mere claim.
    Keys are remembered over there for 24 hours. What is older and may have been done must be
    looked up (`hits`, `paid`) before it is asked for again.
    """

    name = "mturk"

    def __init__(
        self,
        config: MturkConfig,
        *,
        patience: Patience | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.config = config
        self.capabilities = Capabilities(
            proof=Proof.AT_SUBMISSION,
            posts=True,
            pays=True,
            bonuses=True,
            messages=True,
            blocks=bool(config.block_name),
            repeat_safe=True,
            most_seats=MAX_SEATS,
        )
        self._client = Client(config, patience or Patience(told=show))
        self._block = SoftBlock(self._client, config.block_name) if config.block_name else None
        self._now = now

    # --- Arrivals --------------------------------------------------------------------------

    def arriving(self, query: Mapping[str, str]) -> Arriving | None:
        assignment_id = query.get("assignmentId", "")
        hit_id, worker_id = query.get("hitId", ""), query.get("workerId", "")
        site = query.get("turkSubmitTo", "").rstrip("/")
        if not (assignment_id and hit_id and worker_id and site) or assignment_id == PREVIEW:
            return None
        if site not in self.config.sites:
            log.warning(
                "somebody came from a HIT that submits to %r, which is not among the sites of "
                "this recruiter; they are shown the preview",
                _origin(site),
            )
            return None
        if not (
            _ID.fullmatch(assignment_id)
            and _ID.fullmatch(hit_id)
            and _WORKER_ID.fullmatch(worker_id)
        ):
            return None
        return Arriving(worker_id, assignment_id, hit_id, f"{site}/mturk/externalSubmit")

    # --- Life ------------------------------------------------------------------------------

    async def open(self) -> None:
        # The soft block's qualification is made when the first HIT needs it: who merely asks
        # what would be done leaves nothing over there.
        await self.balance()

    async def close(self) -> None:
        await self._client.close()

    async def balance(self) -> int:
        answer = await self._client.call("get_account_balance", changes=False)
        return money.cents(answer["AvailableBalance"])

    # --- HITs ------------------------------------------------------------------------------

    async def post(self, posting: Posting) -> RemoteHit:
        if posting.currency != "USD":
            raise Refused(f"HITs are paid in USD, not {posting.currency}")
        if not 1 <= posting.seats < money.CROWD:
            raise Refused(
                f"a HIT has 1 to {money.CROWD - 1} seats, not {posting.seats}: the commission on "
                "larger ones is doubled"
            )
        if len(posting.key) > MAX_KEY:
            raise Refused(f"a key has at most {MAX_KEY} characters")
        config = self.config
        block_type = await self._block.type_id() if self._block is not None else None
        try:
            answer = await self._client.call(
                "create_hit",
                changes=True,
                Title=posting.title or config.title,
                Description=posting.description or config.description,
                Keywords=posting.keywords or config.keywords,
                Reward=money.dollars(posting.reward),
                MaxAssignments=posting.seats,
                LifetimeInSeconds=round(posting.lifetime_s),
                AssignmentDurationInSeconds=round(posting.assignment_duration_s),
                AutoApprovalDelayInSeconds=round(posting.auto_approval_s),
                Question=external_question(posting.url, config.frame_height),
                RequesterAnnotation=f"{config.mark}:{posting.key}",
                QualificationRequirements=requirements(
                    config.wanted, block_type=block_type, sandbox=config.sandbox
                ),
                UniqueRequestToken=request_token(posting.key),
            )
        except AlreadyDone as error:
            return await self._posted(posting.key, hit_named_in(error))
        return self._hit(answer["HIT"])

    async def grow(self, hit_id: str, seats: int, key: str) -> None:
        hit = await self.hit(hit_id)
        if hit.seats >= seats:
            return
        if hit.seats < money.CROWD <= seats:
            raise Refused(f"a HIT of {hit.seats} seats cannot have {seats}", "TooManySeats")
        try:
            await self._client.call(
                "create_additional_assignments_for_hit",
                changes=True,
                HITId=hit_id,
                NumberOfAdditionalAssignments=seats - hit.seats,
                # With the number: growing again with the same key must not pass for a repeat.
                UniqueRequestToken=request_token(f"{key}+{seats}"),
            )
        except AlreadyDone:
            return

    async def extend(self, hit_id: str, until: float) -> None:
        raw = await self._get_hit(hit_id)
        ends = _seconds(raw.get("Expiration")) or 0.0
        if until <= ends + _CLOCK_S:
            return
        until = max(until, max(ends, self._now()) + _SHORTEST_EXTENSION_S)
        try:
            await self._set_expiration(hit_id, until)
        except AlreadyDone:
            return

    async def expire(self, hit_id: str) -> None:
        try:
            # Not the beginning of time: the same moment twice counts as a repeat over there,
            # though the HIT may have been extended in between.
            await self._set_expiration(hit_id, self._now() - 60.0)
        except (AlreadyDone, WrongState):
            if (await self.hit(hit_id)).status is HitStatus.OPEN:
                raise Unavailable(f"HIT {hit_id} cannot be expired now", "NotNow") from None

    async def dispose(self, hit_id: str) -> None:
        try:
            await self._client.call("delete_hit", changes=True, HITId=hit_id)
        except NotThere:
            return
        except WrongState as error:
            try:
                if (await self.hit(hit_id)).status is not HitStatus.GONE:
                    raise error
            except NotThere:
                return

    async def hits(self) -> Sequence[RemoteHit]:
        return [hit async for hit in self._ours()]

    async def hit(self, hit_id: str) -> RemoteHit:
        return self._hit(await self._get_hit(hit_id))

    # --- Assignments -----------------------------------------------------------------------

    async def assignments(self, hit_id: str) -> Sequence[RemoteAssignment]:
        rows = self._client.rows("list_assignments_for_hit", "Assignments", HITId=hit_id)
        return [_assignment(row) async for row in rows]

    async def assignment(self, assignment_id: str) -> RemoteAssignment:
        answer = await self._client.call(
            "get_assignment", changes=False, AssignmentId=assignment_id
        )
        return _assignment(answer["Assignment"])

    async def approve(self, assignment_id: str, feedback: str = "") -> None:
        said = {"RequesterFeedback": feedback} if feedback else {}
        await self._judge("approve_assignment", assignment_id, AssignmentStatus.APPROVED, **said)

    async def reject(self, assignment_id: str, feedback: str) -> None:
        if not feedback.strip():
            raise Refused("who is rejected must be told why")
        await self._judge(
            "reject_assignment",
            assignment_id,
            AssignmentStatus.REJECTED,
            RequesterFeedback=feedback,
        )

    # --- Money beside the reward -------------------------------------------------------------

    async def pay(self, bonus: Bonus, keep: Keep = keep_nothing) -> None:
        if bonus.currency != "USD":
            raise Refused(f"bonuses are paid in USD, not {bonus.currency}")
        try:
            await self._client.call(
                "send_bonus",
                changes=True,
                # Whoever asks must look before it is sent again, and store both.
                repeats=False,
                WorkerId=bonus.worker_id,
                AssignmentId=bonus.assignment_id,
                BonusAmount=money.dollars(bonus.cents),
                Reason=reason_with_reference(bonus),
                UniqueRequestToken=request_token(bonus.key),
            )
        except AlreadyDone:
            return
        except NotThere:
            # So it is said before submission too; of work handed in it tells another story.
            await self.assignment(bonus.assignment_id)
            raise

    async def paid(self, bonus: Bonus) -> bool:
        rows = self._client.rows(
            "list_bonus_payments", "BonusPayments", AssignmentId=bonus.assignment_id
        )
        reason = reason_with_reference(bonus)
        try:
            return any(
                [r["Reason"] == reason and r["WorkerId"] == bonus.worker_id async for r in rows]
            )
        except WrongState:
            return False

    def commission(self, cents: int, *, seats: int = 1, bonus: bool = False) -> int:
        return money.fee(cents, seats=seats, bonus=bonus, masters=self.config.wanted.masters)

    # --- Workers ---------------------------------------------------------------------------

    async def message(self, worker_ids: Collection[str], subject: str, text: str) -> dict[str, str]:
        return await notify(self._client, worker_ids, subject, text)

    async def block(self, worker_id: str, reason: str) -> None:
        if self._block is None:
            raise self._unsupported("has no block_name")
        await self._block.add(worker_id)

    async def unblock(self, worker_id: str) -> None:
        if self._block is None:
            raise self._unsupported("has no block_name")
        await self._block.remove(worker_id)

    # --- Inside ------------------------------------------------------------------------------

    async def _posted(self, key: str, hit_id: str | None) -> RemoteHit:
        """The HIT that an earlier request with this key made."""
        if hit_id is not None:
            try:
                return await self.hit(hit_id)
            except NotThere:
                pass
        async for hit in self._ours():
            if hit.key == key:
                return hit
        raise Unavailable("this HIT has been posted, but is not shown yet", "NotShown")

    async def _ours(self) -> AsyncIterator[RemoteHit]:
        async for row in self._client.rows("list_hits", "HITs"):
            if row.get("RequesterAnnotation", "").startswith(f"{self.config.mark}:"):
                yield self._hit(row)

    async def _get_hit(self, hit_id: str) -> dict[str, Any]:
        answer = await self._client.call("get_hit", changes=False, HITId=hit_id)
        hit: dict[str, Any] = answer["HIT"]
        return hit

    async def _set_expiration(self, hit_id: str, at: float) -> None:
        await self._client.call(
            "update_expiration_for_hit",
            changes=True,
            HITId=hit_id,
            # Whole seconds, upwards: a part of one less is no longer the shortest extension.
            ExpireAt=datetime.fromtimestamp(math.ceil(at), UTC),
        )

    def _hit(self, raw: Mapping[str, Any]) -> RemoteHit:
        match raw["HITStatus"]:
            case "Disposed":
                status = HitStatus.GONE
            case "Assignable":
                status = HitStatus.OPEN
            case "Unassignable":
                # All seats are taken, and a return frees one unless it is expired.
                ends = _seconds(raw.get("Expiration")) or 0.0
                open_ = ends > self._now() + _CLOCK_S
                status = HitStatus.OPEN if open_ else HitStatus.CLOSED
            case _:
                status = HitStatus.CLOSED
        mark, _, key = raw.get("RequesterAnnotation", "").partition(":")
        return RemoteHit(
            id=raw["HITId"],
            status=status,
            seats=raw["MaxAssignments"],
            free=raw.get("NumberOfAssignmentsAvailable", 0) if status is HitStatus.OPEN else 0,
            pending=raw.get("NumberOfAssignmentsPending", 0),
            key=key if mark == self.config.mark and key else None,
        )

    async def _judge(
        self, operation: str, assignment_id: str, wanted: AssignmentStatus, **said: Any
    ) -> None:
        try:
            await self._client.call(operation, changes=True, AssignmentId=assignment_id, **said)
        except WrongState as error:
            # What is true over there decides: done already, judged otherwise, or not handed in.
            status = (await self.assignment(assignment_id)).status
            if status is wanted:
                return
            if status in (AssignmentStatus.APPROVED, AssignmentStatus.REJECTED):
                raise Refused(f"assignment {assignment_id} is {status} there", error.code) from None
            raise


def _assignment(raw: Mapping[str, Any]) -> RemoteAssignment:
    return RemoteAssignment(
        id=raw["AssignmentId"],
        hit_id=raw["HITId"],
        worker_id=raw["WorkerId"],
        status=_ASSIGNMENTS[raw["AssignmentStatus"]],
        code=answers(raw.get("Answer", "")).get("code"),
        submitted_at=_seconds(raw.get("SubmitTime")),
    )


def _seconds(at: datetime | None) -> float | None:
    return None if at is None else at.timestamp()


def _origin(site: str) -> str:
    """A site without what may say more of a person than where they came from."""
    try:
        parts = urlsplit(site)
    except ValueError:
        return "something that is no URL"
    return f"{parts.scheme}://{parts.hostname or ''}"[:100]
