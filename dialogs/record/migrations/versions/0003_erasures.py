"""Whose texts and ids were erased at their request."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "erasures",
        sa.Column("worker_id", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("arrivals", sa.Integer(), nullable=False),
        sa.Column("texts", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["worker_id"], ["workers.id"], name=op.f("fk_erasures_worker_id_workers")
        ),
        sa.PrimaryKeyConstraint("worker_id", "at", name=op.f("pk_erasures")),
    )
