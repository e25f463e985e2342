"""Dialogs played against the rules, judged by their events alone.

A `Play` carries out commands as a server would, and after each asks `_judge` and `_hold` what must
be true. They read nothing but the list of events and the answers, so that they share no code,
and no fault, with what they judge.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import product
from typing import Any

import orjson
from hypothesis import strategies as st

from dialogs import dialog, events
from dialogs import state as folding
from dialogs.dialog import (
    Answer,
    Command,
    Deadline,
    DeadlineKind,
    EndByTeam,
    Expire,
    Extend,
    Known,
    Leave,
    PairAgain,
    Refusal,
    RefusalCode,
    Return,
    Say,
    Tell,
)
from dialogs.events import (
    Away,
    Ended,
    Event,
    Extended,
    Meta,
    Opened,
    Part,
    Returned,
    Said,
    SeatLost,
    SeatTaken,
    Settlement,
    Told,
)
from dialogs.record import decisions, tables
from dialogs.record.writer import Decision
from dialogs.rules import Outcome, Pay, Phase, Release, Role, Rules

Q, A = Role.QUESTIONER, Role.ANSWERER
SEATS = (SeatTaken(Q, "arrival-q", "worker-q"), SeatTaken(A, "arrival-a", "worker-a"))
OPENED_AT = 1_700_000_000.0


class Must(StrEnum):
    """What must be true of every dialog."""

    TURNS = "questions and answers alternate while both are there"
    ALONE = "after a loss only the remaining person writes, and after the end nobody"
    HEARD = "whose turn it is may speak"
    KEYS = "a key stands for one message, whenever it is repeated"
    TEXT = "a text is stored as it was written, or refused"
    COMPLETE = "complete means a message of each person in each round"
    KEPT = "a seat is lost only by leaving, by absence or by silence"
    DONE = "who has sent all messages never loses the seat"
    SETTLED = "every arrival is settled once, or waits again once"
    PAID = "who finishes is paid in full"
    AGAIN = "only an early survivor may go back to the lobby"
    ARMED = "there is an armed deadline until the end, and it does something"
    STALE = "a deadline that is not armed changes nothing"
    ENDS = "deadlines alone end every dialog"
    FOLD = "the state is the fold of the events"
    JSON = "events are read back as they were written"
    RELAUNCH = "a dialog that will not be complete is relaunched once, no other is"
    TEAM = "what the team does is done once, while people are there, and is no message"
    LONGER = "more time moves the limit, and begins the turn and the grace period anew"
    DECIDED = "who is still there when the team ends it gets what it decided"
    ROWS = "every effect is a row, and no row is without its event"


class Violated(AssertionError):
    """Something that must be true is not."""

    def __init__(self, must: Must, what: str) -> None:
        super().__init__(f"{must}: {what}")
        self.must = must


def require(true: object, must: Must, what: object = "") -> None:
    if not true:
        raise Violated(must, str(what))


_BY_COMMAND: dict[type, type] = {Tell: Told, Extend: Extended, EndByTeam: Ended}
"""The event that a command of the team leads to."""


def other(role: Role) -> Role:
    return A if role is Q else Q


def good_text(text: str) -> bool:
    """Whether a text within the limits, by a reading of its own: for short plain texts only."""
    return 0 < len(text) <= 500 and text.isascii() and text.isprintable() and not text.isspace()


@dataclass
class Play:
    """One dialog, whose ids end in `nth`.

    `armed_once` are all deadlines that were ever armed, to fire them again; `decided` is what a
    database would have been given.
    """

    rules: Rules
    nth: str = ""
    now: float = OPENED_AT
    events: list[Event] = field(default_factory=list)
    armed_once: list[Deadline] = field(default_factory=list)
    rows: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    decided: list[Decision] = field(default_factory=list)
    keys: int = 0
    state: folding.DialogState = field(init=False)

    def __post_init__(self) -> None:
        self.taken = tuple(
            replace(
                seat,
                arrival_id=seat.arrival_id + self.nth,
                worker_id=seat.worker_id + self.nth,
            )
            for seat in SEATS
        )
        self.dialog_id, self.item_id = f"dialog{self.nth}", f"item{self.nth}"
        opened = dialog.open_dialog(self.rules, self.item_id, 1, self.taken, self.now)
        self.events.append(opened)
        self.state = folding.begin(self.dialog_id, opened)
        self.seats = {seat.arrival_id: "live" for seat in self.taken}
        self.arrivals = {seat.arrival_id: "seated" for seat in self.taken}
        self.phase = "paired"
        self._hold([opened])

    # --- Doing -----------------------------------------------------------------------------

    def do(self, command: Command) -> Answer:
        """Carries out a command, and fails if anything is not as it must be."""
        before = self.state
        answer = dialog.decide(before, command, self.now)
        self._judge(command, answer)
        if isinstance(answer, tuple) and answer:
            decision, after = decisions.happenings(
                before, answer, lambda arrival: f"code-{arrival}"
            )
            stepwise = before
            for event in answer:
                stepwise = folding.evolve(stepwise, event)
            require(stepwise == after, Must.FOLD, "rows were made from another state")
            self.events += answer
            self._take(decision)
            self.state = after
            self._hold(answer)
        return answer

    def say(self, role: Role, text: str = "hello", key: str | None = None) -> Answer:
        if key is None:
            self.keys += 1
            key = f"key-{self.keys}"
        return self.do(Say(role, key, (Part(text),), Meta(True, 3, 2)))

    def talk(self, messages: int) -> None:
        """Whose turn it is speaks, up to so many times."""
        for _ in range(messages):
            if (role := self.turn()) is None:
                return
            self.say(role)

    def fire(self, deadline: Deadline) -> Answer:
        """Lets a deadline fire when it is due."""
        self.now = max(self.now, self.due(deadline))
        return self.do(Expire(deadline.kind, deadline.role, deadline.seq))

    def due(self, deadline: Deadline) -> float:
        return self.events[deadline.seq - 1].at + deadline.delay_s

    def armed(self, kind: DeadlineKind, role: Role | None = None) -> Deadline:
        """The armed deadline of this kind."""
        (found,) = (d for d in dialog.deadlines(self.state) if (d.kind, d.role) == (kind, role))
        return found

    def stay_away(self, role: Role) -> None:
        """The person does not answer until the seat is lost."""
        self.fire(self.armed(DeadlineKind.PRESENCE, role))
        self.fire(self.armed(DeadlineKind.GRACE, role))

    # --- What the events say ---------------------------------------------------------------

    def numbered(self) -> Iterator[tuple[int, Event]]:
        return enumerate(self.events, start=1)

    def messages(self) -> list[tuple[int, Said]]:
        return [(n, e) for n, e in self.numbered() if isinstance(e, Said)]

    def losses(self) -> list[tuple[int, SeatLost]]:
        return [(n, e) for n, e in self.numbered() if isinstance(e, SeatLost)]

    def lost(self, role: Role) -> bool:
        return any(loss.role is role for _, loss in self.losses())

    def end(self) -> Ended | None:
        last = self.events[-1]
        return last if isinstance(last, Ended) else None

    def sent(self, role: Role, before: int | None = None) -> int:
        return sum(said.role is role for n, said in self.messages() if before is None or n < before)

    def done(self, role: Role) -> bool:
        return self.sent(role) >= self.rules.rounds

    def turn(self) -> Role | None:
        """Whose message is awaited, by the events."""
        if self.end():
            return None
        if losses := self.losses():
            return other(losses[0][1].role)
        return (Q, A)[len(self.messages()) % 2]

    def turn_since(self) -> int:
        """The number of the event with which the running turn began."""
        begins = Opened | Said | SeatLost | Extended
        return max(
            n
            for n, e in self.numbered()
            if isinstance(e, begins) or (isinstance(e, Returned) and e.role is self.turn())
        )

    def away_since(self, role: Role) -> int | None:
        """The number of the event from which the person's grace period counts."""
        seen = [(n, e) for n, e in self.numbered() if isinstance(e, Away | Returned)]
        mine = [(n, e) for n, e in seen if e.role is role]
        if not mine or not isinstance(mine[-1][1], Away):
            return None
        return max(mine[-1][0], self.limit()[0])

    def limit(self) -> tuple[int, float]:
        """The number of the event that the dialog's limit counts from, and when it falls."""
        number, falls = 1, self.events[0].at + self.rules.dialog_limit_s
        for n, event in self.numbered():
            if isinstance(event, Extended):
                number, falls = n, max(falls, event.at) + event.by_s
        return number, falls

    def by_team(self) -> list[tuple[int, str]]:
        """The number and the key of everything that the team did."""
        did = [(n, e) for n, e in self.numbered() if isinstance(e, Told | Extended | Ended)]
        return [(n, e.key) for n, e in did if e.key]

    def settlements(self) -> list[Settlement]:
        found: list[Settlement] = []
        for event in self.events:
            if isinstance(event, SeatLost):
                found.append(event.settlement)
            elif isinstance(event, Ended):
                found += event.settlements
        return found

    # --- Judging an answer -----------------------------------------------------------------

    def _judge(self, command: Command, answer: Answer) -> None:
        """Whether this answer to this command is right, after the events so far."""
        match command:
            case Say():
                self._judge_say(command, answer)
            case Leave(role):
                loses = not self.end() and not self.lost(role) and not self.done(role)
                happened = isinstance(answer, tuple) and bool(answer)
                require(happened == loses, Must.DONE if self.done(role) else Must.KEPT, answer)
            case Return(role):
                back = not self.end() and not self.lost(role) and self.away_since(role)
                require(isinstance(answer, tuple) and bool(answer) == bool(back), Must.KEPT, answer)
            case PairAgain(role):
                rounds = [n for n, _ in self.messages() if n < self._first_loss()]
                early = len(rounds) // 2 < self.rules.pair_again_below
                alone = bool(self.losses()) and not self.end() and not self.lost(role)
                require(isinstance(answer, tuple) == (early and alone), Must.AGAIN, answer)
            case Expire():
                self._judge_expire(command, answer)
            case Tell() | Extend() | EndByTeam():
                self._judge_team(command, answer)
        for event in answer if isinstance(answer, tuple) else ():
            require(event.at == self.now, Must.ROWS, f"{event} at {self.now}")

    def _judge_say(self, say: Say, answer: Answer) -> None:
        known = [n for n, said in self.messages() if (said.role, said.key) == (say.role, say.key)]
        if known:
            require(answer == Known(known[0]), Must.KEYS, f"{say.key} again: {answer}")
            return
        require(not isinstance(answer, Known), Must.KEYS, f"{say.key} is new: {answer}")
        texts = [part.text.strip() for part in say.parts]
        may = self.turn() is say.role and not self.lost(say.role)
        if isinstance(answer, Refusal):
            bad = answer.code is RefusalCode.BAD_TEXT
            require(bad or not may, Must.HEARD, f"{say.role} was refused: {answer}")
            fine = bool(texts) and all(map(good_text, texts))
            require(not (bad and fine), Must.TEXT, f"{texts}: {answer}")
            return
        require(bool(self.losses()) or may, Must.TURNS, f"{say.role} spoke out of turn")
        require(may, Must.ALONE, f"{say.role} spoke")
        said = answer[0] if answer else None
        assert isinstance(said, Said), answer
        require([part.text for part in said.parts] == texts, Must.TEXT, said)
        require((said.role, said.key, said.meta) == (say.role, say.key, say.meta), Must.TEXT, said)
        for text in texts:
            kinds = {unicodedata.category(character) for character in text}
            require(1 <= len(text) <= 500 and not kinds & {"Cc", "Cs"}, Must.TEXT, ascii(text))

    def _judge_expire(self, expired: Expire, answer: Answer) -> None:
        assert isinstance(answer, tuple), answer
        role = expired.role
        if not answer:
            return
        require(not self.end(), Must.STALE, "after the end")
        if role is None:
            right = expired.kind is DeadlineKind.LIMIT and expired.seq == self.limit()[0]
            require(right, Must.STALE, expired)
            require(isinstance(answer[0], Ended), Must.ENDS, answer)
            return
        require(not self.lost(role), Must.STALE, f"{expired} for a lost seat")
        away = self.away_since(role)
        match expired.kind:
            case DeadlineKind.PRESENCE:
                returned = [
                    n for n, e in self.numbered() if isinstance(e, Returned) and e.role is role
                ]
                here = returned[-1] if returned else 1
                require(away is None and expired.seq == here, Must.STALE, expired)
                require(answer == (Away(self.now, role),), Must.KEPT, answer)
            case DeadlineKind.GRACE:
                require(away == expired.seq, Must.STALE, f"{expired}: away since {away}")
            case DeadlineKind.TURN:
                newer = any(
                    isinstance(e, Said | SeatLost | Extended)
                    or (isinstance(e, Returned) and e.role is role)
                    for n, e in self.numbered()
                    if n > expired.seq
                )
                require(self.turn() is role and not newer, Must.STALE, expired)
            case DeadlineKind.LIMIT:
                raise Violated(Must.STALE, f"{expired}")
        if isinstance(answer[0], SeatLost):
            require(answer[0].role is role, Must.KEPT, answer)
            require(answer[0].why == expired.kind.value, Must.KEPT, answer)

    def _judge_team(self, command: Tell | Extend | EndByTeam, answer: Answer) -> None:
        known = [n for n, key in self.by_team() if key == command.key]
        if known:
            same = isinstance(self.events[known[0] - 1], _BY_COMMAND[type(command)])
            right = answer == Known(known[0]) if same else isinstance(answer, Refusal)
            require(right, Must.TEAM, f"{command} again: {answer}")
            return
        done = isinstance(answer, tuple)
        require(not (done and self.end()), Must.TEAM, f"after the end: {answer}")
        match command:
            case Tell(key, to, text):
                may = not self.end() and not (to and self.lost(to))
                told = (Told(self.now, key, to, text.strip()),)
                require(answer == told if done else True, Must.TEAM, answer)
                require(may if done else not (may and good_text(text.strip())), Must.TEAM, answer)
                require(not done or len(text.strip()) <= 500, Must.TEXT, text)
            case Extend(key, by_s, latest):
                room = latest - max(self.limit()[1], self.now) - by_s
                may = not self.end() and 0 < by_s <= 3600 and room > -1e-3
                require(done == may or abs(room) <= 1e-3, Must.LONGER, f"{command}: {answer}")
                longer = (Extended(self.now, key, by_s),)
                require(answer == longer if done else True, Must.LONGER, answer)
            case EndByTeam():
                self._judge_end_by_team(command, answer)

    def _judge_end_by_team(self, end: EndByTeam, answer: Answer) -> None:
        full = self.rules.pay.complete
        wrong = [
            role
            for role, cents in end.cents.items()
            if self.lost(role) or not (full if self.done(role) else 0) <= cents <= full
        ]
        reason = end.reason.strip()
        if not isinstance(answer, tuple):
            fine = not reason or good_text(reason)
            require(self.end() or wrong or not fine, Must.DECIDED, f"{end}: {answer}")
            return
        require(not wrong, Must.DECIDED, f"{end} of {wrong}: {answer}")
        (ended,) = answer
        assert isinstance(ended, Ended), answer
        require((ended.reason, ended.key) == (reason, end.key), Must.DECIDED, ended)
        decided = {
            seat.arrival_id: (Release.ENDED_BY_TEAM, end.cents.get(seat.role, full))
            for seat in self.taken
            if not self.lost(seat.role)
        }
        got = {s.arrival_id: (s.release, s.cents) for s in ended.settlements}
        require(got == decided, Must.DECIDED, f"{end}: {ended}")

    # --- Judging the whole -----------------------------------------------------------------

    def _hold(self, new: Sequence[Event]) -> None:
        """What must be true after these events, which were stored together."""
        self._hold_messages()
        self._hold_ends()
        self._hold_pay()
        self._hold_deadlines()
        self._hold_fold(new)
        self._hold_rows()

    def _first_loss(self) -> int:
        losses = self.losses()
        return losses[0][0] if losses else len(self.events) + 1

    def _hold_messages(self) -> None:
        paired = [said for n, said in self.messages() if n < self._first_loss()]
        for n, said in enumerate(paired):
            require(said.role is (Q, A)[n % 2], Must.TURNS, f"message {n + 1} is {said.role}'s")
            require(said.round == n // 2 + 1, Must.TURNS, f"message {n + 1} in round {said.round}")
        for n, said in self.messages():
            gone = [loss.role for at, loss in self.losses() if at < n]
            require(said.role not in gone, Must.ALONE, f"{said.role} wrote after the loss")
            if gone:
                nth = self.sent(said.role, before=n + 1)
                require(said.round == nth, Must.ALONE, f"own message {nth}, round {said.round}")
        keys = Counter((said.role, said.key) for _, said in self.messages())
        require(all(n == 1 for n in keys.values()), Must.KEYS, keys)
        ends = [n for n, e in self.numbered() if isinstance(e, Ended)]
        require(ends in ([], [len(self.events)]), Must.ALONE, f"events after the end {ends}")
        once = Counter(key for _, key in self.by_team())
        require(all(n == 1 for n in once.values()), Must.TEAM, once)

    def _hold_ends(self) -> None:
        """The outcome, and that the end comes when nothing is awaited any more."""
        ended, losses, rounds = self.end(), self.losses(), self.rules.rounds
        both = not losses and len(self.messages()) == 2 * rounds
        require(
            both == (ended is not None and ended.outcome is Outcome.COMPLETE),
            Must.COMPLETE,
            f"{len(self.messages())} messages of {2 * rounds}: {ended}",
        )
        for n, loss in losses:
            sent = self.sent(loss.role, before=n)
            require(sent < rounds, Must.DONE, f"{loss.role} lost the seat after {sent}")
            stays = n == losses[0][0] and self.sent(other(loss.role), before=n) < rounds
            require((loss.phase is Phase.SOLO) == stays, Must.ENDS, f"{loss}, {stays=}")
            require(stays or ended, Must.ENDS, "nobody is awaited")
        if losses and self.done(other(losses[0][1].role)):
            require(ended, Must.ENDS, "the survivor has sent all messages")
        if ended and len(losses) == 1:
            finished = self.done(other(losses[0][1].role))
            require((ended.outcome is Outcome.SOLO) == finished, Must.PAID, f"{ended}, {finished=}")
        elif ended and ended.outcome is not Outcome.COMPLETE:
            require(ended.outcome is Outcome.ABANDONED, Must.COMPLETE, ended)

    def _hold_pay(self) -> None:
        ended, pay = self.end(), self.rules.pay
        again = ended.waiting_again if ended else ()
        settled = Counter([*(s.arrival_id for s in self.settlements()), *again])
        for seat in self.taken:
            over = self.lost(seat.role) or ended is not None
            require(settled[seat.arrival_id] == over, Must.SETTLED, f"{seat}: {settled}")
        for settlement in self.settlements():
            (role,) = (seat.role for seat in self.taken if seat.arrival_id == settlement.arrival_id)
            match settlement.release:
                case Release.COMPLETED:
                    require(ended and ended.outcome is Outcome.COMPLETE, Must.PAID, settlement)
                    full = True
                case Release.FINISHED_ALONE:
                    require(self.done(role) and self.losses(), Must.PAID, settlement)
                    full = True
                case Release.ENDED_BY_TEAM:
                    limit = ended and ended.at >= self.limit()[1] - 1e-3
                    require(limit or (ended and ended.key), Must.PAID, settlement)
                    if ended and ended.key:
                        continue
                    full = True
                case Release.LEFT:
                    require(not self.done(role), Must.DONE, settlement)
                    full = False
                case _:
                    raise Violated(Must.SETTLED, f"{settlement}")
            owed = pay.complete if full else pay.left
            require(settlement.cents == owed, Must.PAID, f"{settlement} for {owed}")
        for settlement in ended.settlements if ended else ():
            (role,) = (seat.role for seat in self.taken if seat.arrival_id == settlement.arrival_id)
            if self.done(role):
                require(settlement.cents == pay.complete, Must.PAID, settlement)

    def _hold_deadlines(self) -> None:
        armed = dialog.deadlines(self.state)
        if self.end():
            require(armed == (), Must.ARMED, f"after the end: {armed}")
            return
        names = Counter((d.kind, d.role) for d in armed)
        wanted = {(DeadlineKind.LIMIT, None), (DeadlineKind.TURN, self.turn())}
        for role in (Q, A):
            if not self.lost(role) and not self.done(role):
                here = self.away_since(role) is None
                wanted.add((DeadlineKind.PRESENCE if here else DeadlineKind.GRACE, role))
        require(names == Counter(wanted), Must.ARMED, f"{names}, not {wanted}")
        for deadline in armed:
            require(1 <= deadline.seq <= len(self.events), Must.ARMED, deadline)
            if deadline.kind is DeadlineKind.LIMIT:
                number, falls = self.limit()
                late = abs(self.due(deadline) - falls)
                require(deadline.seq == number and late < 1e-3, Must.LONGER, deadline)
            else:
                require(deadline.delay_s == self._delay(deadline.kind), Must.ARMED, deadline)
                began = self.limit()[0] if deadline.kind is not DeadlineKind.PRESENCE else 1
                require(deadline.seq >= began, Must.LONGER, f"{deadline} began before {began}")
            if deadline.kind is DeadlineKind.TURN:
                since = self.turn_since()
                require(deadline.seq == since, Must.STALE, f"{deadline}, the turn began at {since}")
            expired = Expire(deadline.kind, deadline.role, deadline.seq)
            answer = dialog.decide(self.state, expired, self.now)
            require(isinstance(answer, tuple) and answer, Must.ARMED, f"{deadline} does nothing")
        self.armed_once += [d for d in armed if d not in self.armed_once]

    def _delay(self, kind: DeadlineKind) -> float:
        if kind is DeadlineKind.PRESENCE:
            return 30.0
        return self.rules.grace_s if kind is DeadlineKind.GRACE else self.rules.turn_limit_s

    def _hold_fold(self, new: Sequence[Event]) -> None:
        require(self.state.seq == len(self.events), Must.FOLD, "an event has no number")
        require(folding.fold(self.dialog_id, self.events) == self.state, Must.FOLD)
        for event in new:
            stored = orjson.loads(orjson.dumps(events.to_json(event)))
            require(events.from_json(event.kind, event.at, stored) == event, Must.JSON, event)

    # --- Rows ------------------------------------------------------------------------------

    def _take(self, decision: Decision) -> None:
        """Takes a decision as the database would: guarded changes must find their row."""
        self.decided.append(decision)
        self.rows += [(table.name, row) for table, row in decision.inserts]
        for change in decision.changes:
            known = change.params.get("dialog", self.dialog_id)
            require(known == self.dialog_id, Must.ROWS, f"a change of another dialog {known}")
            match change.params:
                case {"arrival": arrival, "before": before, "after": after}:
                    require(self.arrivals[arrival] == before, Must.ROWS, change.params)
                    self.arrivals[arrival] = after
                case {"dialog": _, "arrival": arrival, "after": after}:
                    require(self.seats[arrival] == "live", Must.ROWS, change.params)
                    self.seats[arrival] = after
                case {"dialog": _, "how": _}:
                    require(self.phase != "ended", Must.ROWS, change.params)
                    self.phase = "ended"
                case {"dialog": _}:
                    require(self.phase == "paired", Must.ROWS, change.params)
                    self.phase = "solo"
                case _:
                    raise Violated(Must.ROWS, f"an unknown change {change.params}")

    def _rows(self, table: Any) -> list[dict[str, Any]]:
        return [row for name, row in self.rows if name == table.name]

    def _hold_rows(self) -> None:
        seqs = [row["seq"] for row in self._rows(tables.events)]
        require(seqs == list(range(2, len(self.events) + 1)), Must.ROWS, seqs)
        settled = self.settlements()
        released = [(row["arrival_id"], row["release"]) for row in self._rows(tables.releases)]
        require(released == [(s.arrival_id, s.release) for s in settled], Must.ROWS, released)
        codes = [row["code"] for row in self._rows(tables.releases)]
        require(codes == [f"code-{s.arrival_id}" for s in settled], Must.ROWS, codes)
        owed = [(row["arrival_id"], row["cents"]) for row in self._rows(tables.ledger)]
        require(owed == [(s.arrival_id, s.cents) for s in settled if s.cents], Must.ROWS, owed)
        ended = self.end()
        incomplete = bool(self.losses()) or bool(ended and ended.outcome is not Outcome.COMPLETE)
        relaunched = [(row["item_id"], row["place"]) for row in self._rows(tables.relaunches)]
        require(relaunched == [(self.item_id, 1)] * incomplete, Must.RELAUNCH, relaunched)
        phase = "ended" if ended else "solo" if self.losses() else "paired"
        require(self.phase == phase, Must.ROWS, f"the row says {self.phase}, not {phase}")
        settlements = {s.arrival_id: s.release for s in settled}
        for seat in self.taken:
            release = settlements.get(seat.arrival_id)
            if release is not None:
                expected = "lost" if release is Release.LEFT else "done", "released"
            elif ended:
                expected = "given_up", "waiting"
            else:
                expected = "live", "seated"
            found = self.seats[seat.arrival_id], self.arrivals[seat.arrival_id]
            require(found == expected, Must.ROWS, f"{found}, not {expected}")


# --- What may happen -------------------------------------------------------------------------


@dataclass(frozen=True)
class Talk:
    """Whose turn it is speaks, so many times."""

    messages: int

    def act(self, play: Play) -> None:
        play.talk(self.messages)


@dataclass(frozen=True)
class TalkUntil:
    """They talk until so many messages are missing."""

    missing: int

    def act(self, play: Play) -> None:
        play.talk(2 * play.rules.rounds - len(play.messages()) - self.missing)


@dataclass(frozen=True)
class Speak:
    """A message from anybody, with a new key or one that was used before, by whomever."""

    role: Role
    text: str = "hello"
    used_key: int | None = None

    def act(self, play: Play) -> None:
        keys = [said.key for _, said in play.messages()]
        again = self.used_key is not None and keys
        play.say(self.role, self.text, keys[self.used_key % len(keys)] if again else None)


@dataclass(frozen=True)
class Ask:
    """A command that is neither a message nor a deadline."""

    command: Command

    def act(self, play: Play) -> None:
        play.do(self.command)


@dataclass(frozen=True)
class Alone:
    """Who is left alone asks for a new partner."""

    def act(self, play: Play) -> None:
        if play.losses():
            play.do(PairAgain(other(play.losses()[0][1].role)))


@dataclass(frozen=True)
class Steer:
    """The team does something, with a new key or one that it used before."""

    command: Tell | Extend | EndByTeam
    used_key: int | None = None

    def act(self, play: Play) -> None:
        play.keys += 1
        keys = [key for _, key in play.by_team()]
        again = self.used_key is not None and keys
        key = keys[self.used_key % len(keys)] if again else f"team-{play.keys}"  # type: ignore[operator]
        play.do(replace(self.command, key=key))


@dataclass(frozen=True)
class Fire:
    """A deadline fires, if it is armed."""

    kind: DeadlineKind
    role: Role

    def act(self, play: Play) -> None:
        for deadline in dialog.deadlines(play.state):
            if deadline.kind is self.kind and deadline.role in (self.role, None):
                play.fire(deadline)


@dataclass(frozen=True)
class FireOld:
    """A deadline fires that was armed once, perhaps for the second time."""

    which: int

    def act(self, play: Play) -> None:
        if play.armed_once:
            old = play.armed_once[-1 - self.which % len(play.armed_once)]
            if old in dialog.deadlines(play.state):
                play.fire(old)
            else:
                play.do(Expire(old.kind, old.role, old.seq))


@dataclass(frozen=True)
class FireForged:
    """A deadline fires that may never have been armed."""

    kind: DeadlineKind
    role: Role
    seq: int

    def act(self, play: Play) -> None:
        play.do(Expire(self.kind, self.role, self.seq))


@dataclass(frozen=True)
class Pass:
    """Time passes."""

    seconds: float

    def act(self, play: Play) -> None:
        play.now += self.seconds


Action = Talk | TalkUntil | Speak | Ask | Alone | Steer | Fire | FireOld | FireForged | Pass

roles = st.sampled_from([Q, A])
small = st.integers(0, 40)
texts = st.one_of(
    st.just("Is it a dog?"),
    st.text(max_size=30),
    st.text(st.characters(categories=["Cc", "Cf", "Cs", "Zs", "Mn", "So", "Lo"]), max_size=5),
    st.sampled_from("\x00\n\x85\u2028\u202e\u200d\ud83d\udc36\U0001f436").map("a{}b".format),
    st.integers(498, 502).map(lambda n: "x" * n),
)
kinds = st.sampled_from(list(DeadlineKind))
people_actions: st.SearchStrategy[Action] = st.one_of(
    st.builds(Talk, st.integers(1, 7)),
    st.builds(Speak, roles),
    st.builds(Speak, roles, texts, st.none() | small),
    st.builds(Ask, st.one_of(*(st.builds(kind, roles) for kind in (Leave, Return, PairAgain)))),
    st.builds(Alone),
    st.builds(Steer, st.builds(Tell, st.just(""), st.none() | roles, texts), st.none() | small),
    st.builds(Pass, st.floats(0, 100)),
)
more_time = st.builds(
    Extend,
    st.just(""),
    st.one_of(st.floats(1, 3600), st.sampled_from([0.0, -60.0, 3600.0, 3601.0, float("nan")])),
    st.just(float("inf")) | st.integers(0, 9000).map(lambda s: OPENED_AT + s),
)
ends_by_team = st.builds(
    EndByTeam,
    st.just(""),
    st.just("") | texts,
    st.dictionaries(roles, st.sampled_from([0, 1, 0, 1, 0, 1, -1, 501])),
)
actions: st.SearchStrategy[Action] = st.one_of(
    people_actions,
    st.builds(Steer, more_time, st.none() | small),
    st.builds(Fire, kinds, roles),
    st.builds(FireOld, small),
    st.builds(FireForged, kinds, roles, small),
)


Scene = list[Action]


def all_scenes(
    role: Role,
    messages: int,
    lost: Scene,
    decided: EndByTeam,
    used_key: int,
    more: Extend,
) -> list[Scene]:
    """What chance alone would seldom bring about."""
    away, back = Fire(DeadlineKind.PRESENCE, role), Ask(Return(role))
    end, again, longer = Steer(decided), Steer(decided, used_key), Steer(more)
    less = Steer(EndByTeam("", "", {Q: 0}))
    tell = Tell("", None, "Please go on.")
    told, copied = Steer(replace(tell, to=role)), Steer(replace(tell, text=decided.reason))
    return [
        [Talk(messages), Speak(role)],
        [Talk(messages), Speak(role, used_key=0), Speak(other(role), used_key=0)],
        [Talk(messages), *lost, Speak(role), Alone(), Talk(2), Alone()],
        [told, Talk(messages), Steer(tell, 0), *lost, told, end, Steer(tell), Steer(tell, 0)],
        [copied],
        [Talk(messages), *lost, Talk(messages), Alone()],
        [away, back, away, back, FireOld(messages)],
        [away, back, away, Talk(messages), FireOld(messages), back, FireOld(messages)],
        [away, TalkUntil(messages), Fire(DeadlineKind.LIMIT, role)],
        [away, TalkUntil(1), Fire(DeadlineKind.LIMIT, role)],
        [TalkUntil(1), *lost, FireOld(messages)],
        [TalkUntil(2), *lost, Talk(messages)],
        [Talk(messages), end, again],
        [Talk(messages), *lost, end, again],
        [TalkUntil(1), less, end, again],
        [away, longer, FireOld(messages), Fire(DeadlineKind.LIMIT, role)],
        [Talk(messages), longer, longer, FireOld(messages)],
        [Pass(4000.0), longer, FireOld(messages), Fire(DeadlineKind.LIMIT, role)],
    ]


def losses_of(role: Role) -> list[Scene]:
    """Two ways in which a seat is lost."""
    absent = [Fire(DeadlineKind.PRESENCE, role), Fire(DeadlineKind.GRACE, role)]
    return [[Ask(Leave(role))], absent]


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    role, messages = draw(roles), draw(st.integers(0, 6))
    lost = draw(st.sampled_from(losses_of(role)))
    more = Extend("", draw(st.floats(1, 3600)))
    found = all_scenes(role, messages, lost, draw(ends_by_team), draw(small), more)
    return draw(st.sampled_from(found))


happenings: st.SearchStrategy[list[Action]] = st.lists(
    st.one_of(actions.map(lambda action: [action]), scenes()), max_size=12
).map(lambda parts: [action for part in parts for action in part])
pays = st.builds(
    Pay,
    currency=st.sampled_from(["USD", "EUR"]),
    complete=st.integers(1, 500),
    left=st.sampled_from([0, 0, 25]),
)
all_rules = st.builds(
    Rules,
    protocol=st.sampled_from(["visdial", "visdial-blurred"]),
    rounds=st.sampled_from([1, 2, 3, 10]),
    grace_s=st.sampled_from([5.0, 60.0]),
    turn_limit_s=st.sampled_from([60.0, 180.0]),
    dialog_limit_s=st.sampled_from([600.0, 3600.0]),
    pair_again_below=st.integers(0, 3),
    pay=pays,
)


def played(rules: Rules, happening: list[Action], nth: str = "") -> Play:
    play = Play(rules, nth)
    for action in happening:
        action.act(play)
    return play


def check_play(rules: Rules, happening: list[Action]) -> None:
    """Plays whatever happens; fails if anything is not as it must be."""
    played(rules, happening)


TEAMS = (
    (EndByTeam("", "Enough."), Extend("", 600.0)),
    (EndByTeam("", "Enough.", {Q: 1}), Extend("", 3601.0)),
    (EndByTeam("", "Enough.", {A: 501}), Extend("", 0.0)),
    (EndByTeam("", "a\nb", {}), Extend("", 600.0, OPENED_AT)),
)
"""What a team decides, some of which it may not."""


def check_every_scene() -> None:
    """Plays each of the scenes by itself, whatever chance would choose."""
    every: list[Scene] = []
    for (end, more), role, messages in product(TEAMS, (Q, A), range(5)):
        for lost in losses_of(role):
            made = all_scenes(role, messages, lost, end, 0, more)
            every += [scene for scene in made if scene not in every]
    for rounds, scene in product((3, 1), every):
        check_play(Rules(rounds=rounds, pair_again_below=1), scene)


def check_text(text: str) -> None:
    """Says this in a dialog; fails if it is neither stored as it is nor rightly refused."""
    Play(Rules()).say(Q, text)


def check_ends_without_people(rules: Rules, happening: list[Action], order: list[int]) -> None:
    """From wherever a dialog has come, deadlines in any order end it when nobody does anything.

    Each person can be noted as away once and lose the seat once, so four are the most.
    """
    play = played(rules, happening)
    for n in order[:4]:
        if armed := dialog.deadlines(play.state):
            play.fire(armed[n % len(armed)])
    require(play.end(), Must.ENDS, f"{play.state.phase} after four deadlines")


def check_ends_by_team(rules: Rules, happening: list[Action], end: EndByTeam) -> None:
    """From wherever a dialog has come, the team can end it, once."""
    play = played(rules, happening)
    Steer(end).act(play)
    Steer(end, 0).act(play)
    Steer(EndByTeam("")).act(play)
    require(play.end(), Must.DECIDED, "the team could not end it")
    seq = play.state.seq
    Steer(end).act(play)
    require(play.state.seq == seq, Must.TEAM, "it went on after its end")


def check_ends_with_people(rules: Rules, between: list[Action]) -> None:
    """Deadlines that fire when they are due end a dialog, whatever people do in between.

    They do it over and over, but cannot turn back the clock: the dialog's limit is the last.
    """
    play = Play(rules)
    shortest = min(30.0, rules.grace_s, rules.turn_limit_s)
    most = 4 * int(rules.dialog_limit_s / shortest) + 4
    for n in range(most):
        armed = dialog.deadlines(play.state)
        if not armed:
            break
        play.fire(min(armed, key=play.due))
        if between and not play.end():
            between[n % len(between)].act(play)
    require(play.end(), Must.ENDS, f"{play.state.phase} after {most} deadlines")
    ended = play.end()
    assert ended is not None
    require(ended.at <= OPENED_AT + rules.dialog_limit_s + 600, Must.ENDS, "later than the limit")
