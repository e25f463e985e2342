"""The reference pages of the settings and the study file, made from their models."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Any, Final

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from dialogs.terms import READING_S, ROUND_S
from duologue.settings import PREFIX, Settings
from duologue.study import StudyFile
from duologue.template import model_of

_SETTINGS: Final = """\
# Settings

Where and with what Duologue runs comes from environment variables. None is needed: without any,
`duologue serve` uses a SQLite file and a Redis-compatible server of its own, both in the study's
folder. A variable that Duologue does not know, or a value that is wrong, ends the start with one
line that names it, and exit code 2.

"""

_STUDY: Final = """\
# The study file

What is collected, by which rules and for what pay stands in `study.toml`, which
`duologue init DIR` writes with every key and its default. A key that Duologue does not know, or a
value that is wrong, ends the command with one line that names it, and exit code 2. Durations are in
seconds; file names are relative to the study file.

Some keys are checked against each other:

- `protocol.grace_s` is less than `protocol.turn_limit_s`.
- `protocol.dialog_limit_s` is at least `turn_limit_s` times `turn_stretch`, and leaves {round_s:g}
  for each round.
- `protocol.pair_again_below` is not more than `protocol.rounds`.
- `lobby.start_s` is less than `lobby.limit_s`.
- `recruiter.assignment_duration_s` leaves {reading_s:g} for reading, and `lobby.limit_s`,
  `lobby.start_s` and `protocol.dialog_limit_s` besides.
- `pay.left` is not more than `pay.complete`.
- `study.invitations` and `study.one_time_invitations = true` come together.

"""

_TABLE: Final = ("| key | default | meaning |", "|---|---|---|")


def settings_page() -> str:
    """`docs/reference/settings.md`."""
    rows = [f"| variable | default | meaning |\n{_TABLE[1]}"]
    for name, field in Settings.model_fields.items():
        rows.append(f"| `{PREFIX}{name.upper()}` | {_default(field)} | {_meaning(field)} |")
    return _SETTINGS + "\n".join(rows) + "\n"


def study_page() -> str:
    """`docs/reference/study-file.md`."""
    head = _STUDY.format(round_s=ROUND_S, reading_s=READING_S)
    return head + "\n".join(_sections(StudyFile, "")).rstrip() + "\n"


def _sections(model: type[BaseModel], path: str) -> Iterator[str]:
    for key, field in model.model_fields.items():
        if not _is_table(field):
            continue
        name, inner = f"{path}{key}", model_of(model, key)
        many = field.is_required() is False and isinstance(field.default, tuple)
        yield f"## `{'[[' if many else '['}{name}{']]' if many else ']'}`\n"
        yield f"{_plain(inner.__doc__)}{' May stand several times.' if many else ''}\n"
        plain = {k: f for k, f in inner.model_fields.items() if not _is_table(f)}
        if plain:
            rows = [f"| `{k}` | {_default(f)} | {_meaning(f)} |" for k, f in plain.items()]
            yield "\n".join((*_TABLE, *rows)) + "\n"
        yield from _sections(inner, f"{name}.")


def _is_table(field: FieldInfo) -> bool:
    annotation: Any = field.annotation
    while getattr(annotation, "__args__", None):
        annotation = annotation.__args__[0]
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _default(field: FieldInfo) -> str:
    """The default as one writes it."""
    value = field.default
    match value:
        case _ if value is PydanticUndefined:
            return "see meaning" if not field.repr else "required"
        case None:
            return "none"
        case "" | ():
            return "empty"
        case bool():
            return f"`{str(value).lower()}`"
        case StrEnum():
            return f'`"{value.value}"`'
        case str() if "\n" in value or len(value) > 40:
            return "a text to fill in" if "[" in value else "an example"
        case str():
            return f'`"{value}"`'
        case float():
            return f"`{value:g}`"
        case tuple():
            return "`[" + ", ".join(f'"{each}"' for each in value) + "]`"
        case _:
            return f"`{value}`"


def _meaning(field: FieldInfo) -> str:
    return _plain(field.description).replace("|", "\\|")


def _plain(text: str | None) -> str:
    return " ".join((text or "").split())
