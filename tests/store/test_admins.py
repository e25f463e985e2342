"""Admins, their sessions, their attempts, and the audit, on both databases."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from dialogs.record import admins, attempts
from dialogs.record.admins import NotChanged, known_as
from dialogs.record.audit import AuditPage, audit_page, audited
from dialogs.record.errors import Conflict
from dialogs.record.store import Record
from dialogs.record.tables import admin_sessions, audit, sign_ins
from dialogs.record.tables import admins as admins_table
from dialogs.record.writer import Decision
from dialogs.rules import AdminRole
from tests.records import STUDY, begin_study, opened, rows_of

OWNER, REVIEWER, VIEWER = AdminRole.OWNER, AdminRole.REVIEWER, AdminRole.VIEWER


async def change(record: Record, what: Any, *args: Any) -> Any:
    return await asyncio.to_thread(admins.written, record.engine, what, *args)


async def add(record: Record, name: str, role: AdminRole = OWNER) -> admins.AdminRow:
    await change(record, admins.add_admin, f"ad-{name}", name, role, f"hash of {name}", 1.0)
    row = await record.read(admins.admin_named, name)
    assert row is not None
    return row


async def sign_in(record: Record, admin: admins.AdminRow, session: str, at: float = 10.0) -> None:
    attempt = f"attempt-{session}"
    await record.writer.commit(attempts.attempted(attempt, "name", "address", at))
    made = admins.signed_in(STUDY, admin, session, "csrf", attempt, admin.password, at)
    await record.writer.commit(made)


def actions(record: Record) -> list[str]:
    return [row["action"] for row in sorted(rows_of(record, audit), key=lambda row: row["at"])]


# --- Names -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "known"),
    [
        ("ada", "ada"),
        (" Ada ", "ada"),
        ("ADA.Lovelace@example.org", "ada.lovelace@example.org"),
        ("J\u00dcRGEN", "j\u00fcrgen"),
        ("ju\u0308rgen", "j\u00fcrgen"),
        ("stra\u00dfe", "strasse"),
        ("\u0410\u0434\u0430", "\u0430\u0434\u0430"),
        ("", None),
        ("  ", None),
        ("a b", None),
        ("a\0", None),
        ("a\nb", None),
        ("\u202eada", None),
        ("\ud800", None),
        ("a/b", None),
        ("x" * 65, None),
        ("x" * 64, "x" * 64),
    ],
)
def test_a_name_is_one_however_it_is_typed(typed: str, known: str | None) -> None:
    assert known_as(typed) == known
    assert known is None or known_as(known) == known


# --- Admins ------------------------------------------------------------------------------------


async def test_admins_are_added_changed_and_listed(database_url: str) -> None:
    async with opened(database_url) as record:
        assert not await record.read(admins.has_admins)
        await add(record, "ada")
        await add(record, "ben", VIEWER)
        assert await record.read(admins.has_admins)
        with pytest.raises(NotChanged, match="there is such an admin"):
            await add(record, "ben")
        await change(record, admins.set_role, "ben", REVIEWER, 2.0)
        await change(record, admins.set_password, "ben", "another hash", 3.0)
        assert await change(record, admins.disable, "ben", 4.0) == 0
        with pytest.raises(NotChanged, match="is disabled already"):
            await change(record, admins.disable, "ben", 5.0)
        ada, ben = await record.read(admins.all_admins)
        assert (ada.row.name, ada.row.role, ada.row.disabled_at) == ("ada", OWNER, None)
        assert (ben.row.role, ben.row.password, ben.row.disabled_at) == (
            REVIEWER,
            "another hash",
            4.0,
        )
        await change(record, admins.enable, "ben", 6.0)
        with pytest.raises(NotChanged, match="is not disabled"):
            await change(record, admins.enable, "ben", 7.0)
        for what, *args in (
            (admins.set_role, "eve", OWNER),
            (admins.set_password, "eve", "x"),
            (admins.disable, "eve"),
            (admins.enable, "eve"),
            (admins.sign_out, "eve"),
        ):
            with pytest.raises(NotChanged, match="eve: there is no such admin"):
                await change(record, what, *args, 8.0)
        assert actions(record)[2:] == [
            "admin.role",
            "admin.password",
            "admin.disable",
            "admin.enable",
        ]
        rows = rows_of(record, audit)
        assert {(row["study_id"], row["admin_id"]) for row in rows} == {(None, None)}
        (changed,) = [row for row in rows if row["action"] == "admin.role"]
        assert (changed["target"], changed["before"], changed["after"]) == (
            "ben",
            '{"role":"viewer"}',
            '{"role":"reviewer"}',
        )
        # Not even as a hash.
        assert "hash" not in repr(rows)


async def test_there_is_always_an_owner(database_url: str) -> None:
    async with opened(database_url) as record:
        await add(record, "ada")
        await add(record, "ben", REVIEWER)
        for what, *args in ((admins.disable, "ada"), (admins.set_role, "ada", VIEWER)):
            with pytest.raises(NotChanged, match="ada: is the last owner"):
                await change(record, what, *args, 2.0)
        await add(record, "eve")
        await change(record, admins.disable, "eve", 3.0)
        # Who is disabled owns nothing.
        with pytest.raises(NotChanged, match="ada: is the last owner"):
            await change(record, admins.disable, "ada", 4.0)
        await change(record, admins.set_role, "eve", VIEWER, 4.0)
        await change(record, admins.set_role, "ben", OWNER, 5.0)
        await change(record, admins.disable, "ada", 6.0)


async def test_two_who_demote_each_other_leave_an_owner(database_url: str) -> None:
    async with opened(database_url) as record:
        for n in range(10):
            one, other = await add(record, f"one{n}"), await add(record, f"other{n}")
            if n:
                for last in (f"one{n - 1}", f"other{n - 1}"):
                    await change(record, admins.set_role, last, VIEWER, 2.0)
            results = await asyncio.gather(
                change(record, admins.set_role, one.name, VIEWER, 3.0),
                change(record, admins.disable, other.name, 3.0),
                return_exceptions=True,
            )
            assert sum(isinstance(each, NotChanged) for each in results) == 1, results
            if isinstance(results[1], int):
                await change(record, admins.enable, other.name, 4.0)


# --- Sessions ----------------------------------------------------------------------------------


async def test_a_session_begins_and_ends(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=0)
        ada = await add(record, "ada")
        for n in range(3):
            await sign_in(record, ada, f"session-{n}", at=10.0 + n)
        found = await record.read(admins.sessions_by_id, ["session-0", "nothing"])
        (session,) = found.values()
        assert (session.admin_id, session.name, session.role) == (ada.id, "ada", OWNER)
        assert (session.created_at, session.seen_at, session.ended_at) == (10.0, 10.0, None)
        await record.writer.commit(admins.seen("session-0", 20.0))
        ended = admins.signed_out(STUDY, ada.id, "ada", ["session-0"], "sign_out", 30.0)
        await record.writer.commit(ended)
        for again in (ended, admins.seen("session-0", 40.0)):
            with pytest.raises(Conflict):
                await record.writer.commit(again)
        found = await record.read(admins.sessions_by_id, ["session-0"])
        assert (found["session-0"].seen_at, found["session-0"].ended_at) == (20.0, 30.0)
        assert await record.read(admins.open_sessions, ada.id) == ["session-1", "session-2"]
        (listed,) = await record.read(admins.all_admins)
        assert (listed.sessions, listed.seen_at) == (2, 20.0)
        assert {row["good"] for row in rows_of(record, sign_ins)} == {True}


@pytest.mark.parametrize("how", ["sign_out", "disable", "set_password"])
async def test_all_sessions_of_one_admin_end(database_url: str, how: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=0)
        await add(record, "root")
        ada, ben = await add(record, "ada"), await add(record, "ben")
        for n in range(2):
            await sign_in(record, ada, f"ada-{n}")
            await sign_in(record, ben, f"ben-{n}")
        more = ("x",) if how == "set_password" else ()
        assert await change(record, getattr(admins, how), "ada", *more, 50.0) == 2
        assert await record.read(admins.open_sessions, ada.id) == []
        assert await record.read(admins.open_sessions, ben.id) == ["ben-0", "ben-1"]


@pytest.mark.parametrize("how", ["disable", "set_password"])
async def test_who_lost_the_right_meanwhile_gets_no_session(database_url: str, how: str) -> None:
    """Whoever verified the password a moment before must not have got in by the old one."""
    async with opened(database_url) as record:
        await begin_study(record, people=0)
        await add(record, "root")
        ada = await add(record, "ada")
        await record.writer.commit(attempts.attempted("attempt", "name", "address", 1.0))
        made = admins.signed_in(STUDY, ada, "session", "csrf", "attempt", ada.password, 10.0)
        more = ("x",) if how == "set_password" else ()
        await change(record, getattr(admins, how), "ada", *more, 9.0)
        with pytest.raises(Conflict):
            await record.writer.commit(made)
        assert rows_of(record, admin_sessions) == []
        assert [row["good"] for row in rows_of(record, sign_ins)] == [False]
        assert "sign_in" not in actions(record)


async def test_a_hash_is_renewed_with_the_sign_in(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=0)
        ada = await add(record, "ada")
        await record.writer.commit(attempts.attempted("attempt", "name", "address", 1.0))
        made = admins.signed_in(STUDY, ada, "session", "csrf", "attempt", "a better hash", 10.0)
        await record.writer.commit(made)
        (row,) = rows_of(record, admins_table)
        assert row["password"] == "a better hash"


# --- Attempts ----------------------------------------------------------------------------------


async def test_attempts_are_found_by_address_and_counted_by_name(database_url: str) -> None:
    async with opened(database_url) as record:
        for n in range(6):
            made = attempts.attempted(f"id-{n}", f"name-{n % 2}", f"address-{n % 3}", 100.0 + n)
            await record.writer.commit(made)
        await record.writer.commit(Decision("id-3", (), (attempts.went_well("id-3"),)))

        async def ask(name: str, address: str, here: float, at: float, most: int) -> Any:
            found = await record.read(
                attempts.attempts,
                name,
                address,
                here_since=here,
                name_since=at,
                most_at_name=most,
            )
            return [(row.name, row.at, row.good) for row in found.here], found.at_name

        newest_first = [("name-1", 103.0, True), ("name-0", 100.0, False)]
        assert await ask("name-0", "address-0", 0.0, 0.0, 9) == (newest_first, 3)
        assert await ask("name-1", "address-0", 100.0, 0.0, 9) == (newest_first[:1], 2)
        assert await ask("name-1", "address-9", 0.0, 101.0, 9) == ([], 1)
        assert await ask("name-0", "address-9", 0.0, 0.0, 2) == ([], 2)


async def test_tries_that_no_longer_count_are_forgotten_a_few_at_a_time(database_url: str) -> None:
    async with opened(database_url) as record:
        good = [attempts.attempted(f"good-{n}", "name", "address", float(n)) for n in range(3)]
        vain = [attempts.attempted(f"vain-{n}", "name", "address", float(n)) for n in range(60)]
        for made in good + vain:
            await record.writer.commit(made)
        well = tuple(attempts.went_well(f"good-{n}") for n in range(3))
        await record.writer.commit(Decision("good", (), well))

        async def forget() -> int:
            old = await record.read(attempts.outdated, good_before=2.0, vain_before=55.0)
            if old:
                await record.writer.commit(attempts.forgotten(old))
            return len(old)

        assert [await forget() for _ in range(3)] == [50, 7, 0]
        left = {row["id"] for row in rows_of(record, sign_ins)}
        assert left == {"good-2", *(f"vain-{n}" for n in range(55, 60))}


async def test_two_who_forget_the_same_tries_are_no_harm(database_url: str) -> None:
    async with opened(database_url) as record:
        for n in range(3):
            await record.writer.commit(attempts.attempted(f"t-{n}", "name", "address", 1.0))
        await record.writer.commit(attempts.forgotten(["t-0"]))
        with pytest.raises(Conflict):
            await record.writer.commit(attempts.forgotten(["t-0", "t-1"]))
        assert len(rows_of(record, sign_ins)) == 2
        await record.writer.commit(attempts.forgotten(["t-1", "t-2"]))
        assert rows_of(record, sign_ins) == []


# --- Audit -------------------------------------------------------------------------------------


async def test_the_audit_comes_in_pages_the_newest_first(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=0)
        ada = await add(record, "ada")
        for n in range(7):
            # Several at one moment, as by a bulk action.
            row = audited(STUDY, ada.id, "dialog.end", f"d{n}", None, {"n": n}, 100.0 + n // 3)
            await record.writer.commit(Decision(STUDY, (row,)))

        async def page(**how: Any) -> AuditPage:
            return await record.read(audit_page, STUDY, **how)

        whole = await page()
        assert (whole.total, whole.next, len(whole.rows)) == (8, None, 8)
        assert [row.at for row in whole.rows] == sorted((r.at for r in whole.rows), reverse=True)
        assert (whole.rows[0].by, whole.rows[0].after) == ("ada", '{"n":6}')
        assert (whole.rows[-1].by, whole.rows[-1].action) == (None, "admin.add")
        read, after = [], None
        for _ in range(4):
            part = await page(after=after, limit=2)
            assert part.total == 8
            read += part.rows
            after = part.next
        assert after is None
        assert read == whole.rows
        for wrong in ("", "x", "x,y"):
            with pytest.raises(ValueError, match="no end of a page"):
                await page(after=wrong)
        for name in ("by", "action", "target", "after"):
            with pytest.raises(ValueError, match="NUL"):
                await page(**{name: "1,\0"})


async def test_the_audit_is_filtered(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=0)
        ada, ben = await add(record, "ada"), await add(record, "ben")
        for who, action, target in (
            (ada.id, "dialog.end", "d1"),
            (ben.id, "dialog.end", "d2"),
            (ben.id, "worker.note", "w1"),
        ):
            row = audited(STUDY, who, action, target, None, None, 100.0)
            await record.writer.commit(Decision(STUDY, (row,)))

        async def targets(**how: Any) -> set[str]:
            found = await record.read(audit_page, STUDY, **how)
            assert found.total == len(found.rows)
            return {row.target for row in found.rows}

        assert await targets(by="ben") == {"d2", "w1"}
        assert await targets(action="dialog.end") == {"d1", "d2"}
        assert await targets(action="admin.add") == {"ada", "ben"}
        assert await targets(target="d1") == {"d1"}
        assert await targets(by="ada", target="d2") == set()
        # What was done in another study is not shown; who may sign in is the same in all.
        other = await record.read(audit_page, "another")
        assert {row.target for row in other.rows} == {"ada", "ben"}
