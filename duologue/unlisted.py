"""What a command says of items that the record wants and the items file does not hold."""

from __future__ import annotations

from dialogs.items import ItemsError, image_ids
from dialogs.record import supply
from dialogs.record.store import Record
from duologue.study import StudyFile
from duologue.words import count


async def note_of_unlisted(record: Record, study: StudyFile) -> str:
    """A line on items that are still wanted though the items file has none such; empty, if there
    are none, or the file cannot be read.

    Taking lines out of the file does not make a study smaller, and who does that means to.
    """
    try:
        listed = image_ids(study.items_path)
    except ItemsError:
        return ""
    chains = await record.read(supply.chains, study.study.id)
    missing = [c for c in chains if c.complete < c.wanted and c.image_id not in listed]
    if not missing:
        return ""
    are, they = ("is", "it is") if len(missing) == 1 else ("are", "they are")
    return (
        f"note: {count(len(missing), 'item')} of the record {are} not in "
        f"{study.items_path.name} (taken out of it, or added by `duologue items add`); "
        f"{they} still wanted"
    )
