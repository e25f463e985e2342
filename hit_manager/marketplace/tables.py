"""The tables of the marketplace, in a database of its own, for SQLite and PostgreSQL alike.

Times are seconds since 1970-01-01 UTC, durations seconds, money US cents. Ids look like
Amazon's (`ids.py`). `n` numbers rows in the order they were made: lists are paged by it. JSON
is kept as text.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)

VERSION: Final = 1
"""Of these tables; a database of another version is not opened."""

metadata: Final = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)


def _n() -> Column[int]:
    return Column("n", Integer, primary_key=True, autoincrement=True)


marketplace: Final = Table(
    "marketplace",
    metadata,
    # One row: what this database is.
    Column("version", Integer, primary_key=True),
    Column("created_at", Double, nullable=False),
    # Signs page tokens and the like, so that they hold over a restart.
    Column("secret", LargeBinary, nullable=False),
)

requesters: Final = Table(
    "requesters",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    # What can be spent, and what open HITs have set aside.
    Column("available", BigInteger, nullable=False),
    Column("on_hold", BigInteger, nullable=False),
    # The key of the HMAC on notifications.
    Column("webhook_secret", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    CheckConstraint("available >= 0", name="available"),
    CheckConstraint("on_hold >= 0", name="on_hold"),
)

access_keys: Final = Table(
    "access_keys",
    metadata,
    Column("id", Text, primary_key=True),
    Column("requester_id", Text, ForeignKey("requesters.id"), nullable=False),
    # In the clear: a signature can only be checked by making it again.
    Column("secret", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("revoked_at", Double),
)

invitations: Final = Table(
    "invitations",
    metadata,
    Column("code", Text, primary_key=True),
    Column("note", Text, nullable=False, server_default=""),
    Column("created_at", Double, nullable=False),
    Column("used_at", Double),
    Column("worker_id", Text, ForeignKey("workers.id")),
)

workers: Final = Table(
    "workers",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False, server_default=""),
    # ISO 3166-1 and, after the hyphen, ISO 3166-2; as the worker or the invitation says.
    Column("country", Text),
    Column("subdivision", Text),
    Column("adult", Boolean, nullable=False, server_default=text("false")),
    Column("master", Boolean, nullable=False, server_default=text("false")),
    # SHA-256, in hexadecimal, of what the cookie of the marketplace's own pages holds.
    Column("session_hash", Text, unique=True),
    Column("created_at", Double, nullable=False),
)

hit_types: Final = Table(
    "hit_types",
    metadata,
    _n(),
    Column("id", Text, nullable=False, unique=True),
    Column("requester_id", Text, ForeignKey("requesters.id"), nullable=False),
    Column("title", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("keywords", Text, nullable=False),
    Column("reward", Integer, nullable=False),
    Column("duration_s", Integer, nullable=False),
    Column("auto_approval_s", Integer, nullable=False),
    # A list of requirements, as the API has them, in JSON.
    Column("requirements", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    # SHA-256 of all of the above that a requester sets: equal types are one type.
    Column("fingerprint", Text, nullable=False),
    UniqueConstraint("requester_id", "fingerprint"),
)

hits: Final = Table(
    "hits",
    metadata,
    _n(),
    Column("id", Text, nullable=False, unique=True),
    Column("requester_id", Text, ForeignKey("requesters.id"), nullable=False),
    Column("type_id", Text, ForeignKey("hit_types.id"), nullable=False, index=True),
    Column("question", Text, nullable=False),
    Column("annotation", Text),
    Column("max_assignments", Integer, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("expires_at", Double, nullable=False),
    # `expires_at` until it was noticed.
    Column("due_at", Double, index=True),
    Column("status", Text, nullable=False),
    # What of the requester's `on_hold` is for this HIT.
    Column("held", BigInteger, nullable=False),
    CheckConstraint("held >= 0", name="held"),
    Index(None, "status", "expires_at"),
    Index(None, "requester_id", "status"),
)

assignments: Final = Table(
    "assignments",
    metadata,
    _n(),
    # Whoever knows it can submit: it is a secret of its worker.
    Column("id", Text, nullable=False, unique=True),
    Column("hit_id", Text, ForeignKey("hits.id"), nullable=False),
    Column("worker_id", Text, ForeignKey("workers.id"), nullable=False, index=True),
    Column("status", Text, nullable=False),
    Column("accepted_at", Double, nullable=False),
    Column("deadline_at", Double, nullable=False),
    Column("submitted_at", Double),
    Column("auto_approve_at", Double),
    Column("approved_at", Double),
    Column("rejected_at", Double),
    # When time does something with it: the deadline, then the automatic approval, then never.
    Column("due_at", Double, index=True),
    # When it was returned or abandoned.
    Column("ended_at", Double),
    # A QuestionFormAnswers document.
    Column("answer", Text),
    Column("feedback", Text),
    # What the worker got and the marketplace took when it was approved.
    Column("paid", Integer, nullable=False, server_default="0"),
    Column("fee", Integer, nullable=False, server_default="0"),
    Index(None, "hit_id", "status"),
    # Nobody holds a HIT twice, nor does it again; who gave it back may take it once more.
    Index(
        "uq_assignments_holding",
        "hit_id",
        "worker_id",
        unique=True,
        postgresql_where=text("status NOT IN ('Returned', 'Abandoned')"),
        sqlite_where=text("status NOT IN ('Returned', 'Abandoned')"),
    ),
)

bonuses: Final = Table(
    "bonuses",
    metadata,
    _n(),
    Column("requester_id", Text, ForeignKey("requesters.id"), nullable=False),
    Column("hit_id", Text, ForeignKey("hits.id"), nullable=False, index=True),
    Column("assignment_id", Text, ForeignKey("assignments.id"), nullable=False, index=True),
    Column("worker_id", Text, ForeignKey("workers.id"), nullable=False, index=True),
    Column("amount", Integer, nullable=False),
    Column("fee", Integer, nullable=False),
    Column("reason", Text, nullable=False),
    Column("granted_at", Double, nullable=False),
)

qualification_types: Final = Table(
    "qualification_types",
    metadata,
    _n(),
    Column("id", Text, nullable=False, unique=True),
    Column("requester_id", Text, ForeignKey("requesters.id"), nullable=False),
    Column("name", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("keywords", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("test", Text),
    Column("answer_key", Text),
    Column("test_duration_s", Integer),
    # Unset: one request ever.
    Column("retry_delay_s", Integer),
    Column("auto_granted", Boolean, nullable=False),
    Column("auto_value", Integer, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("deleted_at", Double),
    Index(
        "uq_qualification_types_name",
        "requester_id",
        "name",
        unique=True,
        postgresql_where=text("deleted_at IS NULL"),
        sqlite_where=text("deleted_at IS NULL"),
    ),
)

qualifications: Final = Table(
    "qualifications",
    metadata,
    _n(),
    Column("type_id", Text, ForeignKey("qualification_types.id"), nullable=False),
    Column("worker_id", Text, ForeignKey("workers.id"), nullable=False, index=True),
    Column("value", Integer, nullable=False),
    Column("status", Text, nullable=False),
    Column("granted_at", Double, nullable=False),
    UniqueConstraint("type_id", "worker_id"),
)

qualification_requests: Final = Table(
    "qualification_requests",
    metadata,
    _n(),
    Column("id", Text, nullable=False, unique=True),
    Column("type_id", Text, ForeignKey("qualification_types.id"), nullable=False, index=True),
    Column("worker_id", Text, ForeignKey("workers.id"), nullable=False, index=True),
    Column("answer", Text),
    Column("status", Text, nullable=False),
    Column("reason", Text),
    Column("submitted_at", Double, nullable=False),
    Column("settled_at", Double),
)

blocks: Final = Table(
    "blocks",
    metadata,
    _n(),
    Column("requester_id", Text, ForeignKey("requesters.id"), nullable=False),
    Column("worker_id", Text, ForeignKey("workers.id"), nullable=False),
    Column("reason", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    UniqueConstraint("requester_id", "worker_id"),
)

request_tokens: Final = Table(
    "request_tokens",
    metadata,
    Column("requester_id", Text, ForeignKey("requesters.id"), primary_key=True),
    Column("operation", Text, primary_key=True),
    Column("token", Text, primary_key=True),
    # What was made, for the message of the refusal.
    Column("made_id", Text, nullable=False),
    Column("made_at", Double, nullable=False),
)

notification_settings: Final = Table(
    "notification_settings",
    metadata,
    Column("type_id", Text, ForeignKey("hit_types.id"), primary_key=True),
    Column("destination", Text, nullable=False),
    Column("transport", Text, nullable=False),
    # A list of `Event`s in JSON.
    Column("event_types", Text, nullable=False),
    Column("active", Boolean, nullable=False),
)

deliveries: Final = Table(
    "deliveries",
    metadata,
    _n(),
    Column("id", Text, nullable=False, unique=True),
    Column("requester_id", Text, ForeignKey("requesters.id"), nullable=False),
    Column("destination", Text, nullable=False),
    # The notification's document, in JSON; its envelope is made for each try.
    Column("body", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("tries", Integer, nullable=False),
    # Unset once it was delivered or given up.
    Column("next_try_at", Double, index=True),
    Column("delivered_at", Double),
    Column("error", Text),
)

messages: Final = Table(
    "messages",
    metadata,
    _n(),
    Column("worker_id", Text, ForeignKey("workers.id"), nullable=False, index=True),
    Column("requester_id", Text, ForeignKey("requesters.id")),
    Column("subject", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("sent_at", Double, nullable=False),
    Column("read_at", Double),
)
