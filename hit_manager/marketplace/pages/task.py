"""How a HIT's task is shown: its address in the frame, and what the frame may do.

Sources: the API reference's pages on ExternalQuestion, HTMLQuestion and QuestionForm.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode, urlsplit, urlunsplit

from defusedxml import ElementTree

from hit_manager.marketplace.pages.session import origin_of

NOT_AVAILABLE: Final = "ASSIGNMENT_ID_NOT_AVAILABLE"
"""The assignment id of a preview."""

# What a frame may do, and why.
#
# A task needs scripts and forms; popups for the papers that it links to; modals so that its page
# can ask before it is left. It must not get `allow-top-navigation` in any form: a task that can
# replace the page around it can show a false marketplace and ask for anything there. So it is
# the answer page that tells the page around the frame to move on.
#
# `allow-same-origin` lets the task keep the origin it has. A task of another site needs that:
# without it its own server sees requests from "null" and refuses its socket, and its storage is
# gone. It gains nothing over our pages, for that origin is not ours. But with scripts and our
# own origin a frame could reach the page around it and take off its sandbox; so what comes from
# our own address (an HTMLQuestion, or an ExternalURL that names us) never gets it.
_BASIC: Final = "allow-scripts allow-forms allow-popups allow-modals"
FOREIGN: Final = f"{_BASIC} allow-same-origin"
OPAQUE: Final = _BASIC

HTML_POLICY: Final = f"sandbox {OPAQUE}; frame-ancestors 'self'"
"""For an HTMLQuestion, which comes from our address: no origin, even if it is opened alone."""

_AMAZON_SUBMIT: Final = re.compile(
    r"https://(?:www|workersandbox)\.mturk\.com/mturk/externalSubmit"
)


@dataclass(frozen=True, slots=True)
class Question:
    """What a HIT's question is: the address of a page, a page, or neither that is shown here.

    `height` is that of the frame in pixels; 0 means that it fits the window.
    """

    url: str | None = None
    html: str | None = None
    height: int = 0


@dataclass(frozen=True, slots=True)
class Task:
    """What the template needs for the frame; no `src` if this kind cannot be shown."""

    src: str | None
    sandbox: str
    height: int
    assignment_id: str | None


def read_question(xml: str) -> Question:
    """A question that was checked when its HIT was made."""
    root = ElementTree.fromstring(xml.encode())
    kind = root.tag.rpartition("}")[2]
    said = {each.tag.rpartition("}")[2]: (each.text or "").strip() for each in root}
    height = said.get("FrameHeight", "")
    pixels = min(int(height), 10_000) if height.isdecimal() else 0
    match kind:
        case "ExternalQuestion":
            return Question(url=said["ExternalURL"], height=pixels)
        case "HTMLQuestion":
            return Question(html=said["HTMLContent"], height=pixels)
        case _:
            return Question()


def show(
    question: Question,
    public_url: str,
    hit_id: str,
    *,
    assignment_id: str | None = None,
    worker_id: str | None = None,
) -> Task:
    """The frame of a HIT; without assignment and worker it is a preview, and names neither."""
    given = {"assignmentId": assignment_id or NOT_AVAILABLE, "hitId": hit_id}
    if assignment_id and worker_id:
        given["workerId"] = worker_id
    given["turkSubmitTo"] = public_url
    if question.url is not None:
        ours = origin_of(question.url).lower() == origin_of(public_url).lower()
        src: str | None = with_query(question.url, given)
        sandbox = OPAQUE if ours else FOREIGN
    else:
        path = f"/worker/hits/{hit_id}/question"
        src = with_query(path, given) if question.html is not None else None
        sandbox = OPAQUE
    return Task(src, sandbox, question.height, assignment_id)


def with_query(url: str, given: dict[str, str]) -> str:
    """`url` with these added to its query, whatever it has already."""
    parts = urlsplit(url)
    query = "&".join(each for each in (parts.query, urlencode(given)) if each)
    return urlunsplit(parts._replace(query=query))


def html_page(html: str, public_url: str) -> str:
    """An HTMLQuestion's page, whose form leads here where it named Amazon's address."""
    return _AMAZON_SUBMIT.sub(f"{public_url}/mturk/externalSubmit", html)
