"""Why the record did not take something.

RecordError
├── Conflict       a constraint or a guard says no: reload and decide anew
├── BadRow         the database cannot hold this row: the decision is refused
├── Unavailable    no answer, or an unknown one: reload and decide again
│   └── Overloaded     too many decisions wait: ask the sender to try again
└── CannotOpen     the database cannot be used at all; the text says why and what would be right
"""

from __future__ import annotations


class RecordError(Exception):
    """Base of every error of the record."""


class Conflict(RecordError):
    """Another process was first, or the row is no longer as the decision took it to be."""


class BadRow(RecordError):
    """The database refuses the row for what it holds."""


class Unavailable(RecordError):
    """The database did not answer in time, or the outcome of the commit is unknown."""


class Overloaded(Unavailable):
    """The writer's queue is full; nothing was sent to the database."""


class CannotOpen(RecordError):
    """The database cannot be used; shown to whoever started the program."""
