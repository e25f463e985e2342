"""What workers told the team, read from the record."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from dialogs.record import decisions
from dialogs.record.tables import seats
from dialogs.record.told import Told, listed_told, problems_reported, told
from dialogs.rules import ReportKind, SeatStatus, ToldKind
from tests.records import STUDY, begin_study, commit_all, open_a_dialog, opened


async def test_what_was_told_is_in_the_order_of_its_time(database_url: str) -> None:
    problem, leaving = ReportKind.PROBLEM, ReportKind.LEAVING
    async with opened(database_url) as record:
        await begin_study(record, people=3)
        await open_a_dialog(record, "d", 0, 1)
        await commit_all(
            record,
            decisions.feedback("arrival-0", "fun", 30.0),
            decisions.feedback("arrival-1", "", 31.0),
            decisions.report("r-1", "arrival-2", problem, "nobody comes", 40.0),
            decisions.report("r-2", "arrival-0", problem, "upside down", 10.0),
            decisions.report("r-3", "arrival-0", leaving, "lunch", 20.0),
        )
        assert await record.read(told, STUDY) == [
            Told(10.0, "arrival-0", "d", ToldKind.PROBLEM, "upside down"),
            Told(20.0, "arrival-0", "d", ToldKind.LEAVING, "lunch"),
            Told(30.0, "arrival-0", "d", ToldKind.FEEDBACK, "fun"),
            Told(40.0, "arrival-2", None, ToldKind.PROBLEM, "nobody comes"),
        ]
        assert await record.read(told, "another") == []
        assert await record.read(problems_reported, STUDY) == 2
        assert await record.read(problems_reported, STUDY, 10.5) == 1
        assert await record.read(problems_reported, "another") == 0


async def test_pages_begin_with_the_newest_and_leave_nothing_out(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dialogs.record.told.PAGE", 2)
    async with opened(database_url) as record:
        await begin_study(record, people=3)
        await open_a_dialog(record, "d", 0, 1)
        await commit_all(
            record,
            decisions.feedback("arrival-0", "fun", 30.0),
            decisions.report("r-1", "arrival-2", ReportKind.PROBLEM, "nobody comes", 30.0),
            decisions.report("r-2", "arrival-0", ReportKind.PROBLEM, "upside down", 10.0),
        )
        first, total, following = await record.read(listed_told, STUDY)
        assert [(each.text, each.worker_id, each.dialog_id) for each in first] == [
            ("nobody comes", "worker-2", None),
            ("fun", "worker-0", "d"),
        ]
        assert total == 3
        rest, total, last = await record.read(listed_told, STUDY, None, following)
        assert ([each.text for each in rest], total, last) == (["upside down"], 3, None)
        only, total, _ = await record.read(listed_told, STUDY, ToldKind.FEEDBACK)
        assert ([each.text for each in only], total) == (["fun"], 1)
        assert await record.read(listed_told, "another") == ([], 0, None)


async def test_a_dialog_that_was_given_up_is_not_told_of(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=2)
        await open_a_dialog(record, "d", 0, 1)
        with record.engine.begin() as connection:
            connection.execute(update(seats).values(status=SeatStatus.GIVEN_UP.value))
        await commit_all(
            record, decisions.report("r", "arrival-0", ReportKind.PROBLEM, "alone", 1.0)
        )
        assert [each.dialog_id for each in await record.read(told, STUDY)] == [None]
