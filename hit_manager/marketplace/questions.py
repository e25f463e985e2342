"""A HIT's question: the XML documents ExternalQuestion, HTMLQuestion and QuestionForm.

Source: Amazon's API reference, the data structures of the same names. Of a QuestionForm only
the kind is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from hit_manager.marketplace.errors import BadQuestion, OutOfRange

MAX_BYTES: Final = 65_535
SCHEMAS: Final = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"


class Kind(StrEnum):
    EXTERNAL = "ExternalQuestion"
    HTML = "HTMLQuestion"
    FORM = "QuestionForm"


_ROOTS: Final = {
    f"{{{SCHEMAS}2006-07-14/ExternalQuestion.xsd}}ExternalQuestion": Kind.EXTERNAL,
    f"{{{SCHEMAS}2011-11-11/HTMLQuestion.xsd}}HTMLQuestion": Kind.HTML,
    f"{{{SCHEMAS}2017-11-06/QuestionForm.xsd}}QuestionForm": Kind.FORM,
    f"{{{SCHEMAS}2005-10-01/QuestionForm.xsd}}QuestionForm": Kind.FORM,
}
_CONTENT: Final = {Kind.EXTERNAL: "ExternalURL", Kind.HTML: "HTMLContent"}


@dataclass(frozen=True, slots=True)
class Question:
    """`content` is the address of an external question, or the page of an HTML one; a height
    of 0 pixels is that of the window."""

    kind: Kind
    content: str = ""
    frame_height: int = 0


def parse_question(text: str, *, allow_http: bool = False) -> Question:
    """Read a question.

    Raises:
        OutOfRange: more than 65,535 bytes.
        BadQuestion: no XML, or none of the three documents, or not complete.
    """
    size = len(text.encode())
    if size > MAX_BYTES:
        raise OutOfRange(f"The Question has {size} bytes; {MAX_BYTES} are the most.")
    root = parse_xml(text, "Question")
    kind = _ROOTS.get(root.tag)
    if kind is None:
        raise BadQuestion(f"There was an error parsing the XML question: {root.tag} is unknown.")
    if kind is Kind.FORM:
        return Question(kind)
    namespace = root.tag.partition("}")[0] + "}"
    names = [child.tag.removeprefix(namespace) for child in root]
    if names != [_CONTENT[kind], "FrameHeight"]:
        raise BadQuestion(
            f"There was an error parsing the XML question: {kind} has to hold {_CONTENT[kind]} "
            f"and FrameHeight, not {', '.join(names) or 'nothing'}."
        )
    content, height = ((child.text or "").strip() for child in root)
    # Nine digits, so that it is a number of pixels and not a trick.
    if not (height.isascii() and height.isdigit() and len(height) < 10):
        raise BadQuestion(f"FrameHeight has to be a whole number from 0 on, not {height!r}.")
    if kind is Kind.EXTERNAL:
        _check_address(content, allow_http=allow_http)
    elif not content:
        raise BadQuestion("There was an error parsing the HTML5 data in your request: no page.")
    return Question(kind, content, int(height))


def parse_xml(text: str, name: str) -> Element:
    """The root of a document without DTD and entities.

    Raises:
        BadQuestion: it is none.
    """
    try:
        root: Element = fromstring(text, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError) as error:
        raise BadQuestion(f"There was an error parsing the XML of {name}: {error}") from None
    return root


def _check_address(address: str, *, allow_http: bool) -> None:
    try:
        parts = urlsplit(address)
        host = parts.hostname
    except ValueError:
        host = None
    if not host or parts.scheme not in ({"https", "http"} if allow_http else {"https"}):
        raise BadQuestion(f"ExternalURL has to be an https address, not {address[:200]!r}.")
