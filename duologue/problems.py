"""Bad input from a team, told as one clear line a problem: which file, which key, what is right."""

from __future__ import annotations

import difflib
import re
import typing
from collections.abc import Collection, Iterable
from typing import Any, Final

from pydantic import BaseModel, ValidationError

_SHOULD: Final = re.compile(r"^[A-Z]\w+ should")
"""How the validator's own sentences begin."""


class BadInput(ValueError):
    """Everything wrong with something that a team wrote; each of `problems` is one line."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


def nearest(name: str, known: Collection[str]) -> str:
    """A hint at the known name that `name` was probably meant to be; otherwise all of them."""
    if close := difflib.get_close_matches(name, known, n=1, cutoff=0.6):
        return f"did you mean {close[0]}?"
    return f"known are {', '.join(known)}"


def problems_of(error: ValidationError, model: type[BaseModel], source: str) -> list[str]:
    """The problems in a validation error of `model`, each one line that begins with `source`.

    No line shows the value of a field that is left out of the model's repr.
    """
    found: list[str] = []
    errors = error.errors(include_url=False)
    for each in errors:
        if each["type"] == "too_short" and any(_within(e["loc"], each["loc"]) for e in errors):
            # Only the right ones of its values were counted.
            continue
        key, context = _key(each["loc"]), _model_at(model, each["loc"][:-1])
        match each["type"]:
            case "extra_forbidden":
                hint = nearest(str(each["loc"][-1]), list(context.model_fields))
                found.append(f"{source}: unknown key {key}; {hint}")
            case "missing":
                found.append(f"{source}: {key} is missing; add it")
            case _:
                said = each["msg"].removeprefix("Value error, ")
                said = _SHOULD.sub("must", said).replace(" after validation", "")
                shown = _shown(each["input"]) if _may_show(context, each["loc"]) else ""
                # A check across keys names them itself, one line each.
                found.extend(f"{source}: {_about(key, line)}{shown}" for line in said.splitlines())
    return found


def _within(loc: tuple[int | str, ...], outer: tuple[int | str, ...]) -> bool:
    return len(loc) > len(outer) and loc[: len(outer)] == outer


def _about(key: str, said: str) -> str:
    return key + said if said.startswith(".") else f"{key} {said}".lstrip()


def _key(loc: tuple[int | str, ...]) -> str:
    """`("check", 0, "answer")` as `check[1].answer`: people count from one."""
    key = ""
    for part in loc:
        key += f"[{part + 1}]" if isinstance(part, int) else f".{part}" if key else part
    return key


def _model_at(model: type[BaseModel], loc: tuple[int | str, ...]) -> type[BaseModel]:
    for part in loc:
        if isinstance(part, str) and part in model.model_fields:
            model = next(iter(_models_in(model.model_fields[part].annotation)), model)
    return model


def _models_in(annotation: Any) -> Iterable[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in typing.get_args(annotation):
        yield from _models_in(argument)


def _may_show(context: type[BaseModel], loc: tuple[int | str, ...]) -> bool:
    field = context.model_fields.get(str(loc[-1])) if loc else None
    return field is None or field.repr


def _shown(value: Any) -> str:
    if isinstance(value, str | int | float):
        text = repr(value)
        return f" (it is {text if len(text) <= 60 else text[:59] + '…'})"
    return ""
