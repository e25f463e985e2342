"""The VisDial v1.0 file.

One JSON object, as https://visualdialog.org/data describes it:

    {"version": "1.0", "split": "train",
     "data": {"questions": ["is it sunny", ...],
              "answers": ["yes", ...],
              "dialogs": [{"image_id": 378466, "caption": "a dog on a beach",
                           "dialog": [{"question": 0, "answer": 0,
                                       "answer_options": [0, ...], "gt_index": 0}, ...]}]}}

`questions` and `answers` are tables of unique strings; `question`, `answer` and
`answer_options` are 0-based indices into them, and `gt_index` is the position of the answer
among the options. Texts are lower case, without a final "?" or ".".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import orjson

VERSION: Final = "1.0"

# Up to 15 digits, so that every reader of JSON keeps the number exact.
_INTEGER: Final = re.compile(r"0|-?[1-9][0-9]{0,14}")


@dataclass(frozen=True, slots=True)
class Round:
    """A question and its answer."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Dialog:
    """What the format holds of a dialog. An `image_id` that is an integer is written as one."""

    image_id: str
    caption: str
    rounds: tuple[Round, ...]


def dumps(dialogs: Iterable[Dialog], split: str) -> bytes:
    """The file's bytes, the same for the same dialogs in the same order.

    Each round's only option is its answer: `answer_options` is `[answer]`, `gt_index` 0.
    """
    questions, answers = _Table(), _Table()
    rows = [
        {
            "image_id": image_id(dialog.image_id),
            "caption": normal(dialog.caption),
            "dialog": [_round(each, questions, answers) for each in dialog.rounds],
        }
        for dialog in dialogs
    ]
    data = {"questions": questions.texts, "answers": answers.texts, "dialogs": rows}
    return orjson.dumps({"version": VERSION, "split": split, "data": data})


def normal(text: str) -> str:
    """A text as the format's tables hold it: `"Is it  sunny?"` as `"is it sunny"`.

    A text of nothing but full stops and question marks stays: no text is empty.
    """
    text = " ".join(text.lower().split())
    return text.rstrip("?. ") or text


def image_id(text: str) -> int | str:
    """The id as the file holds it: `"12"` as 12, `"012"` and `"a-12"` as they are."""
    return int(text) if _INTEGER.fullmatch(text) else text


def _round(spoken: Round, questions: _Table, answers: _Table) -> dict[str, Any]:
    answer = answers.index(spoken.answer)
    return {
        "question": questions.index(spoken.question),
        "answer": answer,
        "answer_options": [answer],
        "gt_index": 0,
    }


class _Table:
    """Unique texts, numbered in the order of their first use."""

    def __init__(self) -> None:
        self._indices: dict[str, int] = {}

    def index(self, text: str) -> int:
        return self._indices.setdefault(normal(text), len(self._indices))

    @property
    def texts(self) -> list[str]:
        return list(self._indices)
