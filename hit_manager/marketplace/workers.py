"""Requesters, their keys, and how they deal with people: blocks and messages.

Nobody's block or message tells a worker more than Amazon's would: that there is one, never the
reason of a block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, delete, exists, func, insert, literal, select, update

from hit_manager.marketplace.errors import OutOfRange, Refused
from hit_manager.marketplace.ids import invitation_code, key_id, person_id, secret
from hit_manager.marketplace.states import AssignmentStatus
from hit_manager.marketplace.tables import (
    access_keys,
    assignments,
    blocks,
    hits,
    invitations,
    messages,
    requesters,
    workers,
)

MAX_BLOCKS: Final = 100_000


@dataclass(frozen=True, slots=True)
class Key:
    """What a requester's programs sign with."""

    id: str
    secret: str
    requester_id: str


@dataclass(frozen=True, slots=True)
class Block:
    n: int
    worker_id: str
    reason: str


def create_requester(connection: Connection, now: float, name: str, available: int) -> str:
    """A new requester with so many cents to spend; their id."""
    made = person_id()
    connection.execute(
        insert(requesters).values(
            id=made,
            name=name,
            available=available,
            on_hold=0,
            webhook_secret=secret(),
            created_at=now,
        )
    )
    return made


def requesters_by_name(connection: Connection, _now: float, name: str) -> list[str]:
    """The ids of the requesters of that name, oldest first."""
    found = connection.execute(
        select(requesters.c.id).where(requesters.c.name == name).order_by(requesters.c.created_at)
    )
    return list(found.scalars())


def webhook_secret(connection: Connection, _now: float, requester_id: str) -> str:
    """What signs the notifications of this requester."""
    found: str = connection.execute(
        select(requesters.c.webhook_secret).where(requesters.c.id == requester_id)
    ).scalar_one()
    return found


def create_key(connection: Connection, now: float, requester_id: str) -> Key:
    """A new key of a requester's; its secret is told here and never again."""
    key = Key(key_id(), secret(), requester_id)
    connection.execute(
        insert(access_keys).values(
            id=key.id, requester_id=requester_id, secret=key.secret, created_at=now
        )
    )
    return key


def revoke_key(connection: Connection, now: float, id_: str) -> bool:
    """Let a key open nothing more; False where there is none that did."""
    changed = connection.execute(
        update(access_keys)
        .where(access_keys.c.id == id_, access_keys.c.revoked_at.is_(None))
        .values(revoked_at=now)
    )
    return bool(changed.rowcount)


def find_key(connection: Connection, _now: float, id_: str) -> Key | None:
    """A key that is not revoked."""
    row = connection.execute(
        select(access_keys.c.secret, access_keys.c.requester_id).where(
            access_keys.c.id == id_, access_keys.c.revoked_at.is_(None)
        )
    ).one_or_none()
    return Key(id_, row.secret, row.requester_id) if row else None


def invite(connection: Connection, now: float, number: int, note: str = "") -> list[str]:
    """Codes with which so many people can join, each good for one of them."""
    codes = [invitation_code() for _ in range(number)]
    if codes:
        connection.execute(
            insert(invitations), [{"code": c, "note": note, "created_at": now} for c in codes]
        )
    return codes


def create_worker(
    connection: Connection,
    now: float,
    *,
    name: str = "",
    country: str | None = None,
    subdivision: str | None = None,
    adult: bool = False,
    master: bool = False,
) -> str:
    """A new worker; their id."""
    made = person_id()
    connection.execute(
        insert(workers).values(
            id=made,
            name=name,
            country=country,
            subdivision=subdivision,
            adult=adult,
            master=master,
            created_at=now,
        )
    )
    return made


def require_worker(connection: Connection, worker_id: str) -> None:
    """Make sure that there is such a worker.

    Raises:
        OutOfRange: there is not.
    """
    if not connection.execute(select(literal(1)).where(workers.c.id == worker_id)).first():
        raise OutOfRange(f'The value "{worker_id}" is not valid for the parameter WorkerId.')


def block(
    connection: Connection, now: float, requester_id: str, worker_id: str, reason: str
) -> None:
    """Keep a worker from a requester's HITs; what they hold already they may finish.

    Raises:
        OutOfRange: there is no such worker.
        Refused: too many are blocked.
    """
    require_worker(connection, worker_id)
    mine = blocks.c.requester_id == requester_id
    if connection.execute(
        update(blocks).where(mine, blocks.c.worker_id == worker_id).values(reason=reason)
    ).rowcount:
        return
    number = connection.execute(select(func.count()).select_from(blocks).where(mine)).scalar_one()
    if number >= MAX_BLOCKS:
        raise Refused(f"You cannot block more than {MAX_BLOCKS} Workers.")
    connection.execute(
        insert(blocks).values(
            requester_id=requester_id, worker_id=worker_id, reason=reason, created_at=now
        )
    )
    name = connection.execute(
        select(requesters.c.name).where(requesters.c.id == requester_id)
    ).scalar_one()
    send(connection, now, None, worker_id, "Blocked", f"{name} has blocked you from their HITs.")


def unblock(connection: Connection, _now: float, requester_id: str, worker_id: str) -> None:
    """Let a worker come again; done already where nothing kept them.

    Raises:
        OutOfRange: there is no such worker.
    """
    require_worker(connection, worker_id)
    connection.execute(
        delete(blocks).where(blocks.c.requester_id == requester_id, blocks.c.worker_id == worker_id)
    )


def list_blocks(
    connection: Connection, requester_id: str, after: int, limit: int
) -> Sequence[Block]:
    """The blocks of a requester with `n` beyond `after`, oldest first."""
    rows = connection.execute(
        select(blocks.c.n, blocks.c.worker_id, blocks.c.reason)
        .where(blocks.c.requester_id == requester_id, blocks.c.n > after)
        .order_by(blocks.c.n)
        .limit(limit)
    )
    return [Block(row.n, row.worker_id, row.reason) for row in rows]


def send(
    connection: Connection,
    now: float,
    requester_id: str | None,
    worker_id: str,
    subject: str,
    text: str,
) -> None:
    """Put a message on a worker's page; without a requester it is the marketplace's own."""
    connection.execute(
        insert(messages).values(
            worker_id=worker_id,
            requester_id=requester_id,
            subject=subject,
            text=text,
            sent_at=now,
        )
    )


def knows(connection: Connection, requester_id: str, worker_id: str) -> bool:
    """Whether a worker has done work that this requester approved or rejected."""
    found = exists(
        select(literal(1))
        .select_from(assignments.join(hits, hits.c.id == assignments.c.hit_id))
        .where(
            hits.c.requester_id == requester_id,
            assignments.c.worker_id == worker_id,
            assignments.c.status.in_([AssignmentStatus.APPROVED, AssignmentStatus.REJECTED]),
        )
    )
    return bool(connection.execute(select(found)).scalar())
