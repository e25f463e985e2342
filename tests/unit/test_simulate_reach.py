"""`duologue simulate` asks who answers before it sends anybody there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from aiohttp import web

from chatserver.wire import ErrorCode
from duologue.embedded import free_port
from duologue.problems import BadInput
from duologue.simulate.command import turned_away_lines
from duologue.simulate.log import Entry, WorkerLog
from duologue.simulate.reach import TRIES, reach
from duologue.simulate.summary import summarize

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


async def told(*urls: str) -> tuple[str, ...]:
    """The problems with these addresses."""
    with pytest.raises(BadInput) as caught:
        await reach(urls, pause_s=0.01)
    return caught.value.problems


async def served(handler: Handler) -> tuple[web.AppRunner, str]:
    app = web.Application()
    app.router.add_get("/{path:.*}", handler)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    return runner, f"http://127.0.0.1:{runner.addresses[0][1]}"


async def test_nobody_at_an_address_is_one_line() -> None:
    url = f"http://127.0.0.1:{free_port()}"
    (line,) = await told(url)
    assert line == f"nobody answers at {url}; is `duologue serve` running, and is the port right?"


async def test_each_address_is_asked() -> None:
    first, second = (f"http://127.0.0.1:{port}" for port in (1, free_port()))
    assert [first in line or second in line for line in await told(first, second)] == [True, True]


async def test_a_page_of_something_else_is_not_duologue() -> None:
    async def page(_: web.Request) -> web.StreamResponse:
        return web.Response(text="<h1>Hello</h1>", content_type="text/html")

    runner, url = await served(page)
    try:
        (line,) = await told(url)
        assert line.startswith(f"what answers at {url} is not a Duologue server (HTTP 200)")
        (line,) = await told(f"{url}/work")
        assert line.endswith("leave out /work")
    finally:
        await runner.cleanup()


async def test_what_speaks_no_http_is_not_duologue() -> None:
    async def chatter(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"-ERR unknown command\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(chatter, "127.0.0.1", 0)
    async with server:
        (line,) = await told(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    assert "is not a Duologue server" in line


@pytest.mark.parametrize("late", [0, TRIES - 1])
async def test_a_server_that_is_there_soon_is_waited_for_ready_or_not(late: int) -> None:
    asked: list[str] = []

    async def readyz(request: web.Request) -> web.StreamResponse:
        asked.append(request.path)
        if len(asked) <= late:
            return web.Response(status=502)
        return web.json_response({"ready": False, "database": True, "redis": False}, status=503)

    runner, url = await served(readyz)
    try:
        await reach([f"{url}/"], pause_s=0.01)
    finally:
        await runner.cleanup()
    assert asked == ["/readyz"] * (late + 1)


def test_the_reason_of_those_turned_away_is_named() -> None:
    told = (
        (ErrorCode.STUDY_PAUSED, "The study takes nobody new."),
        (ErrorCode.WRONG_ANSWERS, "Please look at question 2 again."),
        (ErrorCode.WRONG_ANSWERS, "Please look at question 2 again."),
        (ErrorCode.CAP_REACHED, "You have taken part often enough."),
        (ErrorCode.BAD_REQUEST, "An invitation is needed."),
    )
    logs = []
    for number, (code, error) in enumerate(told):
        logs.append(WorkerLog(number))
        logs[-1].write(Entry.TURNED_AWAY, error=error, code=code.value)
    first, *others = turned_away_lines(summarize(logs, 0, 1.0))
    assert first.startswith("turned away 2 workers: Please look at question 2 again; ")
    assert "--check" in first
    paused, cap, other = others
    assert "1 worker: The study takes nobody new; `duologue resume`" in paused
    assert "dialogs_per_worker" in cap
    assert other == "turned away 1 worker: An invitation is needed"
    assert turned_away_lines(summarize([], 0, 1.0)) == []
