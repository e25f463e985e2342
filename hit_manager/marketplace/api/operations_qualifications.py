"""Qualification types, qualifications, and requests for them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from sqlalchemy import or_, select

from hit_manager.marketplace import qualification_requests as requests
from hit_manager.marketplace import qualification_types as types
from hit_manager.marketplace import qualifications
from hit_manager.marketplace.api.call import Call
from hit_manager.marketplace.api.show import (
    show_qualification,
    show_qualification_type,
    show_request,
)
from hit_manager.marketplace.errors import OutOfRange
from hit_manager.marketplace.questions import MAX_BYTES, parse_xml
from hit_manager.marketplace.states import QualificationStatus, RequestStatus, TypeStatus
from hit_manager.marketplace.tables import (
    qualification_requests as requests_table,
)
from hit_manager.marketplace.tables import (
    qualification_types as types_table,
)
from hit_manager.marketplace.tables import (
    qualifications as qualifications_table,
)

MOST_S: Final = 31_536_000
VALUE_BY_DEFAULT: Final = 1


def create_type(call: Call) -> dict[str, Any]:
    draft = types.TypeDraft(
        name=call.limited("Name", 200, least=1) or "",
        description="",
        keywords=call.limited("Keywords", 1000) or "",
        status=TypeStatus.ACTIVE,
    )
    made = types.create_type(call.connection, call.now, call.requester_id, _changed(call, draft))
    return {"QualificationType": show_qualification_type(made)}


def update_type(call: Call) -> dict[str, Any]:
    type_id: str = call.given["QualificationTypeId"]
    before = types.own_type(call.connection, call.requester_id, type_id).draft
    made = types.update_type(call.connection, call.requester_id, type_id, _changed(call, before))
    return {"QualificationType": show_qualification_type(made)}


def delete_type(call: Call) -> dict[str, Any]:
    types.delete_type(
        call.connection, call.now, call.requester_id, call.given["QualificationTypeId"]
    )
    return {}


def get_type(call: Call) -> dict[str, Any]:
    found = types.find_type(call.connection, call.given["QualificationTypeId"])
    return {"QualificationType": show_qualification_type(found)}


def list_types(call: Call) -> dict[str, Any]:
    """The system's own are not listed: they are nobody's, and nobody can ask for them."""
    conditions = []
    if call.get("MustBeOwnedByCaller"):
        conditions.append(types_table.c.requester_id == call.requester_id)
    if call.given["MustBeRequestable"]:
        conditions.append(types_table.c.status == TypeStatus.ACTIVE)
    if query := call.get("Query"):
        conditions.append(
            or_(
                *(
                    column.icontains(query, autoescape=True)
                    for column in (
                        types_table.c.name,
                        types_table.c.description,
                        types_table.c.keywords,
                    )
                )
            )
        )
    if after := call.after():
        conditions.append(types_table.c.n > after[0])
    rows = types.load_types(call.connection, *conditions, limit=call.page_size + 1)
    return call.page("QualificationTypes", rows, show_qualification_type, lambda t: [t.n])


def associate(call: Call) -> dict[str, Any]:
    qualifications.grant(
        call.connection,
        call.now,
        call.requester_id,
        call.given["QualificationTypeId"],
        call.given["WorkerId"],
        call.get("IntegerValue", VALUE_BY_DEFAULT),
        tell=call.get("SendNotification", True),
    )
    return {}


def disassociate(call: Call) -> dict[str, Any]:
    qualifications.revoke(
        call.connection,
        call.now,
        call.requester_id,
        call.given["QualificationTypeId"],
        call.given["WorkerId"],
        call.get("Reason"),
    )
    return {}


def get_score(call: Call) -> dict[str, Any]:
    found = qualifications.score(
        call.connection,
        call.requester_id,
        call.given["QualificationTypeId"],
        call.given["WorkerId"],
    )
    return {"Qualification": show_qualification(found)}


def list_workers(call: Call) -> dict[str, Any]:
    type_id: str = call.given["QualificationTypeId"]
    types.own_type(call.connection, call.requester_id, type_id)
    status = call.get("Status", QualificationStatus.GRANTED)
    conditions = [
        qualifications_table.c.type_id == type_id,
        qualifications_table.c.status == status,
    ]
    if after := call.after():
        conditions.append(qualifications_table.c.n > after[0])
    rows = qualifications.load(call.connection, *conditions, limit=call.page_size + 1)
    return call.page("Qualifications", rows, show_qualification, lambda q: [q.n])


def list_requests(call: Call) -> dict[str, Any]:
    mine = select(types_table.c.id).where(types_table.c.requester_id == call.requester_id)
    if type_id := call.get("QualificationTypeId"):
        types.own_type(call.connection, call.requester_id, type_id)
        mine = mine.where(types_table.c.id == type_id)
    conditions = [
        requests_table.c.type_id.in_(mine),
        requests_table.c.status == RequestStatus.PENDING,
    ]
    if after := call.after():
        conditions.append(requests_table.c.n > after[0])
    rows = requests.load_requests(call.connection, *conditions, limit=call.page_size + 1)
    return call.page(
        "QualificationRequests",
        rows,
        lambda r: show_request(r, types.find_type(call.connection, r.type_id).draft.test),
        lambda r: [r.n],
    )


def accept_request(call: Call) -> dict[str, Any]:
    requests.accept_request(
        call.connection,
        call.now,
        call.requester_id,
        call.given["QualificationRequestId"],
        call.get("IntegerValue", VALUE_BY_DEFAULT),
    )
    return {}


def reject_request(call: Call) -> dict[str, Any]:
    requests.reject_request(
        call.connection,
        call.now,
        call.requester_id,
        call.given["QualificationRequestId"],
        call.get("Reason"),
    )
    return {}


def _changed(call: Call, draft: types.TypeDraft) -> types.TypeDraft:
    """A draft with what the call sets."""
    changes: dict[str, Any] = {}
    if "Description" in call.given:
        changes["description"] = call.limited("Description", 2000, least=1)
    if "QualificationTypeStatus" in call.given:
        changes["status"] = TypeStatus(call.given["QualificationTypeStatus"])
    for name, member in (("Test", "test"), ("AnswerKey", "answer_key")):
        if name in call.given:
            changes[member] = _document(call, name)
    for name, member, least in (
        ("RetryDelayInSeconds", "retry_delay_s", 0),
        ("TestDurationInSeconds", "test_duration_s", 1),
    ):
        if name in call.given:
            changes[member] = call.between(name, least, MOST_S)
    for name, member in (("AutoGranted", "auto_granted"), ("AutoGrantedValue", "auto_value")):
        if name in call.given:
            changes[member] = call.given[name]
    return replace(draft, **changes)


def _document(call: Call, name: str) -> str:
    text: str = call.given[name]
    size = len(text.encode())
    if size > MAX_BYTES:
        raise OutOfRange(f"The {name} has {size} bytes; {MAX_BYTES} are the most.")
    parse_xml(text, name)
    return text
