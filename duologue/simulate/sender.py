"""What a simulated page sends: requests and messages, each with what became of it in the log."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass
from time import monotonic
from typing import Any, Final, NoReturn

from chatserver.wire import Stage
from duologue.simulate.abuse import Abuse
from duologue.simulate.behaviours import Cut, Step
from duologue.simulate.connection import PASSING, Answer, Connection, Lost, NoAnswer
from duologue.simulate.log import Entry, WorkerLog
from duologue.simulate.plan import Plan
from duologue.simulate.view import View

HOLD_S: Final = 0.5
"""Seconds until something that was put off is tried again."""

OWED_S: Final = 5.0
"""An acknowledged message must be delivered within this time while the page is connected."""

SENDS: Final = 3
"""How often a message is sent on one connection before the page connects anew."""


@dataclass(slots=True)
class Pending:
    """A message that is neither acknowledged nor refused yet."""

    key: str
    text: str
    attempts: int = 0


class Sender:
    """Sends for one arrival over its current `connection`.

    `pending` is the message to send again after a lost connection; `owed` the number of an
    acknowledged message that is yet to be delivered, and until when.
    """

    connection: Connection

    def __init__(self, plan: Plan, log: WorkerLog, view: View, rng: random.Random) -> None:
        self.pending: Pending | None = None
        self.owed: tuple[int, float] | None = None
        self.away_s = 0.0
        self._plan = plan
        self._log = log
        self._view = view
        self._rng = rng
        self._keys = 0

    def cut(self) -> NoReturn:
        """Drop the connection, as a network that fails for a while."""
        self.away_s = self._plan.pace.away(self._rng)
        self._log.write(Entry.CUT)
        self.connection.cut()
        raise Lost

    async def ask(self, name: str, payload: Any) -> Answer | None:
        """A request and its answer; None when no answer came in time."""
        self._log.write(Entry.ASKED, name=name)
        try:
            answer = await self.connection.call(name, payload, self._plan.ack_s)
        except NoAnswer:
            self._log.write(Entry.UNANSWERED, name=name, why="time")
            return None
        except Lost:
            self._log.write(Entry.UNANSWERED, name=name, why="lost")
            raise
        self._log.write(Entry.ANSWERED, name=name, answer=dict(answer))
        return answer

    async def say(self, step: Step) -> bool:
        """Send a new message. Returns and raises as `resend`."""
        self.pending = Pending(self._key(), step.texts[0])
        return await self.resend(step.cut, step.twice)

    async def resend(self, cut: Cut = Cut.NEVER, twice: bool = False) -> bool:
        """Send the pending message until it is acknowledged (True) or refused (False).

        Raises:
            Lost: it stays pending.
        """
        pending = self.pending
        assert pending is not None, "there is something to send"
        for _ in range(SENDS):
            future = await self._post(pending)
            if cut is Cut.AFTER:
                await self.connection.flushed()
            if cut is not Cut.NEVER:
                self._log.write(Entry.UNANSWERED, key=pending.key, why="cut")
                self.cut()
            second = await self._post(pending) if twice else None
            answer = await self._answered(pending.key, future)
            if second is not None:
                answer = await self._answered(pending.key, second) or answer
            if answer is None:
                continue
            if answer.get("code") in PASSING:
                await asyncio.sleep(HOLD_S)
                continue
            self.pending = None
            return self._judge(pending.key, answer)
        self.cut()

    def _judge(self, key: str, answer: Answer) -> bool:
        """A proper message is refused only if the dialog moved on, a stored one never."""
        if "error" not in answer:
            return True
        code = answer.get("code")
        if any(message.key == key for message in self._view.messages.values()):
            self._log.write(Entry.VIOLATION, what=f"stored message {key} refused: {code}")
        elif code in ("not_your_turn", "bad_text", "bad_request"):
            self._log.write(Entry.FAULT, what=f"a proper message refused: {code}")
        return False

    async def burst(self, texts: tuple[str, ...]) -> None:
        """Several messages at once. Each must be acknowledged or refused, whatever the turn."""
        sent = [Pending(self._key(), text) for text in texts]
        futures = [await self._post(pending) for pending in sent]
        for pending, future in zip(sent, futures, strict=True):
            await self._answered(pending.key, future)

    async def abuse(self, abuse: Abuse) -> None:
        """Something that must be refused, and must not appear anywhere."""
        key = self._key()
        self._log.write(Entry.ABUSED, name=abuse.event, what=abuse.what, key=key)
        answer = await self.ask(abuse.event, abuse.payload(key))
        if answer is not None and "error" not in answer:
            self._log.write(Entry.VIOLATION, what=f"accepted: {abuse.what}: {dict(answer)}")

    def _key(self) -> str:
        self._keys += 1
        number = f"{self._log.number:05d}-{self._log.arrival}-{self._keys:03d}"
        return f"{self._plan.name}-{number}"

    async def _post(self, pending: Pending) -> asyncio.Future[Answer]:
        pending.attempts += 1
        self._log.write(Entry.SENT, key=pending.key, text=pending.text, attempt=pending.attempts)
        payload = {
            "key": pending.key,
            "parts": [{"text": pending.text}],
            "meta": {"pasted": False, "composed_ms": 100 * len(pending.text), "edits": 0},
        }
        return await self.connection.post("message", payload)

    async def _answered(self, key: str, future: asyncio.Future[Answer]) -> Answer | None:
        """The acknowledgement, in the log at the moment it comes in."""
        try:
            answer = await self.connection.answer(future, self._plan.ack_s)
        except NoAnswer:
            self._log.write(Entry.UNANSWERED, key=key, why="time")
            return None
        except Lost:
            self._log.write(Entry.UNANSWERED, key=key, why="lost")
            raise
        if "seq" in answer:
            self._log.write(Entry.ACKED, key=key, seq=answer["seq"])
            if self._view.stage is Stage.TALKING and answer["seq"] > self._view.seq:
                self.owed = (answer["seq"], monotonic() + OWED_S)
        else:
            error, code = answer.get("error"), answer.get("code")
            self._log.write(Entry.REFUSED, key=key, error=error, code=code)
        return answer
