"""Notifications: which events are told, how they are signed, and that they arrive."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestServer, unused_port

from hit_manager.marketplace import assignments, workers
from hit_manager.marketplace.delivery import Deliverer, PublicResolver
from hit_manager.marketplace.errors import BadTransport
from hit_manager.marketplace.notifications import (
    RETRY_AFTER_S,
    SIGNATURE_HEADER,
    TIMESTAMP_HEADER,
    Target,
    check_target,
)
from hit_manager.marketplace.states import Event
from hit_manager.marketplace.tables import deliveries
from tests.contract.requester_stage import TYPE, Market

EVERYTHING = [event.value for event in Event if event is not Event.PING]


class Hook:
    """An address that notifications go to."""

    def __init__(self) -> None:
        self.requests: list[tuple[dict[str, str], bytes]] = []
        self.answers: list[int] = []
        self.url = ""

    async def take(self, request: web.Request) -> web.Response:
        self.requests.append((dict(request.headers), await request.read()))
        status = self.answers.pop(0) if self.answers else 200
        # Where a redirect leads, everything is taken.
        headers = {"Location": "/elsewhere"} if status == 302 else {}
        return web.Response(status=status, headers=headers)

    async def elsewhere(self, _request: web.Request) -> web.Response:
        return web.Response()

    @property
    def documents(self) -> list[dict[str, Any]]:
        return [json.loads(json.loads(body)["Message"]) for _, body in self.requests]

    @property
    def events(self) -> list[str]:
        return [event["EventType"] for doc in self.documents for event in doc["Events"]]


@pytest_asyncio.fixture
async def hook() -> AsyncIterator[Hook]:
    made, app = Hook(), web.Application()
    app.router.add_post("/hook", made.take)
    app.router.add_get("/elsewhere", made.elsewhere)
    async with TestServer(app) as server:
        made.url = str(server.make_url("/hook"))
        yield made


@pytest_asyncio.fixture
async def post(market: Market) -> AsyncIterator[Deliverer]:
    deliverer = Deliverer(market.market)
    yield deliverer
    await deliverer.close()


def spec(hook: Hook, *events: str, **changes: Any) -> dict[str, Any]:
    return {
        "Destination": hook.url,
        "Transport": "SNS",
        "Version": "2014-08-15",
        "EventTypes": list(events) or EVERYTHING,
        **changes,
    }


async def subscribe(market: Market, hook: Hook, *events: str) -> str:
    type_id: str = (await market.call("CreateHITType", **TYPE))["HITTypeId"]
    await market.call(
        "UpdateNotificationSettings", HITTypeId=type_id, Notification=spec(hook, *events)
    )
    return type_id


async def test_every_event_is_told(market: Market, hook: Hook, post: Deliverer) -> None:
    await subscribe(market, hook)
    hit_id = await market.hit(MaxAssignments=4)
    returned = await market.accept(hit_id)
    await market.market.write(assignments.give_back, returned.worker_id, returned.id)
    approved, rejected = await market.submit(hit_id), await market.submit(hit_id)
    await market.call("ApproveAssignment", AssignmentId=approved.id)
    await market.call("RejectAssignment", AssignmentId=rejected.id, RequesterFeedback="No")
    await market.call(
        "CreateAdditionalAssignmentsForHIT", HITId=hit_id, NumberOfAdditionalAssignments=1
    )
    await market.accept(hit_id)
    market.clock.advance(3601)
    await market.market.tick()
    await market.call("DeleteHIT", HITId=hit_id)
    assert await post.deliver() == len(hook.requests)
    assert hook.events == [
        "HITCreated",
        "AssignmentAccepted",
        "AssignmentReturned",
        "AssignmentAccepted",
        "AssignmentSubmitted",
        "AssignmentAccepted",
        "AssignmentSubmitted",
        "AssignmentApproved",
        "AssignmentRejected",
        "HITExtended",
        "AssignmentAccepted",
        "HITExpired",
        "AssignmentAbandoned",
        "HITReviewable",
        "HITDisposed",
    ]
    assert set(hook.events) == set(EVERYTHING)
    assert await post.deliver() == 0


async def test_what_arrives_is_shaped_and_signed(
    market: Market, hook: Hook, post: Deliverer
) -> None:
    type_id = await subscribe(market, hook, "AssignmentSubmitted")
    work = await market.submit(await market.hit())
    await post.deliver()
    [(headers, body)] = hook.requests
    envelope = json.loads(body)
    assert envelope["Type"] == "Notification"
    assert envelope["TopicArn"] == hook.url
    document = json.loads(envelope["Message"])
    assert document["EventDocId"] == envelope["MessageId"]
    assert document["CustomerId"] == market.key.requester_id
    [event] = document["Events"]
    stamp = event.pop("EventTimestamp")
    assert event == {
        "EventType": "AssignmentSubmitted",
        "HITTypeId": type_id,
        "HITId": work.hit_id,
        "AssignmentId": work.id,
    }
    assert stamp.endswith("Z")
    assert len(stamp) == 20
    assert headers["x-amz-sns-message-type"] == "Notification"
    secret = await market.market.read(workers.webhook_secret, market.key.requester_id)
    signed = headers[TIMESTAMP_HEADER].encode() + b"." + body
    mac = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    assert headers[SIGNATURE_HEADER] == f"v1={mac}"


async def test_a_filter_a_replacement_and_a_switch(
    market: Market, hook: Hook, post: Deliverer
) -> None:
    type_id = await subscribe(market, hook, "HITExpired")
    await subscribe(market, hook, "HITCreated")
    await market.hit()
    await market.call("UpdateNotificationSettings", HITTypeId=type_id, Active=False)
    await market.hit()
    await market.call("UpdateNotificationSettings", HITTypeId=type_id, Active=True)
    await market.hit(Title="Of another type")
    await market.hit()
    market.clock.advance(3601)
    await market.market.tick()
    await post.deliver()
    assert hook.events == ["HITCreated", "HITCreated"]


async def test_tests_ignore_the_filter(market: Market, hook: Hook, post: Deliverer) -> None:
    given = spec(hook, "HITCreated", Version="2006-05-05")
    for event in ("Ping", "AssignmentApproved"):
        await market.call("SendTestEventNotification", Notification=given, TestEventType=event)
    await post.deliver()
    assert hook.events == ["Ping", "AssignmentApproved"]


async def test_tried_until_it_is_taken(market: Market, hook: Hook, post: Deliverer) -> None:
    await subscribe(market, hook, "HITCreated")
    await market.hit()
    await market.hit()
    hook.answers = [500, 302]
    assert await post.deliver() == 0
    # The second one waits with the first: the address does not take any.
    assert (len(hook.requests), await post.deliver()) == (1, 0)
    market.clock.advance(RETRY_AFTER_S[0])
    assert await post.deliver() == 0
    market.clock.advance(RETRY_AFTER_S[1])
    assert await post.deliver() == 2
    ids = [document["EventDocId"] for document in hook.documents]
    assert ids[0] == ids[1] == ids[2] != ids[3]


async def test_given_up_in_the_end(market: Market, hook: Hook, post: Deliverer) -> None:
    nowhere = f"http://127.0.0.1:{unused_port()}/"
    given = spec(hook, "HITCreated", Destination=nowhere)
    await market.call("SendTestEventNotification", Notification=given, TestEventType="Ping")
    for wait in (*RETRY_AFTER_S, 10**7):
        assert await post.deliver() == 0
        market.clock.advance(wait)
    assert await market.market.store.read(_waiting) == 0


def _waiting(connection: Any, _now: float) -> int:
    found = connection.execute(deliveries.select().where(deliveries.c.next_try_at.is_not(None)))
    return len(found.all())


async def test_a_dead_address_keeps_nobody_waiting(
    market: Market, hook: Hook, post: Deliverer
) -> None:
    dead = spec(hook, "Ping", Destination=f"http://127.0.0.1:{unused_port()}/")
    for _ in range(3):
        await market.call("SendTestEventNotification", Notification=dead, TestEventType="Ping")
    await market.call("SendTestEventNotification", Notification=spec(hook), TestEventType="Ping")
    assert await post.deliver() == 1


async def test_twice_and_out_of_order_for_tests(
    market: Market, hook: Hook, post: Deliverer
) -> None:
    await subscribe(market, hook)
    await market.submit(await market.hit())
    market.faults.duplicated = market.faults.reordered = True
    await post.deliver()
    assert hook.events[:4] == ["HITReviewable"] * 2 + ["AssignmentSubmitted"] * 2
    assert len({doc["EventDocId"] for doc in hook.documents}) * 2 == len(hook.documents)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"Transport": "Email"}, "InvalidTransportEndpoint"),
        ({"Transport": "SQS"}, "InvalidTransportEndpoint"),
        ({"Destination": "arn:aws:sns:us-east-1:1:topic"}, "InvalidTransportEndpoint"),
        ({"Destination": "https://user:pass@example.org/"}, "InvalidTransportEndpoint"),
        ({"Destination": "https://[::1"}, "InvalidTransportEndpoint"),
        ({"Version": "2020-01-01"}, "InvalidParameterValue"),
        ({"EventTypes": []}, "InvalidParameterValue"),
        ({"EventTypes": ["Ping"]}, "InvalidParameterValue"),
    ],
)
async def test_settings_refused(
    market: Market, hook: Hook, change: dict[str, Any], code: str
) -> None:
    type_id = (await market.call("CreateHITType", **TYPE))["HITTypeId"]
    refusal = await market.refused(
        "UpdateNotificationSettings", HITTypeId=type_id, Notification=spec(hook, **change)
    )
    assert refusal.turk_code == code


async def test_settings_need_something_to_set(market: Market, hook: Hook) -> None:
    type_id = (await market.call("CreateHITType", **TYPE))["HITTypeId"]
    for given in ({}, {"Active": True}):
        refusal = await market.refused("UpdateNotificationSettings", HITTypeId=type_id, **given)
        assert refusal.turk_code == "InvalidParameterValue"
    refusal = await market.refused(
        "UpdateNotificationSettings", HITTypeId="3UNKNOWN", Notification=spec(hook)
    )
    assert refusal.code == "RequestError"


@pytest.mark.parametrize(
    "address",
    [
        "http://example.org/",
        "https://localhost/",
        "https://127.0.0.1/",
        "https://10.0.0.1/",
        "https://169.254.169.254/latest",
        "https://[::1]/",
        "https://[::ffff:10.0.0.1]/",
        "https://[::ffff:8.8.8.8]/",
        "https://0.0.0.0/",
        "https://127.0.0.1:8917/",
        # Other ways to write this machine, for one program or another.
        "https://LOCALHOST./",
        "https://x.localhost/",
        "https://127.1/",
        "https://0x7f000001/",
        "https://2130706433/",
        "https://0177.0.0.1/",
        "https://127.0.0.1./",
        "https://127\u30020\u30020\u30021/",
        "https://\u2460\u2461\u2466.0.0.1/",
        "https://\uff4cocalhost/",
        "https://127%2e0.0.1/",
        "https://example.org\\@127.0.0.1/",
        "https://127.0.0.1\\@example.org/",
        "https://127.0.0.1\t/",
        # IPv4 inside of IPv6, and what is nobody's machine.
        "https://[::127.0.0.1]/",
        "https://[::]/",
        "https://[64:ff9b::7f00:1]/",
        "https://[64:ff9b:1::7f00:1]/",
        "https://[2002:7f00:1::]/",
        "https://[2001:0:7f00:1::1]/",
        "https://[fe80::1]/",
        "https://[fe80::1%25eth0]/",
        "https://[fec0::1]/",
        "https://[fd00::1]/",
        "https://[ff02::1]/",
        "https://224.0.0.1/",
        "https://255.255.255.255/",
        "https://100.64.0.1/",
        "https://192.0.0.9/",
        "https://192.88.99.1/",
    ],
)
def test_private_addresses_are_not_called(address: str) -> None:
    with pytest.raises(BadTransport):
        check_target(Target(address, "SNS", (Event.PING,)), test=True, allow_http=False)


@pytest.mark.parametrize(
    "address",
    [
        "https://example.org/",
        "https://Example.org:8443/hook?a=b",
        "https://xn--bcher-kva.example/",
        "https://8.8.8.8/",
        "https://[2606:4700::1111]/",
    ],
)
def test_public_addresses_are_called(address: str) -> None:
    check_target(Target(address, "SNS", ()), test=False, allow_http=False)


async def test_a_stored_address_is_looked_at_again(market: Market, hook: Hook) -> None:
    """It came in while the marketplace was on a laptop, say."""
    await market.call("SendTestEventNotification", Notification=spec(hook), TestEventType="Ping")
    deliverer = Deliverer(replace(market.market, allow_http=False))
    assert await deliverer.deliver() == 0
    await deliverer.close()
    assert hook.requests == []


async def test_names_of_private_addresses_are_not_called() -> None:
    resolver = PublicResolver()
    with pytest.raises(OSError, match="not on the public network"):
        await resolver.resolve("localhost")
    await resolver.close()
