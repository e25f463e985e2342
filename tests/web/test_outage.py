"""No outage of ours and no clock jump costs anybody a seat, a message or a place in the queue."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import threading
import time
from typing import Any

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError

from chatserver.config import Failpoints
from chatserver.live.deadlines import Due
from chatserver.server import Server
from dialogs.dialog import DeadlineKind
from dialogs.rules import Role
from pairing.keys import Keys
from tests.live import Live, Person, eventually, until
from tests.services import PostgresServer, ValkeyServer

SHORT: dict[str, Any] = {
    "rules": {"grace_s": 1.5, "turn_limit_s": 60.0},
    "presence_s": 2.0,
    "closed_s": 0.3,
    "no_outage_s": 1.0,
    "outage_s": 1.0,
}
"""Grace, presence and what counts as an outage, far shorter than the outages below (s)."""

OUTAGE_S = 3.0


async def nobody_lost_a_seat(live: Live, asker: Person, teller: Person) -> None:
    """Both are back, both go on, and the dialog becomes complete."""
    for person in (asker, teller):
        await person.until(lambda person=person: person.connected and person.phase == "paired")
    await live.converse(asker, teller)
    for person in (asker, teller):
        await person.shows("released")
        assert person.released["release"] == "completed"
    assert not await live.happened("seat_lost")


async def start_again(server: ValkeyServer | PostgresServer) -> None:
    server.start(wait=False)
    await asyncio.to_thread(server.wait_ready)


async def passes(seconds: float) -> None:
    """An outage has no sign of its own but its length."""
    over = time.monotonic() + seconds
    await until(lambda: time.monotonic() > over)


# --- Outages longer than grace ---------------------------------------------------------------


async def test_a_frozen_database_costs_nobody_the_seat(
    live_frozen: Live, postgres_server: PostgresServer
) -> None:
    server = await live_frozen.begin(**SHORT)
    asker, teller = await live_frozen.pair(*await live_frozen.people(2))
    await live_frozen.converse(asker, teller, 3)
    postgres_server.pause()
    try:
        sending = asyncio.create_task(teller.say_surely("message 4"))
        await until(lambda: not server.service.health.ready)
        await passes(OUTAGE_S)
    finally:
        postgres_server.resume()
    await sending
    await asker.shows_text("message 4")
    await nobody_lost_a_seat(live_frozen, asker, teller)


async def test_a_restarted_database_costs_nobody_the_seat(
    live_frozen: Live, postgres_server: PostgresServer
) -> None:
    server = await live_frozen.begin(**SHORT)
    asker, teller = await live_frozen.pair(*await live_frozen.people(2))
    await live_frozen.converse(asker, teller, 3)
    postgres_server.kill()
    sending = asyncio.create_task(teller.say_surely("message 4"))
    await until(lambda: not server.service.health.ready)
    await passes(OUTAGE_S)
    await start_again(postgres_server)
    await sending
    await asker.shows_text("message 4")
    await nobody_lost_a_seat(live_frozen, asker, teller)


async def test_a_killed_redis_costs_nobody_the_seat(
    live_redis: Live, valkey_server: ValkeyServer
) -> None:
    server = await live_redis.begin(**SHORT)
    asker, teller = await live_redis.pair(*await live_redis.people(2))
    await live_redis.converse(asker, teller, 3)
    valkey_server.kill()
    await until(lambda: not server.service.health.ready)
    await passes(OUTAGE_S)
    await start_again(valkey_server)
    await nobody_lost_a_seat(live_redis, asker, teller)


async def test_a_frozen_redis_costs_nobody_the_seat(
    live_redis: Live, valkey_server: ValkeyServer
) -> None:
    server = await live_redis.begin(**SHORT)
    asker, teller = await live_redis.pair(*await live_redis.people(2))
    valkey_server.pause()
    try:
        await until(lambda: not server.service.health.ready)
        # Messages do not wait for Redis.
        await teller.until(lambda: teller.connected)
        await asker.say_surely("message 1")
        await passes(OUTAGE_S)
    finally:
        valkey_server.resume()
    await nobody_lost_a_seat(live_redis, asker, teller)


async def test_a_message_does_not_wait_for_redis_behind_a_sign_of_typing(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = await live.begin()
    asker, teller = await live.pair(*await live.people(2))
    asked, frozen = asyncio.Event(), asyncio.Event()

    async def typed(*_: Any) -> None:
        asked.set()
        await frozen.wait()
        raise RedisError("it has been silent for too long")

    monkeypatch.setattr(server.service.deadlines, "typed", typed)
    await asker.tell("typing", {"on": True})
    await asker.say_surely("message 1")
    await teller.shows_text("message 1")
    assert asked.is_set()
    frozen.set()
    await live.converse(asker, teller, 3)


async def test_a_restart_of_the_only_server_longer_than_grace_costs_nobody_the_seat(
    live_each: Live,
) -> None:
    server = await live_each.begin(**SHORT)
    asker, teller = await live_each.pair(*await live_each.people(2))
    await live_each.converse(asker, teller, 3)
    await live_each.stop(server)
    await passes(OUTAGE_S)
    await live_each.serve()
    await nobody_lost_a_seat(live_each, asker, teller)


async def test_a_server_that_stood_still_costs_nobody_the_seat(live_each: Live) -> None:
    """Longer than a turn: when it goes on, the deadline is due before anybody could write."""
    await live_each.prepare(
        rules={"grace_s": 1.0, "turn_limit_s": 4.0}, health_s=1.0, no_outage_s=2.0
    )
    process = await live_each.process()
    asker, teller = await live_each.pair(*await live_each.people(2))
    await live_each.converse(asker, teller, 2)
    async with Redis.from_url(live_each.redis_url) as redis:

        async def armed() -> bool:
            members = await redis.zrange(Keys(live_each.study_id).deadlines, 0, -1)
            return any(m.startswith(b"turn|") and m.endswith(b"|questioner|3|0") for m in members)

        await eventually(armed)
    process.signal(signal.SIGSTOP)
    try:
        await passes(2 * OUTAGE_S)
    finally:
        process.signal(signal.SIGCONT)
    # Whoever saw the other's message only now has not answered at once.
    await passes(1.0)
    await nobody_lost_a_seat(live_each, asker, teller)


async def test_nobody_has_missed_a_start_that_an_outage_kept_from_being_pressed(
    live: Live,
) -> None:
    await live.prepare(study={"start_s": 2.0}, no_outage_s=1.0)
    process = await live.process()
    ada, ben = await live.people(2)
    await live.match(ada, ben)
    await ada.do("start")
    process.signal(signal.SIGSTOP)
    try:
        await passes(2 * OUTAGE_S)
    finally:
        process.signal(signal.SIGCONT)
    await passes(1.5)
    for person in (ada, ben):
        assert person.stage in ("waiting", "matched")
        assert not person.state["missed_start"]


async def test_the_time_of_an_outage_counts_for_no_deadline(live_each: Live) -> None:
    rules = {"grace_s": 0.5, "turn_limit_s": 60.0, "dialog_limit_s": 90.0}
    server = await live_each.begin(rules=rules, no_outage_s=30.0)
    asker, teller = await live_each.pair(*await live_each.people(2))
    await live_each.converse(asker, teller, 3)
    await live_each.stop(server)
    keys = Keys(live_each.study_id)
    async with Redis.from_url(live_each.redis_url) as redis:
        # What 1000 s without any server leave behind.
        await redis.hincrbyfloat(keys.clock, "alive", -1000.0)
        for member in await redis.zrange(keys.deadlines, 0, -1):
            await redis.zincrby(keys.deadlines, -1000.0, member)
    server = await live_each.serve()
    served, claim = 0, server.service.deadlines.claim

    async def watched(*args: Any) -> Any:
        nonlocal served
        claims = await claim(*args)
        served += 1
        return claims

    server.service.deadlines.claim = watched  # type: ignore[method-assign]
    await until(lambda: served >= 3)
    await nobody_lost_a_seat(live_each, asker, teller)
    assert not await live_each.happened("away")


async def test_absence_is_still_noticed_after_an_outage(
    live_redis: Live, valkey_server: ValkeyServer
) -> None:
    server = await live_redis.begin(**SHORT)
    asker, teller = await live_redis.pair(*await live_redis.people(2))
    valkey_server.kill()
    await until(lambda: not server.service.health.ready)
    await teller.drop(comes_back=False)
    await passes(OUTAGE_S / 2)
    await start_again(valkey_server)
    await asker.until(lambda: asker.phase == "solo")
    assert [e.role for e in await live_redis.happened("seat_lost")] == [Role.ANSWERER]


async def test_nothing_fires_before_one_grace_period_of_readiness(live: Live) -> None:
    server = await live.begin(rules={"grace_s": 2.0}, closed_s=0.1)
    asker, teller = await live.pair(*await live.people(2))
    served_at: list[float] = []
    claim = server.service.deadlines.claim

    async def watched(*args: Any) -> Any:
        served_at.append(server.service.health.ready_for())
        return await claim(*args)

    server.service.deadlines.claim = watched  # type: ignore[method-assign]
    await teller.drop(comes_back=False)
    await asker.until(lambda: asker.partner["present"] is False)
    assert served_at[0] >= 2.0


# --- The clock ---------------------------------------------------------------------------


def jump(server: Server, seconds: float) -> None:
    """Redis TIME, as the server reads it, is moved."""
    deadlines = server.service.deadlines
    health = server.service.health
    real = deadlines.redis_time

    async def moved() -> float:
        return await real() + seconds

    deadlines.redis_time = moved  # type: ignore[method-assign]
    health._ask_redis = moved


@pytest.mark.parametrize("seconds", [3600.0, -3600.0])
async def test_a_clock_jump_fires_nothing_and_arms_everything_anew(
    live: Live, seconds: float
) -> None:
    server = await live.begin(rules={"grace_s": 0.5})
    asker, teller = await live.pair(*await live.people(2))
    await until(lambda: server.service.health.ready_for() > 0.5)
    keys = Keys(live.study_id)
    async with Redis.from_url(live.redis_url) as redis:

        async def armed() -> dict[bytes, float]:
            found = await redis.zrange(keys.deadlines, 0, -1, withscores=True)
            return {member: score for member, score in found if b"expiry" not in member}

        async def all_armed() -> bool:
            return len(await armed()) == 4

        await eventually(all_armed)
        before = await armed()
        # What a jump of the clock does to deadlines that were armed before it.
        for member, score in before.items():
            await redis.zadd(keys.deadlines, {member: score - seconds})
        jump(server, seconds)

        async def armed_anew() -> bool:
            now = await armed()
            return now.keys() == before.keys() and all(
                score >= before[member] - 1 for member, score in now.items()
            )

        await eventually(armed_anew)
    await live.converse(asker, teller)
    for person in (asker, teller):
        await person.shows("released")
    assert not await live.happened("away")
    assert not await live.happened("seat_lost")


async def test_a_jump_is_not_forgotten_when_redis_fails_in_that_moment(live: Live) -> None:
    server = await live.begin(sweep_s=60.0)
    await live.pair(*await live.people(2))
    keys, forgotten = Keys(live.study_id), 0
    forget_all = server.service.deadlines.forget_all

    async def fails_once() -> None:
        nonlocal forgotten
        forgotten += 1
        if forgotten == 1:
            raise ConnectionError("gone in this moment")
        await forget_all()

    server.service.deadlines.forget_all = fails_once  # type: ignore[method-assign]
    async with Redis.from_url(live.redis_url) as redis:
        stale = Due(DeadlineKind.LIMIT, "of the time before the jump").member()
        await redis.zadd(keys.deadlines, {stale: time.time() + 5000})
        jump(server, 3600.0)

        async def gone() -> bool:
            return await redis.zscore(keys.deadlines, stale) is None

        await eventually(gone)
    await until(lambda: server.service.health.ready)


# --- Redis loses everything --------------------------------------------------------------


async def test_who_waited_comes_back_with_the_waiting_time_after_a_flush(live_redis: Live) -> None:
    await live_redis.begin(study={"languages": ("en", "ar")})
    ada, ben, eve = (live_redis.person() for _ in range(3))
    for person, language in ((ada, "en"), (ben, "ar"), (eve, "ar")):
        await person.arrive(language=language)
        await person.connect()
    await ada.do("ready")
    await ben.do("ready")
    for person in (ada, ben):
        await person.until(lambda person=person: person.lobby.get("position"))
    (row,) = [r for r in await live_redis.rows_of("arrivals") if r.language == "en"]
    async with Redis.from_url(live_redis.redis_url) as redis:
        await redis.flushall()
        ready_at = await eventually(lambda: redis.zscore(Keys(live_redis.study_id).lobby, row.id))
    assert ready_at == pytest.approx(row.ready_at, abs=0.001)
    await ada.until(lambda: ada.lobby.get("position") == 1)
    assert ada.lobby["waited_s"] == pytest.approx(ada.lobby["now"] - row.ready_at, abs=0.5)
    # And the places are back too.
    await eve.do("ready")
    for person in (ben, eve):
        await person.shows("matched")


async def test_a_match_lost_with_redis_is_made_again(live_redis: Live) -> None:
    await live_redis.begin(items=1)
    ada, ben = await live_redis.people(2)
    await live_redis.match(ada, ben)
    await ada.do("start")
    async with Redis.from_url(live_redis.redis_url) as redis:
        await redis.flushall()
        await eventually(lambda: redis.hlen(Keys(live_redis.study_id).matches))
    for person in (ada, ben):
        await person.do("start")
    for person in (ada, ben):
        await person.shows("talking")


async def test_deadlines_lost_with_redis_are_added_again(live_redis: Live) -> None:
    await live_redis.begin(rules={"grace_s": 0.5}, closed_s=0.1)
    asker, teller = await live_redis.pair(*await live_redis.people(2))
    await live_redis.converse(asker, teller, 5)
    async with Redis.from_url(live_redis.redis_url) as redis:
        await redis.flushall()

        async def armed() -> set[str]:
            members = await redis.zrange(Keys(live_redis.study_id).deadlines, 0, -1)
            return {m.decode().split("|")[0] for m in members}

        async def all_armed() -> bool:
            # What was on its way when Redis lost all is there as well.
            return await armed() >= {"limit", "turn", "presence"}

        await eventually(all_armed)
    await live_redis.converse(asker, teller, 6)
    await teller.drop(comes_back=False)
    await asker.until(lambda: asker.phase == "solo")


async def test_a_flush_in_mid_dialog_loses_no_message(live_redis: Live) -> None:
    await live_redis.begin()
    asker, teller = await live_redis.pair(*await live_redis.people(2))
    async with Redis.from_url(live_redis.redis_url) as redis:
        for n in range(20):
            await live_redis.converse(asker, teller, n + 1)
            if n % 5 == 0:
                await redis.flushall()
    for person in (asker, teller):
        await person.shows("released")


# --- A server's end ----------------------------------------------------------------------


async def test_sigterm_in_mid_dialog_ends_within_seconds_and_pages_go_on(live_each: Live) -> None:
    await live_each.prepare()
    first = await live_each.process()
    asker, teller = await live_each.pair(*await live_each.people(2))
    await live_each.converse(asker, teller, 4)
    sending = asyncio.create_task(asker.say_surely("message 5"))
    first.signal(signal.SIGTERM)
    began = time.monotonic()
    assert await first.gone() == 0, first.log
    assert time.monotonic() - began < 10
    assert "Traceback" not in first.log
    await live_each.serve()
    await sending
    await teller.shows_text("message 5")
    await nobody_lost_a_seat(live_each, asker, teller)


async def test_what_waits_for_its_commit_is_committed_before_the_end(live_each: Live) -> None:
    held, entered, go_on = threading.Event(), threading.Event(), threading.Event()

    def before_commit() -> None:
        if held.is_set():
            entered.set()
            assert go_on.wait(30)

    await live_each.prepare()
    server = await live_each.serve(Failpoints(before_commit=before_commit))
    one, _ = await live_each.pair(*await live_each.people(2))
    two, _ = await live_each.pair(*await live_each.people(2))
    held.set()
    writer = server.service.record.writer
    sending = [asyncio.create_task(one.say_surely("the first"))]
    try:
        await until(entered.is_set)
        # One is in flight and one waits for it.
        sending.append(asyncio.create_task(two.say_surely("the second")))
        await until(lambda: writer._waiting)
        stopping = asyncio.create_task(live_each.stop(server))
        await until(lambda: server.service.stopping)
    finally:
        held.clear()
        go_on.set()
    await stopping

    async def said() -> list[str]:
        return sorted(m.said.text for d in await live_each.dialogs() for m in d.state.messages)

    assert await said() == ["the first", "the second"]
    await live_each.serve()
    await asyncio.gather(*sending)
    assert await said() == ["the first", "the second"]


async def test_a_server_with_open_sockets_stops_within_seconds(live: Live) -> None:
    server = await live.begin(items=5)
    people = await live.people(10)
    await live.pair(*people[:2])
    for person in people:
        person.comes_back = False
    began = time.monotonic()
    await live.stop(server)
    assert time.monotonic() - began < 4
    for person in people:
        await person.until(lambda person=person: not person.connected)


async def test_a_killed_server_leaves_a_dialog_that_goes_on(live_each: Live) -> None:
    await live_each.prepare()
    first = await live_each.process()
    asker, teller = await live_each.pair(*await live_each.people(2))
    await live_each.converse(asker, teller, 4)
    first.signal(signal.SIGKILL)
    await first.gone()
    await live_each.serve()
    await nobody_lost_a_seat(live_each, asker, teller)


async def test_a_database_that_takes_no_writes_is_an_outage(live: Live) -> None:
    """A full disk looks like this: reads are answered, and nothing can be stored."""
    server = await live.begin(items=1, health_s=0.1)
    await until(lambda: server.service.health.ready)
    path = live.database_url.removeprefix("sqlite:///")
    blocker = sqlite3.connect(path, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    await until(lambda: not server.service.health.ready)
    assert server.service.health.redis_ok
    blocker.execute("ROLLBACK")
    blocker.close()
    await until(lambda: server.service.health.ready)
