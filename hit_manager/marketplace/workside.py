"""What workers do: come by an invitation, accept, submit. All run in a write transaction.

The rules of accepting, returning and submitting are those of `assignments`; here is who asks.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, func, or_, select, update

from hit_manager.marketplace import assignments, hits, tokens
from hit_manager.marketplace.errors import NoMoreAssignments, Refused
from hit_manager.marketplace.ids import secret
from hit_manager.marketplace.states import AssignmentStatus
from hit_manager.marketplace.tables import assignments as table
from hit_manager.marketplace.tables import invitations, messages, workers
from hit_manager.marketplace.workers import create_worker
from hit_manager.marketplace.workviews import pick

ASKED: Final = "asked for"
"""What stands where the API's tokens name their operation, for what workers got instead."""


@dataclass(frozen=True, slots=True)
class Worker:
    """Who is signed in. `name` is what they call themselves; only they and the team that runs the
    marketplace see it. `unread` is how many messages they have not seen."""

    id: str
    name: str
    unread: int = 0


@dataclass(frozen=True, slots=True)
class Invitation:
    """A link that makes one worker; after that it is how this worker comes back."""

    code: str
    worker: Worker | None


@dataclass(frozen=True, slots=True)
class Accepted:
    """What a worker got. `hit_id` is another than they asked for when somebody was faster."""

    assignment_id: str
    hit_id: str


# --- Coming in -----------------------------------------------------------------------------


def invitation(connection: Connection, now: float, code: str) -> Invitation | None:
    """The invitation with this code, if there is one."""
    found = connection.execute(
        select(invitations.c.code, invitations.c.worker_id, workers.c.name)
        .select_from(invitations.outerjoin(workers, workers.c.id == invitations.c.worker_id))
        .where(invitations.c.code == code)
    ).one_or_none()
    if found is None:
        return None
    return Invitation(found.code, Worker(found.worker_id, found.name) if found.worker_id else None)


def join(
    connection: Connection, now: float, code: str, *, name: str, country: str, adult: bool = False
) -> str:
    """Become the worker of an invitation, and get a new session: the word for the cookie.

    Done twice it signs in the worker of the first time, so that a second press of the button
    makes no second worker.

    Raises:
        Refused: there is no such invitation.
    """
    found = invitation(connection, now, code)
    if found is None:
        raise Refused("This invitation is not known.")
    if found.worker is None:
        worker_id = create_worker(connection, now, name=name, country=country, adult=adult)
        connection.execute(
            update(invitations)
            .where(invitations.c.code == code)
            .values(used_at=now, worker_id=worker_id)
        )
    return sign_in(connection, now, code)


def sign_in(connection: Connection, now: float, code: str) -> str:
    """A new session for the worker of a used invitation. The one before ends.

    Raises:
        Refused: nobody has used such an invitation.
    """
    found = invitation(connection, now, code)
    if found is None or found.worker is None:
        raise Refused("This invitation is not known.")
    session = secret()
    connection.execute(
        update(workers).where(workers.c.id == found.worker.id).values(session_hash=_hash(session))
    )
    return session


def worker_of(connection: Connection, now: float, session: str) -> Worker | None:
    """Whose session this is."""
    unread = (
        select(func.count())
        .where(messages.c.worker_id == workers.c.id, messages.c.read_at.is_(None))
        .scalar_subquery()
    )
    found = connection.execute(
        select(workers.c.id, workers.c.name, unread.label("unread")).where(
            workers.c.session_hash == _hash(session)
        )
    ).one_or_none()
    return Worker(found.id, found.name, found.unread) if found else None


def read_messages(connection: Connection, now: float, worker_id: str) -> None:
    """Note that this worker has seen their messages."""
    connection.execute(
        update(messages)
        .where(messages.c.worker_id == worker_id, messages.c.read_at.is_(None))
        .values(read_at=now)
    )


def _hash(session: str) -> str:
    return hashlib.sha256(session.encode(errors="replace")).hexdigest()


# --- Working -------------------------------------------------------------------------------


def accept(connection: Connection, now: float, worker_id: str, hit_id: str) -> Accepted:
    """Take a slot of this HIT or, when all are taken, of another HIT of its type.

    One HIT asked for is one HIT in hand: whoever asks for it again, by a double click, a page
    loaded anew or another tab, gets what they got the first time, for as long as they work on it
    and at most for a day. It is remembered by worker and HIT, not by a token in the page: two
    tabs have two tokens. Nor does it look for any work of the same type: workers may hold
    several HITs of one type, as on Mechanical Turk, and take each of them by its own button.

    Raises:
        NoSuchHit, Blocked, DoesNotMeetRequirements, AssignmentAlreadyExists: as when accepting.
        NoMoreAssignments: there is none left of its type either.
    """
    asked = hits.get(connection, now, hit_id)
    asking = (asked.requester_id, ASKED, f"{worker_id} {hit_id}")
    instead = tokens.made_with(connection, now, *asking)
    if mine := _in_hand(connection, worker_id, hit_id, instead):
        return mine
    try:
        got = assignments.accept(connection, now, worker_id, hit_id)
    except NoMoreAssignments:
        other = pick(connection, now, worker_id, asked.type_id)
        if other is None:
            raise
        got = assignments.accept(connection, now, worker_id, other)
        tokens.remember(connection, now, *asking, got.id)
    return Accepted(got.id, got.hit_id)


def _in_hand(
    connection: Connection, worker_id: str, hit_id: str, instead: str | None
) -> Accepted | None:
    """The worker's assignment of this HIT, or the one they got instead, while they work on it."""
    found = assignments.load(
        connection,
        or_(table.c.hit_id == hit_id, table.c.id == (instead or "")),
        table.c.worker_id == worker_id,
        table.c.status == AssignmentStatus.ACCEPTED,
        limit=1,
    )
    return Accepted(found[0].id, found[0].hit_id) if found else None


def submit(
    connection: Connection, now: float, assignment_id: str, answer: str
) -> AssignmentStatus | None:
    """Submit an assignment with its answer, a QuestionFormAnswers document.

    Returns what it is then, which is `RETURNED` or `ABANDONED` if it could not be submitted
    any more; None if there is no such assignment.
    """
    found = assignments.find(connection, assignment_id)
    if found is None:
        return None
    if found.status in (AssignmentStatus.RETURNED, AssignmentStatus.ABANDONED):
        return found.status
    return assignments.submit(connection, now, assignment_id, answer).status
