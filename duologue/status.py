"""`duologue status`: a study at a glance, read from its record. Never who anybody is."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click
from sqlalchemy import Connection

from dialogs.money import to_text
from dialogs.record.figures import Figures, Happened, figures, latest
from dialogs.record.review_desk import NOBODY
from dialogs.record.review_queue import ANY, number_waiting
from dialogs.record.unowed import handed_in_for_nothing
from dialogs.rules import ArrivalStatus, HitState, LedgerState, Phase, StudyStatus
from duologue.console import AS_JSON, STUDY, record_of, run, show, site_of
from duologue.serve import Site
from duologue.words import ENDINGS, count, lasting

SEEN_S: Final = 10.0
"""A server that has said for so long that it runs counts as running; it says so every second."""
LATEST: Final = 8


@dataclass(frozen=True, slots=True)
class Glance:
    """What is known of a study at one moment. `undecided` is handed-in work for which nothing is
    owed; `to_review` dialogs wait for a reviewer."""

    site: Site
    now: Figures
    undecided: int
    to_review: int
    latest: tuple[Happened, ...] = ()

    @property
    def seen_s(self) -> float | None:
        """Seconds since a server last said that it runs."""
        return None if self.now.seen_at is None else max(self.now.at - self.now.seen_at, 0.0)

    @property
    def serves(self) -> bool:
        return self.seen_s is not None and self.seen_s <= SEEN_S

    @property
    def recruits(self) -> bool:
        """Whether some process recruits and pays."""
        return self.now.recruits_until is not None and self.now.recruits_until > self.now.at

    def money(self, cents: int) -> str:
        """`12.50 USD`."""
        currency = self.site.study.pay.currency
        return f"{to_text(cents, currency)} {currency}"


def glance(connection: Connection, site: Site, now: float, most: int = LATEST) -> Glance:
    """The study at the moment `now`, with the `most` things that happened last."""
    study_id = site.study.study.id
    return Glance(
        site,
        figures(connection, study_id, now),
        len(handed_in_for_nothing(connection, study_id)),
        number_waiting(connection, study_id, NOBODY, ANY, now, in_hands=True),
        tuple(latest(connection, study_id, most)) if most else (),
    )


@click.command()
@STUDY
@AS_JSON
def status(study: Path, as_json: bool) -> None:
    """Show a study at a glance: how far it is, who is in it, what is paid, what needs a person.

    Only reads; the server may be running or not. `duologue watch` shows it as it goes on.

    Example: duologue status my-study
    """
    site = site_of(study, keyed=False)

    async def look() -> Glance:
        async with record_of(site) as record:
            return await record.read(glance, site, time.time())

    found = run(look())
    text = "\n".join(f"{name:<10} {line}" for name, line in lines(found))
    show(as_json, values(found), text)


def values(found: Glance) -> dict[str, Any]:
    """The same for a script: seconds, cents, and times as seconds since 1970-01-01 UTC."""
    now, study = found.now, found.site.study
    return {
        "study": study.study.id,
        "status": now.status,
        "at": now.at,
        "items": now.items,
        "places": now.places,
        "done": now.done,
        "live": _named(now.live),
        "ended": _named(now.ended),
        "relaunches": now.relaunches,
        "to_review": found.to_review,
        "lobby": {"people": now.in_lobby, "longest_wait_s": now.oldest_wait_s},
        "inside": now.inside,
        "people": _named(now.people),
        "currency": study.pay.currency,
        "payments": {
            state.value: {"payments": each.payments, "cents": each.cents}
            for state, each in now.ledger.items()
        },
        "hits": {
            state.value: {"hits": each.hits, "free": each.free, "pending": each.pending}
            for state, each in now.hits.items()
        },
        "server": {"runs": found.serves, "seen_s": found.seen_s},
        "recruits": found.recruits,
        "attention": [{"what": what, "number": n} for what, n, _ in attention(found)],
        "latest": [
            {"at": each.at, "what": each.what, "dialog": each.dialog_id, "arrival": each.arrival_id}
            for each in found.latest
        ],
    }


def _named(counts: Mapping[Any, int]) -> dict[str, int]:
    return {each.value: number for each, number in counts.items()}


def lines(found: Glance) -> Iterator[tuple[str, str]]:
    """What a person is shown: a name and a line for each."""
    now, study = found.now, found.site.study
    yield "study", f"{study.study.id} is {now.status}"
    yield "server", server_line(found)
    part = f" ({100 * now.done // now.places} %)" if now.places else ""
    yield (
        "done",
        f"{now.done} of {count(now.places, 'dialog')}{part} about {count(now.items, 'item')}",
    )
    live = now.live
    yield "live", f"{live[Phase.PAIRED]} paired, {live[Phase.SOLO]} solo"
    waits = f", the longest for {lasting(now.oldest_wait_s)}" if now.in_lobby else ""
    yield "lobby", f"{count(now.in_lobby, 'person', 'people')}{waits}"
    yield "inside", people_line(now)
    ended = ", ".join(f"{n} {ENDINGS[ending]}" for ending, n in now.ended.items() if n)
    yield "ended", f"{ended or 'none yet'}; {count(now.relaunches, 'relaunch', 'relaunches')}"
    for state, each in now.ledger.items():
        if each.payments:
            yield state.shown, f"{count(each.payments, 'payment')}, {found.money(each.cents)}"
    if hits := hits_line(now):
        yield "HITs", hits
    if found.to_review:
        yield "to review", count(found.to_review, "dialog")
    for _, _, line in attention(found):
        yield "attention", line
    for event in found.latest:
        yield "last", happened_line(event)


def server_line(found: Glance) -> str:
    if found.seen_s is None:
        return "has never run"
    # Who came by a link was not recruited, and is paid by the team.
    recruits = ", and recruits and pays" if found.recruits and found.site.study.posts else ""
    ago = lasting(found.seen_s)
    return f"runs (seen {ago} ago){recruits}" if found.serves else f"not seen for {ago}"


def people_line(now: Figures) -> str:
    each = ", ".join(
        f"{now.people[status]} {status}"
        for status in ArrivalStatus
        if status is not ArrivalStatus.RELEASED and now.people[status]
    )
    return count(now.inside, "person", "people") + (f": {each}" if each else "")


def hits_line(now: Figures) -> str:
    """How many HITs there are; empty where the recruiter posts none."""
    free = count(now.hits[HitState.OPEN].free, "free seat")
    return ", ".join(
        f"{each.hits} {state}" + (f" ({free})" if state is HitState.OPEN else "")
        for state, each in now.hits.items()
        if each.hits
    )


def attention(found: Glance) -> Iterator[tuple[str, int, str]]:
    """What is stuck or needs a person: what, how many, and a line that says what to do."""
    now = found.now
    open_ = now.status is StudyStatus.OPEN and now.done < now.places
    if open_ and now.inside and not found.serves:
        people = count(now.inside, "person", "people")
        yield "no_server", 1, f"no server runs, and {people} are inside: `duologue serve`"
    if open_ and found.site.study.posts and not found.recruits:
        yield "nobody_recruits", 1, "no process recruits and pays: `duologue serve`"
    for state in (LedgerState.FAILED, LedgerState.HELD):
        if n := now.ledger[state].payments:
            why = f"{count(n, 'payment')} {state.shown}: `duologue hits status` says why"
            yield f"payments_{state}", n, why
    if now.put_off:
        why = f"{count(now.put_off, 'payment')} put off: `duologue hits status` says why"
        yield "payments_put_off", now.put_off, why
    if n := now.hits[HitState.FAILED].hits:
        yield "hits_failed", n, f"{count(n, 'HIT')} not posted: `duologue hits status` says why"
    if n := found.undecided:
        work = f"{count(n, 'piece')} of work handed in for which nothing is owed"
        yield "handed_in_for_nothing", n, f"{work}: `duologue hits status`"
    if n := now.reported:
        yield "reported", n, f"{count(n, 'problem')} reported by workers: `duologue reports`"


def happened_line(event: Happened) -> str:
    when = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(event.at))
    where = " ".join(each for each in (event.dialog_id, event.arrival_id) if each)
    return f"{when}  {event.what.replace('_', ' ')}  {where}"
