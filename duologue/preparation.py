"""Bringing a study and its items into the record, before and while it runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from chatserver.tokens import new_id
from dialogs.images import ImageError, prepare
from dialogs.items import read_items
from dialogs.record import queries
from dialogs.record.errors import Conflict
from dialogs.record.queries import ItemRow
from dialogs.record.store import Record
from dialogs.record.studies import (
    PreparedItem,
    blurred_files,
    changed_config,
    new_items,
    new_study,
)
from duologue.problems import BadInput
from duologue.study import StudyFile

PICTURES = "pictures"
"""The folder beside the study file that holds what workers are served."""

Progress = Callable[[int, int], None]
"""Called with how many of how many items are done."""


def as_stored(study: StudyFile) -> Mapping[str, Any]:
    """The study file as the record keeps it."""
    return study.model_dump(mode="json")


async def put_study(record: Record, study: StudyFile, now: float | None = None) -> None:
    """Create the study in the record, or take over a changed study file."""
    stored = await record.read(queries.study, study.study.id)
    config = as_stored(study)
    if stored is None:
        try:
            at = time.time() if now is None else now
            await record.writer.commit(new_study(study.study.id, config, at))
        except Conflict:
            # Another process started with the same study at the same moment.
            return
    elif stored.config != config:
        await record.writer.commit(changed_config(study.study.id, config))


async def put_items(
    record: Record,
    study: StudyFile,
    file: Path,
    pictures: Path,
    progress: Progress = lambda done, all_: None,
) -> int:
    """Add the items of a file that the study does not have yet; returns how many.

    All of the file is checked, and all pictures are prepared, before anything is stored.

    Raises:
        ItemsError: something in the file is wrong; nothing was added.
        BadInput: an image cannot be used, or a known image id has another caption.
    """
    new = read_items(file)
    known = {i.image_id: i for i in await record.read(queries.items_of, study.study.id)}
    problems = [
        f"{file.name}: image_id {item.image_id!r} is in the study with another caption; "
        "give a changed item a new image_id"
        for item in new
        if item.image_id in known and known[item.image_id].caption != item.caption
    ]
    prepared: list[PreparedItem] = []
    blurred: dict[str, str] = {}
    work = [item for item in new if _lacks(study, known.get(item.image_id))]
    for n, item in enumerate(work, start=1):
        try:
            picture = prepare(item.path, pictures, study.blurred)
        except ImageError as error:
            problems.append(f"{file.name}: image_id {item.image_id!r}: {error}")
            continue
        progress(n, len(work))
        if item.image_id in known:
            blurred[known[item.image_id].id] = picture.blurred_file or ""
            continue
        prepared.append(
            PreparedItem(
                id=new_id("i"),
                image_id=item.image_id,
                caption=item.caption,
                file=picture.file,
                blurred_file=picture.blurred_file,
                width=picture.width,
                height=picture.height,
                sha256=picture.sha256,
                wanted=study.study.dialogs_per_item,
                position=len(known) + len(prepared) + 1,
            )
        )
    if problems:
        raise BadInput(problems)
    if blurred:
        await record.writer.commit(blurred_files(study.study.id, blurred))
    if prepared:
        try:
            await record.writer.commit(new_items(study.study.id, prepared, time.time()))
        except Conflict:
            return await put_items(record, study, file, pictures, progress)
    return len(prepared)


def _lacks(study: StudyFile, known: ItemRow | None) -> bool:
    """Whether a picture must be prepared: the item is new, or has no blurred variant yet."""
    return known is None or (study.blurred and known.blurred_file is None)
