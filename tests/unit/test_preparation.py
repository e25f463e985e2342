"""A study and its items on their way into the record."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from dialogs.record import queries
from dialogs.record.store import Record
from duologue.preparation import put_items, put_study
from duologue.problems import BadInput
from duologue.scenes import write_scenes
from duologue.study import StudyFile, read_study

STUDY = """
[study]
id = "s"
title = "t"
dialogs_per_item = 2
[items]
file = "items.jsonl"
[protocol]
name = "{protocol}"
"""


def study(folder: Path, protocol: str = "visdial") -> StudyFile:
    (folder / "study.toml").write_text(STUDY.format(protocol=protocol), encoding="utf-8")
    return read_study(folder / "study.toml")


@pytest_asyncio.fixture
async def record(sqlite_url: str) -> AsyncIterator[Record]:
    opened = Record(sqlite_url)
    opened.open()
    yield opened
    await opened.close()


async def test_items_are_added_once_and_more_can_come(tmp_path: Path, record: Record) -> None:
    file = write_scenes(tmp_path, 2)
    await put_study(record, study(tmp_path))
    assert await put_items(record, study(tmp_path), file, tmp_path / "pictures") == 2
    assert await put_items(record, study(tmp_path), file, tmp_path / "pictures") == 0
    more = write_scenes(tmp_path / "more", 3)
    assert await put_items(record, study(tmp_path), more, tmp_path / "pictures") == 1
    places = await record.read(queries.free_places, "s")
    assert len(places) == 6
    assert [n for _, n in places] == [1, 1, 1, 2, 2, 2], "every item once before any twice"


async def test_a_changed_caption_is_named_and_nothing_is_added(
    tmp_path: Path, record: Record
) -> None:
    file = write_scenes(tmp_path, 1)
    await put_study(record, study(tmp_path))
    await put_items(record, study(tmp_path), file, tmp_path / "pictures")
    more = write_scenes(tmp_path, 2)
    items = [json.loads(line) for line in more.read_text().splitlines()]
    items[0]["caption"] = "something else"
    more.write_text("\n".join(json.dumps(item) for item in items))
    with pytest.raises(BadInput, match="another caption"):
        await put_items(record, study(tmp_path), more, tmp_path / "pictures")
    assert len(await record.read(queries.items_of, "s")) == 1


async def test_a_study_that_comes_to_blur_gets_its_blurred_pictures(
    tmp_path: Path, record: Record
) -> None:
    file = write_scenes(tmp_path, 2)
    await put_study(record, study(tmp_path))
    await put_items(record, study(tmp_path), file, tmp_path / "pictures")
    assert [i.blurred_file for i in await record.read(queries.items_of, "s")] == [None, None]
    later = study(tmp_path, "visdial-blurred")
    await put_study(record, later)
    assert await put_items(record, later, file, tmp_path / "pictures") == 0
    for item in await record.read(queries.items_of, "s"):
        assert item.blurred_file is not None
        assert (tmp_path / "pictures" / item.blurred_file).is_file()
    stored = await record.read(queries.study, "s")
    assert stored is not None
    assert stored.config["protocol"]["name"] == "visdial-blurred"
