"""A dialog from the first message to the completion code."""

from __future__ import annotations

from tests.live import Live


async def test_two_people_hold_a_complete_dialog(live_each: Live) -> None:
    asker, teller = await live_each.two()
    await live_each.converse(asker, teller)
    for person in (asker, teller):
        await person.shows("released")
        assert person.released["release"] == "completed"
        assert person.released["outcome"] == "complete"
        assert person.released["cents"] == 150
    assert asker.released["code"] != teller.released["code"]
    assert await live_each.owed() == [150, 150]
    (held,) = await live_each.dialogs()
    assert [m.said.text for m in held.state.messages] == [f"message {n + 1}" for n in range(20)]
