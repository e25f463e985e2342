"""Rows of the team's tables as a faulty program would write them: what the database refuses.

For `tests/store/test_record_constraints.py`, whose study has the dialog `first`, three workers and
an open HIT.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Table

from dialogs.record import tables
from tests.records import STUDY

Row = dict[str, Any]


def admin(id_: str, **fields: Any) -> Row:
    row = {"id": id_, "name": f"name-{id_}", "role": "reviewer", "password": "x"}
    return {**row, "created_at": 1.0, **fields}


def session(name: str, **fields: Any) -> Row:
    row = {"id": name, "admin_id": "ada", "csrf": "c", "created_at": 1.0, "seen_at": 1.0}
    return {**row, **fields}


def sign_in(name: str) -> Row:
    return {"id": name, "name": "alias", "address": "pseudonym", "at": 1.0, "good": False}


def done(name: str, **fields: Any) -> Row:
    row = {"id": name, "study_id": STUDY, "admin_id": "ada", "action": "review.judge"}
    return {**row, "target": "first", "at": 1.0, **fields}


def finding(number: int, **fields: Any) -> Row:
    row = {"dialog_id": "first", "number": number, "flag": "link", "reason": "It shows."}
    return {**row, "at": 1.0, **fields}


def judgement(who: str, **fields: Any) -> Row:
    row = {"dialog_id": "first", "admin_id": who, "verdict": "accepted", "reason": ""}
    return {**row, "decides": False, "again": False, "at": 1.0, **fields}


def claim(dialog: str, who: str) -> Row:
    return {"dialog_id": dialog, "admin_id": who, "until": 2.0}


def note(name: str, **fields: Any) -> Row:
    row = {"id": name, "worker_id": "worker-0", "admin_id": "ada", "text": "Kind.", "at": 1.0}
    return {**row, **fields}


def request(name: str, **fields: Any) -> Row:
    row = {"id": name, "study_id": STUDY, "admin_id": "ada", "kind": "message"}
    return {**row, "target": "worker-0", "data": "{}", "state": "wanted", "at": 1.0, **fields}


def round_(**fields: Any) -> Row:
    return {"study_id": STUDY, "at": 1.0, "problems": "[]", **fields}


STORY: list[tuple[Table, Row]] = [
    (tables.admins, admin("ada")),
    (tables.admins, admin("bob")),
    (tables.admin_sessions, session("s")),
    (tables.sign_ins, sign_in("try")),
    (tables.audit, done("row")),
    (tables.findings, finding(1)),
    (tables.judgements, judgement("ada", decides=True, again=True)),
    (tables.review_claims, claim("first", "ada")),
    (tables.worker_notes, note("n")),
    (tables.team_requests, request("r")),
    (tables.recruiting, round_()),
]

REFUSED: dict[str, tuple[tuple[Table, Row], str]] = {
    "the same admin twice": ((tables.admins, admin("ada", name="other")), "pk_admins"),
    "two admins of one name": (
        (tables.admins, admin("other", name="name-ada")),
        "uq_admins_name",
    ),
    "the same session twice": (
        (tables.admin_sessions, session("s", admin_id="bob")),
        "pk_admin_sessions",
    ),
    "a session of nobody": (
        (tables.admin_sessions, session("other", admin_id="nobody")),
        "fk_admin_sessions_admin_id_admins",
    ),
    "the same try to sign in twice": ((tables.sign_ins, sign_in("try")), "pk_sign_ins"),
    "the same row of the log twice": ((tables.audit, done("row", action="x")), "pk_audit"),
    "something done by nobody there is": (
        (tables.audit, done("other", admin_id="nobody")),
        "fk_audit_admin_id_admins",
    ),
    "something done in no study there is": (
        (tables.audit, done("other", study_id="none")),
        "fk_audit_study_id_studies",
    ),
    "a number twice among the findings of a dialog": (
        (tables.findings, finding(1, flag="copied")),
        "pk_findings",
    ),
    "a finding in no dialog": (
        (tables.findings, finding(2, dialog_id="none")),
        "fk_findings_dialog_id_dialogs",
    ),
    "a finding by nobody there is": (
        (tables.findings, finding(2, admin_id="nobody")),
        "fk_findings_admin_id_admins",
    ),
    "a dialog judged twice by one person": (
        (tables.judgements, judgement("ada", verdict="rejected")),
        "pk_judgements",
    ),
    "a dialog that is decided on twice": (
        (tables.judgements, judgement("bob", decides=True)),
        "uq_judgements_decides",
    ),
    "a judgement of no dialog": (
        (tables.judgements, judgement("bob", dialog_id="none")),
        "fk_judgements_dialog_id_dialogs",
    ),
    "a judgement by nobody": (
        (tables.judgements, judgement("nobody")),
        "fk_judgements_admin_id_admins",
    ),
    "a dialog in two hands": (
        (tables.review_claims, claim("first", "bob")),
        "pk_review_claims",
    ),
    "two dialogs in one hand": (
        (tables.review_claims, claim("other", "ada")),
        "uq_review_claims_admin_id",
    ),
    "no dialog in hand": (
        (tables.review_claims, claim("none", "bob")),
        "fk_review_claims_dialog_id_dialogs",
    ),
    "a dialog in nobody's hand": (
        (tables.review_claims, claim("other", "nobody")),
        "fk_review_claims_admin_id_admins",
    ),
    "the same note twice": ((tables.worker_notes, note("n", text="x")), "pk_worker_notes"),
    "a note about nobody": (
        (tables.worker_notes, note("other", worker_id="nobody")),
        "fk_worker_notes_worker_id_workers",
    ),
    "a note by nobody there is": (
        (tables.worker_notes, note("other", admin_id="nobody")),
        "fk_worker_notes_admin_id_admins",
    ),
    "the same request twice": (
        (tables.team_requests, request("r", kind="bonus")),
        "pk_team_requests",
    ),
    "a request in no study": (
        (tables.team_requests, request("other", study_id="none")),
        "fk_team_requests_study_id_studies",
    ),
    "a request by nobody there is": (
        (tables.team_requests, request("other", admin_id="nobody")),
        "fk_team_requests_admin_id_admins",
    ),
    "two last rounds of a study": ((tables.recruiting, round_(at=2.0)), "pk_recruiting"),
    "a last round of no study": (
        (tables.recruiting, round_(study_id="none")),
        "fk_recruiting_study_id_studies",
    ),
}

ALLOWED: dict[str, list[tuple[Table, Row]]] = {
    "a second judgement that decides nothing": [(tables.judgements, judgement("bob"))],
    "two open sessions of one admin": [(tables.admin_sessions, session("other"))],
    "what nobody of the team did, and in no study": [
        (tables.audit, done("other", admin_id=None, study_id=None))
    ],
    "a dialog in each hand": [(tables.review_claims, claim("other", "bob"))],
}
