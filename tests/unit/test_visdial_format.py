"""The VisDial v1.0 file, read back by a reader written from the format's public description."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogs.formats.visdial import Dialog, Round, dumps, image_id, normal
from tests.visdial_reader import read_visdial

REAL = (
    Path(__file__).parents[2].parent / "shared/data/visdialconv/visdial_1.0_val_crowdsourced.json"
)

TWO = (
    Dialog("378466", "A dog.", (Round("Is it  sunny?", "Yes."), Round("is it big?", "no"))),
    Dialog("a-1", "a cat", (Round("is it sunny", "YES"), Round("why?", "Because."))),
)


def test_the_structure_is_that_of_the_description() -> None:
    assert json.loads(dumps(TWO, "val")) == {
        "version": "1.0",
        "split": "val",
        "data": {
            "questions": ["is it sunny", "is it big", "why"],
            "answers": ["yes", "no", "because"],
            "dialogs": [
                {
                    "image_id": 378466,
                    "caption": "a dog",
                    "dialog": [
                        {"question": 0, "answer": 0, "answer_options": [0], "gt_index": 0},
                        {"question": 1, "answer": 1, "answer_options": [1], "gt_index": 0},
                    ],
                },
                {
                    "image_id": "a-1",
                    "caption": "a cat",
                    "dialog": [
                        {"question": 0, "answer": 0, "answer_options": [0], "gt_index": 0},
                        {"question": 2, "answer": 2, "answer_options": [2], "gt_index": 0},
                    ],
                },
            ],
        },
    }


texts = st.text(min_size=1, max_size=40).map(str.strip).filter(bool)
spoken = st.lists(st.builds(Round, texts, texts), min_size=1, max_size=4).map(tuple)


@given(st.lists(st.builds(Dialog, st.integers(0, 10**9).map(str), texts, spoken), max_size=5))
def test_what_was_said_comes_back(dialogs: list[Dialog]) -> None:
    data = dumps(dialogs, "train")
    assert data == dumps(tuple(dialogs), "train")
    read = read_visdial(json.loads(data))
    assert [(d.image_id, d.caption) for d in read] == [
        (int(d.image_id), normal(d.caption)) for d in dialogs
    ]
    assert [d.rounds for d in read] == [
        [(normal(r.question), normal(r.answer)) for r in d.rounds] for d in dialogs
    ]


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("Is it  sunny?", "is it sunny"),
        ("is it sunny ?", "is it sunny"),
        ("Yes.", "yes"),
        ("yes ...", "yes"),
        ("really?!", "really?!"),
        ("at 2.30 p.m.", "at 2.30 p.m"),
        ("?", "?"),
        ("...", "..."),
        ("İ", "i̇"),
        ("Ja, ein Fußball 🙂.", "ja, ein fußball 🙂"),
    ],
)
def test_texts_are_in_the_tables_form(text: str, becomes: str) -> None:
    assert normal(text) == becomes


@given(st.text())
def test_the_form_is_stable(text: str) -> None:
    assert normal(normal(text)) == normal(text)
    assert bool(normal(text)) == bool(text.split())


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("0", 0), ("378466", 378466), ("-3", -3), ("012", "012"), ("1.0", "1.0"), ("", ""),
        ("-0", "-0"), ("+1", "+1"), ("1_0", "1_0"), ("١", "١"), ("9" * 15, 10**15 - 1),
        ("9" * 16, "9" * 16), ("COCO_1", "COCO_1"), ("1\n", "1\n"),
    ],
)  # fmt: skip
def test_ids_that_are_integers_are_written_as_integers(text: str, becomes: int | str) -> None:
    made = image_id(text)
    assert made == becomes
    assert type(made) is type(becomes)


@pytest.mark.skipif(not REAL.exists(), reason="the VisDial part of ../shared is not here")
def test_the_published_file_has_the_same_form() -> None:
    published: dict[str, Any] = json.loads(REAL.read_bytes())
    dialogs = read_visdial(published)
    assert len(dialogs) == 97
    ours = dumps(
        (
            Dialog(str(d.image_id), d.caption, tuple(Round(*each) for each in d.rounds))
            for d in dialogs
        ),
        published["split"],
    )
    assert [d.image_id for d in read_visdial(json.loads(ours))] == [d.image_id for d in dialogs]

    def shape(value: Any) -> Any:
        """The keys and types, of lists those of the first element."""
        match value:
            case dict():
                return {key: shape(value[key]) for key in sorted(value)}
            case list():
                return [shape(value[0])]
            case _:
                return type(value)

    assert shape(json.loads(ours)) == shape(published)
    # Its captions and almost all of its texts (some have blanks too many) are in our form already.
    assert all(normal(d.caption) == d.caption for d in dialogs)
    questions = published["data"]["questions"]
    assert sum(normal(text) == text for text in questions) > 0.998 * len(questions)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("version",), 1.0),
        (("data", "dialogs", 0, "dialog", 0, "question"), 3),
        (("data", "dialogs", 0, "dialog", 0, "answer"), -1),
        (("data", "dialogs", 0, "dialog", 0, "gt_index"), 1),
        (("data", "dialogs", 0, "dialog", 0, "answer_options"), [1]),
        (("data", "questions"), ["is it sunny", "is it big", "is it big"]),
        (("data", "answers"), ["Yes", "no", "because"]),
        (("data", "answers"), ["yes.", "no", "because"]),
        (("data", "dialogs", 0, "worker"), "W1"),
    ],
)
def test_the_reader_of_these_tests_notices_faults(path: tuple[str | int, ...], value: Any) -> None:
    content: Any = json.loads(dumps(TWO, "val"))
    read_visdial(content)
    inner = content
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    with pytest.raises(AssertionError):
        read_visdial(content)
