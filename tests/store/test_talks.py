"""Dialogs as the rules of quality look at them, and what is usual in a study."""

from __future__ import annotations

from dialogs.dialog import Say
from dialogs.events import Meta, Part
from dialogs.quality import Flag, findings
from dialogs.record.store import Record
from dialogs.record.talks import talks_of, usual_lengths
from dialogs.rules import Role
from dialogs.state import DialogState
from tests.records import OPENED_AT, STUDY, begin_study, open_a_dialog, opened
from tests.store.test_overview import carry_out


async def talk(record: Record, state: DialogState, *texts: str, meta: Meta | None = None) -> None:
    for n, text in enumerate(texts):
        assert state.turn is not None
        said = Say(state.turn, f"key-{n:06d}", (Part(text),), meta or Meta(composed_ms=9_000))
        state = await carry_out(record, state, said, OPENED_AT + 20.0 * (n + 1))


async def test_a_talk_is_what_was_said_with_its_times_and_its_picture(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record)
        state = await open_a_dialog(record, "d", 0, 1)
        await talk(record, state, "is it big?", "yes it is", "is it big?", meta=Meta(pasted=True))
        (found,) = (await record.read(talks_of, ["d", "d_none"], {})).values()
    assert (found.caption, found.language) == ("A dog.", "en")
    assert [line.seq for line in found.lines] == [2, 3, 4]
    assert found.lines[0].at_ms == (OPENED_AT + 20) * 1000
    flags = {each.flag for each in findings(found)}
    assert Flag.REPEATS in flags
    assert Flag.PASTED in flags


async def test_what_is_usual_is_taken_from_complete_dialogs_by_role(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=4, items=("dog", "cat"))
        first = await open_a_dialog(record, "d-1", 0, 1, "dog")
        await talk(record, first, "one two", "one two three four", "one two", "one two three four")
        second = await open_a_dialog(record, "d-2", 2, 3, "cat")
        await talk(record, second, "this one is still running so it says nothing")
        usual = await record.read(usual_lengths, STUDY)
        assert await record.read(usual_lengths, "another") == {}
    assert (usual[Role.QUESTIONER].workers, usual[Role.QUESTIONER].median) == (1, 2.0)
    assert (usual[Role.ANSWERER].workers, usual[Role.ANSWERER].median) == (1, 4.0)
