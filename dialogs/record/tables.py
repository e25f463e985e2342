"""The tables of the record, for SQLite and PostgreSQL alike.

The constraints are what the invariants rest on: whatever two processes believe, one of them
fails here. Times are seconds since 1970-01-01 UTC, money is in cents, ids are random texts.
JSON is kept as text, so that both databases store it byte for byte.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    ColumnElement,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    literal_column,
)

from dialogs.rules import Acceptance, Outcome, Phase, SeatStatus

metadata: Final = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)

studies: Final = Table(
    "studies",
    metadata,
    Column("id", Text, primary_key=True),
    Column("status", Text, nullable=False),
    Column("config", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    # What the team has changed while it runs, as JSON; it goes before the study file.
    Column("changes", Text),
)

items: Final = Table(
    "items",
    metadata,
    Column("id", Text, primary_key=True),
    Column("study_id", Text, ForeignKey("studies.id"), nullable=False),
    Column("image_id", Text, nullable=False),
    Column("caption", Text, nullable=False),
    Column("file", Text, nullable=False),
    Column("blurred_file", Text),
    Column("width", Integer, nullable=False),
    Column("height", Integer, nullable=False),
    Column("sha256", Text, nullable=False),
    Column("wanted", Integer, nullable=False),
    Column("position", Integer, nullable=False),
    Column("added_at", Double, nullable=False),
    UniqueConstraint("study_id", "image_id"),
)

workers: Final = Table(
    "workers",
    metadata,
    Column("id", Text, primary_key=True),
    Column("study_id", Text, ForeignKey("studies.id"), nullable=False),
    Column("recruiter", Text, nullable=False),
    Column("external_id", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("excluded_at", Double),
    Column("excluded_why", Text),
    UniqueConstraint("study_id", "recruiter", "external_id"),
)

arrivals: Final = Table(
    "arrivals",
    metadata,
    Column("id", Text, primary_key=True),
    Column("study_id", Text, ForeignKey("studies.id"), nullable=False),
    Column("worker_id", Text, ForeignKey("workers.id"), nullable=False),
    Column("assignment_id", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("address", Text),
    Column("created_at", Double, nullable=False),
    Column("ready_at", Double),
    Column("waited_s", Double, nullable=False, server_default="0"),
    Column("missed_start", Boolean, nullable=False, server_default="0"),
    Column("feedback", Text),
    Column("feedback_at", Double),
    # No foreign key: SQLite cannot add one to a table that exists.
    Column("hit_id", Text),
    Column("submit_to", Text),
    UniqueConstraint("study_id", "assignment_id"),
    Index("ix_arrivals_worker_id", "worker_id", "created_at"),
    Index("ix_arrivals_status", "study_id", "status"),
    Index("ix_arrivals_created_at", "study_id", "created_at"),
    Index("ix_arrivals_hit_id", "hit_id"),
)

# A worker holds one unreleased arrival at a time, in whatever tab.
Index(
    "uq_arrivals_one_open",
    arrivals.c.worker_id,
    unique=True,
    sqlite_where=arrivals.c.status != "released",
    postgresql_where=arrivals.c.status != "released",
)

dialogs: Final = Table(
    "dialogs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("study_id", Text, ForeignKey("studies.id"), nullable=False),
    Column("item_id", Text, ForeignKey("items.id"), nullable=False),
    Column("place", Integer, nullable=False),
    Column("phase", Text, nullable=False),
    Column("outcome", Text),
    Column("acceptance", Text),
    Column("language", Text, nullable=False),
    Column("same_address", Boolean, nullable=False),
    Column("opened_at", Double, nullable=False),
    Column("ended_at", Double),
    # When what was said was looked through for `findings`.
    Column("checked_at", Double),
    CheckConstraint("place >= 1", name="place"),
    # How a study stands is counted in this index alone.
    Index("ix_dialogs_phase", "study_id", "phase", "outcome", "acceptance"),
    Index("ix_dialogs_item_id", "item_id", "place"),
    Index("ix_dialogs_opened_at", "study_id", "opened_at"),
    Index("ix_dialogs_ended_at", "study_id", "ended_at"),
)

TAKES_PLACE: Final = (dialogs.c.phase == Phase.PAIRED.value) | (
    (dialogs.c.outcome == Outcome.COMPLETE.value)
    & (dialogs.c.acceptance.is_(None) | (dialogs.c.acceptance != Acceptance.REJECTED.value))
)
"""Which dialogs use up their place: paired ones and complete ones not rejected as data."""

Index(
    "uq_dialogs_place",
    dialogs.c.item_id,
    dialogs.c.place,
    unique=True,
    sqlite_where=TAKES_PLACE,
    postgresql_where=TAKES_PLACE,
)

# Written out, since SQLite uses such an index only for conditions that it finds word for word.
_COMPLETE: Final[ColumnElement[str]] = literal_column(f"'{Outcome.COMPLETE.value}'")
TO_JUDGE: Final = (dialogs.c.outcome == _COMPLETE) & dialogs.c.acceptance.is_(None)
"""Complete dialogs of which nobody has said whether they are data."""
NO_DATA: Final = dialogs.c.outcome != _COMPLETE
"""Dialogs that ended and of which there is nothing that could be data."""

# With all that they are asked for, since SQLite prefers indexes that need no look at the table.
for _name, _which, _more in (
    ("ix_dialogs_to_judge", TO_JUDGE, (dialogs.c.outcome, dialogs.c.acceptance)),
    ("ix_dialogs_no_data", NO_DATA, (dialogs.c.outcome,)),
):
    Index(
        _name,
        dialogs.c.study_id,
        dialogs.c.ended_at,
        dialogs.c.id,
        *_more,
        sqlite_where=_which,
        postgresql_where=_which,
    )

UNCHECKED: Final = dialogs.c.outcome.is_not(None) & dialogs.c.checked_at.is_(None)
"""Dialogs that ended and were not looked through yet."""

Index(
    "ix_dialogs_unchecked",
    dialogs.c.study_id,
    dialogs.c.ended_at,
    sqlite_where=UNCHECKED,
    postgresql_where=UNCHECKED,
)

seats: Final = Table(
    "seats",
    metadata,
    Column("dialog_id", Text, ForeignKey("dialogs.id"), primary_key=True),
    Column("role", Text, primary_key=True),
    Column("arrival_id", Text, ForeignKey("arrivals.id"), nullable=False),
    Column("worker_id", Text, ForeignKey("workers.id"), nullable=False),
    Column("item_id", Text, ForeignKey("items.id"), nullable=False),
    Column("status", Text, nullable=False),
    UniqueConstraint("worker_id", "item_id"),
)

Index(
    "uq_seats_arrival",
    seats.c.arrival_id,
    unique=True,
    sqlite_where=seats.c.status != SeatStatus.GIVEN_UP.value,
    postgresql_where=seats.c.status != SeatStatus.GIVEN_UP.value,
)
Index(
    "uq_seats_live_worker",
    seats.c.worker_id,
    unique=True,
    sqlite_where=seats.c.status == SeatStatus.LIVE.value,
    postgresql_where=seats.c.status == SeatStatus.LIVE.value,
)

# No foreign key to dialogs: it would cost a look-up for every message, and the dialog's row is
# written in the transaction of its first event.
events: Final = Table(
    "events",
    metadata,
    Column("dialog_id", Text, primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("at", Double, nullable=False),
    Column("data", Text, nullable=False),
)

releases: Final = Table(
    "releases",
    metadata,
    Column("arrival_id", Text, ForeignKey("arrivals.id"), primary_key=True),
    Column("dialog_id", Text, ForeignKey("dialogs.id")),
    Column("release", Text, nullable=False),
    Column("code", Text, nullable=False, unique=True),
    Column("at", Double, nullable=False),
    Index("ix_releases_at", "at"),
)

ledger: Final = Table(
    "ledger",
    metadata,
    Column("arrival_id", Text, ForeignKey("arrivals.id"), primary_key=True),
    Column("reason", Text, primary_key=True),
    Column("cents", Integer, nullable=False),
    Column("currency", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("at", Double, nullable=False),
    Column("note", Text),
    Column("approved_at", Double),
    Column("paid_at", Double),
    Column("tries", Integer, nullable=False, server_default="0"),
    Column("retry_at", Double),
    Column("problem", Text),
    CheckConstraint("cents > 0", name="cents"),
    # Those that wait are read from the oldest on, and lists begin with the newest.
    Index("ix_ledger_state", "state", "at"),
    Index("ix_ledger_at", "at"),
)

relaunches: Final = Table(
    "relaunches",
    metadata,
    Column("dialog_id", Text, ForeignKey("dialogs.id"), primary_key=True),
    Column("item_id", Text, ForeignKey("items.id"), nullable=False),
    Column("place", Integer, nullable=False),
    Column("at", Double, nullable=False),
    Index("ix_relaunches_item_id", "item_id"),
)

hits: Final = Table(
    "hits",
    metadata,
    Column("id", Text, primary_key=True),
    Column("study_id", Text, ForeignKey("studies.id"), nullable=False),
    Column("recruiter", Text, nullable=False),
    Column("token", Text, nullable=False, unique=True),
    Column("remote_id", Text),
    Column("state", Text, nullable=False),
    Column("seats", Integer, nullable=False),
    Column("reward", Integer, nullable=False),
    Column("currency", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("posted_at", Double),
    Column("expires_at", Double),
    Column("free", Integer, nullable=False, server_default="0"),
    Column("pending", Integer, nullable=False, server_default="0"),
    # `seats` is what is wanted of it, this is what the recruiter has given it so far.
    Column("seats_there", Integer, nullable=False, server_default="0"),
    # A digest of what was fixed when it was posted; one with others does not grow.
    Column("terms", Text),
    Column("problem", Text),
    UniqueConstraint("study_id", "remote_id"),
    # With what is summed up by state.
    Index("ix_hits_state", "study_id", "state", "seats", "free"),
    Index("ix_hits_created_at", "study_id", "created_at", "id"),
)

# Which seats of which HIT are for which relaunch: `seats` of them, the last of which is the
# `upto`th of its HIT.
relaunch_seats: Final = Table(
    "relaunch_seats",
    metadata,
    Column("dialog_id", Text, ForeignKey("relaunches.dialog_id"), primary_key=True),
    Column("hit_id", Text, ForeignKey("hits.id"), primary_key=True),
    Column("seats", Integer, nullable=False),
    Column("upto", Integer, nullable=False),
    Index("ix_relaunch_seats_hit_id", "hit_id"),
)

# What the recruiter says of each worker's hold on a HIT; it is right where we differ.
assignments: Final = Table(
    "assignments",
    metadata,
    Column("study_id", Text, ForeignKey("studies.id"), primary_key=True),
    Column("id", Text, primary_key=True),
    Column("hit_id", Text, ForeignKey("hits.id"), nullable=False),
    Column("worker", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("code", Text),
    Column("submitted_at", Double),
    Index("ix_assignments_hit_id", "hit_id"),
)

# One row for each call that makes a payment: written before the call, finished after it.
payment_steps: Final = Table(
    "payment_steps",
    metadata,
    Column("arrival_id", Text, primary_key=True),
    Column("reason", Text, primary_key=True),
    Column("step", Text, primary_key=True),
    Column("key", Text, nullable=False),
    Column("started_at", Double, nullable=False),
    Column("done_at", Double),
    Column("detail", Text),
    ForeignKeyConstraint(["arrival_id", "reason"], ["ledger.arrival_id", "ledger.reason"]),
)

# Who does a piece of work that only one process may do at a time.
leases: Final = Table(
    "leases",
    metadata,
    Column("study_id", Text, ForeignKey("studies.id"), primary_key=True),
    Column("work", Text, primary_key=True),
    Column("holder", Text, nullable=False),
    Column("until", Double, nullable=False),
)

reports: Final = Table(
    "reports",
    metadata,
    Column("id", Text, primary_key=True),
    Column("arrival_id", Text, ForeignKey("arrivals.id"), nullable=False),
    Column("kind", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("at", Double, nullable=False),
    Index("ix_reports_arrival_id", "arrival_id"),
)

# One row for each time that somebody's texts and ids were erased at their request: how many
# arrivals they had, and how many texts were overwritten.
erasures: Final = Table(
    "erasures",
    metadata,
    Column("worker_id", Text, ForeignKey("workers.id"), primary_key=True),
    Column("at", Double, primary_key=True),
    Column("arrivals", Integer, nullable=False),
    Column("texts", Integer, nullable=False),
)

# --- The team ------------------------------------------------------------------------------

# Who may sign in to the monitor. `password` is an argon2 hash; nobody is ever removed, so that
# what they did keeps their name.
admins: Final = Table(
    "admins",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("role", Text, nullable=False),
    Column("password", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("disabled_at", Double),
)

# `id` is a digest of what stands in the cookie, so that who reads the record signs in as nobody.
admin_sessions: Final = Table(
    "admin_sessions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("admin_id", Text, ForeignKey("admins.id"), nullable=False),
    Column("csrf", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("seen_at", Double, nullable=False),
    Column("ended_at", Double),
    Index("ix_admin_sessions_admin_id", "admin_id"),
)

# Tries to sign in, for slowing down who guesses. `address` is a pseudonym, as in arrivals.
sign_ins: Final = Table(
    "sign_ins",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("address", Text, nullable=False),
    Column("at", Double, nullable=False),
    Column("good", Boolean, nullable=False),
    Index("ix_sign_ins_name", "name", "at"),
    Index("ix_sign_ins_address", "address", "at"),
    # By which those are found that no longer count.
    Index("ix_sign_ins_at", "good", "at"),
)

# What the team has done: who, what, when, before, after. Never changed.
audit: Final = Table(
    "audit",
    metadata,
    Column("id", Text, primary_key=True),
    Column("study_id", Text, ForeignKey("studies.id")),
    Column("admin_id", Text, ForeignKey("admins.id")),
    Column("action", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("before", Text),
    Column("after", Text),
    Column("at", Double, nullable=False),
    Index("ix_audit_at", "study_id", "at"),
    Index("ix_audit_target", "target"),
)

# What the rules of quality, or somebody of the team (`admin_id`), found in a dialog.
findings: Final = Table(
    "findings",
    metadata,
    Column("dialog_id", Text, ForeignKey("dialogs.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("flag", Text, nullable=False),
    Column("role", Text),
    Column("round", Integer),
    Column("seq", Integer),
    Column("reason", Text, nullable=False),
    Column("admin_id", Text, ForeignKey("admins.id")),
    Column("at", Double, nullable=False),
    Index("ix_findings_flag", "flag", "dialog_id"),
)

# What each reviewer said of a dialog; the first one decides, a second one is for agreement. With
# `again`, that second one is still to come.
judgements: Final = Table(
    "judgements",
    metadata,
    Column("dialog_id", Text, ForeignKey("dialogs.id"), primary_key=True),
    Column("admin_id", Text, ForeignKey("admins.id"), primary_key=True),
    Column("verdict", Text),
    Column("reason", Text, nullable=False),
    Column("decides", Boolean, nullable=False),
    Column("again", Boolean, nullable=False),
    Column("at", Double, nullable=False),
    Index("ix_judgements_at", "at"),
    Index("ix_judgements_admin_id", "admin_id", "at"),
)

Index(
    "uq_judgements_decides",
    judgements.c.dialog_id,
    unique=True,
    sqlite_where=judgements.c.decides.is_(True),
    postgresql_where=judgements.c.decides.is_(True),
)

Index(
    "ix_judgements_again",
    judgements.c.dialog_id,
    sqlite_where=judgements.c.again.is_(True),
    postgresql_where=judgements.c.again.is_(True),
)

Index(
    "ix_judgements_second",
    judgements.c.dialog_id,
    sqlite_where=judgements.c.decides.is_(False),
    postgresql_where=judgements.c.decides.is_(False),
)

# Which reviewer has a dialog in hand, so that no other is given it; each has one at a time.
review_claims: Final = Table(
    "review_claims",
    metadata,
    Column("dialog_id", Text, ForeignKey("dialogs.id"), primary_key=True),
    Column("admin_id", Text, ForeignKey("admins.id"), nullable=False),
    Column("until", Double, nullable=False),
    UniqueConstraint("admin_id"),
)

worker_notes: Final = Table(
    "worker_notes",
    metadata,
    Column("id", Text, primary_key=True),
    Column("worker_id", Text, ForeignKey("workers.id"), nullable=False),
    Column("admin_id", Text, ForeignKey("admins.id")),
    Column("text", Text, nullable=False),
    Column("at", Double, nullable=False),
    Index("ix_worker_notes_worker_id", "worker_id"),
)

# What the team wants of the recruiter; the hit manager carries it out. `target` is an arrival,
# an assignment or a worker, `data` what else it takes, as JSON.
team_requests: Final = Table(
    "team_requests",
    metadata,
    Column("id", Text, primary_key=True),
    Column("study_id", Text, ForeignKey("studies.id"), nullable=False),
    Column("admin_id", Text, ForeignKey("admins.id")),
    Column("kind", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("data", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("at", Double, nullable=False),
    Column("tries", Integer, nullable=False, server_default="0"),
    Column("retry_at", Double),
    # Set while something is done that must not be done twice, until its answer is here.
    Column("started_at", Double),
    Column("done_at", Double),
    Column("problem", Text),
    Index("ix_team_requests_state", "study_id", "state", "at"),
    Index("ix_team_requests_target", "target"),
)

# How the last round of recruiting and paying went.
recruiting: Final = Table(
    "recruiting",
    metadata,
    Column("study_id", Text, ForeignKey("studies.id"), primary_key=True),
    Column("at", Double, nullable=False),
    Column("good_at", Double),
    Column("problems", Text, nullable=False),
)
