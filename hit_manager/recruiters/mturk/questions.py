"""The XML that goes over: what a worker's frame shows, and what came back from it.

Source: "Amazon Mechanical Turk API Reference", ExternalQuestion and QuestionFormAnswers.
"""

from __future__ import annotations

from typing import Final
from xml.etree import ElementTree

import defusedxml.ElementTree
from defusedxml.common import DefusedXmlException

from hit_manager.recruiters.base import Refused

_SCHEMAS: Final = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas"
EXTERNAL_QUESTION: Final = f"{_SCHEMAS}/2006-07-14/ExternalQuestion.xsd"
ANSWERS: Final = f"{_SCHEMAS}/2005-10-01/QuestionFormAnswers.xsd"
MAX_QUESTION_BYTES: Final = 65_535


def external_question(url: str, frame_height: int) -> str:
    """A question that is a page of ours in a frame. `frame_height` in pixels, 0 fits the window.

    Raises:
        Refused: too long for the service.
    """
    # As an attribute on a root without prefix: register_namespace would hold for the process.
    question = ElementTree.Element("ExternalQuestion", {"xmlns": EXTERNAL_QUESTION})
    ElementTree.SubElement(question, "ExternalURL").text = url
    ElementTree.SubElement(question, "FrameHeight").text = str(frame_height)
    xml = ElementTree.tostring(question, encoding="unicode")
    if len(xml.encode()) > MAX_QUESTION_BYTES:
        raise Refused(f"the URL of a HIT must fit into {MAX_QUESTION_BYTES} bytes")
    return xml


def answers(xml: str) -> dict[str, str]:
    """The fields a page submitted, by name; nothing if it cannot be read, for workers write it."""
    try:
        root = defusedxml.ElementTree.fromstring(xml, forbid_dtd=True)
    except (ElementTree.ParseError, DefusedXmlException):
        return {}
    fields = {}
    for answer in root.iterfind(f"{{{ANSWERS}}}Answer"):
        name = answer.findtext(f"{{{ANSWERS}}}QuestionIdentifier", "")
        fields[name] = answer.findtext(f"{{{ANSWERS}}}FreeText", "")
    return fields
