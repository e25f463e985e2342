"""A marketplace over HTTP, a requester who uses boto3, and workers who come to it."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final

import aiohttp
import boto3
from aiohttp import web
from aiohttp.test_utils import TestServer
from botocore import xform_name
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.exceptions import ClientError

from hit_manager.marketplace import assignments, workers
from hit_manager.marketplace.api import add_routes
from hit_manager.marketplace.assignments import Assignment
from hit_manager.marketplace.clock import MovableClock
from hit_manager.marketplace.core import Marketplace
from hit_manager.marketplace.faults import Faults
from hit_manager.marketplace.store import Store
from hit_manager.marketplace.workers import Key
from tests.contract.service_model import differences, service_model

MONEY: Final = 100_000
"""Cents of a requester at the beginning."""

TARGET: Final = "MTurkRequesterServiceV20170117."
QUESTION: Final = (
    '<ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/'
    '2006-07-14/ExternalQuestion.xsd"><ExternalURL>https://example.org/work?a=1&amp;b=2'
    "</ExternalURL><FrameHeight>0</FrameHeight></ExternalQuestion>"
)
ANSWER: Final = (
    '<?xml version="1.0" encoding="UTF-8" standalone="no"?><QuestionFormAnswers '
    'xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/'
    'QuestionFormAnswers.xsd"><Answer><QuestionIdentifier>code</QuestionIdentifier>'
    "<FreeText>7</FreeText></Answer></QuestionFormAnswers>"
)
TYPE: Final[Mapping[str, Any]] = {
    "Title": "Talk about a picture",
    "Description": "Two people talk",
    "Keywords": "picture, dialog",
    "Reward": "0.50",
    "AssignmentDurationInSeconds": 600,
    "AutoApprovalDelayInSeconds": 86_400,
}
HIT: Final[Mapping[str, Any]] = {"Question": QUESTION, "LifetimeInSeconds": 3600}


@dataclass(frozen=True, slots=True)
class Refusal:
    """What boto3 tells of an error."""

    code: str
    turk_code: str | None
    message: str
    http_status: int


@cache
def _session() -> boto3.session.Session:
    return boto3.session.Session()


def make_client(url: str, key_id: str, secret: str) -> Any:
    """A client that sends each call once, without looking at its parameters first."""
    return _session().client(
        "mturk",
        region_name="us-east-1",
        endpoint_url=url,
        aws_access_key_id=key_id,
        aws_secret_access_key=secret,
        config=Config(
            connect_timeout=5,
            read_timeout=20,
            parameter_validation=False,
            retries={"mode": "standard", "total_max_attempts": 1},
            proxies={},
        ),
    )


@dataclass(slots=True)
class Market:
    """A marketplace with one requester. `wrong` is what its responses had that the service model
    has not."""

    url: str
    market: Marketplace
    clock: MovableClock
    faults: Faults
    key: Key
    client: Any
    wrong: list[str] = field(default_factory=list)
    answered: set[str] = field(default_factory=set)

    # --- The requester -----------------------------------------------------------------------

    async def call(self, operation: str, /, **given: Any) -> dict[str, Any]:
        """Call an operation by boto3."""
        return await self.call_as(self.client, operation, **given)

    async def call_as(self, client: Any, operation: str, /, **given: Any) -> dict[str, Any]:
        result: dict[str, Any] = await asyncio.to_thread(
            getattr(client, xform_name(operation)), **given
        )
        assert result.pop("ResponseMetadata")["RequestId"]
        return result

    async def refused(self, operation: str, /, **given: Any) -> Refusal:
        """Call an operation that is refused."""
        return await self.refused_as(self.client, operation, **given)

    async def refused_as(self, client: Any, operation: str, /, **given: Any) -> Refusal:
        try:
            result = await self.call_as(client, operation, **given)
        except ClientError as error:
            said = error.response
            code = said.get("TurkErrorCode")
            return Refusal(
                said["Error"]["Code"],
                code.removeprefix("AWS.MechanicalTurk.") if code else None,
                said["Error"]["Message"],
                said["ResponseMetadata"]["HTTPStatusCode"],
            )
        raise AssertionError(f"{operation} was not refused: {result}")

    async def hit(self, **changes: Any) -> str:
        """Post a HIT; its id."""
        made = await self.call("CreateHIT", **{**TYPE, **HIT, **changes})
        hit_id: str = made["HIT"]["HITId"]
        return hit_id

    async def get(self, hit_id: str) -> dict[str, Any]:
        found: dict[str, Any] = (await self.call("GetHIT", HITId=hit_id))["HIT"]
        return found

    async def status(self, hit_id: str) -> tuple[str, int, int, int]:
        """A HIT's status, and how many assignments are available, pending and completed."""
        hit = await self.get(hit_id)
        return (
            hit["HITStatus"],
            hit["NumberOfAssignmentsAvailable"],
            hit["NumberOfAssignmentsPending"],
            hit["NumberOfAssignmentsCompleted"],
        )

    async def balance(self) -> tuple[str, str]:
        """What is available and what is on hold, in dollars."""
        said = await self.call("GetAccountBalance")
        return said["AvailableBalance"], said["OnHoldBalance"]

    async def another_requester(self) -> Any:
        """A client of a requester who has nothing to do with the first."""
        key = await self.market.write(_requester, "Another lab")
        return make_client(self.url, key.id, key.secret)

    async def send(
        self,
        operation: str,
        body: bytes = b"{}",
        *,
        at: datetime | None = None,
        tamper: Mapping[str, str | None] | None = None,
        sent_body: bytes | None = None,
        region: str = "us-east-1",
        path: str = "",
    ) -> tuple[int, dict[str, Any]]:
        """Send a request that is signed by botocore and then tampered with."""
        request = AWSRequest(
            method="POST",
            url=self.url + path,
            data=body,
            headers={
                "Content-Type": "application/x-amz-json-1.1",
                "X-Amz-Target": TARGET + operation,
            },
        )
        credentials = Credentials(self.key.id, self.key.secret)
        _SignedAt(credentials, "mturk-requester", region, at or datetime.now(UTC)).add_auth(request)
        headers = dict(request.headers)
        for name, value in (tamper or {}).items():
            headers.pop(name, None)
            if value is not None:
                headers[name] = value
        data = io.BytesIO(body if sent_body is None else sent_body)
        async with (
            aiohttp.ClientSession() as session,
            session.post(self.url + path, data=data, headers=headers) as response,
        ):
            return response.status, json.loads(await response.read())

    # --- Workers -----------------------------------------------------------------------------

    async def worker(self, **given: Any) -> str:
        return await self.market.write(workers.create_worker, **given)

    async def accept(self, hit_id: str, worker_id: str | None = None) -> Assignment:
        who = worker_id or await self.worker()
        return await self.market.write(assignments.accept, who, hit_id)

    async def submit(self, hit_id: str, worker_id: str | None = None) -> Assignment:
        """Accept and submit."""
        accepted = await self.accept(hit_id, worker_id)
        return await self.market.write(assignments.submit, accepted.id, ANSWER)


class _SignedAt(SigV4Auth):  # type: ignore[misc]
    """Signs as if it were another time."""

    def __init__(self, credentials: Any, service: str, region: str, at: datetime) -> None:
        super().__init__(credentials, service, region)
        self._at = at

    def add_auth(self, request: Any) -> None:
        stamp = self._at.strftime("%Y%m%dT%H%M%SZ")
        request.context["timestamp"] = stamp
        request.headers["X-Amz-Date"] = stamp
        to_sign = self.string_to_sign(request, self.canonical_request(request))
        self._inject_signature_to_request(request, self.signature(to_sign, request))


def _requester(connection: Any, now: float, name: str, money: int = MONEY) -> Key:
    requester_id = workers.create_requester(connection, now, name, money)
    return workers.create_key(connection, now, requester_id)


@asynccontextmanager
async def opened_market(database_url: str, money: int = MONEY) -> AsyncIterator[Market]:
    """A marketplace on an empty database; on leaving, all its responses must have been right."""
    clock, faults = MovableClock(), Faults()
    store = Store(database_url, clock)
    store.open()
    wrong: list[str] = []
    answered: set[str] = set()

    @web.middleware
    async def checked(request: web.Request, handler: Any) -> web.StreamResponse:
        response: web.StreamResponse = await handler(request)
        if isinstance(response, web.Response) and response.body is not None:
            name = request.headers.get("X-Amz-Target", "").removeprefix(TARGET)
            wrong.extend(f"{name}: {fault}" for fault in check_response(name, response))
            if response.status == 200:
                answered.add(name)
        return response

    app = web.Application(middlewares=[checked], client_max_size=2**21)
    server = TestServer(app)
    market = Marketplace(store, clock, "http://market.test", allow_http=True, faults=faults)
    add_routes(app, market)
    async with server:
        url = str(server.make_url("")).rstrip("/")
        key = await market.write(_requester, "A lab", money)
        client = make_client(url, key.id, key.secret)
        yield Market(url, market, clock, faults, key, client, wrong, answered)
        client.close()
    await store.close()
    assert not wrong


def check_response(operation: str, response: web.Response) -> list[str]:
    """What is wrong with a response by the service model."""
    assert isinstance(response.body, bytes)
    body = json.loads(response.body)
    faults = []
    if response.headers.get("Content-Type") != "application/x-amz-json-1.1":
        faults.append("has another content type")
    if not response.headers.get("x-amzn-RequestId"):
        faults.append("has no request id")
    model = service_model()
    if response.status == 200:
        return faults + list(differences(body, model.operation_model(operation).output_shape))
    kind = body.pop("__type", None)
    if not isinstance(kind, str) or not isinstance(body.get("Message"), str):
        faults.append("is an error without kind or message")
    if kind in ("RequestError", "ServiceFault"):
        faults += differences(body, model.shape_for(kind))
    if (kind == "RequestError") != ("TurkErrorCode" in body):
        faults.append(f"is a {kind} with or without a TurkErrorCode")
    if (kind == "ServiceFault") != (response.status >= 500):
        faults.append(f"is a {kind} with status {response.status}")
    return faults
