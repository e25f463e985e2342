"""Where the next page of a list begins, as a text that the page sends back unread."""

from __future__ import annotations

import base64
import binascii

import orjson

from dialogs.record.listing import Cursor


def to_text(cursor: Cursor | None) -> str | None:
    """A cursor as a text for an address."""
    if cursor is None:
        return None
    return base64.urlsafe_b64encode(orjson.dumps(cursor)).decode().rstrip("=")


def from_text(text: str) -> Cursor:
    """The cursor that `to_text` wrote.

    Raises:
        ValueError: it did not.
    """
    try:
        found = orjson.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (binascii.Error, UnicodeError, orjson.JSONDecodeError) as error:
        raise ValueError("is no place in a list") from error
    match found:
        case [float() | int() as at, str() as id_]:
            return float(at), id_
        case _:
            raise ValueError("is no place in a list")
