"""What a page knows of its arrival: frames applied in order, gaps found. Pure.

A simulated worker follows the rules of the real page: a frame that is not newer than the
position is ignored, one that leaves a gap is not applied until `sync` has filled it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from chatserver.wire import (
    Dialog,
    Events,
    ExtendedOut,
    Lobby,
    Match,
    MessageOut,
    PartnerOut,
    PhaseOut,
    Released,
    Stage,
    State,
    ToldOut,
)
from dialogs.rules import Phase, Role

Frame = MessageOut | PartnerOut | PhaseOut | ToldOut | ExtendedOut


class Applied(StrEnum):
    """What became of a frame."""

    NEW = "new"
    OLD = "old"
    GAP = "gap"


class Contradiction(Exception):
    """The server said two different things about the same event."""


@dataclass
class View:
    """The arrival as its page shows it. `seq` is the newest event applied."""

    stage: Stage = Stage.ARRIVED
    seq: int = 0
    dialogs: int = 0
    lobby: Lobby | None = None
    match: Match | None = None
    dialog: Dialog | None = None
    phase: Phase = Phase.PAIRED
    turn: Role | None = None
    sent: int = 0
    messages: dict[int, MessageOut] = field(default_factory=dict)
    told: dict[int, ToldOut] = field(default_factory=dict)
    released: Released | None = None
    missed_start: bool = False
    fresh: bool = False
    """Whether a `state` has come since the connection was made."""

    @property
    def my_turn(self) -> bool:
        """Whether a message of this worker's is awaited."""
        dialog = self.dialog
        if self.stage is not Stage.TALKING or dialog is None or self.sent >= dialog.rounds:
            return False
        return self.phase is not Phase.ENDED and self.turn is dialog.role

    @property
    def partner_text(self) -> str:
        """What the partner said last, or nothing."""
        role = self.dialog.role if self.dialog else None
        last = max((seq for seq, m in self.messages.items() if m.role is not role), default=None)
        return self.messages[last].parts[0].text if last is not None else ""

    @property
    def situation(self) -> tuple[object, ...]:
        """What a worker's next step depends on; the same situation asks for no new step."""
        lobby = self.lobby
        may_stop = lobby is not None and (lobby.may_stop or lobby.nothing_left)
        match = (self.match.started, round(self.match.start_by)) if self.match else None
        talk = (self.dialogs, self.phase, self.turn, self.sent, len(self.messages))
        return (self.stage, self.missed_start, may_stop, match, talk, self.fresh)

    # --- What the server sends -------------------------------------------------------------

    def take_state(self, state: State) -> Applied:
        """Replace everything by `state`, unless it is older than what is known.

        Raises:
            Contradiction: a message that was delivered is missing or different.
        """
        self.fresh = True
        if state.stage is Stage.TALKING and state.dialog is not None:
            return self._take_dialog(state, state.dialog)
        self.stage = state.stage
        self.lobby, self.match, self.released = state.lobby, state.match, state.released
        self.missed_start = state.missed_start
        return Applied.NEW

    def _take_dialog(self, state: State, dialog: Dialog) -> Applied:
        if self.stage is not Stage.TALKING:
            self.dialogs += 1
            self.seq, self.messages, self.told = 0, {}, {}
        elif state.seq < self.seq:
            return Applied.OLD
        messages = {message.seq: message for message in dialog.messages}
        for seq, message in self.messages.items():
            if seq not in messages:
                raise Contradiction(f"message {seq} was delivered, and is missing in the state")
            self._compare(message, messages[seq])
        told = {each.seq: each for each in dialog.told}
        if any(told.get(seq) != each for seq, each in self.told.items()):
            raise Contradiction("what the team wrote is missing in the state, or another")
        self.stage, self.seq, self.dialog = Stage.TALKING, state.seq, dialog
        self.lobby = self.match = self.released = None
        self.phase, self.turn, self.sent = dialog.phase, dialog.turn, dialog.sent
        self.messages, self.told = messages, told
        return Applied.NEW

    def take_frame(self, frame: Frame) -> Applied:
        """Apply the next frame of the dialog.

        Raises:
            Contradiction: a message that was delivered comes again and is different.
        """
        if self.stage is not Stage.TALKING:
            return Applied.OLD
        if frame.seq <= self.seq:
            if isinstance(frame, MessageOut) and frame.seq in self.messages:
                self._compare(self.messages[frame.seq], frame)
            return Applied.OLD
        if frame.seq > self.seq + 1:
            return Applied.GAP
        self._apply(frame)
        return Applied.NEW

    def take_events(self, events: Events) -> list[Frame]:
        """Apply the answer to a `sync`; returns the frames that were new."""
        new = [frame for frame in events.frames if frame.seq > self.seq]
        for frame in new:
            self._apply(frame)
        self.seq = max(self.seq, events.seq)
        return new

    def take_back_to_lobby(self) -> None:
        """The server has agreed to look for a new partner."""
        self.stage, self.dialog = Stage.WAITING, None

    def _apply(self, frame: Frame) -> None:
        self.seq = frame.seq
        match frame:
            case MessageOut():
                self.messages[frame.seq] = frame
                if self.dialog is not None and frame.role is self.dialog.role:
                    self.sent += 1
                if self.phase is Phase.PAIRED:
                    self.turn = next(role for role in Role if role is not frame.role)
            case PhaseOut(phase=phase):
                self.phase = phase
                if self.dialog is not None and phase is Phase.SOLO:
                    self.turn = self.dialog.role
            case ToldOut():
                self.told[frame.seq] = frame
            case PartnerOut() | ExtendedOut():
                pass

    @staticmethod
    def _compare(known: MessageOut, again: MessageOut) -> None:
        if (known.role, known.parts, known.at) != (again.role, again.parts, again.at):
            raise Contradiction(f"message {known.seq} is now another one")
