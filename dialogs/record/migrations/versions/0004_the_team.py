"""The team: who signs in, what they did, what they judged, and what they want done."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("studies", sa.Column("changes", sa.Text(), nullable=True))
    op.add_column("workers", sa.Column("excluded_at", sa.Double(), nullable=True))
    op.add_column("workers", sa.Column("excluded_why", sa.Text(), nullable=True))
    op.add_column("dialogs", sa.Column("checked_at", sa.Double(), nullable=True))
    op.create_index("ix_dialogs_opened_at", "dialogs", ["study_id", "opened_at"])
    op.create_index("ix_dialogs_ended_at", "dialogs", ["study_id", "ended_at"])
    op.create_index("ix_dialogs_item_id", "dialogs", ["item_id", "place"])
    op.drop_index("ix_dialogs_phase", "dialogs")
    whole = ["study_id", "phase", "outcome", "acceptance"]
    op.create_index("ix_dialogs_phase", "dialogs", whole)
    ended = ["study_id", "ended_at"]
    no_data = [*ended, "id", "outcome"]
    to_judge = [*no_data, "acceptance"]
    for name, columns, which in (
        ("ix_dialogs_to_judge", to_judge, "outcome = 'complete' AND acceptance IS NULL"),
        ("ix_dialogs_no_data", no_data, "outcome != 'complete'"),
        ("ix_dialogs_unchecked", ended, "outcome IS NOT NULL AND checked_at IS NULL"),
    ):
        op.create_index(
            name,
            "dialogs",
            columns,
            sqlite_where=sa.text(which),
            postgresql_where=sa.text(which),
        )
    op.create_index("ix_ledger_at", "ledger", ["at"])
    op.create_index("ix_relaunches_item_id", "relaunches", ["item_id"])
    op.drop_index("ix_hits_state", "hits")
    op.create_index("ix_hits_state", "hits", ["study_id", "state", "seats", "free"])
    op.create_index("ix_hits_created_at", "hits", ["study_id", "created_at", "id"])
    op.create_index("ix_arrivals_created_at", "arrivals", ["study_id", "created_at"])
    op.create_index("ix_releases_at", "releases", ["at"])
    op.create_table(
        "admins",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("password", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("disabled_at", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_admins")),
        sa.UniqueConstraint("name", name=op.f("uq_admins_name")),
    )
    op.create_table(
        "admin_sessions",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("admin_id", sa.Text(), nullable=False),
        sa.Column("csrf", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("seen_at", sa.Double(), nullable=False),
        sa.Column("ended_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(
            ["admin_id"], ["admins.id"], name=op.f("fk_admin_sessions_admin_id_admins")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_admin_sessions")),
    )
    op.create_index("ix_admin_sessions_admin_id", "admin_sessions", ["admin_id"])
    op.create_table(
        "sign_ins",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("good", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sign_ins")),
    )
    op.create_index("ix_sign_ins_name", "sign_ins", ["name", "at"])
    op.create_index("ix_sign_ins_address", "sign_ins", ["address", "at"])
    op.create_index("ix_sign_ins_at", "sign_ins", ["good", "at"])
    op.create_table(
        "audit",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("study_id", sa.Text(), nullable=True),
        sa.Column("admin_id", sa.Text(), nullable=True),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("before", sa.Text(), nullable=True),
        sa.Column("after", sa.Text(), nullable=True),
        sa.Column("at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["admin_id"], ["admins.id"], name=op.f("fk_audit_admin_id_admins")),
        sa.ForeignKeyConstraint(
            ["study_id"], ["studies.id"], name=op.f("fk_audit_study_id_studies")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    op.create_index("ix_audit_at", "audit", ["study_id", "at"])
    op.create_index("ix_audit_target", "audit", ["target"])
    op.create_table(
        "findings",
        sa.Column("dialog_id", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("flag", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=True),
        sa.Column("round", sa.Integer(), nullable=True),
        sa.Column("seq", sa.Integer(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("admin_id", sa.Text(), nullable=True),
        sa.Column("at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["admin_id"], ["admins.id"], name=op.f("fk_findings_admin_id_admins")
        ),
        sa.ForeignKeyConstraint(
            ["dialog_id"], ["dialogs.id"], name=op.f("fk_findings_dialog_id_dialogs")
        ),
        sa.PrimaryKeyConstraint("dialog_id", "number", name=op.f("pk_findings")),
    )
    op.create_index("ix_findings_flag", "findings", ["flag", "dialog_id"])
    op.create_table(
        "judgements",
        sa.Column("dialog_id", sa.Text(), nullable=False),
        sa.Column("admin_id", sa.Text(), nullable=False),
        sa.Column("verdict", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("decides", sa.Boolean(), nullable=False),
        sa.Column("again", sa.Boolean(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["admin_id"], ["admins.id"], name=op.f("fk_judgements_admin_id_admins")
        ),
        sa.ForeignKeyConstraint(
            ["dialog_id"], ["dialogs.id"], name=op.f("fk_judgements_dialog_id_dialogs")
        ),
        sa.PrimaryKeyConstraint("dialog_id", "admin_id", name=op.f("pk_judgements")),
    )
    op.create_index("ix_judgements_at", "judgements", ["at"])
    op.create_index("ix_judgements_admin_id", "judgements", ["admin_id", "at"])
    op.create_index(
        "ix_judgements_again",
        "judgements",
        ["dialog_id"],
        sqlite_where=sa.text("again IS 1"),
        postgresql_where=sa.text("again IS true"),
    )
    op.create_index(
        "ix_judgements_second",
        "judgements",
        ["dialog_id"],
        sqlite_where=sa.text("decides IS 0"),
        postgresql_where=sa.text("decides IS false"),
    )
    op.create_index(
        "uq_judgements_decides",
        "judgements",
        ["dialog_id"],
        unique=True,
        sqlite_where=sa.text("decides IS 1"),
        postgresql_where=sa.text("decides IS true"),
    )
    op.create_table(
        "review_claims",
        sa.Column("dialog_id", sa.Text(), nullable=False),
        sa.Column("admin_id", sa.Text(), nullable=False),
        sa.Column("until", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["admin_id"], ["admins.id"], name=op.f("fk_review_claims_admin_id_admins")
        ),
        sa.ForeignKeyConstraint(
            ["dialog_id"], ["dialogs.id"], name=op.f("fk_review_claims_dialog_id_dialogs")
        ),
        sa.PrimaryKeyConstraint("dialog_id", name=op.f("pk_review_claims")),
        sa.UniqueConstraint("admin_id", name=op.f("uq_review_claims_admin_id")),
    )
    op.create_table(
        "worker_notes",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("worker_id", sa.Text(), nullable=False),
        sa.Column("admin_id", sa.Text(), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["admin_id"], ["admins.id"], name=op.f("fk_worker_notes_admin_id_admins")
        ),
        sa.ForeignKeyConstraint(
            ["worker_id"], ["workers.id"], name=op.f("fk_worker_notes_worker_id_workers")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_worker_notes")),
    )
    op.create_index("ix_worker_notes_worker_id", "worker_notes", ["worker_id"])
    op.create_table(
        "team_requests",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("study_id", sa.Text(), nullable=False),
        sa.Column("admin_id", sa.Text(), nullable=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("tries", sa.Integer(), server_default="0", nullable=False),
        sa.Column("retry_at", sa.Double(), nullable=True),
        sa.Column("started_at", sa.Double(), nullable=True),
        sa.Column("done_at", sa.Double(), nullable=True),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["admin_id"], ["admins.id"], name=op.f("fk_team_requests_admin_id_admins")
        ),
        sa.ForeignKeyConstraint(
            ["study_id"], ["studies.id"], name=op.f("fk_team_requests_study_id_studies")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_team_requests")),
    )
    op.create_index("ix_team_requests_state", "team_requests", ["study_id", "state", "at"])
    op.create_index("ix_team_requests_target", "team_requests", ["target"])
    op.create_table(
        "recruiting",
        sa.Column("study_id", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("good_at", sa.Double(), nullable=True),
        sa.Column("problems", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["study_id"], ["studies.id"], name=op.f("fk_recruiting_study_id_studies")
        ),
        sa.PrimaryKeyConstraint("study_id", name=op.f("pk_recruiting")),
    )
