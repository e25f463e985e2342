"""Qualifications by boto3, and what they let workers do."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select

from hit_manager.marketplace import qualification_requests, qualifications
from hit_manager.marketplace.errors import (
    DoesNotMeetRequirements,
    NoRetake,
    RetryTooEarly,
    WrongQualificationTypeState,
)
from hit_manager.marketplace.requirements import (
    ADULT,
    LOCALE,
    NUMBER_APPROVED,
    PERCENT_APPROVED,
    Locale,
)
from hit_manager.marketplace.tables import messages
from tests.contract.requester_stage import HIT, TYPE, Market

KIND: dict[str, Any] = {
    "Name": "Fluent",
    "Description": "Speaks well",
    "QualificationTypeStatus": "Active",
}
TEST = "<QuestionForm/>"


async def make_type(market: Market, **changes: Any) -> str:
    made = await market.call("CreateQualificationType", **{**KIND, **changes})
    type_id: str = made["QualificationType"]["QualificationTypeId"]
    return type_id


async def inbox(market: Market, worker_id: str) -> list[str]:
    def query(connection: Any, _now: float) -> list[str]:
        found = select(messages.c.text).where(messages.c.worker_id == worker_id)
        return list(connection.execute(found).scalars())

    return await market.market.read(query)


async def test_names_are_unique_for_a_requester(market: Market) -> None:
    type_id = await make_type(market)
    refusal = await market.refused("CreateQualificationType", **KIND)
    assert refusal.turk_code == "QualificationTypeAlreadyExists"
    stranger = await market.another_requester()
    await market.call_as(stranger, "CreateQualificationType", **KIND)
    await market.call("DeleteQualificationType", QualificationTypeId=type_id)
    await make_type(market)
    for operation in ("GetQualificationType", "DeleteQualificationType"):
        refusal = await market.refused(operation, QualificationTypeId=type_id)
        assert refusal.turk_code == "QualificationTypeDoesNotExist"


@pytest.mark.parametrize(
    "wrong",
    [
        {"Test": TEST},
        {"Test": TEST, "TestDurationInSeconds": 60, "AutoGranted": True},
        {"AnswerKey": "<AnswerKey/>"},
        {"Test": "no XML", "TestDurationInSeconds": 60},
    ],
)
async def test_what_a_type_cannot_be(market: Market, wrong: dict[str, Any]) -> None:
    refusal = await market.refused("CreateQualificationType", **KIND, **wrong)
    assert refusal.code == "RequestError"


@pytest.mark.parametrize(
    "wrong",
    [
        {"Name": ""},
        {"Name": "n" * 201},
        {"Description": "d" * 2001},
        {"Keywords": "k" * 1001},
        {"RetryDelayInSeconds": -1},
        {"Test": f"<QuestionForm>{'x' * 65_535}</QuestionForm>", "TestDurationInSeconds": 60},
    ],
    ids=lambda given: next(iter(given)),
)
async def test_limits_of_a_type(market: Market, wrong: dict[str, Any]) -> None:
    refusal = await market.refused("CreateQualificationType", **{**KIND, **wrong})
    assert refusal.code == "ParameterValidationError"


async def test_a_type_is_changed(market: Market) -> None:
    type_id = await make_type(market, RetryDelayInSeconds=60, Keywords="k")
    made = await market.call(
        "UpdateQualificationType",
        QualificationTypeId=type_id,
        QualificationTypeStatus="Inactive",
        RetryDelayInSeconds=90,
        AutoGranted=True,
        AutoGrantedValue=7,
    )
    found = made["QualificationType"]
    assert found["Name"] == "Fluent"
    assert found["RetryDelayInSeconds"] == 90
    assert (found["AutoGranted"], found["AutoGrantedValue"]) == (True, 7)
    asks = [{"QualificationTypeId": type_id, "Comparator": "Exists"}]
    refusal = await market.refused("CreateHIT", **TYPE, **HIT, QualificationRequirements=asks)
    assert refusal.turk_code == "InvalidQualificationTypeState"


async def test_others_grant_nothing_of_mine(market: Market) -> None:
    type_id, kim = await make_type(market), await market.worker()
    stranger = await market.another_requester()
    given = {"QualificationTypeId": type_id, "WorkerId": kim}
    for operation in (
        "AssociateQualificationWithWorker",
        "DisassociateQualificationFromWorker",
        "GetQualificationScore",
    ):
        refusal = await market.refused_as(stranger, operation, **given)
        assert refusal.turk_code == "PermissionDeniedException", operation
    refusal = await market.refused(
        "AssociateQualificationWithWorker", QualificationTypeId=LOCALE, WorkerId=kim
    )
    assert refusal.turk_code == "PermissionDeniedException"


async def test_granted_and_revoked(any_market: Market) -> None:
    market = any_market
    type_id, kim, lee = await make_type(market), await market.worker(), await market.worker()
    given = {"QualificationTypeId": type_id, "WorkerId": kim}
    refusal = await market.refused("GetQualificationScore", **given)
    assert refusal.turk_code == "QualificationDoesNotExist"
    await market.call("AssociateQualificationWithWorker", **given)
    await market.call(
        "AssociateQualificationWithWorker", **given, IntegerValue=5, SendNotification=False
    )
    assert len(await inbox(market, kim)) == 1
    found = (await market.call("GetQualificationScore", **given))["Qualification"]
    assert (found["IntegerValue"], found["Status"]) == (5, "Granted")
    await market.call("DisassociateQualificationFromWorker", **given, Reason="Too long ago")
    assert "Too long ago" in (await inbox(market, kim))[-1]
    # What was given without a word is taken without one: there is nothing to do about it.
    await market.call("AssociateQualificationWithWorker", **given, SendNotification=False)
    await market.call("DisassociateQualificationFromWorker", **given)
    assert len(await inbox(market, kim)) == 2
    for operation in ("GetQualificationScore", "DisassociateQualificationFromWorker"):
        refusal = await market.refused(operation, **given)
        assert refusal.turk_code == "InvalidQualificationState"
        assert "status of: Granted" in refusal.message
    await market.call("AssociateQualificationWithWorker", **{**given, "WorkerId": lee})

    async def who(status: str) -> list[str]:
        listed = await market.call(
            "ListWorkersWithQualificationType", QualificationTypeId=type_id, Status=status
        )
        return [q["WorkerId"] for q in listed["Qualifications"]]

    assert (await who("Granted"), await who("Revoked")) == ([lee], [kim])
    refusal = await market.refused(
        "AssociateQualificationWithWorker", QualificationTypeId=type_id, WorkerId="A1NOBODY"
    )
    assert refusal.code == "ParameterValidationError"
    assert 'The value "A1NOBODY" is not valid for the parameter WorkerId.' in refusal.message


async def test_requests_are_settled_once(market: Market) -> None:
    type_id = await make_type(market, Test=TEST, TestDurationInSeconds=60)
    kim = await market.worker()
    asked = await market.market.write(qualification_requests.ask, kim, type_id, "<a/>")
    listed = (await market.call("ListQualificationRequests"))["QualificationRequests"]
    assert [(r["WorkerId"], r["Test"], r["Answer"]) for r in listed] == [(kim, TEST, "<a/>")]
    stranger = await market.another_requester()
    given = {"QualificationRequestId": asked.id}
    refusal = await market.refused_as(stranger, "AcceptQualificationRequest", **given)
    assert refusal.turk_code == "QualificationRequestDoesNotExist"
    await market.call("RejectQualificationRequest", **given, Reason="No")
    for operation in ("AcceptQualificationRequest", "RejectQualificationRequest"):
        refusal = await market.refused(operation, **given)
        assert refusal.turk_code == "InvalidQualificationRequestState"
    assert (await market.call("ListQualificationRequests"))["NumResults"] == 0
    with pytest.raises(NoRetake):
        await market.market.write(qualification_requests.ask, kim, type_id)


async def test_asking_again_has_to_wait(market: Market) -> None:
    type_id, kim = await make_type(market, RetryDelayInSeconds=60), await market.worker()
    asked = await market.market.write(qualification_requests.ask, kim, type_id)
    await market.call("RejectQualificationRequest", QualificationRequestId=asked.id)
    market.clock.advance(59)
    with pytest.raises(RetryTooEarly):
        await market.market.write(qualification_requests.ask, kim, type_id)
    market.clock.advance(1)
    await market.market.write(qualification_requests.ask, kim, type_id)
    await market.call("DeleteQualificationType", QualificationTypeId=type_id)
    assert (await market.call("ListQualificationRequests"))["NumResults"] == 0


async def test_some_are_granted_by_themselves(market: Market) -> None:
    type_id = await make_type(market, AutoGranted=True, AutoGrantedValue=3)
    kim = await market.worker()
    await market.market.write(qualification_requests.ask, kim, type_id)
    found = await market.call("GetQualificationScore", QualificationTypeId=type_id, WorkerId=kim)
    assert found["Qualification"]["IntegerValue"] == 3
    with pytest.raises(WrongQualificationTypeState):
        await market.market.write(qualification_requests.ask, kim, LOCALE)


async def test_a_requirement_keeps_people_out(any_market: Market) -> None:
    market = any_market
    type_id, kim, lee = await make_type(market), await market.worker(), await market.worker()
    given = {"QualificationTypeId": type_id, "WorkerId": kim, "SendNotification": False}
    asks = {"QualificationTypeId": type_id, "Comparator": "DoesNotExist"}
    hit_id = await market.hit(
        MaxAssignments=2,
        QualificationRequirements=[{**asks, "ActionsGuarded": "DiscoverPreviewAndAccept"}],
    )
    await market.call("AssociateQualificationWithWorker", **given)
    with pytest.raises(DoesNotMeetRequirements):
        await market.accept(hit_id, kim)
    await market.accept(hit_id, lee)
    await market.call(
        "DisassociateQualificationFromWorker", **{k: given[k] for k in list(given)[:2]}
    )
    await market.accept(hit_id, kim)


@pytest.mark.parametrize(
    "wrong",
    [
        {"Comparator": "Exists", "IntegerValues": [1]},
        {"Comparator": "GreaterThan"},
        {"Comparator": "EqualTo", "IntegerValues": [1, 2]},
        {"Comparator": "In", "IntegerValues": list(range(16))},
        {"Comparator": "In", "IntegerValues": []},
        {"Comparator": "EqualTo", "IntegerValues": [1], "LocaleValues": [{"Country": "US"}]},
        {"Comparator": "Exists", "RequiredToPreview": True, "ActionsGuarded": "Accept"},
        {
            "QualificationTypeId": LOCALE,
            "Comparator": "LessThan",
            "LocaleValues": [{"Country": "US"}],
        },
        {"QualificationTypeId": LOCALE, "Comparator": "EqualTo", "IntegerValues": [1]},
        {
            "QualificationTypeId": LOCALE,
            "Comparator": "In",
            "LocaleValues": [{"Country": "US"}] * 31,
        },
    ],
)
async def test_requirements_that_mean_nothing(market: Market, wrong: dict[str, Any]) -> None:
    asks = [{"QualificationTypeId": ADULT, **wrong}]
    refusal = await market.refused("CreateHIT", **TYPE, **HIT, QualificationRequirements=asks)
    assert refusal.turk_code == "InvalidParameterValue"
    missing = [{"QualificationTypeId": "3UNKNOWN", "Comparator": "Exists"}]
    refusal = await market.refused("CreateHIT", **TYPE, **HIT, QualificationRequirements=missing)
    assert refusal.turk_code == "QualificationTypeDoesNotExist"


async def test_the_system_counts_what_somebody_did(market: Market) -> None:
    kim = await market.worker(country="US", subdivision="WA", adult=True)
    for n in range(4):
        work = await market.submit(await market.hit(Reward="0.01"), kim)
        if n < 3:
            await market.call("ApproveAssignment", AssignmentId=work.id)
        else:
            await market.call("RejectAssignment", AssignmentId=work.id, RequesterFeedback="No")
    has = await market.market.read(lambda c, _: qualifications.holdings(c, kim))
    assert has.locale == Locale("US", "WA")
    assert has.values[NUMBER_APPROVED] == 3
    # 100 until a hundred were submitted.
    assert (has.values[PERCENT_APPROVED], has.values[ADULT]) == (100, 1)


async def test_after_a_hundred_the_percentage_is_what_it_is(market: Market) -> None:
    kim = await market.worker()
    hits = [await market.hit(Reward="0.01", AutoApprovalDelayInSeconds=3600) for _ in range(100)]
    for n, hit_id in enumerate(hits):
        work = await market.submit(hit_id, kim)
        if n < 7:
            await market.call("RejectAssignment", AssignmentId=work.id, RequesterFeedback="No")
    market.clock.advance(3600)
    await market.market.tick()
    has = await market.market.read(lambda c, _: qualifications.holdings(c, kim))
    assert (has.values[NUMBER_APPROVED], has.values[PERCENT_APPROVED]) == (93, 93)


async def test_types_are_searched(market: Market) -> None:
    fluent = await make_type(market, Keywords="language, English")
    other = await make_type(market, Name="Other 100%", QualificationTypeStatus="Inactive")
    stranger = await market.another_requester()
    theirs = await market.call_as(stranger, "CreateQualificationType", **KIND)

    async def found(**given: Any) -> list[str]:
        listed = await market.call("ListQualificationTypes", **given)
        return [t["QualificationTypeId"] for t in listed["QualificationTypes"]]

    both = [fluent, theirs["QualificationType"]["QualificationTypeId"]]
    assert await found(MustBeRequestable=True) == both
    assert await found(MustBeRequestable=False, MustBeOwnedByCaller=True) == [fluent, other]
    assert await found(MustBeRequestable=False, Query="ENGLISH") == [fluent]
    assert await found(MustBeRequestable=False, Query="100%") == [other]
    assert await found(MustBeRequestable=False, Query="1%0") == []
