"""What a hit manager has counted since it started: plain numbers, for whoever shows them."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, cast

from hit_manager.outbox import Paid
from hit_manager.reconciler import Report
from hit_manager.recruiters.base import Recruiter, RecruiterError


@dataclass(slots=True)
class Counts:
    """`rounds` are those that this process did, `stood_by` those that it left to another, and
    `failed` those that ended by an error. `last_at` is when the last round ended that did not
    fail, in seconds since 1970-01-01 UTC.

    `calls` are calls of the recruiter by their names, `errors` those that it did not do, by name
    and kind of error.
    """

    rounds: int = 0
    stood_by: int = 0
    failed: int = 0
    last_at: float | None = None
    problems: int = 0
    posted: int = 0
    grown: int = 0
    expired: int = 0
    strays: int = 0
    disposed: int = 0
    paid: int = 0
    paid_cents: int = 0
    put_off: int = 0
    held: int = 0
    refused: int = 0
    calls: Counter[str] = field(default_factory=Counter)
    errors: Counter[tuple[str, str]] = field(default_factory=Counter)

    def did(self, report: Report, paid: Paid, now: float) -> None:
        """A round of this process has ended."""
        self.rounds += 1
        self.last_at = now
        self.problems += len(report.problems) + len(paid.problems)
        self.posted += report.posted
        self.grown += report.grown
        self.expired += report.expired
        self.strays += report.strays
        self.disposed += report.disposed
        self.paid += paid.payments
        self.paid_cents += paid.cents
        self.put_off += paid.waiting
        self.held += paid.held
        self.refused += paid.failed

    def left_to_another(self, now: float) -> None:
        """Another process is at it; this one is ready to take over."""
        self.stood_by += 1
        self.last_at = now


def counted(recruiter: Recruiter, counts: Counts) -> Recruiter:
    """The recruiter, with every call that may go out counted."""
    return cast("Recruiter", _Counted(recruiter, counts))


class _Counted:
    """Stands in front of a recruiter. What does no I/O is the recruiter's own."""

    def __init__(self, recruiter: Recruiter, counts: Counts) -> None:
        self._recruiter = recruiter
        self._counts = counts

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._recruiter, name)
        return self._counting(name, found) if inspect.iscoroutinefunction(found) else found

    def _counting(
        self, name: str, call: Callable[..., Awaitable[Any]]
    ) -> Callable[..., Awaitable[Any]]:
        @wraps(call)
        async def count(*args: Any, **kwargs: Any) -> Any:
            self._counts.calls[name] += 1
            try:
                return await call(*args, **kwargs)
            except RecruiterError as error:
                self._counts.errors[name, kind_of(error)] += 1
                raise

        return count


def kind_of(error: RecruiterError) -> str:
    """The kind of an error by the tree of `base`: `not_yet`, `no_funds`; a recruiter's own
    refinement of one counts as that."""
    here = (kind for kind in type(error).__mro__ if kind.__module__ == RecruiterError.__module__)
    return re.sub(r"(?<!^)(?=[A-Z])", "_", next(here).__name__).lower()
