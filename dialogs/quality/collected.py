"""A talk from what was recorded of a dialog."""

from __future__ import annotations

from collections.abc import Mapping

from dialogs.quality.model import Lengths, Line, Talk
from dialogs.rules import Role
from dialogs.state import DialogState


def talk_of(
    state: DialogState,
    caption: str,
    language: str,
    *,
    same_address: bool = False,
    lengths: Mapping[Role, Lengths] | None = None,
) -> Talk:
    """The talk of a dialog's fold. Caption, language and marker are not in its events."""
    lines = tuple(
        Line(
            said.role,
            said.round,
            said.text,
            message.seq,
            said.at * 1000,
            said.meta.pasted,
            said.meta.composed_ms,
            said.meta.edits,
            message.alone,
        )
        for message in state.messages
        for said in (message.said,)
    )
    return Talk(caption, language, lines, same_address, lengths or {})
