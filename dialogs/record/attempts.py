"""Tries to sign in, kept so that whoever guesses is slowed down, by whatever server they ask."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, func, select

from dialogs.record.bulk import RowUpdate
from dialogs.record.tables import sign_ins
from dialogs.record.writer import Change, Decision


@dataclass(frozen=True, slots=True)
class Attempt:
    """A try to sign in. `name` is a pseudonym: some type their password where the name goes."""

    name: str
    at: float
    good: bool


@dataclass(frozen=True, slots=True)
class Attempts:
    """What was tried: `here` from one address, the newest first, and how often in vain at one
    name from wherever, counted no further than was asked."""

    here: tuple[Attempt, ...]
    at_name: int


MOST_HERE: Final = 500


def attempts(
    connection: Connection,
    name: str,
    address: str,
    *,
    here_since: float,
    name_since: float,
    most_at_name: int,
) -> Attempts:
    """What was tried from this address since `here_since`, and how often in vain at this name
    since `name_since`. Both are pseudonyms."""
    here = connection.execute(
        select(sign_ins.c.name, sign_ins.c.at, sign_ins.c.good)
        .where(sign_ins.c.address == address, sign_ins.c.at > here_since)
        .order_by(sign_ins.c.at.desc())
        .limit(MOST_HERE)
    )
    in_vain = (
        select(sign_ins.c.id)
        .where(sign_ins.c.name == name, sign_ins.c.at > name_since, sign_ins.c.good.is_(False))
        .limit(most_at_name)
    )
    return Attempts(
        tuple(Attempt(row.name, row.at, row.good) for row in here),
        connection.execute(select(func.count()).select_from(in_vain.subquery())).scalar_one(),
    )


def attempted(attempt_id: str, name: str, address: str, now: float) -> Decision:
    """A try begins. It counts as one in vain until it turns out well, so that many at a time are
    counted as well."""
    row = {"id": attempt_id, "name": name, "address": address, "at": now, "good": False}
    return Decision(attempt_id, ((sign_ins, row),))


_GOOD: Final = RowUpdate(
    lambda p: sign_ins.update().where(sign_ins.c.id == p["attempt"]).values(good=True),
    attempt=sign_ins.c.id,
)


def went_well(attempt_id: str) -> Change:
    """Part of the decision by which a session begins."""
    return Change(_GOOD, {"attempt": attempt_id})


# --- Forgetting ----------------------------------------------------------------------------

MOST_FORGOTTEN: Final = 50
"""More at once would keep the writer from messages."""


def outdated(connection: Connection, *, good_before: float, vain_before: float) -> list[str]:
    """Some of the oldest tries, `MOST_FORGOTTEN` at most: those that were good and older than the
    one, and those in vain that are older than the other."""
    found: list[str] = []
    for good, before in ((False, vain_before), (True, good_before)):
        query = (
            select(sign_ins.c.id)
            .where(sign_ins.c.good.is_(good), sign_ins.c.at < before)
            .order_by(sign_ins.c.at)
            .limit(MOST_FORGOTTEN - len(found))
        )
        found += connection.execute(query).scalars()
    return found


_FORGOTTEN: Final = RowUpdate(
    lambda p: sign_ins.delete().where(sign_ins.c.id == p["attempt"]), attempt=sign_ins.c.id
)


def forgotten(attempt_ids: Iterable[str]) -> Decision:
    """These tries are removed; conflicts if somebody else does so at this moment."""
    ids = sorted(attempt_ids)
    return Decision(ids[0], (), tuple(Change(_FORGOTTEN, {"attempt": each}) for each in ids))
