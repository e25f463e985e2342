"""What Prolific tells us by itself: only what is signed is taken, and it only hastens a look."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from chatserver.app import MAX_BODY
from chatserver.server import serve
from duologue.recruiting import hooks_for
from hit_manager.config import Approval
from hit_manager.recruiters.link import Link
from hit_manager.recruiters.prolific import Prolific, ProlificConfig
from hit_manager.recruiters.prolific.hooks import sign
from tests.contract.prolific_stage import CODES
from tests.live import Live, eventually, until
from tests.prolific_recruiting import recruiting_there

SECRET = "the workspace's secret"
NOW = 1_790_000_000.0
BODY = b'{"event_type": "submission.status.change", "resource_id": "65a1", "status": "APPROVED"}'


def signed(body: bytes = BODY, *, secret: str = SECRET, at: float = NOW) -> dict[str, str]:
    stamp = str(int(at))
    return {
        "X-Prolific-Request-Signature": sign(secret, stamp, body).decode(),
        "X-Prolific-Request-Timestamp": stamp,
    }


def prolific(secret: str | None = SECRET) -> Prolific:
    return Prolific(ProlificConfig("token", "w", "s", CODES, hook_secret=secret))


@asynccontextmanager
async def hooked(live: Live, secret: str | None = SECRET) -> AsyncIterator[tuple[str, list[int]]]:
    """A server that takes hooks: their address, and how often it was told to look."""
    looks: list[int] = []
    hooks = hooks_for(prolific(secret), lambda: looks.append(1), lambda: NOW)
    await live.prepare(items=1)
    async with serve(live.config, live.database_url, live.redis_url, hooks=hooks) as server:
        yield f"{server.url}/hooks/prolific", looks


async def post(url: str, body: bytes, headers: dict[str, str]) -> int:
    async with (
        aiohttp.ClientSession() as http,
        http.post(url, data=body, headers=headers) as answer,
    ):
        return answer.status


async def test_a_genuine_hook_leads_to_a_look(live: Live) -> None:
    async with hooked(live) as (url, looks):
        assert await post(url, BODY, signed()) == 204
        assert looks == [1]
        # What is of no interest is taken, so that it is not sent again.
        other = b'{"event_type": "workspace.renamed", "resource_id": "5f"}'
        assert await post(url, other, signed(other)) == 204
        assert looks == [1]
        async with live.http.get(url) as answer:
            assert answer.status == 405


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (BODY, {}),
        (BODY, signed(secret="another")),
        (BODY, signed(at=NOW - 3600)),
        (BODY + b" ", signed()),
        (b"nonsense", signed(b"nonsense")),
    ],
)
async def test_anything_else_is_refused(live: Live, body: bytes, headers: dict[str, str]) -> None:
    async with hooked(live) as (url, looks):
        assert await post(url, body, headers) == 403
        assert not looks


async def test_a_long_body_is_not_read(live: Live) -> None:
    body = b" " * (MAX_BODY + 1)
    async with hooked(live) as (url, looks):
        assert await post(url, body, signed(body)) == 413
        assert not looks


async def test_without_a_secret_there_is_no_address(live: Live) -> None:
    async with hooked(live, None) as (url, _):
        assert await post(url, BODY, signed(secret="")) == 404
    assert hooks_for(Link(None), lambda: None) == {}


async def test_a_look_is_not_waited_for_as_long_as_usual(sqlite_url: str, tmp_path: Path) -> None:
    """And it is a look: whoever says that somebody was approved moves no money."""
    async with recruiting_there(
        sqlite_url, tmp_path, interval_s=600.0, approval=Approval.BY_HAND
    ) as at:
        at.study_of_items("dog")
        stop, soon = asyncio.Event(), asyncio.Event()
        running = asyncio.ensure_future(at.manager.run(stop, soon))
        await until(lambda: at.free == 2)
        [hit] = await eventually(at.hits)
        arrival = await at.arrive(hit)
        await at.there.submit(at.visits[arrival])
        hook = hooks_for(prolific(), soon.set, lambda: NOW)["prolific"]
        assert hook(signed(), BODY)

        async def seen() -> bool:
            [hit] = await at.hits()
            return (hit.free, hit.pending) == (1, 0)

        await eventually(seen)
        assert await at.got(arrival) == ([], [])
        stop.set()
        await running
