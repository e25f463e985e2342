"""The calls to Mechanical Turk when the network or what answers is not as it should be.

Real boto3 speaks to a server here that misbehaves on purpose; what a right one says is tested
with the marketplace.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable

import orjson
import pytest
import pytest_asyncio
from aiohttp import web

from hit_manager.recruiters.backoff import Patience, Pause
from hit_manager.recruiters.base import Bonus, NotThere, Posting, Refused, Unavailable, Unsure
from hit_manager.recruiters.mturk import Mturk, MturkConfig
from hit_manager.recruiters.mturk.errors import NeedsPerson

POSTING = Posting(
    key="hit-1",
    url="https://duologue.example/work?hit=token",
    title="Talk",
    description="Talk about a photo",
    keywords="chat",
    reward=150,
    currency="USD",
    seats=1,
    lifetime_s=3600.0,
    assignment_duration_s=1800.0,
    auto_approval_s=0.0,
)
BONUS = Bonus("pay-1", "3ASSIGNMENT", "3HIT", "A1WORKER", 50, "USD", "Thank you!")


class Answering:
    """A server that answers every request as it is told, and remembers them."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, object], str]] = []
        self.answer: Callable[[web.Request, dict[str, object]], Awaitable[web.StreamResponse]]
        self.answer = self.ok
        self.pauses: list[Pause] = []
        self.url = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        operation = request.headers["X-Amz-Target"].rpartition(".")[2]
        body = orjson.loads(await request.read())
        self.requests.append((operation, body, request.headers["Authorization"]))
        return await self.answer(request, body)

    async def ok(self, request: web.Request, body: dict[str, object]) -> web.Response:
        return self.json({})

    def json(self, body: object, status: int = 200) -> web.Response:
        headers = {"x-amzn-RequestId": "r-1"}
        return web.json_response(body, status=status, headers=headers)

    async def lost(self, request: web.Request, body: dict[str, object]) -> web.Response:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    def recruiter(self, **settings: float) -> Mturk:
        async def sleep(seconds: float) -> None:
            await asyncio.sleep(0)

        return Mturk(
            MturkConfig(self.url, "AKID", "secret", **settings),  # type: ignore[arg-type]
            patience=Patience(tries=3, sleep=sleep, told=self.pauses.append),
        )

    @property
    def operations(self) -> list[str]:
        return [operation for operation, _, _ in self.requests]


@pytest_asyncio.fixture
async def server() -> AsyncIterator[Answering]:
    answering = Answering()
    app = web.Application()
    app.router.add_post("/", answering.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    answering.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield answering
    await runner.cleanup()


@pytest_asyncio.fixture
async def mturk(server: Answering) -> AsyncIterator[Mturk]:
    recruiter = server.recruiter()
    yield recruiter
    await recruiter.close()


async def test_a_page_that_is_no_answer_is_no_success(server: Answering, mturk: Mturk) -> None:
    async def page(request: web.Request, body: dict[str, object]) -> web.Response:
        return web.Response(text="<h1>Welcome to the proxy</h1>", content_type="text/html")

    server.answer = page
    with pytest.raises(Unsure, match="check the endpoint"):
        await mturk.pay(BONUS)
    assert server.operations == ["SendBonus"]
    with pytest.raises(Unsure):
        await mturk.approve("3ASSIGNMENT")
    with pytest.raises(Unavailable) as read:
        await mturk.hit("3HIT")
    assert not isinstance(read.value, Unsure)


@pytest.mark.parametrize("status", [500, 502, 503, 504])
async def test_a_fault_over_there_leaves_a_payment_unsure(
    server: Answering, mturk: Mturk, status: int
) -> None:
    async def fault(request: web.Request, body: dict[str, object]) -> web.Response:
        return web.Response(status=status, text="<h1>Bad gateway</h1>")

    server.answer = fault
    with pytest.raises(Unsure):
        await mturk.pay(BONUS)
    # Once only: whoever asks looks first, and stores what they do.
    assert server.operations == ["SendBonus"]
    with pytest.raises(Unsure):
        await mturk.approve("3ASSIGNMENT")
    assert server.operations[1:] == ["ApproveAssignment"] * 3
    assert [pause.call for pause in server.pauses] == ["approve_assignment"] * 2


async def test_a_connection_that_breaks_leaves_a_payment_unsure(
    server: Answering, mturk: Mturk
) -> None:
    server.answer = server.lost
    with pytest.raises(Unsure):
        await mturk.pay(BONUS)
    assert server.operations == ["SendBonus"]


async def test_an_answer_that_never_comes_leaves_a_payment_unsure(server: Answering) -> None:
    ended = asyncio.Event()

    async def never(request: web.Request, body: dict[str, object]) -> web.Response:
        await ended.wait()
        return web.Response()

    server.answer = never
    mturk = server.recruiter(read_timeout_s=0.2)
    with pytest.raises(Unsure):
        await mturk.pay(BONUS)
    assert server.operations == ["SendBonus"]
    ended.set()
    await mturk.close()


async def test_where_nobody_listens_nothing_was_done() -> None:
    listener = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    listener.close()
    await listener.wait_closed()
    nowhere = Answering()
    nowhere.url = f"http://127.0.0.1:{port}"
    mturk = nowhere.recruiter()
    with pytest.raises(Unavailable) as refused:
        await mturk.pay(BONUS)
    assert not isinstance(refused.value, Unsure)
    assert len(nowhere.pauses) == 2
    await mturk.close()


async def test_the_environment_moves_no_money(
    server: Answering, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
        "AWS_ENDPOINT_URL_MTURK": "http://127.0.0.1:9",
        "AWS_REGION": "eu-west-1",
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_ACCESS_KEY_ID": "SOMEBODY",
        "AWS_SECRET_ACCESS_KEY": "else",
        "AWS_MAX_ATTEMPTS": "9",
        "AWS_RETRY_MODE": "legacy",
    }.items():
        monkeypatch.setenv(name, value)
    mturk = server.recruiter()
    await mturk.pay(BONUS)
    ((_, body, signed),) = server.requests
    assert "Credential=AKID/" in signed
    assert "/us-east-1/mturk-requester/" in signed
    assert body["UniqueRequestToken"] == "pay-1"
    assert body["BonusAmount"] == "0.50"
    server.answer = server.lost
    with pytest.raises(Unsure):
        await mturk.pay(BONUS)
    assert len(server.requests) == 2
    await mturk.close()


async def test_calls_run_beside_each_other_and_beside_the_loop(
    server: Answering, mturk: Mturk
) -> None:
    together = asyncio.Barrier(4)

    async def when_all_are_here(request: web.Request, body: dict[str, object]) -> web.Response:
        await together.wait()
        return server.json({"AvailableBalance": "1234.5", "OnHoldBalance": "0.00"})

    server.answer = when_all_are_here
    assert await asyncio.gather(*(mturk.balance() for _ in range(4))) == [123_450] * 4


async def test_close_waits_for_a_payment_that_was_sent(server: Answering, mturk: Mturk) -> None:
    arrived, go_on, answered = asyncio.Event(), asyncio.Event(), []

    async def slowly(request: web.Request, body: dict[str, object]) -> web.Response:
        arrived.set()
        await go_on.wait()
        answered.append(body)
        return server.json({})

    server.answer = slowly
    paying = asyncio.create_task(mturk.pay(BONUS))
    await arrived.wait()
    paying.cancel()
    closing = asyncio.create_task(mturk.close())
    done, _ = await asyncio.wait([closing], timeout=0.2)
    assert not done
    go_on.set()
    await closing
    assert len(answered) == 1
    with pytest.raises(asyncio.CancelledError):
        await paying


STOPPED = """
import asyncio, sys
from hit_manager.recruiters.mturk import Mturk, MturkConfig

async def main():
    mturk = Mturk(MturkConfig(sys.argv[1], "AKID", "secret", read_timeout_s=600.0))
    asking = asyncio.create_task(mturk.balance())
    print("asking", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    asking.cancel()
    await mturk.close()

asyncio.run(main())
"""


async def test_a_marketplace_that_never_answers_holds_up_no_exit(server: Answering) -> None:
    arrived, never = asyncio.Event(), asyncio.Event()

    async def silent(request: web.Request, body: dict[str, object]) -> web.Response:
        arrived.set()
        await never.wait()
        return server.json({})

    server.answer = silent
    program = await asyncio.create_subprocess_exec(
        sys.executable, "-c", STOPPED, server.url, stdin=asyncio.subprocess.PIPE
    )
    await arrived.wait()
    # Its answer would be waited for ten minutes.
    async with asyncio.timeout(30):
        await program.communicate(b"stop\n")
    assert program.returncode == 0
    never.set()


async def test_wrong_keys_are_told_as_such(server: Answering, mturk: Mturk) -> None:
    async def refuse(request: web.Request, body: dict[str, object]) -> web.Response:
        return server.json({"__type": "InvalidSignatureException", "Message": "Expired"}, 403)

    server.answer = refuse
    with pytest.raises(NeedsPerson, match="check the access key and the machine's clock"):
        await mturk.open()
    # At once, and not after pauses; and no payment fails for good by it.
    with pytest.raises(Unavailable) as refused:
        await mturk.pay(BONUS)
    assert not isinstance(refused.value, Unsure)
    assert len(server.requests) == 2


async def test_a_wrong_address_is_told_as_such(server: Answering) -> None:
    server.url += "/elsewhere"
    mturk = server.recruiter()
    with pytest.raises(NeedsPerson, match="check the endpoint"):
        await mturk.pay(BONUS)
    assert server.pauses == []
    await mturk.close()


async def test_a_token_that_leads_back_to_its_own_page_does_not_go_round_for_ever(
    server: Answering, mturk: Mturk
) -> None:
    async def round_and_round(request: web.Request, body: dict[str, object]) -> web.Response:
        return server.json({"NumResults": 0, "HITs": [], "NextToken": "again"})

    server.answer = round_and_round
    assert await mturk.hits() == []
    assert len(server.requests) == 2


# --- Requests that are ours to get right -------------------------------------------------------


async def test_messages_go_out_a_hundred_at_a_time(server: Answering, mturk: Mturk) -> None:
    bad = "AWRONG"

    async def notify(request: web.Request, body: dict[str, object]) -> web.Response:
        ids = body["WorkerIds"]
        assert isinstance(ids, list)
        assert len(ids) <= 100
        if bad in ids:
            return server.json({"__type": "ParameterValidationError", "Message": "wrong id"}, 400)
        failed = [
            {
                "WorkerId": "A0007",
                "NotifyWorkersFailureCode": "HardFailure",
                "NotifyWorkersFailureMessage": "you never worked with them",
            }
        ]
        return server.json({"NotifyWorkersFailureStatuses": failed if "A0007" in ids else []})

    server.answer = notify
    workers = [f"A{n:04}" for n in range(250)]
    unreached = await mturk.message([*workers, bad, *workers[:9]], "Subject", "Text")
    assert unreached.keys() == {"A0007", bad}
    assert unreached["A0007"] == "you never worked with them"
    assert "wrong id" in unreached[bad]
    named = [body["WorkerIds"] for _, body, _ in server.requests]
    sent = [each for ids in named if isinstance(ids, list) and bad not in ids for each in ids]
    assert sorted(sent) == workers
    with pytest.raises(Refused):
        await mturk.message(workers, "s" * 201, "Text")


async def test_who_has_a_message_is_known_whatever_happens(server: Answering, mturk: Mturk) -> None:
    async def first_only(request: web.Request, body: dict[str, object]) -> web.Response:
        if len(server.requests) == 1:
            return server.json({"NotifyWorkersFailureStatuses": []})
        return server.json({"__type": "ThrottlingException", "Message": "Rate exceeded"}, 400)

    server.answer = first_only
    workers = [f"A{n:04}" for n in range(250)]
    unreached = await mturk.message(workers, "Subject", "Text")
    assert sorted(unreached) == workers[100:]
    assert all("not sent" in why for why in unreached.values())


async def test_a_name_that_only_looks_alike_is_not_our_block(
    server: Answering, mturk: Mturk
) -> None:
    ours = mturk.config.block_name

    def row(type_id: str, name: str, status: str = "Active") -> dict[str, str]:
        return {"QualificationTypeId": type_id, "Name": name, "QualificationTypeStatus": status}

    async def answer(request: web.Request, body: dict[str, object]) -> web.Response:
        if "Query" not in body:
            return server.json({"QualificationType": row("3NEW", ours)})
        found = [row("3LIKE", f"{ours} too"), row("3OLD", ours, "Inactive")]
        return server.json({"NumResults": 2, "QualificationTypes": found})

    server.answer = answer
    await asyncio.gather(mturk.block("A1", "x"), mturk.block("A2", "x"))
    assert server.operations[:2] == ["ListQualificationTypes", "CreateQualificationType"]
    given = [body for operation, body, _ in server.requests if operation.startswith("Associate")]
    assert {body["QualificationTypeId"] for body in given} == {"3NEW"}
    assert all(body["SendNotification"] is False for body in given)


async def test_a_hit_that_was_posted_is_found_by_its_key_where_its_id_is_not_said(
    server: Answering, mturk: Mturk
) -> None:
    def hit(hit_id: str, key: str) -> dict[str, object]:
        return {
            "HITId": hit_id,
            "HITStatus": "Assignable",
            "MaxAssignments": 1,
            "NumberOfAssignmentsAvailable": 1,
            "RequesterAnnotation": f"duologue:{key}",
        }

    async def answer(request: web.Request, body: dict[str, object]) -> web.Response:
        match server.operations[-1]:
            case "CreateHIT":
                text = 'The idempotency token "hit-1" has already been processed.'
                return server.json({"__type": "RequestError", "Message": text}, 400)
            case "ListHITs":
                return server.json({"HITs": [hit("3OTHER", "hit-11"), hit("3MINE", "hit-1")]})
            case _:
                return server.json({"QualificationTypes": [], "QualificationType": made})

    made = {"QualificationTypeId": "3NEW"}
    server.answer = answer
    posted = await mturk.post(POSTING)
    assert (posted.id, posted.key) == ("3MINE", "hit-1")


async def test_an_unknown_hit_is_told_from_one_in_the_wrong_state(
    server: Answering, mturk: Mturk
) -> None:
    async def unknown(request: web.Request, body: dict[str, object]) -> web.Response:
        error = {
            "__type": "RequestError",
            "Message": "Hit 3HIT does not exist. (1542881973916 s)",
            "TurkErrorCode": "AWS.MechanicalTurk.HITDoesNotExist",
        }
        return server.json(error, 400)

    server.answer = unknown
    with pytest.raises(NotThere) as error:
        await mturk.expire("3HIT")
    assert error.value.code == "AWS.MechanicalTurk.HITDoesNotExist"
    assert "1542881973916" not in str(error.value)
