"""Payments that do not go out, and why."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection

from dialogs.record.payments import PAYMENTS, PaymentRow, payment_of
from dialogs.record.tables import arrivals, ledger
from dialogs.rules import LedgerState

_OVER: Final = [LedgerState.PAID.value]


def with_problem(connection: Connection, study_id: str) -> list[PaymentRow]:
    """Unpaid payments of which something is known that is in their way, oldest first: those that
    need a person, and those that were put off."""
    query = PAYMENTS.where(
        arrivals.c.study_id == study_id,
        ledger.c.state.not_in(_OVER),
        ledger.c.problem.is_not(None),
    ).order_by(ledger.c.at, ledger.c.arrival_id, ledger.c.reason)
    return [payment_of(row) for row in connection.execute(query)]
