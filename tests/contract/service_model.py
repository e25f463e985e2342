"""botocore's service model of the requester API, as the yardstick of what our server says.

boto3 itself is lenient: it drops members it does not know, takes texts for times and lets words
pass that are none. So this looks at the JSON as it was sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import botocore.session


@cache
def service_model() -> Any:
    return botocore.session.get_session().get_service_model("mturk")


def differences(value: Any, shape: Any, path: str = "") -> Iterator[str]:
    """Where a value of raw JSON is not of a shape of the model."""
    match shape.type_name:
        case "structure":
            yield from _structure(value, shape, path)
        case "list":
            if type(value) is not list:
                yield f"{path}: {value!r} is no list"
                return
            for n, member in enumerate(value):
                yield from differences(member, shape.member, f"{path}[{n}]")
        case "string":
            yield from _string(value, shape, path)
        case "integer" | "long":
            if type(value) is not int:
                yield f"{path}: {value!r} is no whole number"
            else:
                yield from _bounds(value, shape, path)
        case "boolean":
            if type(value) is not bool:
                yield f"{path}: {value!r} is neither true nor false"
        case "timestamp":
            if type(value) not in (int, float):
                yield f"{path}: {value!r} is no time in seconds"
        case other:
            yield f"{path}: what is {other}?"


def _structure(value: Any, shape: Any, path: str) -> Iterator[str]:
    if type(value) is not dict:
        yield f"{path}: {value!r} is no object"
        return
    for name in shape.required_members:
        if name not in value:
            yield f"{path}.{name} is missing"
    for name, member in value.items():
        if name not in shape.members:
            yield f"{path}.{name} is unknown"
        else:
            yield from differences(member, shape.members[name], f"{path}.{name}")


def _string(value: Any, shape: Any, path: str) -> Iterator[str]:
    if type(value) is not str:
        yield f"{path}: {value!r} is no text"
        return
    if shape.enum and value not in shape.enum:
        yield f"{path}: {value!r} is none of {shape.enum}"
    pattern = shape.metadata.get("pattern")
    if pattern and not re.fullmatch(pattern, value):
        yield f"{path}: {value!r} does not match {pattern}"
    yield from _bounds(len(value), shape, path)


def _bounds(size: int, shape: Any, path: str) -> Iterator[str]:
    if size < shape.metadata.get("min", size) or size > shape.metadata.get("max", size):
        yield f"{path}: {size} is out of bounds"
