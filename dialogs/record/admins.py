"""Admins: who of the team may sign in to the monitor, and who is signed in.

The record holds nothing by which anybody could sign in: passwords as argon2 hashes, and of what
stands in a cookie a digest. Who is an admin is the same for all studies of a database.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from sqlalchemy import Connection, Engine, Row, func, select
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from dialogs.record.attempts import went_well
from dialogs.record.audit import audited
from dialogs.record.bulk import RowUpdate, insert_rows
from dialogs.record.errors import Unavailable
from dialogs.record.queries import chunks
from dialogs.record.tables import admin_sessions, admins
from dialogs.record.writer import Change, Decision
from dialogs.rules import AdminRole

P = ParamSpec("P")
T = TypeVar("T")

_NAME: Final = re.compile(r"[\w.@+-]{1,64}")


def known_as(name: str) -> str | None:
    """The form in which a name is stored and looked up: however it is typed, it is one person's.
    None of what no admin can be called."""
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).strip()
    return plain if _NAME.fullmatch(plain) else None


# --- Admins --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AdminRow:
    """Somebody of the team; `password` is an argon2 hash."""

    id: str
    name: str
    role: AdminRole
    password: str
    created_at: float
    disabled_at: float | None


@dataclass(frozen=True, slots=True)
class AdminSeen:
    """An admin in the list: `sessions` nobody has ended, `seen_at` is the last sign of any."""

    row: AdminRow
    sessions: int
    seen_at: float | None


def admin_named(connection: Connection, name: str) -> AdminRow | None:
    """The admin who is `known_as` this."""
    return _admin(connection.execute(select(admins).where(admins.c.name == name)).one_or_none())


def _admin(row: Row[Any] | None) -> AdminRow | None:
    if row is None:
        return None
    return AdminRow(
        row.id, row.name, AdminRole(row.role), row.password, row.created_at, row.disabled_at
    )


def admin_names(connection: Connection, ids: Collection[str]) -> dict[str, str]:
    """What these admins are called, by their ids."""
    found: dict[str, str] = {}
    for chunk in chunks(ids):
        query = select(admins.c.id, admins.c.name).where(admins.c.id.in_(chunk))
        found.update({row.id: row.name for row in connection.execute(query)})
    return found


def all_admins(connection: Connection) -> list[AdminSeen]:
    """Everybody, by name, those who are disabled too."""
    is_open = admin_sessions.c.ended_at.is_(None)
    seen = {
        row.admin_id: (row.open, row.seen_at)
        for row in connection.execute(
            select(
                admin_sessions.c.admin_id,
                func.count().filter(is_open).label("open"),
                func.max(admin_sessions.c.seen_at).label("seen_at"),
            ).group_by(admin_sessions.c.admin_id)
        )
    }
    rows = [_admin(row) for row in connection.execute(select(admins).order_by(admins.c.name))]
    return [AdminSeen(row, *seen.get(row.id, (0, None))) for row in rows if row is not None]


def has_admins(connection: Connection) -> bool:
    """Whether anybody may sign in."""
    some = select(admins.c.id).where(admins.c.disabled_at.is_(None)).limit(1)
    return connection.execute(some).first() is not None


# --- Changing them (on the command line) ---------------------------------------------------


class NotChanged(Exception):
    """Why a change of an admin was refused; shown to whoever wanted it."""


def written(
    engine: Engine, change: Callable[Concatenate[Connection, P], T], *args: P.args, **kw: P.kwargs
) -> T:
    """Run one of the changes below in a transaction of its own, one after the other.

    Raises:
        NotChanged: with the reason; nothing was changed.
        Unavailable: the database does not answer.
    """
    try:
        with engine.begin() as connection:
            # Two who demote each other's last fellow owner must see each other.
            connection.execute(select(admins.c.id).order_by(admins.c.id).with_for_update())
            return change(connection, *args, **kw)
    except IntegrityError:
        raise NotChanged("the admins were changed at this very moment; please try again") from None
    except SQLAlchemyError as error:
        raise Unavailable(str(getattr(error, "orig", None) or error)) from None


def add_admin(
    connection: Connection, admin_id: str, name: str, role: AdminRole, password: str, now: float
) -> None:
    """Somebody new, who is `known_as` the name; `password` is its hash."""
    if admin_named(connection, name):
        raise NotChanged(f"{name}: there is such an admin already")
    row = {
        "id": admin_id,
        "name": name,
        "role": role.value,
        "password": password,
        "created_at": now,
    }
    insert_rows(connection, admins, [row])
    _note(connection, "admin.add", name, None, {"role": role.value}, now)


def set_role(connection: Connection, name: str, role: AdminRole, now: float) -> None:
    admin = _known(connection, name)
    if role is not AdminRole.OWNER:
        _keep_an_owner(connection, admin)
    connection.execute(admins.update().where(admins.c.id == admin.id).values(role=role.value))
    before, after = {"role": admin.role.value}, {"role": role.value}
    _note(connection, "admin.role", name, before, after, now)


def set_password(connection: Connection, name: str, password: str, now: float) -> int:
    """Sets the hash and ends all sessions of theirs; returns how many."""
    admin = _known(connection, name)
    connection.execute(admins.update().where(admins.c.id == admin.id).values(password=password))
    _note(connection, "admin.password", name, None, None, now)
    return _end_all(connection, admin, now)


def disable(connection: Connection, name: str, now: float) -> int:
    """They can sign in no more, and all sessions of theirs end; returns how many did."""
    admin = _known(connection, name)
    if admin.disabled_at is not None:
        raise NotChanged(f"{name}: is disabled already")
    _keep_an_owner(connection, admin)
    connection.execute(admins.update().where(admins.c.id == admin.id).values(disabled_at=now))
    _note(connection, "admin.disable", name, None, None, now)
    return _end_all(connection, admin, now)


def enable(connection: Connection, name: str, now: float) -> None:
    admin = _known(connection, name)
    if admin.disabled_at is None:
        raise NotChanged(f"{name}: is not disabled")
    connection.execute(admins.update().where(admins.c.id == admin.id).values(disabled_at=None))
    _note(connection, "admin.enable", name, None, None, now)


def sign_out(connection: Connection, name: str, now: float) -> int:
    """Ends all sessions of theirs; returns how many."""
    admin = _known(connection, name)
    ended = _end_all(connection, admin, now)
    _note(connection, "admin.sign_out", name, None, {"sessions": ended}, now)
    return ended


def _known(connection: Connection, name: str) -> AdminRow:
    admin = admin_named(connection, name)
    if admin is None:
        raise NotChanged(f"{name}: there is no such admin")
    return admin


def _keep_an_owner(connection: Connection, admin: AdminRow) -> None:
    """Without an owner nobody could ever do what only owners may."""
    others = select(admins.c.id).where(
        admins.c.role == AdminRole.OWNER.value,
        admins.c.disabled_at.is_(None),
        admins.c.id != admin.id,
    )
    last = admin.role is AdminRole.OWNER and admin.disabled_at is None
    if last and connection.execute(others.limit(1)).first() is None:
        raise NotChanged(f"{admin.name}: is the last owner; make somebody else an owner first")


def _end_all(connection: Connection, admin: AdminRow, now: float) -> int:
    return connection.execute(
        admin_sessions.update()
        .where(admin_sessions.c.admin_id == admin.id, admin_sessions.c.ended_at.is_(None))
        .values(ended_at=now)
    ).rowcount


def _note(
    connection: Connection,
    action: str,
    name: str,
    before: dict[str, Any] | None,
    after: dict[str, Any] | None,
    now: float,
) -> None:
    table, row = audited(None, None, action, name, before, after, now)
    insert_rows(connection, table, [row])


# --- Sessions ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session with whose it is. `disabled_at` is its admin's."""

    id: str
    admin_id: str
    name: str
    role: AdminRole
    csrf: str
    created_at: float
    seen_at: float
    ended_at: float | None
    disabled_at: float | None


def sessions_by_id(connection: Connection, ids: Collection[str]) -> dict[str, SessionRow]:
    """The sessions among these ids, those that have ended too."""
    found = {}
    for chunk in chunks(ids):
        query = (
            select(admin_sessions, admins.c.name, admins.c.role, admins.c.disabled_at)
            .join(admins, admins.c.id == admin_sessions.c.admin_id)
            .where(admin_sessions.c.id.in_(chunk))
        )
        for row in connection.execute(query):
            found[row.id] = SessionRow(
                row.id,
                row.admin_id,
                row.name,
                AdminRole(row.role),
                row.csrf,
                row.created_at,
                row.seen_at,
                row.ended_at,
                row.disabled_at,
            )
    return found


def open_sessions(connection: Connection, admin_id: str) -> list[str]:
    """The ids of the sessions of an admin that nobody has ended."""
    return list(
        connection.execute(
            select(admin_sessions.c.id)
            .where(admin_sessions.c.admin_id == admin_id, admin_sessions.c.ended_at.is_(None))
            .order_by(admin_sessions.c.id)
        ).scalars()
    )


_SEEN: Final = RowUpdate(
    lambda p: (
        admin_sessions.update()
        .where(admin_sessions.c.id == p["session"], admin_sessions.c.ended_at.is_(None))
        .values(seen_at=p["now"])
    ),
    session=admin_sessions.c.id,
    now=admin_sessions.c.seen_at,
)
_ENDED: Final = RowUpdate(
    lambda p: (
        admin_sessions.update()
        .where(admin_sessions.c.id == p["session"], admin_sessions.c.ended_at.is_(None))
        .values(ended_at=p["now"])
    ),
    session=admin_sessions.c.id,
    now=admin_sessions.c.seen_at,
)
# Also where the hash stays as it was: whose password or right to sign in is taken away at this
# moment does not get a session any more.
_STILL_THEIRS: Final = RowUpdate(
    lambda p: (
        admins.update()
        .where(
            admins.c.id == p["admin"],
            admins.c.password == p["before"],
            admins.c.disabled_at.is_(None),
        )
        .values(password=p["after"])
    ),
    admin=admins.c.id,
    before=admins.c.password,
    after=admins.c.password,
)


def seen(session_id: str, now: float) -> Decision:
    """A sign of life of a session; conflicts if it has ended."""
    return Decision(session_id, (), (Change(_SEEN, {"session": session_id, "now": now}),))


def signed_in(
    study_id: str,
    admin: AdminRow,
    session_id: str,
    csrf: str,
    attempt_id: str,
    password: str,
    now: float,
) -> Decision:
    """A session begins, after an attempt that was right; `password` is the hash from now on.
    Conflicts if the admin was disabled or given another password meanwhile."""
    row = {
        "id": session_id,
        "admin_id": admin.id,
        "csrf": csrf,
        "created_at": now,
        "seen_at": now,
    }
    still = {"admin": admin.id, "before": admin.password, "after": password}
    return Decision(
        admin.id,
        (
            (admin_sessions, row),
            audited(study_id, admin.id, "sign_in", admin.name, None, None, now),
        ),
        (Change(_STILL_THEIRS, still), went_well(attempt_id)),
    )


def signed_out(
    study_id: str, admin_id: str, name: str, session_ids: Iterable[str], action: str, now: float
) -> Decision:
    """These sessions of one admin end; conflicts if one has ended already."""
    ids = sorted(session_ids)
    changes = tuple(Change(_ENDED, {"session": each, "now": now}) for each in ids)
    done = audited(study_id, admin_id, action, name, None, {"sessions": len(ids)}, now)
    return Decision(admin_id, (done,), changes)
