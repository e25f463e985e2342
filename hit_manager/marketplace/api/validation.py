"""Whether a request has the form that the service model prescribes.

boto3 checks required members, types and least lengths before it sends; not patterns, words and
greatest values, and other programs check nothing. All of it is checked here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, Final, assert_never

from hit_manager.marketplace.api.shapes import Flag, Many, Parts, Shape, Text, Time, Whole
from hit_manager.marketplace.errors import BadShape, InvalidValue, Unreadable

SHOWN_AT_MOST: Final = 200
"""Characters of a wrong value that are said back."""

_UNSTORABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""What neither XML 1.0 nor PostgreSQL can hold."""


def validate(given: Any, shape: Parts) -> dict[str, Any]:
    """A request's members as they were given, without those that are null.

    Raises:
        Unreadable: a value of another type than its member's.
        BadShape: a constraint of the model is not met; all of them are told.
        InvalidValue: a text with control characters.
    """
    faults = list(_faults(given, shape, ""))
    if faults:
        errors = "validation error" if len(faults) == 1 else "validation errors"
        raise BadShape(f"{len(faults)} {errors} detected: {'; '.join(faults)}")
    return {name: value for name, value in given.items() if value is not None}


def _faults(value: Any, shape: Shape, path: str) -> Iterator[str]:
    match shape:
        case Parts():
            yield from _part_faults(_typed(value, dict, path), shape, path)
        case Many():
            for n, member in enumerate(_typed(value, list, path), 1):
                yield from _faults(member, shape.member, f"{path}.{n}.member")
        case Text():
            yield from _text_faults(_typed(value, str, path), shape, path)
        case Whole():
            number = _typed(value, int, path)
            if not -(2 ** (shape.bits - 1)) <= number < 2 ** (shape.bits - 1):
                raise Unreadable(f"{path} is not a whole number of {shape.bits} bits.")
            if shape.least is not None and number < shape.least:
                yield _fault(value, path, f"have value greater than or equal to {shape.least}")
            if shape.most is not None and number > shape.most:
                yield _fault(value, path, f"have value less than or equal to {shape.most}")
        case Flag():
            _typed(value, bool, path)
        case Time():
            if type(value) not in (int, float) or not math.isfinite(value):
                raise Unreadable(f"{path} is not a time in seconds since 1970-01-01.")
        case _:
            assert_never(shape)


def _part_faults(value: dict[str, Any], shape: Parts, path: str) -> Iterator[str]:
    for name in sorted(shape.required):
        if value.get(name) is None:
            yield _fault(None, _below(path, name), "not be null")
    for name, member in value.items():
        if name not in shape.members:
            # What Amazon would ignore may be a misspelt token, and cost money.
            yield _fault(member, _below(path, name), "be one of this operation's parameters")
        elif member is not None:
            yield from _faults(member, shape.members[name], _below(path, name))


def _text_faults(value: str, shape: Text, path: str) -> Iterator[str]:
    if _UNSTORABLE.search(value):
        raise InvalidValue(f"{path} holds characters that are not text.")
    if shape.words and value not in shape.words:
        yield _fault(value, path, f"satisfy enum value set: [{', '.join(shape.words)}]")
    if shape.least is not None and len(value) < shape.least:
        yield _fault(value, path, f"have length greater than or equal to {shape.least}")
    if shape.most is not None and len(value) > shape.most:
        yield _fault(value, path, f"have length less than or equal to {shape.most}")
    if shape.pattern is not None and not re.fullmatch(shape.pattern, value, re.ASCII):
        yield _fault(value, path, f"satisfy regular expression pattern: ^{shape.pattern}$")


def _typed(value: Any, kind: type, path: str) -> Any:
    # Not isinstance: true is no number here.
    if type(value) is not kind:
        raise Unreadable(f"{path or 'The request'} has to be of type {kind.__name__}.")
    return value


def _fault(value: Any, path: str, must: str) -> str:
    shown = "null" if value is None else f"'{str(value)[:SHOWN_AT_MOST]}'"
    return f"Value {shown} at '{path}' failed to satisfy constraint: Member must {must}"


def _below(path: str, name: str) -> str:
    name = name[:1].lower() + name[1:]
    return f"{path}.{name}" if path else name
