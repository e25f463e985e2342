"""HIT types and HITs. Limits as Amazon's reference and its older edition of 2014 print them."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import ColumnElement, select

from hit_manager.marketplace import hit_types, hits, money, tokens
from hit_manager.marketplace.api.call import Call
from hit_manager.marketplace.api.show import show_hit
from hit_manager.marketplace.errors import (
    HitAlreadyExists,
    InvalidValue,
    NoSuchLayout,
    OutOfRange,
    TokenAlreadyProcessed,
)
from hit_manager.marketplace.qualification_types import check_requirements, find_type
from hit_manager.marketplace.questions import parse_question
from hit_manager.marketplace.requirements import parse_requirements
from hit_manager.marketplace.states import HitStatus
from hit_manager.marketplace.tables import hit_types as types_table
from hit_manager.marketplace.tables import hits as hits_table

LEAST_S: Final = 30
MOST_S: Final = 31_536_000
"""A year: of lifetimes and of the time for an assignment."""
MOST_APPROVAL_S: Final = 2_592_000
MOST_REWARD: Final = 100_000_000
"""Cents. No limit of Amazon's was published; this one keeps sums within their columns."""


def create_hit_type(call: Call) -> dict[str, Any]:
    return {"HITTypeId": _type(call)}


def create_hit(call: Call) -> dict[str, Any]:
    _once(call)
    return _create(call, _type(call))


def create_hit_with_type(call: Call) -> dict[str, Any]:
    _once(call)
    type_id: str = call.given["HITTypeId"]
    hit_types.require_type(call.connection, call.requester_id, type_id)
    return _create(call, type_id)


def get_hit(call: Call) -> dict[str, Any]:
    return {"HIT": show_hit(call.hit(call.given["HITId"]))}


def list_hits(call: Call) -> dict[str, Any]:
    return _list(call)


def list_reviewable_hits(call: Call) -> dict[str, Any]:
    where = [hits_table.c.status == call.get("Status", HitStatus.REVIEWABLE)]
    if "HITTypeId" in call.given:
        hit_types.require_type(call.connection, call.requester_id, call.given["HITTypeId"])
        where.append(hits_table.c.type_id == call.given["HITTypeId"])
    return _list(call, *where)


def list_hits_for_qualification_type(call: Call) -> dict[str, Any]:
    type_id: str = call.given["QualificationTypeId"]
    find_type(call.connection, type_id)
    # Ids are letters and digits, so the text of a requirement's id is found nowhere else.
    asking = select(types_table.c.id).where(
        types_table.c.requester_id == call.requester_id,
        types_table.c.requirements.contains(f'"{type_id}"', autoescape=True),
    )
    return _list(call, hits_table.c.type_id.in_(asking))


def update_expiration(call: Call) -> dict[str, Any]:
    hit_id: str = call.given["HITId"]
    expire_at: float = call.given["ExpireAt"]
    if expire_at > call.now:
        # A new HIT can be expired before it can be seen, and nothing else.
        call.hit(hit_id)
    hits.set_expiry(call.connection, call.now, call.requester_id, hit_id, expire_at)
    return {}


def create_additional_assignments(call: Call) -> dict[str, Any]:
    token: str | None = call.get("UniqueRequestToken")
    if token and tokens.made_with(
        call.connection, call.now, call.requester_id, call.operation, token
    ):
        raise TokenAlreadyProcessed(f'The idempotency token "{token}" has already been processed.')
    more = call.between("NumberOfAdditionalAssignments", 1, hits.MAX_ASSIGNMENTS)
    hit = call.hit(call.given["HITId"])
    hits.add_assignments(call.connection, call.now, call.requester_id, hit.id, more)
    if token:
        tokens.remember(call.connection, call.now, call.requester_id, call.operation, token, hit.id)
    return {}


def update_hit_type_of_hit(call: Call) -> dict[str, Any]:
    hit = call.hit(call.given["HITId"])
    type_id = call.given["HITTypeId"]
    hits.change_type(call.connection, call.now, call.requester_id, hit.id, type_id)
    return {}


def update_review_status(call: Call) -> dict[str, Any]:
    hit = call.hit(call.given["HITId"])
    revert = call.get("Revert", False)
    hits.review(call.connection, call.now, call.requester_id, hit.id, revert=revert)
    return {}


def delete_hit(call: Call) -> dict[str, Any]:
    hit = call.hit(call.given["HITId"])
    hits.delete(call.connection, call.now, call.requester_id, hit.id)
    return {}


def list_review_policy_results(call: Call) -> dict[str, Any]:
    # No HIT has a policy here, so there never are results.
    return {"HITId": call.hit(call.given["HITId"]).id}


def _type(call: Call) -> str:
    title = call.limited("Title", 128, least=1) or ""
    description = call.limited("Description", 2000, least=1) or ""
    keywords = call.limited("Keywords", 1000) or ""
    duration_s = call.between("AssignmentDurationInSeconds", LEAST_S, MOST_S)
    auto_approval_s = call.between(
        "AutoApprovalDelayInSeconds", 0, MOST_APPROVAL_S, otherwise=MOST_APPROVAL_S
    )
    requirements = parse_requirements(call.get("QualificationRequirements", ()))
    check_requirements(call.connection, requirements)
    draft = hit_types.TypeDraft(
        title=title,
        description=description,
        keywords=keywords,
        reward=amount(call, "Reward"),
        duration_s=duration_s,
        auto_approval_s=auto_approval_s,
        requirements=requirements,
    )
    return hit_types.register_type(call.connection, call.now, call.requester_id, draft)


def amount(call: Call, name: str) -> int:
    """An amount of money in cents.

    Raises:
        OutOfRange: less than a cent, or absurdly much.
    """
    written: str = call.given[name]
    value = money.cents(written) if len(written) < 16 else MOST_REWARD + 1
    if not 1 <= value <= MOST_REWARD:
        raise OutOfRange(
            f"The value {written[:32]} is invalid for {name}. Valid values range from 0.01 to "
            f"{money.dollars(MOST_REWARD)}."
        )
    return value


def _once(call: Call) -> None:
    token: str | None = call.get("UniqueRequestToken")
    if token is None:
        return
    made = tokens.made_with(call.connection, call.now, call.requester_id, "CreateHIT", token)
    if made:
        raise HitAlreadyExists(f'The HIT with ID "{made}" already exists.')


def _create(call: Call, type_id: str) -> dict[str, Any]:
    for policy in ("AssignmentReviewPolicy", "HITReviewPolicy"):
        if policy in call.given:
            raise InvalidValue(f"This marketplace has no review policies: leave {policy} out.")
    if "HITLayoutId" in call.given:
        raise NoSuchLayout(f"HITLayout {call.given['HITLayoutId']} does not exist.")
    question: str | None = call.get("Question")
    if question is None:
        raise InvalidValue("A HIT needs a Question.")
    parse_question(question, allow_http=call.allow_http)
    hit = hits.create(
        call.connection,
        call.now,
        call.requester_id,
        type_id,
        question=question,
        max_assignments=call.between("MaxAssignments", 1, hits.MAX_ASSIGNMENTS, otherwise=1),
        lifetime_s=call.between("LifetimeInSeconds", LEAST_S, MOST_S),
        annotation=call.limited("RequesterAnnotation", 255),
    )
    if token := call.get("UniqueRequestToken"):
        tokens.remember(call.connection, call.now, call.requester_id, "CreateHIT", token, hit.id)
    return {"HIT": show_hit(hit)}


def _list(call: Call, *where: ColumnElement[bool]) -> dict[str, Any]:
    conditions = [
        hits_table.c.requester_id == call.requester_id,
        hits_table.c.status != HitStatus.DISPOSED,
        hits_table.c.created_at <= call.seen_until,
        *where,
    ]
    if after := call.after():
        conditions.append(hits_table.c.n < after[0])
    rows = hits.load(call.connection, call.now, *conditions, limit=call.page_size + 1)
    return call.page("HITs", rows, show_hit, lambda hit: [hit.n])
