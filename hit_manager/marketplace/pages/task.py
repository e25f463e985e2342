"""How a HIT's task is shown: its address in the frame, and what the frame may do.

Sources: the API reference's pages on ExternalQuestion, HTMLQuestion and QuestionForm.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, assert_never
from urllib.parse import urlencode, urlsplit, urlunsplit

from hit_manager.marketplace.questions import Kind, parse_question

MAX_HEIGHT: Final = 10_000
"""Pixels of a frame, whatever its question says."""

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
# our own address (an HTMLQuestion, or an ExternalURL that names us, by whatever name) never gets
# it.
_BASIC: Final = "allow-scripts allow-forms allow-popups allow-modals"
FOREIGN: Final = f"{_BASIC} allow-same-origin"
OPAQUE: Final = _BASIC

HTML_POLICY: Final = f"sandbox {OPAQUE}; frame-ancestors 'self'"
"""For an HTMLQuestion, which comes from our address: no origin, even if it is opened alone."""

_AMAZON_SUBMIT: Final = re.compile(
    r"https://(?:www|workersandbox)\.mturk\.com/mturk/externalSubmit"
)


@dataclass(frozen=True, slots=True)
class Task:
    """What the template needs for the frame; no `src` if this kind cannot be shown. A height of
    0 pixels is that of the window."""

    src: str | None
    sandbox: str
    height: int
    assignment_id: str | None


def show(
    question: str,
    public_url: str,
    hit_id: str,
    *,
    is_ours: Callable[[str], bool],
    assignment_id: str | None = None,
    worker_id: str | None = None,
) -> Task:
    """The frame of a HIT with this question, which was checked when the HIT was made.

    `is_ours` says of an address whether it may be of the origin of the page around the frame.
    Without assignment and worker it is a preview, and names neither.
    """
    asked = parse_question(question, allow_http=True)
    given = {"assignmentId": assignment_id or NOT_AVAILABLE, "hitId": hit_id}
    if assignment_id and worker_id:
        given["workerId"] = worker_id
    given["turkSubmitTo"] = public_url
    src: str | None = None
    sandbox = OPAQUE
    match asked.kind:
        case Kind.EXTERNAL:
            src = with_query(asked.content, given)
            sandbox = OPAQUE if is_ours(src) else FOREIGN
        case Kind.HTML:
            src = with_query(f"/worker/hits/{hit_id}/question", given)
        case Kind.FORM:
            pass
        case _:
            assert_never(asked.kind)
    return Task(src, sandbox, min(asked.frame_height, MAX_HEIGHT), assignment_id)


def html_page(question: str, public_url: str) -> str | None:
    """An HTMLQuestion's page, whose form leads here where it named Amazon's address; None for
    a question of another kind."""
    asked = parse_question(question, allow_http=True)
    if asked.kind is not Kind.HTML:
        return None
    return _AMAZON_SUBMIT.sub(f"{public_url}/mturk/externalSubmit", asked.content)


def with_query(url: str, given: dict[str, str]) -> str:
    """`url` with these added to its query, whatever it has already."""
    parts = urlsplit(url)
    query = "&".join(each for each in (parts.query, urlencode(given)) if each)
    return urlunsplit(parts._replace(query=query))
