"""The tables of the record."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_TAKES_PLACE = (
    "phase = 'paired' OR outcome = 'complete' AND (acceptance IS NULL OR acceptance != 'rejected')"
)


def upgrade() -> None:
    op.create_table(
        "events",
        sa.Column("dialog_id", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("dialog_id", "seq", name=op.f("pk_events")),
    )
    op.create_table(
        "studies",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("config", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_studies")),
    )
    op.create_table(
        "items",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("study_id", sa.Text(), nullable=False),
        sa.Column("image_id", sa.Text(), nullable=False),
        sa.Column("caption", sa.Text(), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("blurred_file", sa.Text(), nullable=True),
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("height", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("wanted", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("added_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["study_id"], ["studies.id"], name=op.f("fk_items_study_id_studies")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_items")),
        sa.UniqueConstraint("study_id", "image_id", name=op.f("uq_items_study_id_image_id")),
    )
    op.create_table(
        "workers",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("study_id", sa.Text(), nullable=False),
        sa.Column("recruiter", sa.Text(), nullable=False),
        sa.Column("external_id", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["study_id"], ["studies.id"], name=op.f("fk_workers_study_id_studies")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_workers")),
        sa.UniqueConstraint(
            "study_id",
            "recruiter",
            "external_id",
            name=op.f("uq_workers_study_id_recruiter_external_id"),
        ),
    )
    op.create_table(
        "arrivals",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("study_id", sa.Text(), nullable=False),
        sa.Column("worker_id", sa.Text(), nullable=False),
        sa.Column("assignment_id", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("ready_at", sa.Double(), nullable=True),
        sa.Column("waited_s", sa.Double(), server_default="0", nullable=False),
        sa.Column("missed_start", sa.Boolean(), server_default="0", nullable=False),
        sa.Column("feedback", sa.Text(), nullable=True),
        sa.Column("feedback_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(
            ["study_id"], ["studies.id"], name=op.f("fk_arrivals_study_id_studies")
        ),
        sa.ForeignKeyConstraint(
            ["worker_id"], ["workers.id"], name=op.f("fk_arrivals_worker_id_workers")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_arrivals")),
        sa.UniqueConstraint(
            "study_id", "assignment_id", name=op.f("uq_arrivals_study_id_assignment_id")
        ),
    )
    op.create_index("ix_arrivals_status", "arrivals", ["study_id", "status"], unique=False)
    op.create_index("ix_arrivals_worker_id", "arrivals", ["worker_id", "created_at"], unique=False)
    op.create_index(
        "uq_arrivals_one_open",
        "arrivals",
        ["worker_id"],
        unique=True,
        sqlite_where=sa.text("status != 'released'"),
        postgresql_where=sa.text("status != 'released'"),
    )
    op.create_table(
        "dialogs",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("study_id", sa.Text(), nullable=False),
        sa.Column("item_id", sa.Text(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("phase", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.Column("acceptance", sa.Text(), nullable=True),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("same_address", sa.Boolean(), nullable=False),
        sa.Column("opened_at", sa.Double(), nullable=False),
        sa.Column("ended_at", sa.Double(), nullable=True),
        sa.CheckConstraint("place >= 1", name=op.f("ck_dialogs_place")),
        sa.ForeignKeyConstraint(["item_id"], ["items.id"], name=op.f("fk_dialogs_item_id_items")),
        sa.ForeignKeyConstraint(
            ["study_id"], ["studies.id"], name=op.f("fk_dialogs_study_id_studies")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dialogs")),
    )
    op.create_index("ix_dialogs_phase", "dialogs", ["study_id", "phase"], unique=False)
    op.create_index(
        "uq_dialogs_place",
        "dialogs",
        ["item_id", "place"],
        unique=True,
        sqlite_where=sa.text(_TAKES_PLACE),
        postgresql_where=sa.text(_TAKES_PLACE),
    )
    op.create_table(
        "ledger",
        sa.Column("arrival_id", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("cents", sa.Integer(), nullable=False),
        sa.Column("currency", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.CheckConstraint("cents > 0", name=op.f("ck_ledger_cents")),
        sa.ForeignKeyConstraint(
            ["arrival_id"], ["arrivals.id"], name=op.f("fk_ledger_arrival_id_arrivals")
        ),
        sa.PrimaryKeyConstraint("arrival_id", "reason", name=op.f("pk_ledger")),
    )
    op.create_table(
        "relaunches",
        sa.Column("dialog_id", sa.Text(), nullable=False),
        sa.Column("item_id", sa.Text(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["dialog_id"], ["dialogs.id"], name=op.f("fk_relaunches_dialog_id_dialogs")
        ),
        sa.ForeignKeyConstraint(
            ["item_id"], ["items.id"], name=op.f("fk_relaunches_item_id_items")
        ),
        sa.PrimaryKeyConstraint("dialog_id", name=op.f("pk_relaunches")),
    )
    op.create_table(
        "releases",
        sa.Column("arrival_id", sa.Text(), nullable=False),
        sa.Column("dialog_id", sa.Text(), nullable=True),
        sa.Column("release", sa.Text(), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["arrival_id"], ["arrivals.id"], name=op.f("fk_releases_arrival_id_arrivals")
        ),
        sa.ForeignKeyConstraint(
            ["dialog_id"], ["dialogs.id"], name=op.f("fk_releases_dialog_id_dialogs")
        ),
        sa.PrimaryKeyConstraint("arrival_id", name=op.f("pk_releases")),
        sa.UniqueConstraint("code", name=op.f("uq_releases_code")),
    )
    op.create_table(
        "reports",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("arrival_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["arrival_id"], ["arrivals.id"], name=op.f("fk_reports_arrival_id_arrivals")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reports")),
    )
    op.create_index("ix_reports_arrival_id", "reports", ["arrival_id"], unique=False)
    op.create_table(
        "seats",
        sa.Column("dialog_id", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("arrival_id", sa.Text(), nullable=False),
        sa.Column("worker_id", sa.Text(), nullable=False),
        sa.Column("item_id", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["arrival_id"], ["arrivals.id"], name=op.f("fk_seats_arrival_id_arrivals")
        ),
        sa.ForeignKeyConstraint(
            ["dialog_id"], ["dialogs.id"], name=op.f("fk_seats_dialog_id_dialogs")
        ),
        sa.ForeignKeyConstraint(["item_id"], ["items.id"], name=op.f("fk_seats_item_id_items")),
        sa.ForeignKeyConstraint(
            ["worker_id"], ["workers.id"], name=op.f("fk_seats_worker_id_workers")
        ),
        sa.PrimaryKeyConstraint("dialog_id", "role", name=op.f("pk_seats")),
        sa.UniqueConstraint("worker_id", "item_id", name=op.f("uq_seats_worker_id_item_id")),
    )
    op.create_index(
        "uq_seats_arrival",
        "seats",
        ["arrival_id"],
        unique=True,
        sqlite_where=sa.text("status != 'given_up'"),
        postgresql_where=sa.text("status != 'given_up'"),
    )
    op.create_index(
        "uq_seats_live_worker",
        "seats",
        ["worker_id"],
        unique=True,
        sqlite_where=sa.text("status = 'live'"),
        postgresql_where=sa.text("status = 'live'"),
    )
