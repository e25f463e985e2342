"""Putting a recruiter together: from study file and settings to who invites, admits and pays."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from decimal import Decimal

from chatserver.doors import Door, NotAdmitted, Visitor
from chatserver.hooks import Hook
from chatserver.wire import ErrorCode, Submit
from dialogs.money import to_cents, to_text
from dialogs.record.hits import hit_by_remote_id, hit_by_token, hits_by_id
from dialogs.record.queries import ArrivalRow, ReleaseRow
from dialogs.record.store import Record
from dialogs.terms import least_for
from duologue.problems import BadInput
from duologue.settings import Settings
from duologue.study import StudyFile, read_invitations
from hit_manager.config import Approval, HitConfig
from hit_manager.recruiters.base import Arriving, Proof, Recruiter, Refused, Unavailable
from hit_manager.recruiters.link import Link
from hit_manager.recruiters.mturk.config import MturkConfig, Wanted
from hit_manager.recruiters.mturk.recruiter import Mturk
from hit_manager.recruiters.prolific.config import Codes, ProlificConfig
from hit_manager.recruiters.prolific.recruiter import Prolific

log = logging.getLogger("duologue.hooks")

HIT = "hit"
"""The parameter of a link that carries the token of its HIT."""


def reward_of(study: StudyFile) -> int:
    """What approving the work pays by itself, in cents."""
    pay, given = study.pay.to_pay(), study.recruiter.reward
    if given is not None:
        return to_cents(given, pay.currency)
    return least_for(study.recruiter.kind, pay)


MOST_OF_A_TITLE = 128
"""Characters that a platform takes, at most."""


def _title(study: StudyFile, reward: int) -> str:
    """What the HIT is called. Platforms show the reward alone, and in large; so where more is
    paid, the title says how much, if there is room for it."""
    title, pay = study.study.title, study.pay.to_pay()
    told = f"{title} ({_money(pay.complete, pay.currency)} for a whole dialog)"
    return told if reward < pay.complete and len(told) <= MOST_OF_A_TITLE else title


def _description(study: StudyFile, reward: int) -> str:
    """What the HIT says of itself. Platforms show the reward alone, which would look like all
    that is paid; so what comes as a bonus is told first."""
    text, pay = study.study.description, study.pay.to_pay()
    if reward >= pay.complete:
        return text or study.study.title
    whole, with_approval = (_money(cents, pay.currency) for cents in (pay.complete, reward))
    told = f"{whole} for a whole dialog: {with_approval} with approval, the rest as a bonus."
    return f"{told} {text}" if text else told


def _money(cents: int, currency: str) -> str:
    amount = to_text(cents, currency)
    return f"${amount}" if currency == "USD" else f"{amount} {currency}"


def hit_config(study: StudyFile, url: str) -> HitConfig:
    """How the study recruits and pays; `url` is where workers reach the server."""
    section, currency, reward = study.recruiter, study.pay.currency, reward_of(study)
    return HitConfig(
        study_id=study.study.id,
        title=_title(study, reward),
        description=_description(study, reward),
        keywords=section.keywords,
        reward=reward,
        full_pay=study.pay.to_pay().complete,
        currency=currency,
        url=url,
        lifetime_s=section.lifetime_s,
        assignment_duration_s=section.assignment_duration_s,
        auto_approval_s=section.auto_approval_s,
        seats=section.most_seats(),
        over_recruit=section.over_recruit,
        max_open=section.max_open,
        max_in_lobby=section.max_in_lobby,
        hours=section.open_hours(),
        budget=to_cents(section.budget, currency) if section.budget is not None else None,
        approval=section.approval,
    )


def recruiter_for(study: StudyFile, settings: Settings) -> Recruiter:
    """The study's recruiter.

    Raises:
        BadInput: what it needs to know is missing, or the invitations cannot be read.
    """
    match study.recruiter.kind:
        case "link":
            file = study.invitations_path
            return Link(read_invitations(file) if file else None)
        case "mturk":
            return Mturk(_mturk(study, settings))
        case "prolific":
            return Prolific(_prolific(study, settings))


def _mturk(study: StudyFile, settings: Settings) -> MturkConfig:
    section = study.recruiter
    return MturkConfig(
        endpoint=section.endpoint,
        access_key=_needed(settings.mturk_access_key, "DUOLOGUE_MTURK_ACCESS_KEY"),
        secret_key=_needed(settings.mturk_secret_key, "DUOLOGUE_MTURK_SECRET_KEY"),
        wanted=Wanted(
            countries=section.countries,
            percent_approved=section.percent_approved,
            number_approved=section.number_approved,
            masters=section.masters,
            adult=section.adult_content,
        ),
        seats_per_hit=section.most_seats(),
        submit_to=section.submit_to,
    )


def _prolific(study: StudyFile, settings: Settings) -> ProlificConfig:
    section = study.recruiter.prolific
    assert section.workspace is not None, "the study file is checked for it"
    screen_out = section.screen_out
    return ProlificConfig(
        token=_needed(settings.prolific_token, "DUOLOGUE_PROLIFIC_TOKEN"),
        workspace_id=section.workspace,
        study_id=study.study.id,
        codes=Codes.derived(settings.secret_key, study.study.id),
        project_id=section.project,
        estimated_minutes=study.study.minutes,
        dialogs_per_worker=study.study.dialogs_per_worker,
        filters=section.filters,
        devices=section.devices,
        inside_at_once=section.inside_at_once,
        block_group=section.block_group,
        screen_out_cents=to_cents(screen_out, study.pay.currency) if screen_out else None,
        screen_out_slots=section.screen_out_slots,
        rejection_category=section.rejection_category,
        service_fee_percent=Decimal(str(section.service_fee_percent)),
        vat_percent=Decimal(str(section.vat_percent)),
        hook_secret=settings.prolific_hook_secret,
    )


def _needed(value: str | None, name: str) -> str:
    if not value:
        raise BadInput([f"{name} is not set; the study's recruiter needs it"])
    return value


class CrowdDoor(Door):
    """The door for people who come from a crowd platform.

    The link carries an unguessable token of our HIT; where there is none (Prolific adds nothing
    of ours), the platform's own id of the HIT must be one that we posted.
    """

    def __init__(
        self,
        recruiter: Recruiter,
        record: Record,
        study_id: str,
        approval: Approval = Approval.AUTOMATIC,
        auto_approval_s: float | None = None,
    ) -> None:
        self.recruiter = recruiter.name
        self._by_hand = approval is Approval.BY_HAND
        self._auto_approval_s = auto_approval_s
        self._recruiter = recruiter
        self._record = record
        self._study_id = study_id

    def preview(self, query: Mapping[str, str]) -> bool:
        return super().preview(query) or self._recruiter.arriving(query) is None

    async def visitor(self, query: Mapping[str, str], worker_key: str | None) -> Visitor:
        arriving = self._recruiter.arriving(query)
        if arriving is None:
            raise NotAdmitted(404, ErrorCode.NOT_NOW, "This is a preview.")
        token = query.get(HIT, "")
        if token:
            hit = await self._record.read(hit_by_token, self._study_id, token)
        else:
            hit = await self._record.read(hit_by_remote_id, self._study_id, arriving.hit_id)
        if hit is None or (self._recruiter.capabilities.proof is not Proof.AT_JOIN and not token):
            raise NotAdmitted(
                403,
                ErrorCode.BAD_REQUEST,
                "This link does not belong to a task of this study. Please open the task again "
                "where you found it.",
            )
        if self._recruiter.capabilities.proof is Proof.AT_JOIN:
            await self._prove(arriving)
        return Visitor(arriving.worker_id, arriving.assignment_id, hit.id, arriving.submit_to)

    async def _prove(self, arriving: Arriving) -> None:
        try:
            await self._recruiter.prove(arriving)
        except Refused as error:
            raise NotAdmitted(403, ErrorCode.BAD_REQUEST, f"{error}.".capitalize()) from None
        except Unavailable:
            raise NotAdmitted(
                503, ErrorCode.TRY_AGAIN, "We cannot check your place just now. One moment, please."
            ) from None

    async def submit(self, row: ArrivalRow, release: ReleaseRow) -> Submit | None:
        if isinstance(self._recruiter, Prolific):
            config = self._recruiter.config
            code = config.codes.for_release(release.release, release.cents)
            return Submit(
                url=config.complete_url, fields={"cc": code}, method="get", by_hand=self._by_hand
            )
        if not row.submit_to or not release.cents:
            # Who is owed nothing gives the task back, so that somebody else can take it.
            return None
        fields = {"assignmentId": row.assignment_id, "code": release.code}
        reward = await self._reward(row)
        return Submit(
            url=row.submit_to,
            fields=fields,
            reward=reward,
            by_hand=self._by_hand,
            reward_after_s=self._auto_approval_s,
        )

    async def cannot_pay(self, row: ArrivalRow, cents: int) -> str | None:
        reward = await self._reward(row)
        try:
            if cents and reward is not None:
                self._recruiter.steps(cents, reward)
        except Refused as why:
            return f"{why}. Nothing, or no less than that, can be paid."
        return None

    async def _reward(self, row: ArrivalRow) -> int | None:
        """What approving this arrival's work pays by itself, in cents; None if it is not known."""
        if not row.hit_id:
            return None
        hits = await self._record.read(hits_by_id, [row.hit_id])
        return hits[row.hit_id].reward if row.hit_id in hits else None


def door_for(recruiter: Recruiter, study: StudyFile, record: Record) -> Door | None:
    """The recruiter's door, or None for a plain link's."""
    if isinstance(recruiter, Link):
        return None
    section = study.recruiter
    return CrowdDoor(recruiter, record, study.study.id, section.approval, section.auto_approval_s)


def hooks_for(
    recruiter: Recruiter, look: Callable[[], None], now: Callable[[], float] = time.time
) -> Mapping[str, Hook]:
    """What the recruiter's platform may tell by itself: that it is worth to `look` there now.

    Nothing that stands in it is believed, and nobody is paid by it.
    """
    if not isinstance(recruiter, Prolific) or not recruiter.config.hook_secret:
        return {}

    def take(headers: Mapping[str, str], body: bytes) -> bool:
        try:
            where = recruiter.hook(headers, body, now())
        except Refused as error:
            log.info("refused: %s", error)
            return False
        if where is not None:
            look()
        return True

    return {recruiter.name: take}


def sites_of(recruiter: Recruiter) -> tuple[str, ...]:
    """The sites that show our page in a frame."""
    return tuple(sorted(recruiter.config.sites)) if isinstance(recruiter, Mturk) else ()
