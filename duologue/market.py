"""`duologue market`: a marketplace of the team's own, where its people find HITs."""

from __future__ import annotations

import asyncio
import errno
import shlex
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Concatenate, Final, ParamSpec, TypeVar
from urllib.parse import urlsplit

import click
from sqlalchemy import Connection

from dialogs.money import to_cents, to_text
from duologue import locks
from duologue.console import (
    AS_JSON,
    new_file,
    note_of_links,
    program,
    put_gitignore,
    run,
    show,
    writing,
)
from duologue.logs import log_to_stderr
from duologue.market_about import about_options
from duologue.problems import BadInput
from duologue.serve import probe_port, until_told_to_stop
from duologue.settings import is_loopback
from hit_manager.csvfiles import write_csv
from hit_manager.marketplace import money, workers
from hit_manager.marketplace.about import About
from hit_manager.marketplace.clock import Clock
from hit_manager.marketplace.errors import MarketplaceError
from hit_manager.marketplace.server import MarketplaceServer, serve_marketplace
from hit_manager.marketplace.store import Store

P = ParamSpec("P")
T = TypeVar("T")

DATABASE_FILE: Final = "marketplace.sqlite3"
URL_FILE: Final = "marketplace.url"
"""What a running marketplace leaves in its folder, for the links that are made beside it."""

LOCK_FILE: Final = "marketplace.lock"

GITIGNORE: Final = """\
# What lets people in, and what they have earned, belongs in no repository.
marketplace.*
links*.csv
earned*.csv
"""
"""What git is told of a new marketplace's folder, which often lies in a checkout."""

PORT: Final = 8100
MOST_AT_ONCE: Final = 10_000
FUNDS: Final = 100_000
"""Cents that a new requester can spend, unless told otherwise."""

FOLDER = click.argument(
    "folder", type=click.Path(path_type=Path, file_okay=False), default=Path(), metavar="[FOLDER]"
)
DATABASE = click.option(
    "--database",
    metavar="URL",
    help=f"postgresql://… or sqlite:///….  [default: {DATABASE_FILE} in FOLDER]",
)
PUBLIC_URL = click.option(
    "--public-url", metavar="URL", help="The address under which people reach the marketplace."
)


@click.group()
def market() -> None:
    """A marketplace of your own: HITs for your people, and MTurk's requester API for your programs.

    Example: duologue market serve my-market
    """


@market.command()
@FOLDER
@DATABASE
@PUBLIC_URL
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=PORT,
    show_default=True,
    help="The port to listen on; 0 for any that is free.",
)
@about_options
def serve(
    folder: Path,
    database: str | None,
    public_url: str | None,
    host: str,
    port: int,
    about: About,
) -> None:
    """Run the marketplace whose data is in FOLDER, by default the current folder.

    Its database is made at the first start. Other machines reach it with --host 0.0.0.0 and
    --public-url, best behind a proxy that has a certificate.

    Example: duologue market serve my-market
    """
    if not is_loopback(host) and public_url is None:
        raise BadInput(
            [f"--host {host} needs --public-url: the address that people will open in a browser"]
        )
    log_to_stderr("info")
    url = _checked(public_url)
    store = store_url(folder, database, new=True)
    with _ours(folder, host, port):
        run(_serve(folder, store, host, port, url, about))


async def _serve(
    folder: Path, store: str, host: str, port: int, public_url: str | None, about: About
) -> None:
    try:
        async with serve_marketplace(store, host, port, public_url, about=about) as server:
            keep_url(folder, server)
            stopping = asyncio.ensure_future(until_told_to_stop(""))
            # Whoever reads that it runs may end it at once: the signals have their handlers first.
            await asyncio.sleep(0)
            click.echo(_welcome(folder, server))
            await stopping
    except OSError as error:
        raise _no_port(host, port, error) from None


@contextmanager
def _ours(folder: Path, host: str, port: int) -> Iterator[None]:
    """The folder, made if there is none, for this process alone; where the port cannot be had,
    nothing was made.

    Raises:
        BadInput: another marketplace runs there, or the port cannot be had.
    """
    with ExitStack() as stack:
        # Of two reasons not to start, this is the one to know of.
        if known := (folder / LOCK_FILE).exists():
            stack.enter_context(alone(folder))
        try:
            probe_port(host, port)
        except OSError as error:
            raise _no_port(host, port, error) from None
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            put_gitignore(folder, GITIGNORE)
        if not known:
            stack.enter_context(alone(folder))
        yield


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Nobody else runs the marketplace of this folder while the context is open: its links lead
    to the one that was started last.

    Raises:
        BadInput: somebody does.
    """
    try:
        with locks.held(folder / LOCK_FILE, within_s=0):
            yield
    except locks.Taken:
        raise BadInput(
            [f"another marketplace is running on {folder}: end it first, or name another folder"]
        ) from None


def keep_url(folder: Path, server: MarketplaceServer) -> None:
    """Note the address for the links that are made beside the server."""
    (folder / URL_FILE).write_text(server.url + "\n", encoding="utf-8")


def _no_port(host: str, port: int, error: OSError) -> BadInput | OSError:
    if isinstance(error, socket.gaierror):
        return BadInput([f"--host {host} is no address ({error.strerror})"])
    match error.errno:
        case errno.EADDRINUSE:
            return BadInput(
                [f"port {port} is in use; stop what uses it, or name another one with --port"]
            )
        case errno.EACCES | errno.EPERM:
            return BadInput([f"--port: you may not open port {port}; choose one from 1024 on"])
        case errno.EADDRNOTAVAIL:
            return BadInput([f"--host {host} is no address of this machine"])
        case _:
            return error


def _welcome(folder: Path, server: MarketplaceServer) -> str:
    where = "" if folder == Path() else f" {shlex.quote(str(folder))}"
    called = shlex.quote(program())
    return (
        f"marketplace: {server.url}/worker/\n"
        f"people come in by links: {called} market invite 10{where}\n"
        f"programs sign in with a key: {called} market key{where}"
    )


@market.command()
@click.argument("number", type=click.IntRange(1, MOST_AT_ONCE), metavar="N")
@FOLDER
@DATABASE
@PUBLIC_URL
@click.option(
    "--csv",
    "csv_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the links to this new file, one a row.",
)
@click.option("--note", default="", help="Kept beside each link, for yourself.")
@AS_JSON
def invite(
    number: int,
    folder: Path,
    database: str | None,
    public_url: str | None,
    csv_file: Path | None,
    note: str,
    as_json: bool,
) -> None:
    """Make N invitation links to the marketplace in FOLDER, each good for one person.

    A link is also how this person comes back, so give each to one person only.

    Example: duologue market invite 20 my-market --csv my-market/links.csv
    """
    url = url_of(folder, _checked(public_url))
    store = store_url(folder, database)
    if said := note_of_links(url, "start the marketplace with --public-url, or give it here"):
        click.echo(said, err=True)
    if csv_file is None:
        links = _links(store, url, number, note)
        show(as_json, {"links": links}, "\n".join(links))
        return
    # The file comes first: no link may exist that nobody has.
    with new_file(csv_file) as out:
        links = _links(store, url, number, note)
        write_csv([("link", "note"), *((link, note) for link in links)], out)
    show(as_json, {"links": links, "file": str(csv_file)}, f"{number} links in {csv_file}")


def _links(store: str, url: str, number: int, note: str) -> list[str]:
    codes = _written(store, workers.invite, number, note)
    return [f"{url}/worker/join/{code}" for code in codes]


@market.command()
@FOLDER
@DATABASE
@PUBLIC_URL
@click.option("--name", default="Team", show_default=True, help="Whom workers see as the poster.")
@click.option(
    "--funds",
    metavar="DOLLARS",
    help="What can be spent: rewards and fees come from it.  [default: 1000.00 for a new name]",
)
@AS_JSON
def key(
    folder: Path,
    database: str | None,
    public_url: str | None,
    name: str,
    funds: str | None,
    as_json: bool,
) -> None:
    """Make a requester with an access key for programs, and print it this once.

    For a name that exists already it makes another key, and adds --funds to what there is.

    Example: duologue market key my-market --name "Vision Lab"
    """
    if not name.strip():
        raise BadInput(["--name must not be empty: workers see it beside each HIT"])
    try:
        cents = None if funds is None else to_cents(funds, "USD")
    except ValueError as error:
        raise BadInput([f"--funds {error}"]) from None
    url = url_of(folder, _checked(public_url))
    made, secret, available = _written(
        store_url(folder, database), _requester_with_key, name.strip(), cents
    )
    values = {
        "requester_id": made.requester_id,
        "name": name.strip(),
        "access_key_id": made.id,
        "secret_access_key": made.secret,
        "webhook_secret": secret,
        "endpoint_url": url,
        "available": to_text(available, "USD"),
    }
    show(
        as_json,
        values,
        f"requester          {values['name']} ({made.requester_id}), "
        f"${values['available']} to spend\n"
        f"endpoint           {url}\n"
        f"access key         {made.id}\n"
        f"secret access key  {made.secret}\n"
        f"webhook secret     {secret}\n"
        "The secrets are shown only now. Programs use them as with Mechanical Turk:\n"
        f'boto3.client("mturk", endpoint_url="{url}", region_name="us-east-1", …)',
    )


def _requester_with_key(
    connection: Connection, now: float, name: str, cents: int | None
) -> tuple[workers.Key, str, int]:
    """A key of the requester with this name, who is made if there is none; with the secret of
    their notifications, and what they can spend in cents."""
    known = workers.requesters_by_name(connection, now, name)
    if not known:
        added = FUNDS if cents is None else cents
        requester_id = workers.create_requester(connection, now, name, added)
    else:
        requester_id = known[0]
        money.deposit(connection, requester_id, cents or 0)
    return (
        workers.create_key(connection, now, requester_id),
        workers.webhook_secret(connection, now, requester_id),
        money.balance(connection, requester_id).available,
    )


# --- Where it is ---------------------------------------------------------------------------


def store_url(folder: Path, database: str | None, *, new: bool = False) -> str:
    """The database of the marketplace in a folder; with `new` there need not be any yet.

    Raises:
        BadInput: not a database that a marketplace can have, or there is none in the folder.
    """
    if database is not None and not database.startswith(("sqlite:///", "postgresql://")):
        raise BadInput(["--database must begin with sqlite:/// or postgresql://"])
    file = folder.resolve() / DATABASE_FILE
    if database is None and not new and not file.is_file():
        # Links and keys of another marketplace than the running one would open nothing.
        serving = shlex.join([program(), "market", "serve", str(folder)])
        raise BadInput([f"{folder}: there is no marketplace; `{serving}` makes one"])
    return database or f"sqlite:///{file}"


def url_of(folder: Path, given: str | None) -> str:
    """The address of the marketplace in a folder: the given one, else that of its last start."""
    file = folder / URL_FILE
    if given is not None:
        return given
    if file.is_file():
        return file.read_text(encoding="utf-8").strip()
    return f"http://127.0.0.1:{PORT}"


def _checked(url: str | None) -> str | None:
    if url is None:
        return None
    parts = urlsplit(url)
    plain = not (parts.query or parts.fragment or parts.username or parts.path.strip("/"))
    if parts.scheme not in ("http", "https") or not parts.hostname or not plain:
        raise BadInput(["--public-url must be an address such as https://market.example.org"])
    return url.rstrip("/")


def _written(
    url: str, change: Callable[Concatenate[Connection, float, P], T], *args: P.args, **kw: P.kwargs
) -> T:
    """Change a marketplace's database, whether its server runs or not.

    Raises:
        BadInput: the marketplace refuses, or its database does not answer.
    """

    async def work() -> T:
        store = Store(url, Clock())
        store.open()
        try:
            return await store.write(change, *args, **kw)
        finally:
            await store.close()

    try:
        return run(work())
    except MarketplaceError as error:
        raise BadInput([f"the marketplace did not do it: {error}"]) from None
