"""Items files: what is read, and how each fault in one is named."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from dialogs.items import ItemsError, NewItem, read_items

SHARED = Path(__file__).parents[2].parent / "shared"
PHOTOS = SHARED / "data" / "photos" / "items.jsonl"

Write = Callable[..., Path]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("cat.png", "dog.png"):
        Image.new("RGB", (40, 30), "tan").save(tmp_path / name)
    return tmp_path


@pytest.fixture
def write(folder: Path) -> Write:
    def write(text: str | bytes, name: str = "items.jsonl") -> Path:
        data = text.encode() if isinstance(text, str) else text
        (folder / name).write_bytes(data)
        return folder / name

    return write


def line(**fields: object) -> str:
    row = {"image": "cat.png", "image_id": 1, "caption": "a cat", **fields}
    return json.dumps({k: v for k, v in row.items() if v is not ...}, ensure_ascii=False)


def problems(file: Path) -> tuple[str, ...]:
    with pytest.raises(ItemsError) as caught:
        read_items(file)
    for problem in caught.value.problems:
        assert problem.startswith(file.name)
        assert len(problem.splitlines()) == 1
    return caught.value.problems


def test_json_lines_are_read_in_order(folder: Path, write: Write) -> None:
    file = write(f"{line()}\n\n{line(image='dog.png', image_id='d-2', licence='CC0')}\n")
    assert read_items(file) == [
        NewItem("1", "a cat", folder / "cat.png"),
        NewItem("d-2", "a cat", folder / "dog.png"),
    ]


def test_csv_is_read_with_its_columns_in_any_order(folder: Path, write: Write) -> None:
    file = write(
        'caption,image_id,split,image\n"a cat, a ""tabby""",7,val,cat.png\nb,8,val,dog.png\n',
        "items.csv",
    )
    assert read_items(file) == [
        NewItem("7", 'a cat, a "tabby"', folder / "cat.png"),
        NewItem("8", "b", folder / "dog.png"),
    ]


def test_bom_and_windows_line_ends_are_accepted(write: Write) -> None:
    rows = [line(), line(image="dog.png", image_id=2)]
    jsonl = write(b"\xef\xbb\xbf" + "\r\n".join(rows).encode())
    csv = write(b"\xef\xbb\xbfimage,image_id,caption\r\ncat.png,1,a cat\r\n", "items.csv")
    assert [item.image_id for item in read_items(jsonl)] == ["1", "2"]
    assert [item.image_id for item in read_items(csv)] == ["1"]


def test_unicode_is_kept_and_made_one_form(write: Write) -> None:
    file = write(line(caption="  ein Cafe\u0301 \u2028 am 海 🐈\u200d⬛ ", image_id="\u0041\u030a"))
    (item,) = read_items(file)
    assert item.caption == "ein Café am 海 🐈\u200d⬛"
    assert item.image_id == "Å"


@pytest.mark.skipif(not PHOTOS.exists(), reason="the photographs of ../shared are not here")
def test_real_photographs_are_read() -> None:
    items = read_items(PHOTOS)
    assert [item.image_id for item in items] == ["1", "2", "3", "4", "6", "7", "8"]
    assert items[0].caption == "a close up of a tabby cat looking at the camera"


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (line(caption=...), 'there is no "caption"'),
        (line(image_id=...), 'there is no "image_id"'),
        (line(image=...), 'there is no "image"'),
        (line(caption="  \u200b "), "the caption is empty"),
        (line(caption="a\u0000b"), "control character"),
        (line(caption=5), "caption is 5"),
        (line(caption="x" * 1001), "1000 is the most"),
        (line(image_id=" "), "image_id is empty"),
        (line(image_id=1.5), "image_id is 1.5"),
        (line(image_id=True), "image_id is True"),
        (line(image_id="a\u202eb"), "cannot be seen"),
        (line(image_id="x" * 201), "200 is the most"),
        (line(image="bird.png"), "image 'bird.png' does not exist"),
        (line(image="../cat.png"), "outside the folder"),
        (line(image="sub/../../cat.png"), "outside the folder"),
        (line(image="/etc/passwd"), "outside the folder"),
        (line(image="https://example.org/cat.png"), "is an address"),
        (line(image="cat\u0000.png"), "is no path"),
        (line(image="a" * 5000), "image 'aaa"),
        (line(image=""), "image is ''"),
        ("{not json", "is not JSON"),
        ('["cat.png", 1, "a cat"]', "is not a JSON object"),
        ('{"image": "cat.png", "image_id": 1, "caption": "\\ud800"}', "is not JSON"),
    ],
)
def test_each_fault_of_a_line_is_named_with_its_number(write: Write, row: str, says: str) -> None:
    (problem,) = problems(write(f"{line(image='dog.png', image_id='other')}\n{row}\n"))
    assert problem.startswith("items.jsonl, line 2: ")
    assert says in problem
    assert len(problem) < 300


def test_all_faults_are_told_at_once(write: Write) -> None:
    found = problems(write("\n".join([line(image="no.png", caption=""), "?", line(image_id=9)])))
    assert [p.split(":")[0] for p in found] == ["items.jsonl, line 2", *["items.jsonl, line 1"] * 2]


@pytest.mark.parametrize("second", [1, "1", " 1 "])
def test_a_duplicate_names_both_lines(write: Write, second: object) -> None:
    (problem,) = problems(write(f"{line()}\n\n{line(image='dog.png', image_id=second)}"))
    assert problem.startswith("items.jsonl, line 3: ")
    assert "line 1" in problem


def test_broken_and_huge_images_are_named(folder: Path, write: Write) -> None:
    Image.effect_noise((200, 200), 90).save(folder / "whole.jpg")
    (folder / "half.jpg").write_bytes((folder / "whole.jpg").read_bytes()[:2000])
    Image.new("1", (10_000, 9_000)).save(folder / "bomb.png")
    (folder / "text.jpg").write_text("hello")
    rows = [
        line(image=name, image_id=i)
        for i, name in enumerate(["whole.jpg", "half.jpg", "bomb.png", "text.jpg"])
    ]
    half, bomb, text = problems(write("\n".join(rows)))
    assert half.startswith("items.jsonl, line 2: image 'half.jpg' is broken")
    assert bomb.startswith("items.jsonl, line 3: image 'bomb.png' has 10000 × 9000 pixels")
    assert text.startswith("items.jsonl, line 4: image 'text.jpg' is no image")


def test_a_link_out_of_the_folder_is_refused(folder: Path, write: Write) -> None:
    (folder / "below").mkdir()
    (folder / "below" / "link.png").symlink_to(folder / "cat.png")
    (folder / "below" / "round.png").symlink_to(folder / "below" / "round.png")
    inside = folder / "below" / "items.jsonl"
    inside.write_text(line(image="link.png") + "\n" + line(image="round.png", image_id=2))
    link, _round = problems(inside)
    assert "outside the folder" in link
    # From the folder above, the same link stays inside.
    assert read_items(write(line(image="below/link.png")))[0].path == folder / "cat.png"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("image,image_id,captions\ncat.png,1,a\n", "line 1: there is no column caption"),
        ("image;image_id;caption\ncat.png;1;a\n", "line 1: the columns are not separated"),
        ("image,image_id,caption,image\n", "line 1: the column image is named twice"),
        ("image,image_id,caption\n\ncat.png,1,a cat, a dog\n", "line 3: has 4 fields"),
        ('image,image_id,caption\ncat.png,1,"a cat\n', "line 2: is not CSV"),
        ('image,image_id,caption\ncat.png,1,"a\ncat"\nno.png,2,b\n', "line 4: image 'no.png'"),
        ("image,image_id,caption\ncat.png,1,a\x00b\n", "line 2"),
    ],
)
def test_faults_of_csv_are_named(write: Write, text: str, says: str) -> None:
    (problem,) = problems(write(text, "items.csv"))
    assert says in problem


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("items.jsonl", b"", "holds no item"),
        ("items.csv", b"image,image_id,caption\n", "holds no item"),
        ("items.csv", b"", "holds no item"),
        ("items.xlsx", b"PK", "unknown kind"),
        ("items.jsonl", b'{"image": "cat.png"}\n\xff\n', "items.jsonl, line 2: is not UTF-8"),
        ("items.csv", "image,image_id,caption".encode("utf-16"), "items.csv, line 1: is not UTF-8"),
    ],
)
def test_faults_of_the_whole_file_are_named(
    write: Write, name: str, data: bytes, says: str
) -> None:
    (problem,) = problems(write(data, name))
    assert says in problem


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path / "items.jsonl")
    assert "cannot be read" in problem


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32), csv=st.booleans())
def test_no_input_breaks_the_reader(write: Write, seed: int, csv: bool) -> None:
    """Whatever the bytes are: items or one-line problems, never another exception."""
    rng = random.Random(seed)
    valid = f"{line()}\n{line(image='dog.png', image_id=2, caption='ü')}\n"
    if csv:
        valid = 'image,image_id,caption\ncat.png,1,"a cat"\ndog.png,2,ü\n'
    data = bytearray(valid.encode())
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(data))
        data[at : at + rng.choice([0, 1, 3])] = rng.randbytes(rng.choice([0, 1, 2]))
    file = write(bytes(data), "items.csv" if csv else "items.jsonl")
    try:
        found: tuple[str, ...] = tuple(item.caption for item in read_items(file))
    except ItemsError as error:
        found = error.problems
    assert found
    assert all(len(text.splitlines()) == 1 for text in found)
