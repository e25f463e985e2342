"""What was said in dialogs that ended, as the rules of quality look at it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Final

from sqlalchemy import Connection, select

from dialogs.quality import Lengths, Line, Talk, mean_words, summary, talk_of
from dialogs.record.collected import messages_of
from dialogs.record.queries import chunks, dialogs_by_id
from dialogs.record.tables import dialogs, items, seats
from dialogs.rules import Outcome, Role

LATEST: Final = 300
"""From how many complete dialogs, the latest, the usual length of messages is taken."""


def talks_of(
    connection: Connection, dialog_ids: Collection[str], lengths: Mapping[Role, Lengths]
) -> dict[str, Talk]:
    """These dialogs; `lengths` is what is usual in their study."""
    states = dialogs_by_id(connection, dialog_ids)
    talks: dict[str, Talk] = {}
    for chunk in chunks(states):
        query = (
            select(dialogs.c.id, items.c.caption, dialogs.c.language, dialogs.c.same_address)
            .join(items, items.c.id == dialogs.c.item_id)
            .where(dialogs.c.id.in_(chunk))
        )
        for row in connection.execute(query):
            talks[row.id] = talk_of(
                states[row.id],
                row.caption,
                row.language,
                same_address=row.same_address,
                lengths=lengths,
            )
    return talks


def usual_lengths(connection: Connection, study_id: str) -> dict[Role, Lengths]:
    """How long the messages of a study usually are, by role: from one mean a worker."""
    latest = (
        select(dialogs.c.id)
        .where(dialogs.c.study_id == study_id, dialogs.c.outcome == Outcome.COMPLETE.value)
        .order_by(dialogs.c.ended_at.desc())
        .limit(LATEST)
    )
    ids = list(connection.execute(latest).scalars())
    people: dict[tuple[str, Role], str] = {}
    for chunk in chunks(ids):
        query = select(seats.c.dialog_id, seats.c.role, seats.c.worker_id)
        for row in connection.execute(query.where(seats.c.dialog_id.in_(chunk))):
            people[row.dialog_id, Role(row.role)] = row.worker_id
    wrote: dict[tuple[Role, str], list[Line]] = defaultdict(list)
    for dialog_id, said in messages_of(connection, ids):
        for each in said:
            worker = people[dialog_id, each.role]
            wrote[each.role, worker].append(Line(each.role, each.round, each.text))
    found: dict[Role, Lengths] = {}
    for role in Role:
        means = (mean_words(lines) for (of, _), lines in wrote.items() if of is role)
        usual = summary(mean for mean in means if mean is not None)
        if usual is not None:
            found[role] = usual
    return found
