"""What was found in dialogs: once for each dialog, and beside it what the team saw."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from dialogs.record import findings as found
from dialogs.record.errors import Conflict
from dialogs.record.findings import BY_TEAM
from dialogs.record.tables import audit, dialogs
from dialogs.rules import Outcome, Phase, Role
from tests.records import STUDY, rows_of
from tests.recruiting import add_dialog, add_items
from tests.reviews import reviewing


@dataclass(frozen=True)
class Finding:
    flag: str
    role: Role | None = None
    round: int | None = None
    seq: int | None = None
    reason: str = "It shows."


SHORT = Finding("short", Role.ANSWERER, reason="The answers have one word.")
COPIED = Finding("copied", Role.QUESTIONER, 2, 4)


async def test_each_dialog_is_looked_through_once(database_url: str) -> None:
    async with reviewing(database_url) as review:
        commit, read = review.record.writer.commit, review.record.read
        review.write(add_items, ["running"])
        review.write(add_dialog, "running", "running", phase=Phase.PAIRED)
        first, second, third = review.ended(), review.ended(Outcome.SOLO), review.ended()
        assert await read(found.unchecked, STUDY, 2) == [first, second]
        assert await read(found.unchecked, "other", 2) == []
        await commit(found.checked(first, [SHORT, COPIED], 5.0))
        await commit(found.checked(second, [], 5.0))
        assert await read(found.unchecked, STUDY, 9) == [third]
        for again in (first, second, "running", "none"):
            with pytest.raises(Conflict):
                await commit(found.checked(again, [SHORT], 6.0))
        checked = {row["id"]: row["checked_at"] for row in rows_of(review.record, dialogs)}
        assert checked == {first: 5.0, second: 5.0, third: None, "running": None}
        stored = await read(found.findings_of, [first, second, third])
        assert list(stored) == [first]
        assert [(f.number, f.flag, f.role, f.round, f.seq, f.reason, f.by, f.at)
                for f in stored[first]] == [
            (1, "short", Role.ANSWERER, None, None, SHORT.reason, None, 5.0),
            (2, "copied", Role.QUESTIONER, 2, 4, COPIED.reason, None, 5.0),
        ]  # fmt: skip


async def test_what_the_team_saw_stands_beside_what_the_rules_find(database_url: str) -> None:
    async with reviewing(database_url) as review:
        commit, read = review.record.writer.commit, review.record.read
        dialog = review.ended()
        number = await read(found.next_number, dialog)
        raised = found.raised(STUDY, dialog, number, "ada", "Odd.", Role.ANSWERER, 3, 7.0)
        await commit(raised)
        with pytest.raises(Conflict):
            await commit(raised)
        assert await read(found.unchecked, STUDY, 9) == [dialog]
        await commit(found.checked(dialog, [SHORT], 8.0))
        another = await read(found.next_number, dialog)
        assert another == number + 1
        await commit(found.raised(STUDY, dialog, another, "bob", "Very.", None, None, 9.0))
        stored = (await read(found.findings_of, [dialog]))[dialog]
        assert [(f.flag, f.by, f.reason, f.seq) for f in stored] == [
            ("short", None, SHORT.reason, None),
            (BY_TEAM, "Ada", "Odd.", 3),
            (BY_TEAM, "Bob", "Very.", None),
        ]
        assert [row["action"] for row in rows_of(review.record, audit)] == ["dialog.flag"] * 2
        assert all("Odd" not in row["after"] for row in rows_of(review.record, audit))


async def test_what_is_raised_under_one_name_is_raised_once(database_url: str) -> None:
    async with reviewing(database_url) as review:
        commit, read = review.record.writer.commit, review.record.read
        dialog = review.ended()
        assert await read(found.raised_as, dialog, "au-1") is None
        role = Role.ANSWERER
        await commit(found.raised(STUDY, dialog, 1000, "ada", "Rude.", role, 3, 6.0, "au-1"))
        with pytest.raises(Conflict):
            await commit(found.raised(STUDY, dialog, 1001, "ada", "Rude.", role, 3, 7.0, "au-1"))
        raised = await read(found.raised_as, dialog, "au-1")
        assert raised is not None
        assert (raised.number, raised.reason, raised.role, raised.seq) == (1000, "Rude.", role, 3)
