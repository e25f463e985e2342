"""The half of `hits review` that is about data: verdicts on dialogs, given by somebody of the team.

A spreadsheet shows what was judged before, so it gives first judgements only; second ones, which
are blind, are given in the monitor.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping

from dialogs.record.admins import AdminRow, admin_named, known_as
from dialogs.record.cases import Case, cases
from dialogs.record.errors import BadRow
from dialogs.record.judging import BadJudgement, Overtaken
from dialogs.record.review_desk import ReviewDesk
from dialogs.rules import Acceptance, AdminRole, Outcome
from duologue.hits.desk import Desk
from duologue.problems import BadInput
from hit_manager.review import JudgedData

JUDGES = (AdminRole.OWNER, AdminRole.REVIEWER)


async def judge_of(at: Desk, name: str | None) -> AdminRow:
    """Who judges.

    Raises:
        BadInput: nobody is named, or nobody who may.
    """
    if name is None:
        raise BadInput(["the file judges dialogs: say --as NAME, who of the team judges them"])
    found = await at.record.read(admin_named, known_as(name) or "")
    if found is None or found.disabled_at is not None or found.role not in JUDGES:
        raise BadInput(
            [f"--as {name}: is no owner or reviewer; duologue admin list shows who there is"]
        )
    return found


async def to_judge(
    at: Desk, admin: AdminRow, file: str, judged: Collection[JudgedData]
) -> list[JudgedData]:
    """Which of these are not judged yet; the others were judged the same way before.

    Raises:
        BadInput: one cannot be judged so.
    """
    found = await at.record.read(cases, at.study_id, [each.dialog_id for each in judged])
    now = time.time()
    problems: list[str] = []
    new: list[JudgedData] = []
    for each in judged:
        case = found.get(each.dialog_id)
        problem = _problem(each, case, admin, now)
        if problem:
            problems.append(f"{file}, line {each.line}: {each.dialog_id} {problem}")
        elif case is not None and case.acceptance is None:
            new.append(each)
    if problems:
        raise BadInput(problems)
    return new


def _problem(each: JudgedData, case: Case | None, admin: AdminRow, now: float) -> str:
    if case is None:
        return "is no dialog of this study that has ended"
    if each.arrival_id not in case.arrivals:
        return f"is not the dialog of {each.arrival_id}"
    if case.outcome is not Outcome.COMPLETE:
        return f"ended as {case.outcome}, and only a complete dialog can be data"
    if case.acceptance is not None and case.acceptance is not each.acceptance:
        return f"is {case.acceptance} already; what was judged is taken back in the monitor"
    claim = case.claim if case.acceptance is None else None
    if claim is not None and claim.admin_id != admin.id and claim.until > now:
        return "is in the hands of somebody who reviews in the monitor"
    return ""


async def judge(at: Desk, admin: AdminRow, file: str, judged: Collection[JudgedData]) -> list[str]:
    """Judge these dialogs and leave their pay as it is; returns what could not be done."""
    desk = ReviewDesk(at.record, at.study_id, twice=at.site.study.review.twice)
    failed = []
    for each in judged:
        try:
            await desk.judge(
                admin.id, each.dialog_id, each.acceptance, each.reason, approve_pay=False
            )
        except (Overtaken, BadJudgement, BadRow, LookupError) as error:
            why = "it is not there any more" if isinstance(error, LookupError) else error
            failed.append(f"{file}, line {each.line}: {each.dialog_id} was not judged: {why}")
    return failed


def counts(judged: Collection[JudgedData]) -> Mapping[str, int]:
    """How many of these are accepted as data, and how many rejected."""
    rejected = sum(each.acceptance is Acceptance.REJECTED for each in judged)
    return {"accepted_as_data": len(judged) - rejected, "rejected_as_data": rejected}
