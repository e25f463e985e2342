"""Who is let in, and what is said to requests that are wrong before they mean anything."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp
import pytest

from hit_manager.marketplace import workers
from hit_manager.marketplace.faults import Fault
from tests.contract.requester_stage import TARGET, Market, make_client

BALANCE = "GetAccountBalance"


async def said(market: Market, **given: Any) -> tuple[int, str]:
    status, body = await market.send(BALANCE, **given)
    return status, body.get("__type", "let in")


async def test_a_signed_request_is_let_in(market: Market) -> None:
    status, body = await market.send(BALANCE)
    assert (status, body) == (200, {"AvailableBalance": "1000.00", "OnHoldBalance": "0.00"})


async def test_the_api_is_at_another_path_too(market: Market) -> None:
    for path in ("/mturk", "/mturk/"):
        client = make_client(market.url + path, market.key.id, market.key.secret)
        await market.call_as(client, BALANCE)
        client.close()


async def test_unknown_and_revoked_keys(market: Market) -> None:
    stranger = make_client(market.url, "AKIANOBODY", "secret")
    refusal = await market.refused_as(stranger, BALANCE)
    assert (refusal.code, refusal.http_status) == ("UnrecognizedClientException", 400)
    stranger.close()
    assert await market.market.write(workers.revoke_key, market.key.id)
    assert (await market.refused(BALANCE)).code == "UnrecognizedClientException"
    assert not await market.market.write(workers.revoke_key, market.key.id)


async def test_a_wrong_secret(market: Market) -> None:
    liar = make_client(market.url, market.key.id, "wrong")
    refusal = await market.refused_as(liar, BALANCE)
    assert refusal.code == "InvalidSignatureException"
    liar.close()


@pytest.mark.parametrize(
    ("tamper", "kind"),
    [
        ({"Authorization": None}, "MissingAuthenticationTokenException"),
        ({"Authorization": "Basic a2V5"}, "MissingAuthenticationTokenException"),
        ({"X-Amz-Date": None}, "InvalidSignatureException"),
        ({"X-Amz-Date": "yesterday"}, "InvalidSignatureException"),
        ({"X-Amz-Target": TARGET + "GetHIT"}, "InvalidSignatureException"),
        ({"X-Amz-Target": None}, "InvalidSignatureException"),
        ({"Host": "elsewhere.example.org"}, "InvalidSignatureException"),
        ({"X-Amz-Content-SHA256": "UNSIGNED-PAYLOAD"}, "InvalidSignatureException"),
        ({"X-Amz-Security-Token": "temporary"}, "UnrecognizedClientException"),
    ],
)
async def test_what_was_tampered_with(
    market: Market, tamper: dict[str, str | None], kind: str
) -> None:
    assert await said(market, tamper=tamper) == (400, kind)


async def test_another_body_than_the_signed_one(market: Market) -> None:
    assert await said(market, sent_body=b'{"a":1}') == (400, "InvalidSignatureException")


async def test_another_region(market: Market) -> None:
    assert await said(market, region="eu-west-1") == (400, "InvalidSignatureException")


@pytest.mark.parametrize("minutes", [-6, 6])
async def test_a_date_too_far_off(market: Market, minutes: int) -> None:
    at = datetime.now(UTC) + timedelta(minutes=minutes)
    status, body = await market.send(BALANCE, at=at)
    assert (status, body["__type"]) == (400, "InvalidSignatureException")
    assert at.strftime("%Y%m%dT%H%M%SZ") in body["Message"]
    near = datetime.now(UTC) + timedelta(minutes=minutes * 4 / 6)
    assert await said(market, at=near) == (200, "let in")


async def test_signatures_follow_the_machine_and_not_the_moved_clock(market: Market) -> None:
    market.clock.advance(400 * 86_400)
    await market.call(BALANCE)


@pytest.mark.parametrize("operation", ["GetFileUploadURL", "Nonsense", ""])
async def test_unknown_operations(market: Market, operation: str) -> None:
    status, body = await market.send(operation)
    assert (status, body["__type"]) == (400, "UnknownOperationException")


@pytest.mark.parametrize(
    "body", [b"{", b"\xff", b"[]", b"null", b'{"HITId": NaN}', b'"x"', b'{"HITId": "\\ud800"}']
)
async def test_a_body_that_is_no_object(market: Market, body: bytes) -> None:
    status, answer = await market.send("GetHIT", body)
    assert (status, answer["__type"]) == (400, "SerializationException")


async def test_a_body_that_is_too_large(market: Market) -> None:
    body = b'{"HITId": "%s"}' % (b"A" * 2**21)
    status, answer = await market.send("GetHIT", body)
    assert (status, answer["__type"]) == (413, "RequestEntityTooLargeException")


async def test_another_content_type(market: Market) -> None:
    status = await said(market, tamper={"Content-Type": "application/json"})
    # boto3 signs the content type, so it cannot be changed unnoticed.
    assert status == (400, "InvalidSignatureException")


@pytest.mark.parametrize(
    ("operation", "given", "kind", "text"),
    [
        ("GetHIT", {}, "ValidationException", "Value null at 'hITId'"),
        ("GetHIT", {"HITId": None}, "ValidationException", "Member must not be null"),
        ("GetHIT", {"HITId": "lower"}, "ValidationException", "regular expression pattern"),
        ("GetHIT", {"HITId": "A\n"}, "ValidationException", "regular expression pattern"),
        ("GetHIT", {"HITId": "A" * 65}, "ValidationException", "less than or equal to 64"),
        ("GetHIT", {"HITId": ""}, "ValidationException", "2 validation errors detected"),
        ("GetHIT", {"HITId": 7}, "SerializationException", "hITId"),
        ("GetHIT", {"HITId": "A", "Colour": 1}, "ValidationException", "'colour'"),
        ("ListHITs", {"MaxResults": 101}, "ValidationException", "less than or equal to 100"),
        ("ListHITs", {"MaxResults": 0}, "ValidationException", "greater than or equal to 1"),
        ("ListHITs", {"MaxResults": True}, "SerializationException", "maxResults"),
        ("ListHITs", {"MaxResults": 2**31}, "SerializationException", "32 bits"),
        ("ListHITs", {"MaxResults": 1.5}, "SerializationException", "maxResults"),
        ("ListReviewableHITs", {"Status": "Disposed"}, "ValidationException", "enum value set"),
        (
            "UpdateExpirationForHIT",
            {"HITId": "A", "ExpireAt": "2026-11-30"},
            "SerializationException",
            "expireAt",
        ),
        (
            "SendBonus",
            {"WorkerId": "A1", "AssignmentId": "A", "BonusAmount": "0.975", "Reason": "r"},
            "ValidationException",
            "Value '0.975' at 'bonusAmount' failed to satisfy constraint: Member must satisfy "
            r"regular expression pattern: ^[0-9]+(\.)?[0-9]{0,2}$",
        ),
        (
            "ListAssignmentsForHIT",
            {"HITId": "A", "AssignmentStatuses": ["Submitted", "Accepted"]},
            "ValidationException",
            "'assignmentStatuses.2.member'",
        ),
        (
            "RejectAssignment",
            {"AssignmentId": "A", "RequesterFeedback": "a\u0000b"},
            "RequestError",
            "requesterFeedback",
        ),
    ],
)
async def test_shapes_are_checked(
    market: Market, operation: str, given: dict[str, Any], kind: str, text: str
) -> None:
    status, body = await market.send(operation, json.dumps(given).encode())
    assert (status, body["__type"]) == (400, kind)
    assert text in body["Message"]


async def test_throttling_comes_before_anything_is_done(market: Market) -> None:
    hit_id = await market.hit()
    market.faults.add("DeleteHIT", Fault.THROTTLED, times=2)
    market.faults.add("GetHIT", Fault.FAILED)
    for _ in range(2):
        refusal = await market.refused("DeleteHIT", HITId=hit_id)
        assert (refusal.code, refusal.message) == ("ThrottlingException", "Rate exceeded")
    refusal = await market.refused("GetHIT", HITId=hit_id)
    assert (refusal.code, refusal.http_status) == ("ServiceFault", 500)
    assert (await market.get(hit_id))["HITStatus"] == "Assignable"
    assert market.faults.calls["DeleteHIT"] == 2


async def test_a_fault_after_the_commit(market: Market) -> None:
    hit_id = await market.hit()
    market.faults.add("UpdateExpirationForHIT", Fault.FAILED_AFTER)
    refusal = await market.refused("UpdateExpirationForHIT", HITId=hit_id, ExpireAt=0)
    assert refusal.code == "ServiceFault"
    assert (await market.status(hit_id))[0] == "Reviewable"


async def test_other_methods_and_paths(market: Market) -> None:
    async with aiohttp.ClientSession() as session:
        for method, path in (("GET", "/"), ("PUT", "/mturk"), ("POST", "/other")):
            async with session.request(method, market.url + path) as response:
                assert response.status in (404, 405)
                assert "x-amzn-RequestId" not in response.headers
