"""All that is to be known of dialogs that ended, to decide on them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Self

import orjson
from sqlalchemy import Connection, select

from dialogs.record.payments import PaymentRow, payments_of
from dialogs.record.queries import chunks
from dialogs.record.review_queue import Claim, claims_on
from dialogs.record.tables import (
    arrivals,
    dialogs,
    judgements,
    ledger,
    payment_steps,
    relaunch_seats,
    relaunches,
    seats,
    team_requests,
)
from dialogs.rules import Acceptance, Outcome, RequestKind, RequestState, SeatStatus


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one reviewer said of a dialog. The one that `decides` has consequences; with `again`,
    a second person is to judge the dialog too and has not yet."""

    dialog_id: str
    admin_id: str
    verdict: Acceptance | None
    reason: str
    decides: bool
    again: bool
    at: float

    @classmethod
    def of(cls, row: Any) -> Self:
        return cls(
            row.dialog_id,
            row.admin_id,
            Acceptance(row.verdict) if row.verdict else None,
            row.reason,
            bool(row.decides),
            bool(row.again),
            row.at,
        )


@dataclass(frozen=True, slots=True)
class RefusedWork:
    """When somebody's pay was refused, and what they are told of it; None, if they were erased."""

    at: float
    reason: str | None


@dataclass(frozen=True, slots=True)
class Case:
    """A dialog that ended. `arrivals` are those who kept their seat, each with the HIT they came
    by, None for a link; `payments` are theirs. Of these, `begun` are those with a call that was
    begun, `approved_at` says when each was approved, and `refused` whose work was refused.
    For those in `promised` a bonus is asked that was not given yet.

    Of a rejected one, `taken_since` says that its place was taken, and `reposted` that people are
    invited for it.
    """

    study_id: str
    dialog_id: str
    item_id: str
    place: int
    outcome: Outcome
    acceptance: Acceptance | None
    arrivals: Mapping[str, str | None]
    payments: tuple[PaymentRow, ...]
    begun: frozenset[tuple[str, str]]
    approved_at: Mapping[tuple[str, str], float]
    refused: Mapping[str, RefusedWork]
    promised: frozenset[str]
    judgements: tuple[Judgement, ...]
    claim: Claim | None
    taken_since: bool
    reposted: bool

    @property
    def decided_by(self) -> Judgement | None:
        return next((each for each in self.judgements if each.decides), None)

    def judged_by(self, admin_id: str) -> Judgement | None:
        return next((each for each in self.judgements if each.admin_id == admin_id), None)

    def payments_of(self, arrival_id: str) -> list[PaymentRow]:
        return [payment for payment in self.payments if payment.arrival_id == arrival_id]

    def is_begun(self, payment: PaymentRow) -> bool:
        return (payment.arrival_id, payment.reason) in self.begun

    def refused_at(self, at: float) -> dict[str, str | None]:
        """Whose pay was refused at this moment, and why."""
        return {name: each.reason for name, each in self.refused.items() if each.at == at}


def cases(connection: Connection, study_id: str, dialog_ids: Collection[str]) -> dict[str, Case]:
    """These dialogs of the study, as far as they have ended."""
    rows = {
        row.id: row
        for chunk in chunks(dialog_ids)
        for row in connection.execute(
            select(dialogs).where(
                dialogs.c.id.in_(chunk),
                dialogs.c.study_id == study_id,
                dialogs.c.outcome.is_not(None),
            )
        )
    }
    people = _people(connection, rows)
    everybody = [arrival_id for those in people.values() for arrival_id in those]
    payments: dict[str, list[PaymentRow]] = defaultdict(list)
    for payment in payments_of(connection, everybody):
        payments[payment.arrival_id].append(payment)
    begun, approved_at, refused = _money(connection, everybody)
    promised = promised_to(connection, everybody)
    said = judgements_of(connection, rows)
    claims = claims_on(connection, rows)
    taken, reposted = _since(connection, rows)
    return {
        dialog_id: Case(
            study_id,
            dialog_id,
            row.item_id,
            row.place,
            Outcome(row.outcome),
            Acceptance(row.acceptance) if row.acceptance else None,
            people[dialog_id],
            tuple(payment for each in people[dialog_id] for payment in payments[each]),
            begun,
            approved_at,
            {each: refused[each] for each in people[dialog_id] if each in refused},
            frozenset(promised.intersection(people[dialog_id])),
            tuple(said.get(dialog_id, ())),
            claims.get(dialog_id),
            dialog_id in taken,
            dialog_id in reposted,
        )
        for dialog_id, row in rows.items()
    }


def case(connection: Connection, study_id: str, dialog_id: str) -> Case | None:
    """This dialog of the study, if it has ended."""
    return cases(connection, study_id, [dialog_id]).get(dialog_id)


def judgements_of(
    connection: Connection, dialog_ids: Collection[str]
) -> dict[str, list[Judgement]]:
    """What was said of these dialogs, the one that decides first."""
    found: dict[str, list[Judgement]] = defaultdict(list)
    for chunk in chunks(dialog_ids):
        query = (
            select(judgements)
            .where(judgements.c.dialog_id.in_(chunk))
            .order_by(judgements.c.decides.desc(), judgements.c.at)
        )
        for row in connection.execute(query):
            found[row.dialog_id].append(Judgement.of(row))
    return found


def _people(
    connection: Connection, dialog_ids: Collection[str]
) -> dict[str, dict[str, str | None]]:
    found: dict[str, dict[str, str | None]] = {dialog_id: {} for dialog_id in dialog_ids}
    for chunk in chunks(dialog_ids):
        query = (
            select(seats.c.dialog_id, seats.c.arrival_id, arrivals.c.hit_id)
            .join(arrivals, arrivals.c.id == seats.c.arrival_id)
            .where(seats.c.dialog_id.in_(chunk), seats.c.status != SeatStatus.GIVEN_UP.value)
            .order_by(seats.c.dialog_id, seats.c.arrival_id)
        )
        for row in connection.execute(query):
            found[row.dialog_id][row.arrival_id] = row.hit_id
    return found


def _money(
    connection: Connection, arrival_ids: Collection[str]
) -> tuple[frozenset[tuple[str, str]], dict[tuple[str, str], float], dict[str, RefusedWork]]:
    begun: set[tuple[str, str]] = set()
    approved_at: dict[tuple[str, str], float] = {}
    refused: dict[str, RefusedWork] = {}
    for chunk in chunks(arrival_ids):
        steps = select(payment_steps.c.arrival_id, payment_steps.c.reason)
        called = connection.execute(steps.where(payment_steps.c.arrival_id.in_(chunk)))
        begun |= {(row.arrival_id, row.reason) for row in called}
        approvals = select(ledger.c.arrival_id, ledger.c.reason, ledger.c.approved_at)
        moments = connection.execute(
            approvals.where(ledger.c.arrival_id.in_(chunk), ledger.c.approved_at.is_not(None))
        )
        approved_at |= {(row.arrival_id, row.reason): row.approved_at for row in moments}
        requests = select(team_requests.c.target, team_requests.c.at, team_requests.c.data).where(
            team_requests.c.target.in_(chunk), team_requests.c.kind == RequestKind.REJECT.value
        )
        refused |= {
            row.target: RefusedWork(row.at, orjson.loads(row.data).get("reason"))
            for row in connection.execute(requests)
        }
    return frozenset(begun), approved_at, refused


def promised_to(connection: Connection, arrival_ids: Collection[str]) -> set[str]:
    """For whose work a bonus is asked that was not given yet."""
    found: set[str] = set()
    for chunk in chunks(arrival_ids):
        query = select(team_requests.c.target).where(
            team_requests.c.target.in_(chunk),
            team_requests.c.kind == RequestKind.BONUS.value,
            team_requests.c.state == RequestState.WANTED.value,
        )
        found |= set(connection.execute(query).scalars())
    return found


def _since(connection: Connection, dialog_ids: Collection[str]) -> tuple[set[str], set[str]]:
    """The dialogs whose place was taken since their relaunch was wanted, and those for whose
    relaunch people are invited."""
    taken: set[str] = set()
    reposted: set[str] = set()
    others = dialogs.alias("others")
    for chunk in chunks(dialog_ids):
        query = (
            select(relaunches.c.dialog_id)
            .join(
                others,
                (others.c.item_id == relaunches.c.item_id)
                & (others.c.place == relaunches.c.place)
                & (others.c.id != relaunches.c.dialog_id)
                & (others.c.opened_at >= relaunches.c.at),
            )
            .where(relaunches.c.dialog_id.in_(chunk))
        )
        taken |= set(connection.execute(query).scalars())
        posted = select(relaunch_seats.c.dialog_id).where(relaunch_seats.c.dialog_id.in_(chunk))
        reposted |= set(connection.execute(posted).scalars())
    return taken, reposted
