"""The command `duologue simulate`."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Coroutine, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import urlsplit

import click
import orjson

from chatserver.wire import ErrorCode
from duologue.console import Between
from duologue.problems import BadInput
from duologue.simulate.corpus import BadCorpus, Corpus
from duologue.simulate.log import Entry
from duologue.simulate.mix import ALL_NORMAL, BadMix, Kind, Mix
from duologue.simulate.pace import Pace
from duologue.simulate.plan import Plan
from duologue.simulate.reach import reach
from duologue.simulate.run import Progress, simulate
from duologue.simulate.summary import Summary
from duologue.words import count


@click.command("simulate")
@click.option("--url", "urls", multiple=True, required=True, help="A server; may be repeated.")
@click.option("--workers", type=click.IntRange(1, 5000), default=2, show_default=True)
@click.option(
    "--mix",
    "mix_text",
    default=",".join(f"{kind}={n}" for kind, n in ALL_NORMAL.shares.items()),
    show_default=True,
    metavar="KIND=N,…",
    help=f"Shares of the kinds of workers: {', '.join(Kind)}.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Same seed, same decisions.")
@click.option(
    "--pace",
    type=Between(0, 100),
    default=1.0,
    show_default=True,
    help="Times people's own slowness; 0 is as fast as possible.",
)
@click.option(
    "--corpus",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A VisDial file whose dialogs they talk from.  [default: a small built-in set]",
)
@click.option("--dialogs", type=click.IntRange(1, 1000), default=1, help="Dialogs of each worker.")
@click.option("--limit", type=Between(min=0, min_open=True), help="Give up after seconds.")
@click.option("--query", multiple=True, metavar="NAME=VALUE", help="In each worker's link.")
@click.option("--check", "check_text", default="", metavar="N,N,…", help="The check's answers.")
@click.option("--language", default="en", show_default=True)
@click.option(
    "--logs",
    type=click.Path(path_type=Path, file_okay=False),
    help="A folder for a log of each worker.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    urls: tuple[str, ...],
    workers: int,
    mix_text: str,
    seed: int,
    pace: float,
    corpus: Path | None,
    dialogs: int,
    limit: float | None,
    query: tuple[str, ...],
    check_text: str,
    language: str,
    logs: Path | None,
    as_json: bool,
) -> None:
    """Let simulated workers hold dialogs on a running server.

    They come by the same links and talk the same protocol as people's pages. Exit code 1 means
    that the server did something it must not do, or that workers were given up.

    Example: duologue simulate --url http://127.0.0.1:8000 --workers 20 --mix
    normal=16,leaver=2,flaky=2 --pace 0.1
    """
    try:
        plan = Plan(
            workers=workers,
            mix=Mix.parse(mix_text),
            seed=seed,
            pace=Pace(pace),
            corpus=Corpus.load(corpus) if corpus else Corpus.builtin(),
            dialogs_per_worker=dialogs,
            arrive_s=min(2.0, 0.05 * workers),
            limit_s=limit,
            language=language,
            query=_pairs(query),
            check_answers=_numbers(check_text),
            log_folder=logs,
        )
        for url in urls:
            _check_url(url)
    except BadMix as error:
        raise BadInput([f"--mix: {error}"]) from None
    except BadCorpus as error:
        raise BadInput([f"--corpus: {error}"]) from None
    if logs is not None:
        logs.mkdir(parents=True, exist_ok=True)
    summary = _run(_simulate(urls, plan))
    text = orjson.dumps(summary.to_json()).decode() if as_json else "\n".join(summary.lines())
    click.echo(text)
    for line in turned_away_lines(summary):
        click.echo(f"duologue: {line}", err=True)
    if summary.violations or summary.unfinished or (summary.turned_away and not summary.dialogs):
        sys.exit(1)


async def _simulate(urls: tuple[str, ...], plan: Plan) -> Summary:
    await reach(urls)
    return await simulate(urls, plan, progress_line())


_WHAT_TO_DO: Final[Mapping[str, str]] = MappingProxyType(
    {
        ErrorCode.STUDY_PAUSED: "`duologue resume` lets the study take new people",
        ErrorCode.WRONG_ANSWERS: "name the right answers with --check, counted from 0",
        ErrorCode.CAP_REACHED: "dialogs_per_worker in the study file says how often a person may",
    }
)


def turned_away_lines(summary: Summary) -> list[str]:
    """Why the server did not take people: a line for each reason, with its own words."""
    told = Counter(
        (line["code"], line["error"]) for log in summary.logs for line in log.of(Entry.TURNED_AWAY)
    )
    lines = []
    for (code, error), number in told.most_common():
        reason = f"turned away {count(number, 'worker')}: {error.rstrip('.') or code}"
        lines.append(f"{reason}; {todo}" if (todo := _WHAT_TO_DO.get(code)) else reason)
    return lines


def _check_url(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadInput([f"--url: must be an address such as http://127.0.0.1:8000 (it is {url!r})"])


def _pairs(given: tuple[str, ...]) -> dict[str, str]:
    for each in given:
        if not each.partition("=")[1] or not each.partition("=")[0]:
            raise BadInput([f"--query: must be NAME=VALUE (it is {each!r})"])
    return {name: value for name, _, value in (each.partition("=") for each in given)}


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(each) for each in text.split(",")) if text else ()
    except ValueError:
        raise BadInput([f"--check: must be numbers such as 0,2 (it is {text!r})"]) from None


def progress_line() -> Any:
    """One line on stderr, written over where that is a terminal."""
    terminal = sys.stderr.isatty()
    last: list[tuple[int, int, int]] = []

    def show(progress: Progress) -> None:
        now = (progress.waiting, progress.talking, progress.done)
        if not terminal and last == [now]:
            return
        last[:] = [now]
        text = progress.text()
        click.echo(f"\r{text:70}" if terminal else text, nl=not terminal, err=True)

    return show


def _run(work: Coroutine[Any, Any, Summary]) -> Summary:
    if sys.platform == "win32":
        return asyncio.run(work)
    import uvloop

    return uvloop.run(work)
