"""The command line. Every failure is one clear line and exit code 2, never a traceback."""

from __future__ import annotations

import errno
import os
import re
import shlex
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import click
import orjson

from dialogs.export.folder import ExportError
from dialogs.export.visdial import Exported, export_visdial
from dialogs.items import ItemsError, read_items
from dialogs.record.changing import turn
from dialogs.record.errors import RecordError
from dialogs.rules import StudyStatus
from duologue.admin import command as admin_command
from duologue.admin import how_to_begin, monitor_of
from duologue.changes import note_of_changes
from duologue.changes import study as study_command
from duologue.console import (
    AS_JSON,
    STUDY,
    Between,
    program,
    put_gitignore,
    record_of,
    run,
    show,
    site_of,
    writing,
)
from duologue.demo import chose_port, demo_plan, make_site, run_demo
from duologue.demo_market import market_site, run_market_demo
from duologue.embedded import EmbeddedRedis, EmbeddedRedisError
from duologue.erase import erase as erase_command
from duologue.hits.command import command as hits_command
from duologue.logs import log_to_stderr
from duologue.market import market as market_command
from duologue.preparation import put_items
from duologue.problems import BadInput
from duologue.recruiting import recruiter_for
from duologue.reports import reports as reports_command
from duologue.serve import (
    STUDY_FILE,
    Site,
    check_port,
    check_redis,
    port_in_use,
    prepare_record,
    redis_for,
    running,
    static_files,
    until_told_to_stop,
    url_of,
)
from duologue.settings import check_settings
from duologue.simulate.command import command as simulate_command
from duologue.simulate.command import progress_line
from duologue.simulate.corpus import BadCorpus
from duologue.status import status as status_command
from duologue.template import GITIGNORE, id_from, template
from duologue.unlisted import note_of_unlisted
from duologue.watch import watch as watch_command
from duologue.words import count
from hit_manager.recruiters.base import RecruiterError


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="duologue", message="%(prog)s %(version)s")
def cli() -> None:
    """Collect two-person dialogs: pair people live, lose nothing, pay everyone, export data.

    Example: duologue init my-study && duologue serve my-study
    """


def main() -> None:
    """The entry point: turns known failures into one line each and exit code 2."""
    try:
        cli(standalone_mode=False)
    except (BadInput, ItemsError) as error:
        for problem in error.problems:
            click.echo(f"duologue: {problem}", err=True)
        sys.exit(2)
    except (RecordError, EmbeddedRedisError, ExportError, RecruiterError) as error:
        click.echo(f"duologue: {error}", err=True)
        sys.exit(2)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(2)
    except click.ClickException as error:
        click.echo(f"duologue: {_in_one_line(error)}", err=True)
        sys.exit(2)
    except click.Abort:
        sys.exit(130)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            found = _BOUND_PORT.search(str(error))
            click.echo(f"duologue: {port_in_use(found[1] if found else '?')}", err=True)
            sys.exit(2)
        where = f" ({error.filename})" if error.filename else ""
        click.echo(f"duologue: {error.strerror or error}{where}", err=True)
        sys.exit(2)
    except (ValueError, RecursionError) as error:
        # Odd input that no check foresaw, such as a NUL in a path or a number without an end.
        click.echo(f"duologue: something given here cannot be used: {error}", err=True)
        sys.exit(2)


_BOUND_PORT: Final = re.compile(r"', (\d+)")
"""The port in what asyncio says of an address that it could not bind."""


_DID_YOU_MEAN: Final = re.compile(r"\. \(?Did you mean (?:one of: )?([^?]*)\?\)?$")


def _in_one_line(error: click.ClickException) -> str:
    """What is wrong with the words of a command, and where to read the right ones."""
    text = " ".join(error.format_message().split()).rstrip(".")
    text = _DID_YOU_MEAN.sub(r"; did you mean \1?", text[:1].lower() + text[1:])
    context = getattr(error, "ctx", None)
    return text if context is None else f"{text} (see `{context.command_path} --help`)"


# --- Commands ------------------------------------------------------------------------------


@cli.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
def init(folder: Path) -> None:
    """Write a new study into FOLDER: a study file in which every key is explained.

    Its id is made of the folder's name. A .gitignore keeps its keys, codes and record out of a
    repository.

    Example: duologue init my-study
    """
    file = folder / STUDY_FILE
    if file.exists():
        raise BadInput([f"{file}: is there already; choose another folder or edit it"])
    study_id = id_from(folder.resolve().name)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        file.write_text(template(study_id), encoding="utf-8")
        put_gitignore(folder, GITIGNORE)
    serving = shlex.join([program(), "serve", str(folder)])
    click.echo(f"wrote {file}; put your images and items.jsonl beside it, then: {serving}")


@cli.command()
@STUDY
@click.option("--check", is_flag=True, help="Check study file, items and settings; start nothing.")
@click.option("--no-hits", is_flag=True, help="Do not recruit and pay; another process does.")
def serve(study: Path, check: bool, no_hits: bool) -> None:
    """Run a study: STUDY is its folder (or study file); by default the current folder.

    Where the study's recruiter posts HITs, they are posted, relaunched, expired and paid from
    here as well, once the consent text is filled in. Without DUOLOGUE_DATABASE_URL and
    DUOLOGUE_REDIS_URL everything runs from the study's folder. Several processes may serve one
    study on PostgreSQL and one Redis.

    Example: duologue serve my-study
    """
    site = site_of(study)
    static_files()
    if site.study.posts and not no_hits and (unfit := site.study.unfit()):
        raise BadInput([f"{unfit}, or try the study out with --no-hits"])
    for key in site.study.unfilled():
        click.echo(f"note: {key} is still to be filled in for workers", err=True)
    if check:
        site.study.to_config()
        recruiter_for(site.study, site.settings)
        found = len(read_items(site.study.items_path))
        click.echo(
            f"{site.study.study.id}: the study file is right, and it has {count(found, 'item')}"
        )
        return
    log_to_stderr(site.settings.log_level, site.settings.log_format)
    check_port(site.settings.host, site.settings.port)
    with redis_for(site) as redis:
        run(_serve(site, redis, hits=not no_hits))


async def _serve(site: Site, redis: EmbeddedRedis | str, *, hits: bool) -> None:
    redis_url = url_of(redis)
    await check_redis(redis_url)
    added = await prepare_record(site, _progress("preparing pictures"))
    if added:
        click.echo(f"{count(added, 'item')} added")
    for note in (await note_of_changes(site), await _note_of_unlisted(site)):
        if note:
            click.echo(note, err=True)
    async with running(site, redis_url, hits=hits) as server:
        invited = "?invite=CODE" if site.study.study.one_time_invitations else ""
        click.echo(f"workers: {server.url}/work{invited}")
        click.echo(f"monitor: {monitor_of(server)}")
        if hint := await how_to_begin(server, site):
            click.echo(hint)
        await until_told_to_stop(redis)


async def _note_of_unlisted(site: Site) -> str:
    async with record_of(site) as record:
        return await note_of_unlisted(record, site.study)


def _progress(what: str) -> Any:
    def show_progress(done: int, all_: int) -> None:
        if sys.stderr.isatty():
            end = "\n" if done == all_ else ""
            click.echo(f"\r{what}: {done}/{all_}{end}", nl=False, err=True)

    return show_progress


@cli.group()
def items() -> None:
    """Look after the items of a study.

    Example: duologue items add more.jsonl my-study
    """


@items.command("add")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@STUDY
@AS_JSON
def items_add(file: Path, study: Path, as_json: bool) -> None:
    """Add the items in FILE (JSON lines or CSV) to a study, also while it runs.

    Items that the study has already are passed over. Image paths in FILE are relative to FILE.

    Example: duologue items add more.jsonl my-study
    """
    site = site_of(study)

    async def add() -> int:
        async with record_of(site) as record:
            progress = _progress("preparing pictures")
            return await put_items(record, site.study, file, site.pictures, progress)

    added = run(add())
    show(as_json, {"added": added}, f"{count(added, 'item')} added")


@cli.command()
@STUDY
def pause(study: Path) -> None:
    """Take nobody new; people inside may finish and are paid.

    Example: duologue pause my-study
    """
    _set_status(study, StudyStatus.PAUSED)


@cli.command()
@STUDY
def resume(study: Path) -> None:
    """Take new people again.

    Example: duologue resume my-study
    """
    _set_status(study, StudyStatus.OPEN)


def _set_status(study: Path, status: StudyStatus) -> None:
    site = site_of(study)

    async def change() -> None:
        async with record_of(site) as record:
            study_id = site.study.study.id
            await turn(record, study_id, status, admin_id=None, now=time.time())

    run(change())
    click.echo(f"{site.study.study.id} is {status}")


@cli.command()
@click.option("--workers", type=click.IntRange(0, 1000), default=0, help="Simulated workers.")
@click.option("--partner", is_flag=True, help="A simulated partner joins whoever waits.")
@click.option("--market", is_flag=True, help="Recruit on a marketplace, with HITs and payments.")
@click.option(
    "--leavers", type=click.IntRange(0, 1000), default=0, help="How many of them leave early."
)
@click.option(
    "--by-hand", is_flag=True, help="With --market: nothing is paid before it is approved."
)
@click.option("--exit", "leave", is_flag=True, help="End when the simulated workers are done.")
@click.option("--pace", type=Between(0, 100), help="Times people's slowness; 0 is fastest.")
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--corpus", type=click.Path(path_type=Path, dir_okay=False), help="A VisDial file.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where the study is kept; new or empty.  [default: a new temporary folder]",
)
@AS_JSON
def demo(
    workers: int,
    partner: bool,
    market: bool,
    leavers: int,
    by_hand: bool,
    leave: bool,
    pace: float | None,
    seed: int,
    corpus: Path | None,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Start a small study on this machine and print its links.

    The two links are two people, so both can be opened in one browser. The port is 8000, or any
    free one when that is taken; to choose it, set DUOLOGUE_PORT, as in DUOLOGUE_PORT=8080.

    Example: duologue demo --partner
    """
    if leave and not workers:
        raise BadInput(["--exit needs --workers: without any, nothing would ever be done"])
    if leavers > workers:
        raise BadInput(["--leavers: there are not more leavers than --workers"])
    if market and partner:
        raise BadInput(["--partner: on a marketplace partners come by HITs; leave one of both out"])
    if by_hand and (leave or not market):
        raise BadInput(["--by-hand goes with --market, and without --exit: a person is to approve"])
    if folder is not None and folder.exists() and any(folder.iterdir()):
        raise BadInput([f"--folder: {folder} is not empty; name a new folder"])
    settings = check_settings(os.environ, folder or Path())
    if chose_port(settings):
        check_port(settings.host, settings.port)
    was_there = folder is not None and folder.exists()
    place = folder or Path(tempfile.mkdtemp(prefix="duologue-demo-"))
    with writing(place):
        place.mkdir(parents=True, exist_ok=True)
    speed = pace if pace is not None else (0.02 if leave else 1.0)
    try:
        plan = demo_plan(workers, leavers, seed, speed, corpus)
    except BadCorpus as error:
        raise BadInput([f"--corpus: {error}"]) from None
    static_files()
    log_to_stderr("warning")
    click.echo(f"study:         {place}", err=as_json)
    begun = False

    def say(text: str) -> None:
        nonlocal begun
        begun = True
        click.echo(text, err=as_json)

    how: dict[str, Any] = {
        "workers": workers,
        "leave_at_end": leave,
        "plan": plan,
        "say": say,
        "progress": progress_line(),
    }
    try:
        if market:
            results = run(_market_demo(place, how, by_hand=by_hand))
        else:
            site = make_site(place, os.environ, workers)
            with redis_for(site) as redis:
                results = run(run_demo(site, redis, partner=partner, **how))
    except BaseException:
        if not begun:
            # It was empty before, and the same command should be possible again.
            shutil.rmtree(place, ignore_errors=True)
            if was_there:
                place.mkdir(exist_ok=True)
        raise
    if as_json:
        click.echo(orjson.dumps(results).decode())
    if results["violations"] or results["unfinished"]:
        sys.exit(1)


async def _market_demo(place: Path, how: dict[str, Any], *, by_hand: bool) -> dict[str, Any]:
    more = {"approval": '"by_hand"'} if by_hand else {}
    async with market_site(place, os.environ, how["workers"], more) as at:
        with redis_for(at.site) as redis:
            return await run_market_demo(at, redis, **how)


@cli.command()
@STUDY
@click.option("--format", "kind", type=click.Choice(["visdial-1.0"]), default="visdial-1.0")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="The folder to write: new, empty, or an older export, which is replaced.",
)
@click.option("--split", default="train", show_default=True, help="The split's name in the file.")
@AS_JSON
def export(study: Path, kind: str, out: Path, split: str, as_json: bool) -> None:
    """Write the complete dialogs of a study as data, without a trace of who spoke.

    Example: duologue export my-study --format visdial-1.0 --out my-study/export
    """
    site = site_of(study, keyed=False)

    async def write() -> Exported:
        async with record_of(site) as record:
            return await record.read(export_visdial, site.study.study.id, out, split)

    done = run(write())
    left_out = {why.value: n for why, n in done.left_out.items()}
    values = {
        "export": str(done.file),
        "format": kind,
        "dialogs": done.dialogs,
        "messages": done.messages,
        "left_out": left_out,
    }
    reasons = ", ".join(f"{n} {why}" for why, n in left_out.items()) or "none"
    show(as_json, values, f"{done.file}: {count(done.dialogs, 'dialog')}; left out: {reasons}")


cli.add_command(simulate_command)
cli.add_command(hits_command, "hits")
cli.add_command(market_command, "market")
cli.add_command(reports_command, "reports")
cli.add_command(status_command, "status")
cli.add_command(watch_command, "watch")
cli.add_command(erase_command, "erase")
cli.add_command(admin_command, "admin")
cli.add_command(study_command, "study")
