"""The study file that `duologue init` writes: every key with its meaning and its default."""

from __future__ import annotations

import json
import re
import textwrap
import unicodedata
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, Final

from pydantic import BaseModel

from duologue.study import StudyFile

_HEAD: Final = """\
# What is collected, by which rules, for what pay. Lines that begin with # are explanations.
# Durations are in seconds, file names are relative to this file.
# A key behind a # is not set and shows an example: take the # away and write your own value.
"""

GITIGNORE: Final = """\
# What lets people in, and what they said, belongs in no repository.
.env*
secret.key
*.sqlite*
redis/
invitations*.txt
links*.csv
review*.csv
export*/
"""
"""What git is told of a new study's folder, which often lies in a checkout."""

DEFAULT_ID: Final = "my-study"
MAX_ID: Final = 63

_OWN: Final[Mapping[str, Mapping[str, Any]]] = {
    "study": {"title": "Talk with a partner about a picture"},
    "items": {"file": "items.jsonl"},
}
"""Values of the keys that have no default."""

_CHECK: Final = (
    {
        "question": "Who sees the picture?",
        "options": ["Only the answerer", "Only the questioner", "Both"],
        "answer": "Only the answerer",
    },
    {
        "question": "Your partner leaves in the middle. What do you do?",
        "options": [
            "I finish alone as the page tells me, and am paid in full",
            "I close the page",
            "I start over without being paid",
        ],
        "answer": "I finish alone as the page tells me, and am paid in full",
    },
)


def id_from(name: str) -> str:
    """A study's id made of a folder's name; `my-study` where nothing is left of it."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    study_id = re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:MAX_ID].strip("-")
    return study_id or DEFAULT_ID


def template(study_id: str = DEFAULT_ID) -> str:
    """The text of a new study file. It is a whole study: only its items are missing."""
    own = {**_OWN, "study": {**_OWN["study"], "id": study_id}}
    values = StudyFile.model_validate(own, strict=False).model_dump()
    values["check"] = _CHECK
    return _HEAD + "".join(_section(StudyFile, values, "")).rstrip() + "\n"


def _section(model: type[BaseModel], values: Mapping[str, Any], path: str) -> Iterator[str]:
    """The plain keys of a section, then its tables, as TOML wants them."""
    tables: list[tuple[str, Any]] = []
    for key, field in model.model_fields.items():
        value = values[key]
        if isinstance(value, Mapping) or (value and _is_tables(value)):
            tables.append((key, value))
            continue
        yield _comment(field.description)
        shown = field.examples[0] if value is None and field.examples else value
        yield f"{'# ' if value is None else ''}{key} = {_toml(shown)}\n"
    for key, value in tables:
        name = f"{path}{key}"
        inner = model_of(model, key)
        if isinstance(value, Mapping):
            yield f"\n{_comment(inner.__doc__)}[{name}]\n"
            yield from _section(inner, value, f"{name}.")
            continue
        yield f"\n{_comment(inner.__doc__)}"
        for row in value:
            yield f"[[{name}]]\n"
            yield "".join(f"{k} = {_toml(v)}\n" for k, v in row.items())


def _is_tables(value: Any) -> bool:
    return isinstance(value, list | tuple) and isinstance(value[0], Mapping)


def model_of(model: type[BaseModel], key: str) -> type[BaseModel]:
    """The model of the table, or of each of the tables, under `key`."""
    schema = model.model_fields[key]
    annotation: Any = schema.annotation
    while not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
        annotation = annotation.__args__[0]
    return annotation


def _comment(text: str | None) -> str:
    plain = " ".join((text or "").split())
    return textwrap.fill(plain, 96, initial_indent="# ", subsequent_indent="# ") + "\n"


def _toml(value: Any) -> str:
    """A value in TOML's notation, whose basic strings are JSON's."""
    match value:
        case bool():
            return str(value).lower()
        case StrEnum():
            return json.dumps(value.value)
        case str() if "\n" in value:
            lines = (json.dumps(line, ensure_ascii=False)[1:-1] for line in value.split("\n"))
            return '"""\n' + "\n".join(lines) + '"""'
        case str():
            return json.dumps(value, ensure_ascii=False)
        case float() if value.is_integer():
            return str(int(value))
        case list() | tuple():
            return f"[{', '.join(_toml(each) for each in value)}]"
        case _:
            return str(value)
