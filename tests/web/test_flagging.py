"""Dialogs that end are looked through by the server itself, each once."""

from __future__ import annotations

from typing import Any

from tests.live import Live, eventually


async def flags(live: Live) -> list[Any]:
    return sorted(await live.rows_of("findings"), key=lambda row: (row.dialog_id, row.number))


async def checked(live: Live, dialogs: int) -> None:
    async def all_checked() -> bool:
        rows = [row for row in await live.rows_of("dialogs") if row.checked_at is not None]
        return len(rows) == dialogs

    await eventually(all_checked)


async def test_a_dialog_is_flagged_when_it_has_ended(live_each: Live) -> None:
    live = live_each
    asker, teller = await live.two(rules={"rounds": 3})
    for n in range(3):
        await asker.say("is there a dog in it?")
        await teller.shows_text("is there a dog in it?")
        await teller.say(f"yes there is, number {n}, write me at ann{n}@example.org")
        await asker.shows_text(f"yes there is, number {n}, write me at ann{n}@example.org")
    await asker.shows("released")
    await checked(live, 1)
    found = {row.flag for row in await flags(live)}
    assert {"repeats", "contact"} <= found
    assert all(row.admin_id is None for row in await flags(live))


async def test_two_processes_flag_a_dialog_once(live_postgres: Live) -> None:
    live = live_postgres
    await live.begin(items=2, rules={"rounds": 1})
    await live.serve()
    asker, teller = await live.pair(*await live.people(2))
    await asker.say("mail me at bob@example.org")
    await teller.shows_text("mail me at bob@example.org")
    await teller.say("no")
    await asker.shows("released")
    await checked(live, 1)
    contact = [row for row in await flags(live) if row.flag == "contact"]
    assert len(contact) == 1
    for server in live.servers:
        assert await server.service.flagging.once() == 0


async def test_a_dialog_that_runs_is_left_alone(live: Live) -> None:
    asker, _ = await live.two()
    await asker.say("mail me at bob@example.org")
    assert await live.servers[0].service.flagging.once() == 0
    assert await flags(live) == []
