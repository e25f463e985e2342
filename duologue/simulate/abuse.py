"""What a spammer sends that the server must refuse in every situation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from dialogs.limits import MAX_CHARACTERS

Payload = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Abuse:
    """An event that must be refused. `payload` gets a fresh message key."""

    what: str
    payload: Callable[[str], Any]
    event: str = "message"


def _text(text: str) -> Callable[[str], Payload]:
    return lambda key: {"key": key, "parts": [{"text": text}]}


ABUSES: Final = (
    Abuse("too long", _text("x" * (MAX_CHARACTERS + 1))),
    Abuse("far too long", _text("x" * 20_000)),
    Abuse("empty", _text("")),
    Abuse("only spaces", _text("  \t \u200b ")),
    Abuse("control character", _text("is there a dog\x07")),
    Abuse("zero byte", _text("is there\x00 a dog")),
    Abuse("escape sequence", _text("\x1b[31mred\x1b[0m")),
    Abuse("line break", _text("is there a dog\nor a cat")),
    Abuse("no text", lambda key: {"key": key, "parts": []}),
    Abuse("two parts", lambda key: {"key": key, "parts": [{"text": "one"}, {"text": "two"}]}),
    Abuse("number for text", lambda key: {"key": key, "parts": [{"text": 7}]}),
    Abuse("forged number", lambda key: {"key": key, "parts": [{"text": "hello"}], "seq": 1}),
    Abuse("forged role", lambda key: {"key": key, "parts": [{"text": "hi"}], "role": "answerer"}),
    Abuse("short key", lambda key: {"key": "k", "parts": [{"text": "hello"}]}),
    Abuse("odd key", lambda key: {"key": "'; drop table events --", "parts": [{"text": "hello"}]}),
    Abuse("no object", lambda key: [key, "hello"]),
    Abuse("unknown event", lambda key: {"key": key}, "pay_me"),
    Abuse("sync from nowhere", lambda key: {"after_seq": -1}, "sync"),
    Abuse("endless report", lambda key: {"text": "x" * 6_000}, "report"),
)
