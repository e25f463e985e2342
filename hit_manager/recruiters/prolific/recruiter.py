"""The recruiter: a HIT of ours is a study over there, its seats are places."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal
from typing import Any, Final
from urllib.parse import urlencode

import orjson

from dialogs.rules import AssignmentStatus
from hit_manager.recruiters.base import (
    Arriving,
    Bonus,
    Capabilities,
    Keep,
    NotThere,
    NotYet,
    Posting,
    Proof,
    Recruiter,
    RecruiterError,
    Refused,
    RemoteAssignment,
    RemoteHit,
    Step,
    Unavailable,
    keep_nothing,
)
from hit_manager.recruiters.prolific import bonuses
from hit_manager.recruiters.prolific.bonuses import BonusStep
from hit_manager.recruiters.prolific.client import Client, Repeat
from hit_manager.recruiters.prolific.config import MOST_PLACES, ProlificConfig
from hit_manager.recruiters.prolific.groups import Group
from hit_manager.recruiters.prolific.hooks import Look, read_hook
from hit_manager.recruiters.prolific.studies import Studies, is_id, safe
from hit_manager.recruiters.prolific.study import (
    PARTICIPANT,
    STUDY,
    SUBMISSION,
    SubmissionStatus,
    assignment_status,
    new_study,
    remote_assignment,
    submission_status,
)

_REJECTION: Final = (
    "If you think that this is a mistake, please write to us through Prolific's messages: a "
    "person will look at your submission again."
)
"""Added to every rejection: Prolific wants a hundred characters, and a person deserves a way."""


@dataclass(frozen=True, slots=True)
class _Sent:
    """A bonus that may be on its way since `at`; the submission had `before` of its amount."""

    at: float
    before: int


class Prolific(Recruiter):
    """People from Prolific.

    Who comes is proved when they come. Places can only be added: to take fewer people, a study
    is paused. Approving twice is approving once; a bonus paid twice is paid twice, so `pay` says
    `Unsure` when its answer is lost and `paid` looks.

    `now` gives seconds that only go forward.
    """

    name = "prolific"
    capabilities = Capabilities(
        proof=Proof.AT_JOIN,
        posts=True,
        pays=True,
        bonuses=True,
        messages=True,
        blocks=True,
        needs_code=True,
        grows=True,
        most_seats=MOST_PLACES,
    )

    def __init__(
        self, config: ProlificConfig, *, now: Callable[[], float] = time.monotonic
    ) -> None:
        self.config = config
        self._now = now
        self._client = Client(config.base_url, config.token, config.patience)
        self._group = Group(self._client, config.workspace_id, config.block_group)
        self._studies = Studies(self._client, config, self._group)
        self._currency: str | None = None
        # Money calls contend for the workspace's wallet: Prolific refuses them side by side.
        self._money = asyncio.Lock()
        self._looked_at: dict[str, float] = {}
        self._sent: dict[str, _Sent] = {}
        self._listed_soon: dict[tuple[str, int], int] = {}
        self._doubtful: dict[tuple[str, int], str] = {}

    # --- Arriving --------------------------------------------------------------------------

    def arriving(self, query: Mapping[str, str]) -> Arriving | None:
        worker, submission, study = (query.get(n, "") for n in (PARTICIPANT, SUBMISSION, STUDY))
        if not (is_id(worker) and is_id(submission) and is_id(study)):
            return None
        return Arriving(worker, submission, study)

    async def prove(self, arriving: Arriving) -> None:
        patience = self.config.join_patience
        try:
            submission = await self._client.get(
                f"submissions/{safe(arriving.assignment_id)}/", patience=patience
            )
        except NotThere:
            raise Refused("Prolific does not know this submission") from None
        except Refused as error:
            # A wrong token, say: nothing that the person at the door has done.
            raise Unavailable(str(error)) from None
        study_id = submission.get("study_id")
        if submission.get("participant") != arriving.worker_id or study_id != arriving.hit_id:
            raise Refused("Prolific says that this submission is another person's or study's")
        if not await self._studies.are_ours(str(study_id), patience):
            raise Refused("this submission is of a study that is not ours")
        # A place is reserved for a moment longer than it takes to open the page.
        inside = (SubmissionStatus.RESERVED, SubmissionStatus.ACTIVE)
        if submission_status(submission) not in inside:
            raise Refused("this submission is over already")

    def completion_url(self, code: str) -> str:
        """Where the participant's browser goes to hand in a code, as a page of its own; as often
        as they like."""
        return f"{self.config.complete_url}?{urlencode({'cc': code})}"

    # --- Life ------------------------------------------------------------------------------

    async def open(self) -> None:
        me = await self._client.get("users/me/")
        self._currency = str(me["currency_code"])

    async def close(self) -> None:
        await self._client.close()

    async def balance(self) -> int | None:
        return int((await self._client.get("users/me/"))["available_balance"])

    # --- Studies ---------------------------------------------------------------------------

    async def post(self, posting: Posting) -> RemoteHit:
        """Publish a study; asked again with the same key, the same study. The draft that comes
        first recruits nobody."""
        self._check_currency(posting.currency)
        return await self._studies.post(posting)

    def terms(self, posting: Posting) -> str:
        body = new_study(replace(posting, key="", seats=1), self.config, "")
        return hashlib.sha256(orjson.dumps(body, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]

    async def grow(self, hit_id: str, seats: int, key: str) -> None:
        """Places only grow: for fewer than there are, nothing is done. A study whose places were
        all taken recruits again by it; one that is paused stays so."""
        await self._studies.grow(hit_id, seats)

    async def extend(self, hit_id: str, until: float) -> None:
        """Studies have no end of their own, so this only lets a paused one go on."""
        await self._studies.start(hit_id)

    async def expire(self, hit_id: str) -> None:
        """Pause the study: nobody new comes, and whoever is inside may finish."""
        await self._studies.pause(hit_id)

    async def dispose(self, hit_id: str) -> None:
        """Stop the study for good, which lets go of the money held for its free places."""
        await self._studies.stop(hit_id)

    async def hits(self) -> Sequence[RemoteHit]:
        return await self._studies.all_seen()

    async def hit(self, hit_id: str) -> RemoteHit:
        return await self._studies.seen(hit_id)

    async def projected_cost(self, reward: int, places: int) -> int:
        """What a study would cost by Prolific's own calculator, in cents, fees included."""
        answer = await self._client.post(
            "study-cost-calculator/",
            {"reward": reward, "total_available_places": places},
            Repeat.HARMLESS,
        )
        return int(answer["total_cost"])

    # --- Submissions -----------------------------------------------------------------------

    async def assignments(self, hit_id: str) -> Sequence[RemoteAssignment]:
        return [
            remote_assignment(submission, hit_id)
            async for submission in self._client.pages("submissions/", {"study": hit_id})
        ]

    async def assignment(self, assignment_id: str) -> RemoteAssignment:
        submission = await self._submission(assignment_id)
        return remote_assignment(submission, str(submission["study_id"]))

    async def approve(self, assignment_id: str, feedback: str = "") -> None:
        """Pay the reward. Prolific has no place for `feedback`.

        Raises:
            Refused: the submission was returned, has run out, or was rejected.
        """
        await self._decide(assignment_id, {"action": "APPROVE"}, AssignmentStatus.APPROVED)

    async def reject(self, assignment_id: str, feedback: str) -> None:
        decision = {
            "action": "REJECT",
            "message": f"{feedback.strip()} {_REJECTION}".strip(),
            "rejection_category": self.config.rejection_category,
        }
        await self._decide(assignment_id, decision, AssignmentStatus.REJECTED)

    async def screen_out(self, assignment_id: str) -> int:
        """End a submission with the screen-out payment instead of its reward; returns what that
        pays, in cents. Done twice is done once.

        Raises:
            Unsupported: the workspace has no screen-outs (`screen_out_cents`).
        """
        if self.config.screen_out_cents is None:
            raise self._unsupported("has no screen-outs in this workspace")
        decision = {"action": "COMPLETE", "completion_code": self.config.codes.screened_out}
        await self._decide(
            assignment_id, decision, AssignmentStatus.RETURNED, SubmissionStatus.SCREENED_OUT
        )
        return self.config.screen_out_cents

    def steps(self, cents: int, reward: int, *, waited: bool = False) -> tuple[Step, ...]:
        """Less than the reward is paid beside it, after the work has been asked back; who waited
        in vain is screened out instead, where that can be done and pays no more than is owed."""
        fixed = self.config.screen_out_cents
        if waited and fixed is not None and fixed <= cents:
            return (Step.SCREEN_OUT,) if cents == fixed else (Step.SCREEN_OUT, Step.BONUS)
        if cents < reward:
            return (Step.RETURN, Step.BONUS) if cents else (Step.RETURN,)
        return super().steps(cents, reward)

    def pays(self, step: Step, reward: int) -> int:
        if step is Step.SCREEN_OUT:
            return self.config.screen_out_cents or 0
        return super().pays(step, reward)

    async def request_return(self, assignment_id: str, reason: str) -> None:
        """Ask the participant to give the submission back; they may or may not. Asked once only.

        Raises:
            Unsure: they may have been asked; a repetition looks first.
        """
        submission = await self._submission(assignment_id)
        status = submission_status(submission)
        if submission.get("return_requested") or status is SubmissionStatus.RETURNED:
            return
        await self._client.post(
            f"submissions/{safe(assignment_id)}/request-return/",
            {"request_return_reasons": [reason]},
            Repeat.ONCE,
        )

    # --- Money -----------------------------------------------------------------------------

    async def pay(self, bonus: Bonus, keep: Keep = keep_nothing) -> None:
        """Set the payment up, then pay it. How things stand is kept ahead of both steps.

        Raises:
            NotYet: the work is not handed in, or a bonus that could not be told from this one
                may be on its way.
            Refused: the submission is another person's, or Prolific understood another amount.
            Unsure: it may have been paid.
        """
        self._check_currency(bonus.currency)
        async with self._money:
            submission = await self._submission(bonus.assignment_id)
            if submission.get("participant") != bonus.worker_id:
                raise Refused("Prolific says that this submission is another person's")
            status = submission_status(submission)
            if assignment_status(status) is AssignmentStatus.TAKEN:
                raise NotYet(f"the submission is {status} still")
            same = (bonus.assignment_id, bonus.cents)
            # The submission's list is all there is to look at, and it holds amounts only.
            if self._doubtful.get(same, bonus.key) != bonus.key:
                raise NotYet("another bonus of this amount may be on its way: look at it first")
            # What was paid a moment ago may not be listed yet.
            listed = _amounts(submission).count(bonus.cents)
            before = max(listed, self._listed_soon.get(same, 0), bonus.earlier)

            asked = False

            def sending() -> None:
                nonlocal asked
                asked = True
                self._sent[bonus.key] = _Sent(self._now(), before)
                self._doubtful[same] = bonus.key

            try:
                await bonuses.pay(self._client, bonus, before, keep, sending)
            except Refused:
                if asked:
                    del self._sent[bonus.key], self._doubtful[same]
                raise
            del self._doubtful[same]
            self._listed_soon[same] = before + 1

    async def paid(self, bonus: Bonus) -> bool:
        """Whether the submission's list of bonuses, which holds amounts and nothing else, has this
        amount more often than before the payment.

        Raises:
            NotYet: a payment takes minutes to be listed, and one that was sent by this process,
                or by one before it, may still be on its way.
        """
        sent = self._sent.get(bonus.key)
        if sent is None and bonus.known.get("step") != BonusStep.PAY:
            # It is kept ahead of the step that pays, so nobody has come to that.
            return False
        before = int(bonus.known["before"]) if sent is None else sent.before
        listed = _amounts(await self._submission(bonus.assignment_id)).count(bonus.cents)
        paid = listed > before
        # Another process may have sent it a moment ago, whatever the clocks say: so this one waits
        # itself, from when it looks for the first time.
        since = self._looked_at.setdefault(bonus.key, self._now()) if sent is None else sent.at
        quiet_s = self._now() - since
        if not paid and quiet_s < self.config.paid_within_s:
            raise NotYet("a payment that was just sent would not be listed yet")
        same = (bonus.assignment_id, bonus.cents)
        if self._doubtful.get(same) == bonus.key:
            del self._doubtful[same]
        return paid

    def commission(self, cents: int, *, seats: int = 1, bonus: bool = False) -> int:
        """The service fee and the tax on it, in cents, by the percentages in the settings; the
        same on rewards and bonuses, whatever the number of places. Rounded up, because Prolific
        does not say how it rounds."""
        fee = cents * self.config.service_fee_percent / 100
        taxed = fee * (1 + self.config.vat_percent / Decimal(100))
        return int(taxed.to_integral_value(rounding=ROUND_CEILING))

    # --- People ----------------------------------------------------------------------------

    async def message(self, worker_ids: Collection[str], subject: str, text: str) -> dict[str, str]:
        """Write to participants of our studies; Prolific wants each message to be about one. Not
        repeated when an answer is lost: nobody should get it twice."""
        missing = set(worker_ids)
        failed: dict[str, str] = {}
        for study in await self._studies.all():
            if not missing:
                break
            here = {
                str(submission["participant_id"])
                async for submission in self._client.pages("submissions/", {"study": study["id"]})
            } & missing
            if not here:
                continue
            missing -= here
            body = {"ids": sorted(here), "body": f"{subject}\n\n{text}", "study_id": study["id"]}
            try:
                await self._client.post("messages/bulk/", body, Repeat.ONCE)
            except RecruiterError as error:
                failed |= dict.fromkeys(here, str(error))
        return failed | dict.fromkeys(missing, "took part in no study of ours")

    async def block(self, worker_id: str, reason: str) -> None:
        """Put them in the group that all our studies leave out, running ones too. Nobody is told,
        and Prolific has no place for `reason`."""
        await self._group.add(worker_id)

    async def unblock(self, worker_id: str) -> None:
        await self._group.remove(worker_id)

    def hook(self, headers: Mapping[str, str], body: bytes, now: float) -> Look | None:
        """Where a hook tells us to look; `now` in seconds since 1970.

        Raises:
            Refused: it is not from Prolific, or too old, or cannot be read.
        """
        return read_hook(headers, body, secret=self.config.hook_secret or "", now=now)

    # --- Inside ----------------------------------------------------------------------------

    async def _submission(self, assignment_id: str) -> dict[str, Any]:
        submission: dict[str, Any] = await self._client.get(f"submissions/{safe(assignment_id)}/")
        return submission

    async def _decide(
        self,
        assignment_id: str,
        decision: Mapping[str, str],
        wanted: AssignmentStatus,
        exactly: SubmissionStatus | None = None,
    ) -> None:
        """Move a submission to where it is wanted, unless it is there."""

        def there(submission: Mapping[str, Any]) -> bool:
            status = submission_status(submission)
            return status is exactly if exactly else assignment_status(status) is wanted

        async with self._money:
            submission = await self._submission(assignment_id)
            if there(submission):
                return
            status = submission_status(submission)
            match assignment_status(status):
                case AssignmentStatus.TAKEN:
                    raise NotYet(f"the submission is {status} still")
                case AssignmentStatus.SUBMITTED:
                    pass
                case _:
                    raise Refused(f"the submission is {status} already")
            path = f"submissions/{safe(assignment_id)}/transition/"
            try:
                await self._client.post(path, decision, Repeat.HARMLESS)
            except Refused:
                # Somebody may have decided a moment before.
                if not there(await self._submission(assignment_id)):
                    raise

    def _check_currency(self, currency: str) -> None:
        if self._currency is not None and currency != self._currency:
            raise Refused(f"the workspace pays in {self._currency}, not in {currency}")


def _amounts(submission: Mapping[str, Any]) -> list[int]:
    """The bonuses of a submission, in cents."""
    return [int(amount) for amount in submission.get("bonus_payments") or ()]
