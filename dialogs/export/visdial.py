"""The export `visdial-1.0`: the complete dialogs of a study as one VisDial v1.0 file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from sqlalchemy import Connection

from dialogs.events import Said
from dialogs.export.folder import ExportError, check_folder, write_folder
from dialogs.formats import visdial
from dialogs.record.collected import DialogRow, dialogs_of, messages_of
from dialogs.rules import Acceptance, Outcome, Role

FORMAT: Final = "visdial-1.0"


class LeftOut(StrEnum):
    """Why a dialog is not in an export."""

    REJECTED = "rejected"
    ERASED = "erased"
    """Somebody asked that their words in it be erased."""
    SOLO = "solo"
    ABANDONED = "abandoned"
    RUNNING = "running"


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export wrote: the data file, and how many dialogs and messages are in it."""

    file: Path
    dialogs: int
    messages: int
    left_out: Mapping[LeftOut, int]


def export_visdial(
    connection: Connection, study_id: str, out: Path, split: str = "train"
) -> Exported:
    """Write the study's complete dialogs, those rejected as data excepted, into the folder `out`.

    The file holds image ids, captions and what was said; of the people nothing. Dialogs stand
    in the order of the items, so the same record gives the same bytes.

    Raises:
        ExportError: there is no complete dialog, `split` is no plain word, or `out` holds
            something else than an export. Nothing is written.
    """
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,40}", split):
        raise ExportError(f"split {split!r} must be a word of letters, digits, - and _")
    check_folder(out)
    rows = dialogs_of(connection, study_id)
    left_out = Counter(why for row in rows if (why := _why_left_out(row)) is not None)
    kept = {row.id: row for row in rows if _why_left_out(row) is None}
    if not kept:
        counts = ", ".join(f"{count} {why}" for why, count in sorted(left_out.items()))
        raise ExportError(
            f"study {study_id} has no complete dialog yet ({counts or 'none at all'})"
        )
    dialogs = [
        visdial.Dialog(kept[key].image_id, kept[key].caption, _rounds(key, said))
        for key, said in messages_of(connection, list(kept))
    ]
    messages = sum(2 * len(dialog.rounds) for dialog in dialogs)
    name = f"visdial_{visdial.VERSION}_{split}.json"
    about = {
        "format": FORMAT,
        "study": study_id,
        "split": split,
        "dialogs": len(dialogs),
        "messages": messages,
        "left_out": {why.value: count for why, count in sorted(left_out.items())},
    }
    write_folder(out, {name: visdial.dumps(dialogs, split)}, about)
    return Exported(out / name, len(dialogs), messages, dict(left_out))


def _why_left_out(row: DialogRow) -> LeftOut | None:
    match row.outcome:
        case Outcome.COMPLETE:
            if row.acceptance is Acceptance.REJECTED:
                return LeftOut.REJECTED
            return LeftOut.ERASED if row.erased else None
        case Outcome.SOLO:
            return LeftOut.SOLO
        case Outcome.ABANDONED:
            return LeftOut.ABANDONED
        case None:
            return LeftOut.RUNNING


def _rounds(dialog_id: str, said: tuple[Said, ...]) -> tuple[visdial.Round, ...]:
    """The messages of a complete dialog as rounds; anything but question, answer, … is an error."""
    roles = [message.role for message in said]
    if not said or roles != [Role.QUESTIONER, Role.ANSWERER] * (len(said) // 2):
        raise ExportError(f"dialog {dialog_id} counts as complete but does not alternate")
    return tuple(
        visdial.Round(question.text, answer.text)
        for question, answer in zip(said[::2], said[1::2], strict=True)
    )
