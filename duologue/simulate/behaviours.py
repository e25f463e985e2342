"""What each kind of worker does: one small class a kind. No I/O; a step is only decided here."""

from __future__ import annotations

import random
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Final

from chatserver.wire import Stage
from dialogs.rules import Phase, Role
from duologue.simulate.abuse import ABUSES, Abuse
from duologue.simulate.corpus import Corpus, Script
from duologue.simulate.mix import Kind
from duologue.simulate.pace import Pace
from duologue.simulate.view import View

SLOWNESS: Final = 4.0
PAIR_AGAIN: Final = 0.25
"""How often somebody left alone early asks for a new partner."""


class Act(StrEnum):
    """What a worker can do next."""

    READY = "ready"
    START = "start"
    DECLINE = "decline"
    SAY = "say"
    BURST = "burst"
    ABUSE = "abuse"
    LEAVE = "leave"
    VANISH = "vanish"
    CUT = "cut"
    SECOND_TAB = "second_tab"
    STOP_WAITING = "stop_waiting"
    PAIR_AGAIN = "pair_again"
    FINISH = "finish"


class Cut(StrEnum):
    """When a connection breaks in the middle of sending a message."""

    NEVER = "never"
    BEFORE = "before"
    """The message may not have left."""
    AFTER = "after"
    """It has left; the acknowledgement is not waited for."""


@dataclass(frozen=True, slots=True)
class Step:
    """One act, `delay_s` after the situation that asks for it; the last `typing_s` of typing.

    `texts` are the messages of SAY (one) and BURST (several); with `twice` a message is sent
    again, with the same key, before it is answered.
    """

    act: Act
    delay_s: float = 0.0
    typing_s: float = 0.0
    texts: tuple[str, ...] = ()
    cut: Cut = Cut.NEVER
    twice: bool = False
    abuse: Abuse | None = None


class Behaviour:
    """A worker who does what the page asks. The other kinds change single moments.

    One instance serves one arrival. `step` is asked once for each situation.
    """

    kind: ClassVar[Kind] = Kind.NORMAL

    def __init__(self, rng: random.Random, pace: Pace, corpus: Corpus, rounds: int = 10) -> None:
        self.rng = rng
        self.pace = pace
        self.corpus = corpus
        self.rounds = rounds
        self._script: tuple[int, Script] | None = None
        self._asked_anew: set[int] = set()

    def step(self, view: View) -> Step | None:
        """What to do in this situation; None to wait for the next one."""
        match view.stage:
            case Stage.ARRIVED:
                return self.outside(view)
            case Stage.WAITING:
                return self.wait(view)
            case Stage.MATCHED:
                started = view.match is not None and view.match.started
                return None if started else self.matched(view)
            case Stage.TALKING:
                return self.talk(view)
            case Stage.RELEASED:
                return Step(Act.FINISH, self.pace.press(self.rng))

    def outside(self, view: View) -> Step | None:
        return Step(Act.READY, self.pace.press(self.rng))

    def wait(self, view: View) -> Step | None:
        """Whoever may stop waiting does, so that no simulation waits for ever."""
        lobby = view.lobby
        if lobby is not None and (lobby.may_stop or lobby.nothing_left):
            return Step(Act.STOP_WAITING, self.pace.press(self.rng))
        return None

    def matched(self, view: View) -> Step | None:
        return Step(Act.START, self.pace.press(self.rng))

    def talk(self, view: View) -> Step | None:
        dialog = view.dialog
        alone = view.phase is Phase.SOLO and dialog is not None and dialog.may_pair_again
        if alone and view.dialogs not in self._asked_anew:
            self._asked_anew.add(view.dialogs)
            if self.rng.random() < PAIR_AGAIN:
                return Step(Act.PAIR_AGAIN, self.pace.press(self.rng))
        return self.say(view) if view.my_turn else None

    def say(self, view: View, cut: Cut = Cut.NEVER, twice: bool = False) -> Step:
        """The next message of this worker."""
        text = self.line(view)
        thinking, typing = self.pace.compose(view.partner_text, text, self.rng)
        return Step(Act.SAY, thinking + typing, typing, (text,), cut, twice)

    def line(self, view: View) -> str:
        """What to say now: the script's line, or an answer to what was asked."""
        dialog = view.dialog
        assert dialog is not None, "only who is in a dialog speaks"
        if self._script is None or self._script[0] != view.dialogs:
            script = self.corpus.script(dialog.item.caption, self.rng)
            self._script = (view.dialogs, script)
        script, number = self._script[1], view.sent + 1
        if dialog.role is Role.QUESTIONER:
            return script.question(number)
        if view.phase is Phase.SOLO:
            return script.fact(number)
        asked = view.partner_text
        return script.answer_to(asked) or self.corpus.answer_to(asked, self.rng)


class Patient(Behaviour):
    """A partner for whoever comes: waits as long as it takes."""

    def wait(self, view: View) -> Step | None:
        return None


class Slow(Behaviour):
    """Takes its time, and turns down the first match now and then."""

    kind = Kind.SLOW

    def __init__(self, rng: random.Random, pace: Pace, corpus: Corpus, rounds: int = 10) -> None:
        super().__init__(rng, Pace(pace.factor * SLOWNESS), corpus, rounds)
        self._buttons = pace
        self._declines = rng.random() < 0.2

    def matched(self, view: View) -> Step | None:
        if self._declines:
            self._declines = False
            return Step(Act.DECLINE, self._buttons.press(self.rng))
        # Slow to write, but not so slow as to miss every match.
        return Step(Act.START, self._buttons.press(self.rng))


class Leaver(Behaviour):
    """Goes after some messages: by the button, or without a word."""

    kind = Kind.LEAVER

    def __init__(self, rng: random.Random, pace: Pace, corpus: Corpus, rounds: int = 10) -> None:
        super().__init__(rng, pace, corpus, rounds)
        self.after = rng.randrange(rounds)
        self.how = rng.choice((Act.LEAVE, Act.VANISH))

    def talk(self, view: View) -> Step | None:
        if view.sent >= self.after:
            return Step(self.how, self.pace.press(self.rng))
        return self.say(view) if view.my_turn else None


class Flaky(Behaviour):
    """Loses its connection in the lobby, between messages and in the middle of sending."""

    kind = Kind.FLAKY
    MOST: Final = 12
    """Losses of one arrival, so that every simulation comes to an end."""

    def __init__(self, rng: random.Random, pace: Pace, corpus: Corpus, rounds: int = 10) -> None:
        super().__init__(rng, pace, corpus, rounds)
        self._losses = 0

    def step(self, view: View) -> Step | None:
        if self._loses(0.12 if view.stage is not Stage.RELEASED else 0.0):
            return Step(Act.CUT, self.pace.press(self.rng))
        return super().step(view)

    def say(self, view: View, cut: Cut = Cut.NEVER, twice: bool = False) -> Step:
        if self._loses(0.3):
            cut = self.rng.choice((Cut.BEFORE, Cut.AFTER))
        return super().say(view, cut, self.rng.random() < 0.1)

    def _loses(self, share: float) -> bool:
        if self._losses >= self.MOST or self.rng.random() >= share:
            return False
        self._losses += 1
        return True


class TwoTabs(Behaviour):
    """Opens the work again in a second tab: in the lobby or in the middle of the dialog."""

    kind = Kind.TWO_TABS

    def __init__(self, rng: random.Random, pace: Pace, corpus: Corpus, rounds: int = 10) -> None:
        super().__init__(rng, pace, corpus, rounds)
        self._stage = rng.choice((Stage.ARRIVED, Stage.WAITING, Stage.TALKING, Stage.TALKING))
        self._after = rng.randrange(rounds)
        self._opened = False

    def step(self, view: View) -> Step | None:
        due = view.stage is Stage.TALKING and view.sent >= self._after
        if not self._opened and (due or view.stage is self._stage is not Stage.TALKING):
            self._opened = True
            return Step(Act.SECOND_TAB, self.pace.press(self.rng))
        return super().step(view)


class Spammer(Behaviour):
    """Sends what must be refused, and several messages at once, between its proper ones."""

    kind = Kind.SPAMMER
    MOST: Final = 30

    def __init__(self, rng: random.Random, pace: Pace, corpus: Corpus, rounds: int = 10) -> None:
        super().__init__(rng, pace, corpus, rounds)
        self._abused = 0
        self._last: tuple[int, int] | None = None

    def talk(self, view: View) -> Step | None:
        moment = (view.dialogs, len(view.messages))
        if self._abused < self.MOST and moment != self._last and self.rng.random() < 0.6:
            self._last = moment
            self._abused += 1
            delay = self.pace.press(self.rng)
            if self.rng.random() < 0.4:
                # In turn or out of turn: at most the first of them may be accepted at a time.
                texts = tuple(self.line(view) for _ in range(self.rng.randint(1, 5)))
                return Step(Act.BURST, delay, texts=texts)
            return Step(Act.ABUSE, delay, abuse=self.rng.choice(ABUSES))
        return super().talk(view)


class Silent(Behaviour):
    """Comes, starts, and never writes."""

    kind = Kind.SILENT

    def talk(self, view: View) -> Step | None:
        return None


BEHAVIOURS: Final[dict[Kind, type[Behaviour]]] = {
    each.kind: each for each in (Behaviour, Slow, Leaver, Flaky, TwoTabs, Spammer, Silent)
}
