"""HITs, what recruiters say of them, and the steps of payments."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("arrivals", sa.Column("hit_id", sa.Text()))
    op.add_column("arrivals", sa.Column("submit_to", sa.Text()))
    op.create_index(op.f("ix_arrivals_hit_id"), "arrivals", ["hit_id"])
    for column in (
        sa.Column("note", sa.Text()),
        sa.Column("approved_at", sa.Double()),
        sa.Column("paid_at", sa.Double()),
        sa.Column("tries", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("retry_at", sa.Double()),
        sa.Column("problem", sa.Text()),
    ):
        op.add_column("ledger", column)
    op.create_index(op.f("ix_ledger_state"), "ledger", ["state", "at"])
    op.create_table(
        "hits",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("study_id", sa.Text(), nullable=False),
        sa.Column("recruiter", sa.Text(), nullable=False),
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("remote_id", sa.Text()),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("seats", sa.Integer(), nullable=False),
        sa.Column("reward", sa.Integer(), nullable=False),
        sa.Column("currency", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("posted_at", sa.Double()),
        sa.Column("expires_at", sa.Double()),
        sa.Column("free", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("pending", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("seats_there", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("terms", sa.Text()),
        sa.Column("problem", sa.Text()),
        sa.ForeignKeyConstraint(
            ["study_id"], ["studies.id"], name=op.f("fk_hits_study_id_studies")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_hits")),
        sa.UniqueConstraint("study_id", "remote_id", name=op.f("uq_hits_study_id_remote_id")),
        sa.UniqueConstraint("token", name=op.f("uq_hits_token")),
    )
    op.create_index(op.f("ix_hits_state"), "hits", ["study_id", "state"])
    op.create_table(
        "relaunch_seats",
        sa.Column("dialog_id", sa.Text(), nullable=False),
        sa.Column("hit_id", sa.Text(), nullable=False),
        sa.Column("seats", sa.Integer(), nullable=False),
        sa.Column("upto", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["dialog_id"],
            ["relaunches.dialog_id"],
            name=op.f("fk_relaunch_seats_dialog_id_relaunches"),
        ),
        sa.ForeignKeyConstraint(
            ["hit_id"], ["hits.id"], name=op.f("fk_relaunch_seats_hit_id_hits")
        ),
        sa.PrimaryKeyConstraint("dialog_id", "hit_id", name=op.f("pk_relaunch_seats")),
    )
    op.create_index(op.f("ix_relaunch_seats_hit_id"), "relaunch_seats", ["hit_id"])
    op.create_table(
        "assignments",
        sa.Column("study_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("hit_id", sa.Text(), nullable=False),
        sa.Column("worker", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("code", sa.Text()),
        sa.Column("submitted_at", sa.Double()),
        sa.ForeignKeyConstraint(["hit_id"], ["hits.id"], name=op.f("fk_assignments_hit_id_hits")),
        sa.ForeignKeyConstraint(
            ["study_id"], ["studies.id"], name=op.f("fk_assignments_study_id_studies")
        ),
        sa.PrimaryKeyConstraint("study_id", "id", name=op.f("pk_assignments")),
    )
    op.create_index(op.f("ix_assignments_hit_id"), "assignments", ["hit_id"])
    op.create_table(
        "payment_steps",
        sa.Column("arrival_id", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("step", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=False),
        sa.Column("done_at", sa.Double()),
        sa.Column("detail", sa.Text()),
        sa.ForeignKeyConstraint(
            ["arrival_id", "reason"],
            ["ledger.arrival_id", "ledger.reason"],
            name=op.f("fk_payment_steps_arrival_id_reason_ledger"),
        ),
        sa.PrimaryKeyConstraint("arrival_id", "reason", "step", name=op.f("pk_payment_steps")),
    )
    op.create_table(
        "leases",
        sa.Column("study_id", sa.Text(), nullable=False),
        sa.Column("work", sa.Text(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("until", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["study_id"], ["studies.id"], name=op.f("fk_leases_study_id_studies")
        ),
        sa.PrimaryKeyConstraint("study_id", "work", name=op.f("pk_leases")),
    )
