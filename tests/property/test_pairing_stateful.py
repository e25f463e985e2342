"""The lobby against a simple model of it: any calls in any order, Redis flushed among them."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, ClassVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from redis.asyncio import Redis

from pairing.lobby import FRESH_S, START_S, Lobby
from pairing.rules import Match, Place, Waiting, by_age, choose
from tests.lobbies import person

NAMES = [f"a{i}" for i in range(7)]
PLACES = [(item, n) for item in ("dog", "cat", "ant") for n in (1, 2)]

EPOCH = 1e9
"""Where the model's clock begins, in seconds. It stands still but for `time_passes`, whose steps
of 11 seconds add up to none of the limits."""

NAME = st.sampled_from(NAMES)
SOME_PLACES = st.lists(st.sampled_from(PLACES), unique=True)
WHICH = st.integers(0, 5)
"""Stands for one of the matches, or of those that have ended."""


def step(name: str, *arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.tuples(st.just(name), *arguments)


# One strategy rather than a rule each: rules are switched off at random, and in most runs nothing
# would ever be matched.
STEPS = st.one_of(
    step(
        "join",
        NAME,
        NAME,
        st.integers(0, 9),
        st.frozensets(st.sampled_from([f"worker-{n}" for n in NAMES]), max_size=1),
        st.frozensets(st.sampled_from(["dog", "cat"]), max_size=1),
    ),
    step("beat", st.lists(NAME, unique=True)),
    step("sleep", NAME),
    step("leave", NAME),
    step("leave", NAME),
    step("offer", SOME_PLACES),
    step("withdraw", SOME_PLACES),
    step("sync_places", SOME_PLACES),
    step("match"),
    step("match"),
    step("match"),
    step("start", WHICH, st.integers(0, 3)),
    step("start", WHICH, st.integers(0, 1)),
    step("dissolve", WHICH, st.sets(NAME)),
    step("seal", WHICH),
    step("seal_what_has_ended", WHICH),
    step("time_passes", st.sampled_from([11, 11, 33, 121])),
    step("redis_is_flushed"),
)


@dataclass
class Arrival:
    """What the model knows of one arrival."""

    waiting: Waiting
    beat: float
    awake: bool
    match: str | None


@dataclass
class Model:
    """A lobby as a handful of dictionaries. `rank` orders the items that have a free place."""

    arrivals: dict[str, Arrival] = field(default_factory=dict)
    matches: dict[str, Match] = field(default_factory=dict)
    match_ranks: dict[str, int] = field(default_factory=dict)
    free: dict[str, list[int]] = field(default_factory=dict)
    rank: dict[str, int] = field(default_factory=dict)
    offered: int = 0
    withdrawn: set[Place] = field(default_factory=set)
    sealed: dict[Place, float] = field(default_factory=dict)

    def held(self) -> set[Place]:
        return {(m.item_id, m.place) for m in self.matches.values()}

    def give(self, place: Place, rank: int | None = None) -> None:
        item, number = place
        if item not in self.free:
            self.offered += 1
            self.free[item] = []
            self.rank[item] = self.offered if rank is None else rank
        if number not in self.free[item]:
            self.free[item].append(number)

    def take(self, place: Place) -> None:
        item, number = place
        if number in self.free.get(item, []):
            self.free[item].remove(number)
            if not self.free[item]:
                del self.free[item], self.rank[item]

    def dissolve(self, match_id: str, keep: set[str], now: float) -> None:
        match = self.matches.pop(match_id)
        place = match.item_id, match.place
        if place not in self.withdrawn:
            self.give(place, self.match_ranks[match_id])
        self.withdrawn.discard(place)
        for name in match.arrivals:
            arrival = self.arrivals[name]
            arrival.match = None
            arrival.awake = now - arrival.beat <= FRESH_S
            if name not in keep:
                del self.arrivals[name]


class LobbyMachine(RuleBasedStateMachine):
    """Every step does one thing to the lobby and to the model, and compares the answers."""

    url: ClassVar[str]
    happened: ClassVar[Counter[str]]

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.client = Redis.from_url(self.url)
        self.lobby = Lobby(self.client, "study", forget_s=1e6)
        self.model = Model()
        self.ended: list[Match] = []
        self.now = self.behind = 0.0
        seconds, micros = self.run(self.client.time())
        self.behind = EPOCH + time.monotonic() - (seconds + micros / 1e6)
        self.run(self.client.flushdb())

    def run(self, coroutine: Any) -> Any:
        self.lobby.offset_s = self.now - time.monotonic() + self.behind
        return self.runner.run(coroutine)

    def teardown(self) -> None:
        self.run(self.client.aclose())
        self.runner.close()

    # --- Arrivals ---

    @initialize(order=st.permutations(PLACES), names=st.permutations(NAMES))
    def a_study_begins(self, order: list[Place], names: list[str]) -> None:
        self.offer(order)
        for i, name in enumerate(names[:5]):
            self.join(name, name, i // 2, frozenset(), frozenset())

    @rule(step=STEPS)
    def something_happens(self, step: tuple[Any, ...]) -> None:
        name, *arguments = step
        if name in ("start", "dissolve", "seal"):
            if not self.model.matches:
                return
            matches = sorted(self.model.matches)
            arguments[0] = self.model.matches[matches[arguments[0] % len(matches)]]
        getattr(self, name)(*arguments)

    def join(
        self, name: str, worker: str, ready_at: int, met: frozenset[str], seen: frozenset[str]
    ) -> None:
        known = self.model.arrivals.get(name)
        worker = known.waiting.worker_id if known else f"worker-{worker}"
        w = person(name, float(ready_at), worker_id=worker, met=met, seen=seen)
        self.run(self.lobby.join(w))
        if known:
            earliest = min(w.ready_at, known.waiting.ready_at)
            w = person(name, earliest, worker_id=worker, met=met, seen=seen)
        match = known.match if known else None
        self.model.arrivals[name] = Arrival(w, self.now, match is None, match)

    def beat(self, names: list[str]) -> None:
        unknown = self.run(self.lobby.beat(names))
        assert unknown == [n for n in names if n not in self.model.arrivals]
        for name in names:
            if arrival := self.model.arrivals.get(name):
                arrival.beat, arrival.awake = self.now, arrival.match is None

    def sleep(self, name: str) -> None:
        self.run(self.lobby.sleep(name))
        if arrival := self.model.arrivals.get(name):
            self.happened["sleep"] += arrival.awake
            arrival.awake = False
            arrival.beat = min(arrival.beat, self.now - FRESH_S - 1)

    def leave(self, name: str) -> None:
        left = self.run(self.lobby.leave(name))
        arrival = self.model.arrivals.get(name)
        match_id = arrival.match if arrival else None
        assert left == (self.model.matches[match_id] if match_id else None)
        if left:
            self.happened["leave"] += 1
            self.ended.append(left)
            self.model.dissolve(left.match_id, set(left.arrivals), self.now)
        self.model.arrivals.pop(name, None)

    # --- Places ---

    def offer(self, places: list[Place]) -> None:
        self.run(self.lobby.offer(places))
        for place in places:
            self.model.sealed.pop(place, None)
            self.model.withdrawn.discard(place)
            if place not in self.model.held():
                self.model.give(place)

    def withdraw(self, places: list[Place]) -> None:
        self.run(self.lobby.withdraw(places))
        for place in places:
            self.model.take(place)
            if place in self.model.held():
                self.model.withdrawn.add(place)

    def sync_places(self, wanted: list[Place]) -> None:
        self.run(self.lobby.sync_places(wanted))
        held = self.model.held()
        for place in PLACES:
            if place not in wanted:
                self.model.take(place)
                self.model.withdrawn |= {place} & held
        for place in wanted:
            self.model.withdrawn.discard(place)
            sealed = place in self.model.sealed and self.now - self.model.sealed[place] < 60
            if place not in held and not sealed:
                self.model.give(place)

    # --- Matches ---

    def match(self) -> None:
        model = self.model
        busy = {model.arrivals[n].waiting.worker_id for n in model.arrivals if self._matched(n)}
        queue = by_age(a.waiting for a in model.arrivals.values() if a.awake)
        ghosts = [w for w in queue if self.now - model.arrivals[w.arrival_id].beat > FRESH_S]
        able = [w for w in queue if w not in ghosts and w.worker_id not in busy]
        chosen = choose(able, sorted(model.free, key=lambda i: model.rank[i]), True)
        # Ghosts are put to sleep as far as the script looks.
        seen = queue[: queue.index(chosen[1])] if chosen else queue if model.free else []
        for w in ghosts:
            model.arrivals[w.arrival_id].awake = w not in seen
        match = self.run(self.lobby.match())
        assert (match is None) == (chosen is None)
        if chosen is None:
            return
        assert set(match.arrivals) == {w.arrival_id for w in chosen[:2]}
        assert match.item_id == chosen[2]
        assert match.place == model.free[match.item_id][0]
        model.match_ranks[match.match_id] = model.rank[match.item_id]
        model.take((match.item_id, match.place))
        model.matches[match.match_id] = match
        self.happened["match"] += 1
        for name in match.arrivals:
            model.arrivals[name].match = match.match_id
            model.arrivals[name].awake = False

    def _matched(self, name: str) -> bool:
        return self.model.arrivals[name].match is not None

    def start(self, match: Match, who: int) -> None:
        name = [*match.arrivals, "stranger"][min(who, 2)]
        pressed = self.run(self.lobby.start(match.match_id, name))
        if name == "stranger":
            assert pressed is None
            return
        expected = match.started if self._late(match) else match.started | {name}
        assert pressed.started == expected
        self.model.matches[match.match_id] = pressed
        self.happened["start"] += not self._late(match)

    def dissolve(self, match: Match, keep: set[str]) -> None:
        assert self.run(self.lobby.dissolve(match.match_id, keep)) == match
        assert self.run(self.lobby.dissolve(match.match_id, keep)) is None
        self.ended.append(match)
        self.model.dissolve(match.match_id, keep, self.now)
        self.happened["dissolve"] += 1

    def seal(self, match: Match) -> None:
        self.run(self.lobby.seal(match))
        self.ended.append(match)
        del self.model.matches[match.match_id]
        for name in match.arrivals:
            del self.model.arrivals[name]
        self._sealed(match)
        self.happened["seal"] += 1

    def seal_what_has_ended(self, which: int) -> None:
        """Its dialog was stored while somebody dissolved it."""
        if not self.ended:
            return
        match = self.ended[-1 - which % len(self.ended)]
        self.run(self.lobby.seal(match))
        for name in match.arrivals:
            if name in self.model.arrivals and not self.model.arrivals[name].match:
                del self.model.arrivals[name]
        self._sealed(match)

    def _sealed(self, match: Match) -> None:
        place = match.item_id, match.place
        if place not in self.model.held():
            self.model.withdrawn.discard(place)
        self.model.take(place)
        self.model.sealed[place] = self.now

    def _late(self, match: Match) -> bool:
        return self.now > match.start_by - EPOCH + 1

    # --- The world ---

    def time_passes(self, seconds: int) -> None:
        self.now += seconds

    def redis_is_flushed(self) -> None:
        """The server hears from the pages, and fills the lobby again from the record."""
        self.run(self.client.flushdb())
        before, self.model = self.model, Model()
        self.happened["flush"] += bool(before.matches)
        self.beat(NAMES)
        for name, arrival in before.arrivals.items():
            w = arrival.waiting
            worker = w.worker_id.removeprefix("worker-")
            self.join(name, worker, int(w.ready_at), w.met, w.seen)
        self.sync_places(PLACES)

    # --- What always holds ---

    @invariant()
    def the_same_waits_and_the_same_is_free(self) -> None:
        model, lobby, keys = self.model, self.lobby, self.lobby.keys
        waiting = self.run(self.client.zrange(keys.lobby, 0, -1))
        awake = by_age(a.waiting for a in model.arrivals.values() if a.awake)
        assert [name.decode() for name in waiting] == [w.arrival_id for w in awake]
        views = self.run(lobby.views(NAMES))
        waits = {name for name, view in views.items() if view is not None}
        assert waits == {name for name, a in model.arrivals.items() if a.match is None}
        matched = self.run(self.client.hgetall(keys.matched))
        assert {name.decode(): match_id.decode() for name, match_id in matched.items()} == {
            name: a.match for name, a in model.arrivals.items() if a.match is not None
        }
        assert self.run(lobby.places()) == sum(map(len, model.free.values()))
        numbers = self.run(self.client.hgetall(keys.numbers))
        free = {item.decode()[8:]: list(map(int, n.split())) for item, n in numbers.items()}
        assert free == model.free
        items = self.run(self.client.zrange(keys.items, 0, -1))
        assert [i.decode()[8:] for i in items] == sorted(model.free, key=lambda i: model.rank[i])

    @invariant()
    def the_same_matches_run_out(self) -> None:
        overdue = self.run(self.lobby.overdue())
        late = [m for m in self.model.matches.values() if self._late(m)]
        assert sorted(m.match_id for m in overdue) == sorted(m.match_id for m in late)
        for match in self.model.matches.values():
            assert self.run(self.lobby.match_of(match.questioner.arrival_id)) == match
            assert match.start_by - EPOCH <= self.now + START_S + 1

    @invariant()
    def nothing_is_left_of_what_is_gone(self) -> None:
        keys, model = self.lobby.keys, self.model
        sizes = {
            keys.arrivals: len(model.arrivals),
            keys.matched: 2 * len(model.matches),
            keys.workers: 2 * len(model.matches),
            keys.matches: len(model.matches),
            keys.held: len(model.matches),
        }
        beats, due = keys.beats, keys.due

        async def measured() -> list[int]:
            async with self.client.pipeline(transaction=False) as pipe:
                for key in sizes:
                    pipe.hlen(key)
                pipe.zcard(beats)
                pipe.zcard(due)
                return list(await pipe.execute())

        expected = [*sizes.values(), len(model.arrivals), len(model.matches)]
        assert self.run(measured()) == expected


def test_the_lobby_does_what_its_model_does(redis_url: str) -> None:
    happened = Counter[str]()
    machine = type("Machine", (LobbyMachine,), {"url": redis_url, "happened": happened})
    run_state_machine_as_test(
        machine, settings=settings(max_examples=80, stateful_step_count=25, deadline=None)
    )
    # A search that never gets anywhere proves nothing.
    assert all(happened[kind] for kind in ("match", "dissolve", "seal", "flush")), happened
