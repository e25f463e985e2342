"""What the commands of the command line share."""

from __future__ import annotations

import asyncio
import math
import os
import shlex
import shutil
import sys
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO, TypeVar
from urllib.parse import urlsplit

import click
import orjson

from dialogs.record import queries
from dialogs.record.store import Record
from duologue.problems import BadInput
from duologue.serve import STUDY_FILE, Site, bring_in
from duologue.settings import check_settings, is_loopback, read_settings
from duologue.study import read_study
from duologue.words import count

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` on the fastest event loop there is."""
    if sys.platform == "win32":
        return asyncio.run(work)
    import uvloop

    return uvloop.run(work)


def site_of(place: Path, *, keyed: bool = True) -> Site:
    """The site of a study folder or study file. Not `keyed`, its secret key has a stand-in, for
    commands that sign nothing: a folder that cannot be written need have none."""
    file = place / STUDY_FILE if place.is_dir() else place
    if not file.is_file():
        if meant := _study_among_words():
            hint = f"did you mean {shlex.join(['--study', meant])}?"
        else:
            hint = f"`{shlex.join([program(), 'init', str(place)])}` writes one"
        raise BadInput([f"{file}: there is no study file; {hint}"])
    settings = (read_settings if keyed else check_settings)(os.environ, file.parent)
    return Site(file.parent, read_study(file), settings)


def _study_among_words() -> str:
    """A study's folder that was named where the command takes something else; empty, if none was
    and where the command has no option for it."""
    context = click.get_current_context(silent=True)
    if context is None or not any("--study" in each.opts for each in context.command.params):
        return ""
    given = [value for name, value in context.params.items() if name != "study"]
    for value in given:
        for word in value if isinstance(value, tuple) else (value,):
            # A whole text, too long for any name, is no folder.
            with suppress(OSError, ValueError):
                if isinstance(word, str) and (Path(word) / STUDY_FILE).is_file():
                    return word
    return ""


STUDY = click.argument("study", type=click.Path(path_type=Path), default=Path(), metavar="[STUDY]")


class Between(click.FloatRange):
    """A number within a range. "nan" is none, though it compares with no bound."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value} is no number.", param, ctx)
        return number


AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


def show(as_json: bool, values: dict[str, Any], text: str, *, failed: bool = False) -> None:
    """Print a result for a script or for a person. If what was wanted has `failed`, the exit code
    says so, as it does after an error."""
    click.echo(orjson.dumps(values).decode() if as_json else text)
    if failed:
        sys.exit(2)


def new_file(file: Path, encoding: str = "utf-8") -> TextIO:
    """A table that only its owner may read: it holds what lets people in, or what they said.

    Raises:
        BadInput: there is such a file, which may hold links that were sent or decisions that
            were made, or it cannot be written.
    """
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise BadInput([f"{file}: is there already; name a new file"]) from None
    except OSError as error:
        raise BadInput([f"{file}: cannot be written: {error.strerror}"]) from None
    return os.fdopen(descriptor, "w", encoding=encoding, newline="")


def program() -> str:
    """What to type for this program: `duologue` if that is on the path, else the path by which it
    was called, such as `.venv/bin/duologue`."""
    called = sys.argv[0]
    if Path(called).name != "duologue" or called == shutil.which("duologue"):
        return "duologue"
    return called


def note_of_links(url: str, remedy: str) -> str:
    """A line on links that begin with `url`, if no other machine can open them; `remedy` is what
    changes that. Empty, if others can."""
    host = urlsplit(url).hostname or ""
    if not (is_loopback(host) or host in ("0.0.0.0", "::")):
        return ""
    return f"note: links that begin with {url} work on this machine only; {remedy}"


def put_gitignore(folder: Path, text: str) -> None:
    """Tell git what to leave out of `folder`, which often lies in a checkout; one that is there
    is the team's own, and stays."""
    with suppress(FileExistsError), (folder / ".gitignore").open("x", encoding="utf-8") as file:
        file.write(text)


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Making a folder and its files.

    Raises:
        BadInput: it cannot be written.
    """
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise BadInput(
            [f"{folder}: cannot be written ({reason}); name a folder where you may make files"]
        ) from None


@asynccontextmanager
async def record_of(site: Site, *, begins: bool = False) -> AsyncIterator[Record]:
    """The record of a study, beside its server if that runs. With `begins`, a study that has never
    run is begun in it, as a server would.

    Raises:
        BadInput: the study has never run, or, with `begins`, its items are wrong.
        CannotOpen: the database cannot be used.
    """
    study_id = site.study.study.id
    record = Record(site.settings.database_url, serving=False)
    record.open()
    try:
        known = await record.read(queries.study, study_id) is not None
        if not known and not begins:
            raise BadInput([f"the study {study_id} has never run; `{_first_run(site)}` begins it"])
        # A study whose items were wrong at the first try has none yet.
        items = await record.read(queries.items_of, study_id) if begins and known else []
        if begins and not items:
            added = await bring_in(record, site)
            click.echo(f"the study {study_id} begins: {count(added, 'item')} added", err=True)
        yield record
    finally:
        await record.close()


def _first_run(site: Site) -> str:
    """The command that begins a study and spends nothing."""
    words = [program(), "serve"]
    if site.study.posts:
        words.append("--no-hits")
    return shlex.join([*words, str(site.folder)] if site.folder != Path() else words)
