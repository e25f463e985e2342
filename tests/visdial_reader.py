"""A strict reader of VisDial v1.0 files that shares no code with the project's own format code.

Written from https://visualdialog.org/data: `questions` and `answers` are lists of unique texts
that end in no "?" or "."; rounds hold 0-based indices into them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class ReadDialog:
    image_id: int | str
    caption: str
    rounds: list[tuple[str, str]]


def read_visdial(content: dict[str, Any]) -> list[ReadDialog]:
    """The dialogs of a file's JSON; an AssertionError says what is not as described."""
    assert set(content) == {"version", "split", "data"}
    assert content["version"] == "1.0"
    assert isinstance(content["split"], str)
    data = content["data"]
    assert set(data) == {"questions", "answers", "dialogs"}
    questions, answers = data["questions"], data["answers"]
    for table in (questions, answers):
        assert all(isinstance(text, str) and text for text in table)
        assert len(set(table)) == len(table), "a text stands twice in its table"
        for text in table:
            assert text == text.lower(), text
            assert text[-1] not in "?." or not text.strip("?. "), text
    dialogs = []
    for dialog in data["dialogs"]:
        assert set(dialog) == {"image_id", "caption", "dialog"}
        rounds = []
        for spoken in dialog["dialog"]:
            assert set(spoken) == {"question", "answer", "answer_options", "gt_index"}
            options, right = spoken["answer_options"], spoken["gt_index"]
            assert 0 <= spoken["question"] < len(questions)
            assert all(0 <= option < len(answers) for option in options)
            assert 0 <= right < len(options)
            assert options[right] == spoken["answer"]
            rounds.append((questions[spoken["question"]], answers[spoken["answer"]]))
        dialogs.append(ReadDialog(dialog["image_id"], dialog["caption"], rounds))
    return dialogs
