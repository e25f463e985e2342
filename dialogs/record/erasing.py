"""Erasing what is known of people who ask for it: what they wrote, and who they are.

Their rows stay, with times, amounts and states, so that every count stays as it was. What they
wrote becomes a mark, and so does what the team wrote in their dialogs, which may be about them
whomever it went to. Who they are becomes a pseudonym, made of it and a secret and not to be
undone: nobody who comes again is taken for somebody new. Their assignments keep the ids that the
recruiter gave them, since work that we did not know again would be a stranger's, and paid again.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import orjson
from sqlalchemy import Connection, Engine, bindparam, select, text, update
from sqlalchemy.exc import SQLAlchemyError

from dialogs.events import Ended, Event, Meta, Part, Said, Told, from_json, to_json
from dialogs.record.engine import open_engine, said
from dialogs.record.errors import Conflict, Unavailable
from dialogs.record.payments import PaymentRow, payments_of
from dialogs.record.queries import chunks
from dialogs.record.stuck import OVER
from dialogs.record.tables import (
    arrivals,
    assignments,
    audit,
    dialogs,
    erasures,
    events,
    findings,
    hits,
    judgements,
    ledger,
    payment_steps,
    releases,
    reports,
    seats,
    team_requests,
    worker_notes,
    workers,
)
from dialogs.rules import ArrivalStatus, Phase, RequestState

MARK: Final = "[erased]"
"""Stands where somebody's words did."""

Pseudonym = Callable[[str, str], str]
"""Makes of a recruiter's name and its id of a person what stands in place of the id."""

_TOUCHED: Final = (
    arrivals,
    assignments,
    audit,
    events,
    findings,
    judgements,
    ledger,
    payment_steps,
    releases,
    reports,
    team_requests,
    worker_notes,
    workers,
)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who is to be erased: all their arrivals, and how many texts of theirs are left.

    Not while they are `inside`, while a dialog of theirs is `running` (each by its arrival), or
    while something is `unpaid`: nobody could be paid any more.
    """

    worker_id: str
    arrivals: tuple[str, ...]
    texts: int
    inside: tuple[str, ...]
    running: tuple[str, ...]
    unpaid: tuple[PaymentRow, ...]
    erased_before: bool

    @property
    def may_be_erased(self) -> bool:
        return not (self.inside or self.running or self.unpaid)


def named(connection: Connection, study_id: str, names: Collection[str]) -> dict[str, str]:
    """Our ids of the people who are named by an arrival or a completion code, by that name."""
    found: dict[str, str] = {}
    for chunk in chunks(set(names)):
        query = (
            select(arrivals.c.id, arrivals.c.worker_id, releases.c.code)
            .outerjoin(releases, releases.c.arrival_id == arrivals.c.id)
            .where(
                arrivals.c.study_id == study_id,
                arrivals.c.id.in_(chunk) | releases.c.code.in_(chunk),
            )
        )
        for row in connection.execute(query):
            found |= {name: row.worker_id for name in (row.id, row.code) if name in names}
    return found


def people(connection: Connection, worker_ids: Collection[str]) -> list[Person]:
    """What an erasure of these people would meet."""
    return [_person(connection, worker_id) for worker_id in sorted(set(worker_ids))]


def _person(connection: Connection, worker_id: str) -> Person:
    came = connection.execute(
        select(arrivals.c.id, arrivals.c.status, arrivals.c.feedback)
        .where(arrivals.c.worker_id == worker_id)
        .order_by(arrivals.c.created_at, arrivals.c.id)
    ).all()
    ids = tuple(row.id for row in came)
    running = connection.execute(
        select(seats.c.arrival_id)
        .join(dialogs, dialogs.c.id == seats.c.dialog_id)
        .where(seats.c.worker_id == worker_id, dialogs.c.phase != Phase.ENDED.value)
    ).scalars()
    reported = connection.execute(
        select(reports.c.id).where(reports.c.text != MARK, reports.c.arrival_id.in_(_of(worker_id)))
    ).all()
    before = select(erasures.c.at).where(erasures.c.worker_id == worker_id)
    return Person(
        worker_id,
        ids,
        texts=len(_messages(connection, worker_id))
        + len(reported)
        + sum(row.feedback not in (None, "", MARK) for row in came),
        inside=tuple(row.id for row in came if row.status != ArrivalStatus.RELEASED.value),
        running=tuple(running),
        unpaid=tuple(p for p in payments_of(connection, ids) if p.state not in OVER),
        erased_before=connection.execute(before).first() is not None,
    )


def _of(worker_id: str) -> Any:
    return select(arrivals.c.id).where(arrivals.c.worker_id == worker_id)


def _messages(connection: Connection, worker_id: str) -> list[tuple[str, int, Event]]:
    """The events with what the person said, or the team wrote, that are not erased yet: dialog,
    number, and the event without the words."""
    query = (
        select(events, seats.c.role)
        .join(seats, seats.c.dialog_id == events.c.dialog_id)
        .where(seats.c.worker_id == worker_id, events.c.kind.in_(_WITH_WORDS))
        .order_by(events.c.dialog_id, events.c.seq)
    )
    found = []
    for row in connection.execute(query):
        event = from_json(row.kind, row.at, orjson.loads(row.data))
        without = _without_words(event, row.role, row.seq)
        if without != event:
            found.append((row.dialog_id, row.seq, without))
    return found


_WITH_WORDS: Final = (Said.kind, Told.kind, Ended.kind)


def _without_words(event: Event, role: str, seq: int) -> Event:
    """The event without what the person in `role` wrote, or the team."""
    match event:
        case Said() if event.role == role and event.text != MARK:
            # The key is of the page's making, and how they typed is theirs as well.
            return replace(event, key=f"erased-{seq}", parts=(Part(MARK),), meta=Meta())
        case Told():
            return replace(event, text=MARK)
        case Ended() if event.reason:
            return replace(event, reason=MARK)
        case _:
            return event


# --- Those who are erased ------------------------------------------------------------------


def erased_among(connection: Connection, worker_ids: Collection[str]) -> set[str]:
    """Which of these people, by our ids, were erased."""
    return {
        worker_id
        for chunk in chunks(set(worker_ids))
        for worker_id in connection.execute(
            select(erasures.c.worker_id).where(erasures.c.worker_id.in_(chunk))
        ).scalars()
    }


def erased_in(
    connection: Connection, study_id: str, assignment_ids: Collection[str]
) -> dict[str, str]:
    """The pseudonyms of people who were erased, by their assignments among these."""
    found: dict[str, str] = {}
    for chunk in chunks(assignment_ids):
        query = (
            select(arrivals.c.assignment_id, workers.c.external_id)
            .join(workers, workers.c.id == arrivals.c.worker_id)
            .where(
                arrivals.c.study_id == study_id,
                arrivals.c.assignment_id.in_(chunk),
                workers.c.id.in_(select(erasures.c.worker_id)),
            )
        )
        found |= {row.assignment_id: row.external_id for row in connection.execute(query)}
    return found


# --- Erasing -------------------------------------------------------------------------------


def erase(url: str, worker_ids: Collection[str], pseudonym: Pseudonym, now: float) -> bool:
    """Erase these people, all or none, and record it. Returns whether the database's files have
    been swept too: where somebody reads for long, old pages stay until the next sweep.

    Raises:
        Conflict: something has changed since it was looked at, and is in the way; nothing is
            erased.
        Unavailable: the database does not answer.
    """
    engine = open_engine(url, readers=1, patient=True)
    try:
        with engine.begin() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(text("SET LOCAL statement_timeout = 0"))
            # Whoever comes in meanwhile waits for this, and then is known as erased.
            held = select(workers).where(workers.c.id.in_(worker_ids)).order_by(workers.c.id)
            rows = {row.id: row for row in connection.execute(held.with_for_update())}
            for person in people(connection, rows):
                if not person.may_be_erased:
                    raise Conflict(f"{', '.join(person.arrivals)}: went on meanwhile; look again")
                _erase_one(connection, rows[person.worker_id], person, pseudonym, now)
        return _swept(engine)
    except SQLAlchemyError as error:
        raise Unavailable(said(error)) from None
    finally:
        engine.dispose()


def _erase_one(
    connection: Connection, row: Any, person: Person, pseudonym: Pseudonym, now: float
) -> None:
    mine = _of(row.id)
    theirs = select(seats.c.dialog_id).where(seats.c.worker_id == row.id)
    _erase_messages(connection, _messages(connection, row.id))
    _erase_work(connection, row, person, pseudonym)
    for statement in (
        reports.update().where(reports.c.arrival_id.in_(mine)).values(text=MARK),
        arrivals.update().where(arrivals.c.id.in_(mine)).values(address=None, submit_to=None),
        arrivals.update()
        .where(arrivals.c.id.in_(mine), arrivals.c.feedback != "")
        .values(feedback=MARK),
        ledger.update()
        .where(ledger.c.arrival_id.in_(mine), ledger.c.note.is_not(None))
        .values(note=MARK),
        payment_steps.update().where(payment_steps.c.arrival_id.in_(mine)).values(detail=None),
        # What was found in their dialogs, and said of them, may hold their words.
        findings.update().where(findings.c.dialog_id.in_(theirs)).values(reason=MARK),
        judgements.update()
        .where(judgements.c.dialog_id.in_(theirs), judgements.c.reason != "")
        .values(reason=MARK),
    ):
        connection.execute(statement)
    _erase_what_the_team_wrote(connection, row.id, mine)
    for arrival_id in person.arrivals:
        code = f"erased-{secrets.token_hex(12)}"
        connection.execute(
            update(releases).where(releases.c.arrival_id == arrival_id).values(code=code)
        )
    if person.texts or not person.erased_before:
        happened = {
            "worker_id": row.id,
            "at": now,
            "arrivals": len(person.arrivals),
            "texts": person.texts,
        }
        connection.execute(erasures.insert(), happened)


def _erase_what_the_team_wrote(connection: Connection, worker_id: str, mine: Any) -> None:
    """Notes about them, messages to them, and why they were excluded. That it was done stays."""
    about = (team_requests.c.target == worker_id) | team_requests.c.target.in_(mine)
    told = (audit.c.target == worker_id) | audit.c.target.in_(mine)
    # What would still have to be done could not be: nobody knows for whom.
    wanted = team_requests.c.state == RequestState.WANTED.value
    gone = {"state": RequestState.FAILED.value, "problem": "was erased on request"}
    for statement in (
        worker_notes.update().where(worker_notes.c.worker_id == worker_id).values(text=MARK),
        team_requests.update().where(about, wanted).values(**gone),
        team_requests.update().where(about).values(data="{}"),
        audit.update().where(told).values(before=None, after=None),
        workers.update()
        .where(workers.c.id == worker_id, workers.c.excluded_why.is_not(None))
        .values(excluded_why=MARK),
    ):
        connection.execute(statement)


def _erase_messages(connection: Connection, found: Sequence[tuple[str, int, Event]]) -> None:
    if not found:
        return
    changed = [
        {"dialog": dialog_id, "number": seq, "without": orjson.dumps(to_json(without)).decode()}
        for dialog_id, seq, without in found
    ]
    statement = (
        update(events)
        .where(events.c.dialog_id == bindparam("dialog"), events.c.seq == bindparam("number"))
        .values(data=bindparam("without"))
    )
    connection.execute(statement, changed)


def _erase_work(connection: Connection, row: Any, person: Person, pseudonym: Pseudonym) -> None:
    """Who did the work. Work of theirs of which no arrival tells is known by the recruiter's id of
    them, so this comes before that is gone."""
    name = row.external_id if person.erased_before else pseudonym(row.recruiter, row.external_id)
    at_their_recruiter = select(hits.c.id).where(
        hits.c.study_id == row.study_id, hits.c.recruiter == row.recruiter
    )
    came_with = select(arrivals.c.assignment_id).where(arrivals.c.worker_id == row.id)
    there = (assignments.c.study_id == row.study_id) & assignments.c.hit_id.in_(at_their_recruiter)
    named = {row.external_id}
    if person.erased_before:
        # Work taken since then came with their own id, which only the pseudonym knows.
        told = connection.execute(select(assignments.c.worker).where(there).distinct()).scalars()
        named |= {each for each in told if pseudonym(row.recruiter, each) == name}
    mine = assignments.c.id.in_(came_with) | (assignments.c.worker.in_(named) & there)
    connection.execute(
        update(assignments)
        .where(assignments.c.study_id == row.study_id, mine)
        .values(worker=name, code=None)
    )
    connection.execute(update(workers).where(workers.c.id == row.id).values(external_id=name))


def _swept(engine: Engine) -> bool:
    """Take old pages out of the database's files: the log before it on SQLite, dead rows on
    PostgreSQL."""
    try:
        if engine.dialect.name == "sqlite":
            raw = engine.raw_connection()
            try:
                # Returns whether others kept it from coming to the end.
                busy = raw.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            finally:
                raw.close()
            return not busy
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("SET statement_timeout = 0"))
            names = ", ".join(table.name for table in _TOUCHED)
            connection.execute(text(f"VACUUM {names}"))
        return True
    except SQLAlchemyError:
        return False
