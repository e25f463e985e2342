"""The page of a simulated worker: takes in what the server sends, carries out steps."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any, Final

import orjson
from pydantic import ValidationError

from chatserver.wire import (
    ErrorCode,
    Events,
    ExtendedOut,
    Lobby,
    MessageOut,
    PartnerOut,
    PhaseOut,
    Released,
    Stage,
    State,
    Stopped,
    ToldOut,
    Typing,
    Wire,
)
from dialogs.rules import Release
from duologue.simulate.behaviours import Act, Behaviour, Step
from duologue.simulate.connection import PASSING, Connection, Lost
from duologue.simulate.log import Entry, WorkerLog
from duologue.simulate.plan import Plan
from duologue.simulate.sender import HOLD_S, OWED_S, Sender
from duologue.simulate.view import Applied, Contradiction, Frame, View

FIRST_TAB_S: Final = 10.0
PAYLOADS: Final[dict[str, type[Wire]]] = {
    "state": State,
    "lobby": Lobby,
    "stopped": Stopped,
    "message": MessageOut,
    "partner": PartnerOut,
    "phase": PhaseOut,
    "told": ToldOut,
    "extended": ExtendedOut,
    "typing": Typing,
}


class Replaced(Exception):
    """Another tab took over."""


@dataclass(frozen=True, slots=True)
class Ending:
    """The arrival is over. Without `released` the worker vanished or was sent away."""

    released: Released | None


class Page:
    """One arrival's page, over any number of connections."""

    def __init__(
        self, plan: Plan, log: WorkerLog, behaviour: Behaviour, engaged: asyncio.Event
    ) -> None:
        self.view = View()
        self.sender = Sender(plan, log, self.view, behaviour.rng)
        self._log = log
        self._behaviour = behaviour
        self._engaged = engaged
        self._situation: object = None
        self._step: Step | None = None
        self._due = self._hold = 0.0
        self._typing_at: float | None = None
        self._watches: set[asyncio.Task[None]] = set()

    async def work(self, connection: Connection) -> Ending | None:
        """Work on this connection until the arrival is over; None asks for a second tab.

        Raises:
            Lost: the connection is gone; `sender.away_s` says for how long the worker stays away.
            Replaced: the server says that another tab took over.
        """
        self.sender.connection = connection
        self.sender.away_s = 0.0
        self.view.fresh = False
        self._situation = self._step = self._typing_at = None
        if self.sender.owed is not None:
            self.sender.owed = (self.sender.owed[0], monotonic() + OWED_S)
        try:
            return await self._work()
        except Lost:
            if self._log.lines[-1]["event"] != Entry.CUT:
                self._log.write(Entry.DISCONNECTED)
            raise

    async def _work(self) -> Ending | None:
        while True:
            while (event := await self.sender.connection.receive(0)) is not None:
                await self._take(*event)
            if self.sender.pending is not None and self.view.fresh:
                self._replan(await self.sender.resend())
                continue
            await self._plan_step()
            wait = self._wait_s()
            if wait is None or wait > 0:
                event = await self.sender.connection.receive(wait)
                if event is not None:
                    await self._take(*event)
                continue
            now = monotonic()
            if self.sender.owed is not None and now >= self.sender.owed[1]:
                await self._claim_owed()
            elif self._typing_at is not None and now >= self._typing_at:
                self._typing_at = None
                await self.sender.connection.tell("typing", {"on": True})
            elif self._step is not None and now >= self._due:
                step, self._step = self._step, None
                if step.act is Act.SECOND_TAB:
                    return None
                ending = await self._do(step)
                if ending is not None:
                    return ending

    def _wait_s(self) -> float | None:
        moments = [moment for moment in (self._typing_at,) if moment is not None]
        if self._step is not None:
            moments.append(self._due)
        if self.sender.owed is not None:
            moments.append(self.sender.owed[1])
        return max(0.0, min(moments) - monotonic()) if moments else None

    async def _plan_step(self) -> None:
        """Ask the behaviour for a step if the situation is a new one."""
        owed = self.sender.owed is not None
        if not self.view.fresh or owed or self.view.situation == self._situation:
            return
        self._situation = self.view.situation
        self._step = self._behaviour.step(self.view)
        self._typing_at = None
        if self._step is not None:
            now = monotonic()
            self._due = max(self._hold, now + self._step.delay_s)
            if self._step.typing_s > 0:
                self._typing_at = self._due - self._step.typing_s

    def _replan(self, carried_out: bool = True) -> None:
        """Ask for a step anew; not at once if the last one was refused."""
        self._situation = None
        if not carried_out:
            self._hold = monotonic() + HOLD_S

    def _again(self, step: Step, after_s: float = HOLD_S) -> None:
        """Put a step off."""
        self._step, self._due = step, monotonic() + after_s

    # --- What the server sends -------------------------------------------------------------

    async def _take(self, name: str, data: Any) -> None:
        try:
            payload = PAYLOADS[name].model_validate_json(orjson.dumps(data))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            self._log.write(Entry.VIOLATION, what=f"{name}: {first['loc']}: {first['msg']}")
            return
        try:
            match payload:
                case State():
                    self._take_state(payload)
                case MessageOut() | PartnerOut() | PhaseOut() | ToldOut() | ExtendedOut():
                    await self._take_frame(name, payload)
                case Lobby():
                    self.view.lobby = payload
                case Stopped(error=text, code=code):
                    self._log.write(Entry.STOPPED, error=text, code=code.value)
                    self._log.write(Entry.FAULT, what=f"stopped: {code}")
                    raise Replaced
                case _:
                    pass
        except Contradiction as error:
            self._log.write(Entry.VIOLATION, what=str(error))

    def _take_state(self, state: State) -> None:
        dialogs = self.view.dialogs
        applied = self.view.take_state(state)
        self._log.dialog = self.view.dialogs
        self._log.write(Entry.STATE, stage=state.stage.value, seq=state.seq, applied=applied.value)
        if state.dialog is not None:
            self._engaged.set()
            for message in state.dialog.messages:
                self._log_frame("message", message, "state", applied)
            for told in state.dialog.told:
                self._log_frame("told", told, "state", applied)
        if self.view.dialogs != dialogs:
            self.sender.owed = None
        if state.released is not None:
            self._note_release(state.released)
        self._settle_owed()

    def _note_release(self, released: Released) -> None:
        self._engaged.set()
        self.sender.owed = None
        line = {
            "release": released.release.value,
            "outcome": released.outcome.value if released.outcome else None,
            "cents": released.cents,
            "code": released.code,
        }
        before = [each for each in self._log.of(Entry.RELEASED) if self._mine(each)]
        if not before:
            self._log.write(Entry.RELEASED, **line)
        elif _differs(before[-1], line):
            self._log.write(Entry.VIOLATION, what=f"released again, and differently: {line}")

    def _mine(self, line: dict[str, Any]) -> bool:
        return bool(line["arrival"] == self._log.arrival)

    async def _take_frame(self, name: str, frame: Frame) -> None:
        applied = self.view.take_frame(frame)
        self._log_frame(name, frame, "live", applied)
        if applied is Applied.GAP:
            self._log.write(Entry.GAP, seq=frame.seq, had=self.view.seq)
            await self._sync()
        self._settle_owed()

    def _log_frame(self, name: str, frame: Frame, via: str, applied: Applied) -> None:
        payload = frame.model_dump(mode="json")
        if "at" in payload:
            payload["said_at"] = payload.pop("at")
        self._log.write(Entry.FRAME, name=name, via=via, applied=applied.value, **payload)

    async def _sync(self) -> None:
        answer = await self.sender.ask("sync", {"after_seq": self.view.seq})
        if answer is None or "error" in answer:
            return
        events = Events.model_validate_json(orjson.dumps(dict(answer)))
        for frame in self.view.take_events(events):
            name = "message" if isinstance(frame, MessageOut) else "event"
            self._log_frame(name, frame, "sync", Applied.NEW)

    # --- An acknowledged message must come back --------------------------------------------

    def _settle_owed(self) -> None:
        if self.sender.owed is not None and self.view.seq >= self.sender.owed[0]:
            self.sender.owed = None

    async def _claim_owed(self) -> None:
        assert self.sender.owed is not None
        seq, self.sender.owed = self.sender.owed[0], None
        if self.view.stage is Stage.TALKING and self.view.seq < seq:
            self._log.write(
                Entry.VIOLATION, what=f"message {seq} is acknowledged, and not delivered in time"
            )
            await self._sync()
        self._situation = None

    # --- Steps -----------------------------------------------------------------------------

    async def _do(self, step: Step) -> Ending | None:
        match step.act:
            case Act.SAY:
                self._replan(await self.sender.say(step))
            case Act.BURST:
                await self.sender.burst(step.texts)
                self._replan()
            case Act.ABUSE if step.abuse is not None:
                await self.sender.abuse(step.abuse)
                self._replan()
            case Act.CUT:
                self.sender.cut()
            case Act.VANISH:
                self._log.write(Entry.VANISHED)
                self.sender.connection.cut()
                return Ending(None)
            case Act.PAIR_AGAIN:
                # Even if the answer is lost: a dialog that shows up next may be another one.
                self.view.take_back_to_lobby()
                self.sender.owed = None
                if not await self._press(step):
                    self.sender.cut()
                self.view.fresh = False
            case Act.FINISH:
                return await self._finish(step)
            case Act.LEAVE:
                await self._press(step, {"reason": "simulated"})
            case _:
                await self._press(step)
        return None

    async def _press(self, step: Step, payload: Any = None) -> bool:
        """A button; put off when the server asks to. True when it is carried out."""
        answer = await self.sender.ask(step.act.value, payload or {})
        if answer is None:
            self._again(step)
            return False
        code = answer.get("code")
        if code in PASSING:
            self._again(step)
        elif code == ErrorCode.STUDY_PAUSED:
            self._again(Step(Act.LEAVE))
        elif code == ErrorCode.NOT_NOW:
            # A state is on its way; if it says nothing new, the step is due again.
            self._again(step, 4 * HOLD_S)
        elif code is not None:
            self._log.write(Entry.FAULT, what=f"{step.act} refused: {code}")
        return "error" not in answer

    async def _finish(self, step: Step) -> Ending | None:
        released = self.view.released
        if released is None:
            return None
        if released.feedback_sent or await self._press(step, {"feedback": "Simulated: all fine."}):
            return Ending(released)
        return None

    # --- Two tabs --------------------------------------------------------------------------

    def watch_first_tab(self, old: Connection) -> None:
        """The first tab must be told to stop, and must not stay open."""
        task = asyncio.ensure_future(self._watch(old))
        self._watches.add(task)
        task.add_done_callback(self._watches.discard)

    async def _watch(self, old: Connection) -> None:
        until = monotonic() + FIRST_TAB_S
        try:
            while (left := until - monotonic()) > 0:
                event = await old.receive(left)
                if event is not None and event[0] == "stopped":
                    self._log.write(Entry.STOPPED, **event[1])
                    return
        except Lost:
            self._log.write(Entry.FAULT, what="the first tab was closed without a word")
            return
        finally:
            await old.close()
        self._log.write(Entry.VIOLATION, what="two tabs of one arrival stay open")

    async def close(self) -> None:
        """Let the watches come to their end, unless the worker is being given up."""
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            for watch in self._watches:
                watch.cancel()
        if self._watches:
            await asyncio.wait(set(self._watches))


def _differs(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Whether a release is told differently. A leaver goes before the dialog ends, so its outcome
    may become known later; nothing else may ever change."""
    same = {key: before[key] for key in now}
    if before["outcome"] is None and now["release"] == Release.LEFT.value:
        same["outcome"] = now["outcome"]
    return same != dict(now)
