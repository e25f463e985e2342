"""`duologue admin`: who of the team may sign in to the monitor."""

from __future__ import annotations

import asyncio
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Concatenate, Final, ParamSpec, TypeVar

import click
from sqlalchemy import Connection

from chatserver.monitor.passwords import hashed, new_password, problem_with
from chatserver.server import Server
from chatserver.tokens import new_id
from dialogs.record import admins
from dialogs.record.admins import AdminSeen, NotChanged, known_as
from dialogs.record.store import Record
from dialogs.rules import AdminRole
from duologue.console import AS_JSON, program, run, show, site_of
from duologue.hits.money import STUDY_OPTION
from duologue.problems import BadInput
from duologue.serve import Site
from duologue.words import count

P = ParamSpec("P")
T = TypeVar("T")

_STDIN: Final = click.option(
    "--password-stdin", "stdin", is_flag=True, help="Read the password from standard input."
)
_GENERATE: Final = click.option(
    "--generate", is_flag=True, help="Make up a password and print it, this once."
)
_ROLE: Final = click.Choice([role.value for role in AdminRole])
_NAME: Final = click.argument("name")


@click.group("admin")
def command() -> None:
    """Who of the team may sign in to the monitor, and what they may do there.

    An owner may do everything; a reviewer sees everything, judges dialogs, decides on their pay
    and writes to people; a viewer sees everything but who people are. They are the same for all
    studies of a database. A server that runs takes note within seconds.

    Example: duologue admin add ada --role owner --study my-study
    """


@command.command()
@_NAME
@click.option("--role", type=_ROLE, required=True, help="What they may do.")
@_STDIN
@_GENERATE
@STUDY_OPTION
@AS_JSON
def add(name: str, role: str, stdin: bool, generate: bool, study: Path, as_json: bool) -> None:
    """Let somebody sign in to the monitor by NAME and a password, which is asked for twice.

    Upper and lower case make no difference in a NAME.

    Example: duologue admin add ada --role owner --study my-study
    """
    known = _checked(name)
    password = _password(known, stdin=stdin, generate=generate)
    _do(
        study, admins.add_admin, new_id("ad"), known, AdminRole(role), hashed(password), time.time()
    )
    values = {"name": known, "role": role} | ({"password": password} if generate else {})
    text = f"{known} may sign in, as {role}"
    show(as_json, values, text + _once(password, generate=generate))


@command.command("list")
@STUDY_OPTION
@AS_JSON
def list_(study: Path, as_json: bool) -> None:
    """Who may sign in, with their roles and when they were last seen.

    Example: duologue admin list --study my-study
    """

    def read(connection: Connection) -> list[AdminSeen]:
        return admins.all_admins(connection)

    found = run(_written(study, read))
    values = [
        {
            "name": each.row.name,
            "role": each.row.role.value,
            "disabled": each.row.disabled_at is not None,
            "sessions": each.sessions,
            "seen_at": each.seen_at,
        }
        for each in found
    ]
    show(as_json, {"admins": values}, "\n".join(map(_line, found)) or "nobody may sign in yet")


def _line(each: AdminSeen) -> str:
    seen = "never"
    if each.seen_at is not None:
        seen = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(each.seen_at))
    state = "  disabled" if each.row.disabled_at is not None else ""
    return f"{each.row.name:<24}  {each.row.role:<8}  last seen {seen}{state}"


@command.command()
@_NAME
@click.argument("role", type=_ROLE)
@STUDY_OPTION
@AS_JSON
def role(name: str, role: str, study: Path, as_json: bool) -> None:
    """Give NAME another ROLE: owner, reviewer or viewer.

    Example: duologue admin role ben reviewer --study my-study
    """
    known = _checked(name)
    _do(study, admins.set_role, known, AdminRole(role), time.time())
    show(as_json, {"name": known, "role": role}, f"{known} is {role}")


@command.command()
@_NAME
@_STDIN
@_GENERATE
@STUDY_OPTION
@AS_JSON
def password(name: str, stdin: bool, generate: bool, study: Path, as_json: bool) -> None:
    """Give NAME another password. Wherever they are signed in, they are signed out.

    Example: duologue admin password ada --study my-study
    """
    known = _checked(name)
    word = _password(known, stdin=stdin, generate=generate)
    ended = _do(study, admins.set_password, known, hashed(word), time.time())
    values = {"name": known, "ended": ended} | ({"password": word} if generate else {})
    text = f"{known} has another password; {count(ended, 'session')} ended"
    show(as_json, values, text + _once(word, generate=generate))


@command.command()
@_NAME
@STUDY_OPTION
@AS_JSON
def disable(name: str, study: Path, as_json: bool) -> None:
    """Let NAME sign in no more, and sign them out. What they did keeps their name.

    Example: duologue admin disable ben --study my-study
    """
    known = _checked(name)
    ended = _do(study, admins.disable, known, time.time())
    text = f"{known} may sign in no more; {count(ended, 'session')} ended"
    show(as_json, {"name": known, "ended": ended}, text)


@command.command()
@_NAME
@STUDY_OPTION
@AS_JSON
def enable(name: str, study: Path, as_json: bool) -> None:
    """Let NAME, who was disabled, sign in again, by the password they had.

    Example: duologue admin enable ben --study my-study
    """
    known = _checked(name)
    _do(study, admins.enable, known, time.time())
    show(as_json, {"name": known}, f"{known} may sign in again")


@command.command("sign-out")
@_NAME
@STUDY_OPTION
@AS_JSON
def sign_out(name: str, study: Path, as_json: bool) -> None:
    """Sign NAME out wherever they are signed in.

    Example: duologue admin sign-out ada --study my-study
    """
    known = _checked(name)
    ended = _do(study, admins.sign_out, known, time.time())
    show(as_json, {"name": known, "ended": ended}, f"{known}: {count(ended, 'session')} ended")


# --- Names and passwords -------------------------------------------------------------------


def _checked(name: str) -> str:
    known = known_as(name)
    if known is None:
        raise BadInput(
            [f"{name!a}: a name is made of letters, digits and . _ @ + -, at most 64 of them"]
        )
    return known


def _password(name: str, *, stdin: bool, generate: bool) -> str:
    """The new password of somebody, from where it was said to come.

    Raises:
        BadInput: it will not do, or there is nobody to ask.
    """
    if stdin and generate:
        raise BadInput(["--password-stdin or --generate; leave one of both out"])
    if generate:
        return new_password()
    if stdin:
        try:
            # An editor or `echo` puts one end of line behind it, which is not meant.
            word = sys.stdin.read(10_000).removesuffix("\n").removesuffix("\r")
        except UnicodeDecodeError:
            raise BadInput(["--password-stdin: it is no text in UTF-8"]) from None
    elif sys.stdin.isatty():
        word = click.prompt(
            "Password", hide_input=True, confirmation_prompt="The same again", err=True
        )
    else:
        raise BadInput(["there is no terminal to ask at; say --password-stdin or --generate"])
    if problem := problem_with(word, name):
        raise BadInput([problem])
    return word


def _once(password: str, *, generate: bool) -> str:
    return f"\npassword: {password}\nIt is shown only now." if generate else ""


# --- The record ----------------------------------------------------------------------------


def _do(
    study: Path,
    change: Callable[Concatenate[Connection, P], T],
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Carry out a change, whether a server runs or not.

    Raises:
        BadInput: it is refused, and nothing was changed.
    """
    try:
        return run(_written(study, change, *args, **kwargs))
    except NotChanged as error:
        raise BadInput([str(error)]) from None


async def _written(
    study: Path,
    change: Callable[Concatenate[Connection, P], T],
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    # The study need not have run: who looks after it may be named first.
    record = Record(site_of(study, keyed=False).settings.database_url, serving=False)
    record.open()
    try:
        return await asyncio.to_thread(
            lambda: admins.written(record.engine, change, *args, **kwargs)
        )
    finally:
        await record.close()


# --- Beside a server -----------------------------------------------------------------------

DEMO: Final = "demo"


def monitor_of(server: Server) -> str:
    """Where the team signs in."""
    return f"{server.url}/monitor"


async def how_to_begin(server: Server, site: Site) -> str:
    """What to say of the monitor while nobody may sign in; empty, if somebody may."""
    if await server.service.record.read(admins.has_admins):
        return ""
    words = [program(), "admin", "add", "NAME", "--role", AdminRole.OWNER.value]
    where = ["--study", str(site.folder)] if site.folder != Path() else []
    return f"nobody may sign in to it yet: {shlex.join([*words, *where])}"


async def demo_line(server: Server) -> str:
    """Make an owner of a demonstration; where and how to sign in as them."""
    word = new_password()
    engine, now = server.service.record.engine, server.service.now()

    def make() -> None:
        stored = hashed(word)
        try:
            admins.written(
                engine, admins.add_admin, new_id("ad"), DEMO, AdminRole.OWNER, stored, now
            )
        except NotChanged:
            # A database of somebody's own has had a demonstration before.
            admins.written(engine, admins.set_password, DEMO, stored, now)

    await asyncio.to_thread(make)
    return f"{'monitor:':15}{monitor_of(server)}  (name {DEMO}, password {word})"
