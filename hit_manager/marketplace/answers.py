"""What a worker submitted, as the API hands it out: a QuestionFormAnswers document.

Source: the API reference's page on the QuestionFormAnswers data structure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final
from xml.sax.saxutils import escape

RESERVED: Final = frozenset({"assignmentId", "hitId", "workerId", "turkSubmitTo"})
"""Names that say where an answer belongs, and are none."""

NAMESPACE: Final = (
    "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/"
    "QuestionFormAnswers.xsd"
)

_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML 1.0 document may hold, whichever way they are written."""


def fields_of(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The fields of a form that are answers, in its order.

    A name that comes several times, as ticked boxes do, is one field with `|` between its
    values.
    """
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        if name and name not in RESERVED:
            found.setdefault(name, []).append(value)
    return tuple((name, "|".join(values)) for name, values in found.items())


def answer_document(fields: Iterable[tuple[str, str]]) -> str:
    """The document of these fields. Characters that XML cannot hold become U+FFFD."""
    answers = "".join(
        f"<Answer><QuestionIdentifier>{_text(name)}</QuestionIdentifier>"
        f"{f'<FreeText>{_text(value)}</FreeText>' if value else '<FreeText/>'}</Answer>"
        for name, value in fields
    )
    return (
        '<?xml version="1.0" encoding="UTF-8" standalone="no"?>'
        f'<QuestionFormAnswers xmlns="{NAMESPACE}">{answers}</QuestionFormAnswers>'
    )


def _text(text: str) -> str:
    # A carriage return that is not written as a reference would be read as a line feed.
    return escape(_NOT_XML.sub("\ufffd", text), {"\r": "&#13;"})
