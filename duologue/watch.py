"""`duologue watch`: a study as it goes on, in a terminal. For those who work over ssh.

Nobody's ids are shown but ours, and no words unless asked for.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.table import Table
from rich.text import Text
from sqlalchemy import Connection

from chatserver.live.deadlines import every
from dialogs.record.errors import RecordError
from dialogs.record.figures import GoesOn, Waits, going_on, waiting
from dialogs.rules import Phase, Role
from dialogs.state import DialogState, Seat
from duologue.console import STUDY, Between, record_of, run, site_of
from duologue.reports import harmless
from duologue.serve import Site
from duologue.status import Glance, attention, glance, hits_line, lines, people_line, server_line
from duologue.words import count, lasting

WIDE: Final = 80
VERY_WIDE: Final = 110
"""Columns of a terminal from which on there is room for more, and for whole ids."""
_SHORT: Final = 9
_LONGEST: Final = "d_" + 24 * "0"
"""An id of ours is so long."""

MOST: Final = 200
"""Dialogs and people in the lobby that are read, at most; more fill no screen."""


@dataclass(frozen=True, slots=True)
class View:
    """What is shown at one moment. With `words`, the last message of each dialog too."""

    at: float
    glance: Glance
    lobby: tuple[Waits, ...]
    dialogs: tuple[GoesOn, ...]
    words: bool


def view(connection: Connection, site: Site, now: float, words: bool) -> View:
    study_id = site.study.study.id
    return View(
        now,
        glance(connection, site, now, most=0),
        tuple(waiting(connection, study_id, now, MOST)),
        tuple(going_on(connection, study_id, MOST)),
        words,
    )


@click.command()
@STUDY
@click.option(
    "--interval", type=Between(0.5, 3600), default=2.0, show_default=True, help="In seconds."
)
@click.option("--once", is_flag=True, help="Show it once and end.")
@click.option("--words", is_flag=True, help="Show the last message of each dialog.")
def watch(study: Path, interval: float, once: bool, words: bool) -> None:
    """Show a study as it goes on: the lobby, and each dialog with its round and whose turn it is.

    Only reads, and never shows who anybody is. Ctrl-C ends it. Where the output is no terminal, it
    comes as plain lines.

    Example: duologue watch my-study
    """
    site = site_of(study, keyed=False)

    async def go_on() -> None:
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        if once:
            stop.set()
        await watched(site, Console(highlight=False), stop, interval, words=words)

    run(go_on())


async def watched(
    site: Site, console: Console, stop: asyncio.Event, interval: float, *, words: bool = False
) -> None:
    """Show the study every `interval` seconds until `stop`, and once in any case.

    Raises:
        RecordError: the record cannot be read at the beginning. Later it is tried again.
    """

    async def look() -> View:
        return await record.read(view, site, time.time(), words)

    async with record_of(site) as record:
        found = await look()
        if stop.is_set() or not console.is_terminal or console.is_dumb_terminal:
            await _plainly(look, console, found, interval, stop)
            return
        with Live(
            _screen(found, console, ""), console=console, screen=True, auto_refresh=False
        ) as live:
            problem = ""
            while await every(interval, stop):
                try:
                    found, problem = await look(), ""
                except RecordError as error:
                    problem = f"{error}; trying again"
                live.update(_screen(found, console, problem), refresh=True)


async def _plainly(
    look: Callable[[], Awaitable[View]],
    console: Console,
    found: View,
    interval: float,
    stop: asyncio.Event,
) -> None:
    def say(lines_: Iterable[str]) -> None:
        # As they are: a line that is wrapped is hard to search.
        console.out(*lines_, sep="\n", highlight=False)

    say(plain(found))
    while await every(interval, stop):
        try:
            found = await look()
        except RecordError as error:
            say(("", f"{_clock(time.time())}  {error}; trying again"))
        else:
            say(("", *plain(found)))


# --- What is said of each --------------------------------------------------------------------


def silence_s(state: DialogState, now: float) -> float:
    """Since the last message, or since the dialog was opened."""
    last = state.messages[-1].said.at if state.messages else state.opened_at
    return max(now - last, 0.0)


def away(state: DialogState, now: float) -> str:
    """Who is not there: away for so long, or gone for good."""
    return ", ".join(each for seat in state.seats.values() if (each := _away(seat, now)))


def _away(seat: Seat, now: float) -> str:
    if seat.gone:
        return f"{seat.role} gone"
    return f"{seat.role} {lasting(now - seat.away_at)}" if seat.away_at is not None else ""


def last_words(state: DialogState) -> str:
    if not state.messages:
        return ""
    said = state.messages[-1].said
    return f"{said.role}: {' '.join(harmless(said.text).split())}"


def _rounds(state: DialogState) -> str:
    return f"{state.round}/{state.rules.rounds}"


def _clock(at: float) -> str:
    return time.strftime("%H:%M:%S UTC", time.gmtime(at))


# --- As plain lines --------------------------------------------------------------------------


def plain(found: View) -> Iterator[str]:
    """All of it, a fact a line."""
    yield f"{_clock(found.at)}"
    for name, line in lines(found.glance):
        yield f"{name:<10} {line}"
    for each in found.lobby:
        missed = ", missed a start" if each.missed_start else ""
        yield f"waits      {each.arrival_id}  {each.language}, {lasting(each.waited_s)}{missed}"
    for going in found.dialogs:
        yield f"dialog     {_dialog_line(going, found.at)}"
        if found.words and (said := last_words(going.state)):
            yield f"           {said}"


def _dialog_line(going: GoesOn, now: float) -> str:
    state = going.state
    parts = [
        f"{state.dialog_id}  image {going.image_id}, {state.phase}, round {_rounds(state)}",
        f"{state.turn}'s turn",
        f"silent for {lasting(silence_s(state, now))}",
    ]
    if gone := away(state, now):
        parts.append(f"away: {gone}")
    return ", ".join(parts)


# --- On a terminal ---------------------------------------------------------------------------


def _screen(found: View, console: Console, problem: str) -> RenderableType:
    """What fits: the head, then the lobby, then as many dialogs as there is room for."""
    width, height = console.size
    head = list(_head(found, problem))
    room = max(height - len(head), 4)
    waits = min(len(found.lobby), max(room // 3, 2))
    parts: list[RenderableType] = [*head]
    if found.lobby:
        parts.append(_lobby(found.lobby[:waits], len(found.lobby), width))
        room -= waits + 3
    if found.dialogs:
        parts.append(_dialogs(found, max(room - 4, 1), width))
    elif not found.lobby:
        parts.append(Text("\nNobody waits, and no dialog goes on.", style="dim"))
    return Group(*parts)


def _head(found: View, problem: str) -> Iterator[Text]:
    seen, now = found.glance, found.glance.now
    study = seen.site.study.study.id
    yield _line(f"[bold]{escape(study)}[/] is {now.status}, {_clock(found.at)}")
    yield _line(f"server {server_line(seen)}", style="" if seen.serves else "yellow")
    live = f"{now.live[Phase.PAIRED]} paired, {now.live[Phase.SOLO]} solo"
    yield _line(f"{now.done} of {count(now.places, 'dialog')} done; {live}")
    yield _line(people_line(now))
    money = ", ".join(
        f"{each.payments} {state.shown} ({seen.money(each.cents)})"
        for state, each in now.ledger.items()
        if each.payments
    )
    if money:
        yield _line(f"payments: {money}")
    if hits := hits_line(now):
        yield _line(f"HITs: {hits}")
    if seen.to_review:
        yield _line(f"{count(seen.to_review, 'dialog')} to review")
    for _, _, text in attention(seen):
        yield _line(escape(text), style="yellow")
    if problem:
        yield _line(escape(problem), style="bold red")


def _line(text: str, style: str = "") -> Text:
    """One line of the screen, however narrow that is."""
    line = Text.from_markup(text, style=style)
    line.no_wrap, line.overflow = True, "ellipsis"
    return line


def _table(title: str, columns: Mapping[str, int]) -> Table:
    """A table whose columns keep so much of their width, whatever the others need."""
    table = Table(title=title, title_justify="left", box=None, padding=(0, 1, 0, 0), expand=False)
    for name, least in columns.items():
        table.add_column(
            name, min_width=least, no_wrap=True, overflow="ellipsis", header_style="dim"
        )
    return table


def _lobby(shown: Sequence[Waits], number: int, width: int) -> Table:
    more = f", {len(shown)} shown" if number > len(shown) else ""
    table = _table(f"lobby: {number}{more}", {"arrival": _SHORT, "waits": 5, "language": 2, "": 1})
    for each in shown:
        missed = "missed a start" if each.missed_start else ""
        name = _short(each.arrival_id, width)
        table.add_row(name, _span(each.waited_s), escape(each.language), missed)
    return table


def _dialogs(found: View, most: int, width: int) -> Table:
    """The dialogs in which somebody is away, then those that are silent for longest."""
    at = found.at
    ranked = sorted(
        found.dialogs,
        key=lambda each: (not away(each.state, at), -silence_s(each.state, at)),
    )
    wide, total = width >= WIDE, sum(found.glance.now.live.values())
    more = f", {most} shown" if total > most else ""
    columns = {"dialog": _SHORT, "round": 5, "phase": 6, "turn": 4, "silent": 6, "away": 6}
    if wide:
        columns |= {"dialog": len(_short(_LONGEST, width)), "turn": 10, "away": 15}
    columns |= {"image": 5, "goes on": 7} if wide else {}
    columns |= {"last words": 1} if found.words else {}
    table = _table(f"dialogs: {total}{more}", columns)
    for each in ranked[:most]:
        state = each.state
        absent = ", ".join(_absent(state, at, wide=wide))
        row = [
            _short(state.dialog_id, width),
            _rounds(state),
            state.phase.value,
            _role(state.turn, wide=wide),
            _span(silence_s(state, at)),
            f"[yellow]{absent}[/]",
        ]
        row += [escape(each.image_id), _span(at - state.opened_at)] if wide else []
        row += [escape(last_words(state))] if found.words else []
        table.add_row(*row)
    return table


def _absent(state: DialogState, at: float, *, wide: bool) -> Iterator[str]:
    for seat in state.seats.values():
        role = _role(seat.role, wide=wide)
        if seat.gone:
            yield f"{role} gone"
        elif seat.away_at is not None:
            yield f"{role} {_span(at - seat.away_at)}"


def _role(role: Role | None, *, wide: bool) -> str:
    """The role, or where there is no room its first letter."""
    return (role.value if wide else role.value[:1]) if role else ""


def _span(seconds: float) -> str:
    """`0:45`, `12:05`, `1:02:03`."""
    whole = max(int(seconds), 0)
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes}:{whole % 60:02d}"


def _short(name: str, width: int) -> str:
    """As much of an id as tells it from others on one screen."""
    return name if width >= VERY_WIDE else name[:_SHORT]
