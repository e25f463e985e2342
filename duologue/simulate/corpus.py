"""What simulated workers say: dialogs from a VisDial file, or a small built-in set."""

from __future__ import annotations

import random
import re
import zlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from dialogs.limits import MAX_CHARACTERS, BadText, clean_text
from duologue.simulate.builtin import DIALOGS

UNSURE: Final = ("i can't tell", "not sure", "it is hard to say from here")


class BadCorpus(ValueError):
    """A file that holds no dialogs to talk from; the text is one line for the person."""


@dataclass(frozen=True, slots=True)
class Script:
    """One dialog: the caption and (question, answer) for each round."""

    caption: str
    rounds: tuple[tuple[str, str], ...]

    def question(self, number: int) -> str:
        """The question of round `number`, from 1; the rounds repeat."""
        return self.rounds[(number - 1) % len(self.rounds)][0]

    def answer(self, number: int) -> str:
        return self.rounds[(number - 1) % len(self.rounds)][1]

    def fact(self, number: int) -> str:
        """What an answerer without a partner can state."""
        question, answer = self.rounds[(number - 1) % len(self.rounds)]
        return f"{question.rstrip('?')}: {answer}"[:MAX_CHARACTERS]

    def answer_to(self, question: str) -> str | None:
        """The answer that was given to this very question, if it was asked."""
        asked = _plain(question)
        return next((answer for said, answer in self.rounds if _plain(said) == asked), None)


class Corpus:
    """Scripts, and answers by how a question begins, for questions that nobody foresaw."""

    def __init__(self, scripts: Sequence[Script]) -> None:
        """There must be at least one script."""
        self.scripts = tuple(scripts)
        self._by_caption = {_plain(script.caption): script for script in self.scripts}
        self._by_beginning: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for script in self.scripts:
            for question, answer in script.rounds:
                for words in _beginnings(question):
                    self._by_beginning[words].append(answer)

    @classmethod
    def builtin(cls) -> Corpus:
        return cls([Script(caption, rounds) for caption, rounds in DIALOGS])

    @classmethod
    def load(cls, file: Path) -> Corpus:
        """Read a file in the VisDial 1.0 format (`data.questions`, `.answers`, `.dialogs`).

        Dialogs and rounds that cannot be sent as messages are passed over.

        Raises:
            BadCorpus: it cannot be read, or holds no dialog.
        """
        try:
            data = orjson.loads(file.read_bytes())["data"]
            scripts = [
                script for dialog in data["dialogs"] if (script := _script(dialog, data)).rounds
            ]
        except OSError as error:
            raise BadCorpus(f"{file}: {error.strerror}") from None
        except orjson.JSONDecodeError as error:
            raise BadCorpus(f"{file}: not JSON: {error}") from None
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise BadCorpus(f"{file}: not a VisDial file ({error!r})") from None
        if not scripts:
            raise BadCorpus(f"{file}: holds no dialog with questions and answers")
        return cls(scripts)

    def script(self, caption: str | None, rng: random.Random) -> Script:
        """The script about `caption`, else one that everybody with this caption chooses alike."""
        if caption is None:
            return rng.choice(self.scripts)
        known = self._by_caption.get(_plain(caption))
        return known or self.scripts[zlib.crc32(caption.encode()) % len(self.scripts)]

    def answer_to(self, question: str, rng: random.Random) -> str:
        """An answer of the kind that questions with this beginning got."""
        for words in _beginnings(question):
            if answers := self._by_beginning.get(words):
                return rng.choice(answers)
        return rng.choice(UNSURE)


def _script(dialog: Mapping[str, Any], data: Mapping[str, Any]) -> Script:
    rounds = []
    for turn in dialog["dialog"]:
        if "question" not in turn or "answer" not in turn:
            continue
        question, answer = data["questions"][turn["question"]], data["answers"][turn["answer"]]
        if _sendable(question) and _sendable(answer):
            rounds.append((question.strip(), answer.strip()))
    return Script(str(dialog.get("caption", "")), tuple(rounds))


def _sendable(text: str) -> bool:
    try:
        clean_text(text)
    except BadText:
        return False
    return True


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def _beginnings(question: str) -> list[tuple[str, ...]]:
    """The first three, two and one words: longest first."""
    words = _plain(question).split()
    return [tuple(words[:n]) for n in (3, 2, 1) if len(words) >= n]
