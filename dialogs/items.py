"""Reading an items file: what a study talks about, one image with its caption a line.

Two forms, told apart by the name's ending, both UTF-8:

- JSON lines (`.jsonl`): `{"image": "cat.jpg", "image_id": 1, "caption": "a tabby cat"}`
- CSV (`.csv`): a header line naming the columns `image`, `image_id`, `caption` in any order

`image` is a path relative to the items file and stays below its folder. Other columns are passed
over. Everything wrong with the file is told at once, one line a problem.
"""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import orjson

from dialogs.images import ImageError, check_image

COLUMNS: Final = ("image", "image_id", "caption")
MAX_CAPTION: Final = 1000
"""Characters in a caption, at most."""
MAX_IMAGE_ID: Final = 200
"""Characters in an image id, at most."""

_BOM: Final = "\ufeff"
_EXAMPLE: Final = '{"image": "cat.jpg", "image_id": 1, "caption": "a tabby cat"}'


class ItemsError(ValueError):
    """Everything wrong with an items file: one line a problem, with what would be right."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class NewItem:
    """An item as a team brings it: `path` is the source image, which workers never get."""

    image_id: str
    caption: str
    path: Path


class _Wrong(ValueError):
    """One problem; the message does not say where."""


_Row = Mapping[str, Any]
_T = TypeVar("_T")


def read_items(file: Path) -> list[NewItem]:
    """Read the items file and decode every image in it once.

    Raises:
        ItemsError: anything is wrong with the file, a line of it or an image.
    """
    problems: list[str] = []

    def wrong(line: int, problem: object) -> None:
        problems.append(f"{file.name}, line {line}: {problem}")

    def attempt(line: int, parse: Callable[[Any], _T], value: object) -> _T | None:
        try:
            return parse(value)
        except _Wrong as problem:
            wrong(line, problem)
            return None

    try:
        rows = list(_rows(file, wrong))
    except _Wrong as problem:
        raise ItemsError((f"{file.name}: {problem}",)) from None
    image_at = partial(_image, file.parent)
    items: list[NewItem] = []
    lines: dict[str, int] = {}
    for line, row in rows:
        image_id = attempt(line, _image_id, row.get("image_id"))
        if image_id is not None and (earlier := lines.setdefault(image_id, line)) != line:
            wrong(
                line,
                f"image_id {_shown(image_id)} stands in line {earlier} too; "
                "give each item an id of its own",
            )
        caption = attempt(line, _caption, row.get("caption"))
        path = attempt(line, image_at, row.get("image"))
        if image_id is not None and caption is not None and path is not None:
            items.append(NewItem(image_id, caption, path))
    if problems:
        raise ItemsError(tuple(problems))
    if not items:
        raise ItemsError((f"{file.name}: holds no item; write one line for each image",))
    return items


def image_ids(file: Path) -> set[str]:
    """The ids that stand in an items file, without a look at captions and images; lines that are
    wrong are passed over.

    Raises:
        ItemsError: the file cannot be read.
    """
    found = set()
    try:
        for _, row in _rows(file, lambda line, problem: None):
            with suppress(_Wrong):
                found.add(_image_id(row.get("image_id")))
    except _Wrong as problem:
        raise ItemsError((f"{file.name}: {problem}",)) from None
    return found


def _rows(file: Path, wrong: Callable[[int, object], None]) -> Iterator[tuple[int, _Row]]:
    """The file's lines as mappings, with their numbers from 1; bad lines go to `wrong`."""
    match file.suffix.lower():
        case ".jsonl" | ".ndjson":
            yield from _json_rows(_text(file), wrong)
        case ".csv":
            yield from _csv_rows(_text(file), wrong)
        case _:
            raise _Wrong("is of an unknown kind; name it .jsonl (JSON lines) or .csv")


def _text(file: Path) -> str:
    try:
        data = file.read_bytes()
    except OSError as error:
        raise _Wrong(f"cannot be read: {error.strerror}; correct the path") from None
    try:
        return data.decode("utf-8").removeprefix(_BOM)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ItemsError(
            (f"{file.name}, line {line}: is not UTF-8; save the file as UTF-8",)
        ) from None


def _json_rows(text: str, wrong: Callable[[int, object], None]) -> Iterator[tuple[int, _Row]]:
    # Not `splitlines`, which also splits at characters that JSON allows inside a text.
    for line, raw in enumerate(text.split("\n"), 1):
        if not raw.strip():
            continue
        try:
            row = orjson.loads(raw)
        except orjson.JSONDecodeError as error:
            wrong(line, f"is not JSON ({error.msg}, column {error.colno}); write {_EXAMPLE}")
            continue
        if isinstance(row, dict):
            yield line, row
        else:
            wrong(line, f"is not a JSON object; write {_EXAMPLE}")


def _csv_rows(text: str, wrong: Callable[[int, object], None]) -> Iterator[tuple[int, _Row]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] | None = None
    begin = 1
    while True:
        begin = reader.line_num + 1
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            # From here on nobody can tell where a line ends.
            wrong(begin, f"is not CSV ({error}); close every double quote")
            return
        if not any(field.strip() for field in fields):
            continue
        if header is None:
            header = [field.strip() for field in fields]
            if problem := _header_problem(header):
                wrong(begin, problem)
                return
        elif len(fields) != len(header):
            wrong(
                begin,
                f"has {len(fields)} fields where the header has {len(header)}; "
                "put a caption with a comma into double quotes",
            )
        else:
            yield begin, dict(zip(header, fields, strict=True))


def _header_problem(header: list[str]) -> str | None:
    if len(header) == 1 and any(mark in header[0] for mark in ";\t"):
        return "the columns are not separated by commas; save the file with commas"
    names = ", ".join(COLUMNS)
    if missing := [column for column in COLUMNS if column not in header]:
        return f"there is no column {', '.join(missing)}; the first line must name {names}"
    if twice := [column for column in COLUMNS if header.count(column) > 1]:
        return f"the column {twice[0]} is named twice; name each of {names} once"
    return None


def _image_id(value: object) -> str:
    match value:
        case None:
            raise _Wrong('there is no "image_id"; give a whole number or a text')
        case bool() | float() | list() | dict():
            raise _Wrong(f"image_id is {_shown(value)}; give a whole number or a text")
        case _:
            text = unicodedata.normalize("NFC", str(value)).strip()
    if not text:
        raise _Wrong("image_id is empty; give a whole number or a text")
    if len(text) > MAX_IMAGE_ID:
        raise _Wrong(f"image_id has {len(text)} characters; {MAX_IMAGE_ID} is the most")
    if not text.isprintable():
        raise _Wrong(f"image_id {_shown(text)} holds a character that cannot be seen; remove it")
    return text


def _caption(value: object) -> str:
    if value is None:
        raise _Wrong('there is no "caption"; describe the image in a sentence')
    if not isinstance(value, str):
        raise _Wrong(f"caption is {_shown(value)}; give a text")
    text = unicodedata.normalize("NFC", " ".join(value.split()))
    if not any(unicodedata.category(c)[0] in "LNPS" for c in text):
        raise _Wrong("the caption is empty; describe the image in a sentence")
    if any(unicodedata.category(c) == "Cc" for c in text):
        raise _Wrong("the caption holds a control character; remove it")
    if len(text) > MAX_CAPTION:
        raise _Wrong(f"the caption has {len(text)} characters; {MAX_CAPTION} is the most")
    return text


def _image(folder: Path, value: object) -> Path:
    if value is None:
        raise _Wrong('there is no "image"; give the path of the image file')
    if not isinstance(value, str) or not value.strip():
        raise _Wrong(f"image is {_shown(value)}; give the path of the image file")
    value = value.strip()
    if "://" in value:
        raise _Wrong(f"image {_shown(value)} is an address; download it and give the file's path")
    try:
        path = (folder / value).resolve()
        below = path.is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):
        raise _Wrong(f"image {_shown(value)} is no path; give that of the image file") from None
    if not below:
        raise _Wrong(
            f"image {_shown(value)} lies outside the folder of the items file; "
            "copy it into that folder and give its path from there"
        )
    try:
        check_image(path)
    except ImageError as problem:
        raise _Wrong(f"image {_shown(value)} {problem}") from None
    return path


def _shown(value: object) -> str:
    """A value inside a one-line message: escaped and of bounded length."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"
