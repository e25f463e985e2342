"""`/mturk/externalSubmit`: takes an answer from a task's form, from inside a frame.

It knows the worker by the assignment's id alone, for in a frame of another site there is no
cookie. Whatever is refused stays in the page that says so, and can be sent again from there.
Source: the API reference's page on ExternalQuestion ("The Form Submission").
"""

from __future__ import annotations

from typing import Final

from aiohttp import web

from hit_manager.marketplace import workside
from hit_manager.marketplace.answers import answer_document, fields_of
from hit_manager.marketplace.errors import MarketplaceError
from hit_manager.marketplace.pages.forms import read_form
from hit_manager.marketplace.pages.render import page
from hit_manager.marketplace.pages.session import MARKET
from hit_manager.marketplace.pages.task import NOT_AVAILABLE
from hit_manager.marketplace.states import AssignmentStatus

PATH: Final = "/mturk/externalSubmit"

Fields = tuple[tuple[str, str], ...]


async def external_submit(request: web.Request) -> web.Response:
    """Every answer is a page: the frame shows it where the task was."""
    try:
        form = await read_form(request)
    except web.HTTPRequestEntityTooLarge:
        return _refused(request, "too-large", "Your answer is too long", _TOO_LARGE, status=413)
    except web.HTTPBadRequest:
        return _refused(
            request, "unreadable", "Your answer could not be read", _AGAIN_THERE, status=400
        )
    pairs = [*request.query.items(), *form.items()]
    assignment_id = next((value for name, value in pairs if name == "assignmentId"), "")
    fields = fields_of(pairs)
    if not assignment_id:
        return _refused(
            request, "missing", "The task did not say whose answer this is", _ASK, fields
        )
    if assignment_id == NOT_AVAILABLE:
        return _refused(request, "preview", "This was only a preview", _ACCEPT_FIRST, fields)
    if not fields:
        return _refused(request, "empty", "The answer is empty", _EMPTY)
    try:
        # No id of ours holds what PostgreSQL cannot be asked for.
        status = (
            await request.app[MARKET].write(workside.submit, assignment_id, answer_document(fields))
            if assignment_id.isprintable()
            else None
        )
    except MarketplaceError:
        return _refused(
            request, "unavailable", "We could not store your answer just now", _SAFE, fields,
            assignment_id=assignment_id, status=503,
        )  # fmt: skip
    match status:
        case None:
            return _refused(
                request, "unknown", "This assignment is not known here", _ASK, fields,
                assignment_id=assignment_id, status=404,
            )  # fmt: skip
        case AssignmentStatus.RETURNED:
            return _refused(request, "returned", "You have returned this HIT", _RETURNED, fields)
        case AssignmentStatus.ABANDONED:
            return _refused(request, "expired", "The time for this HIT was up", _EXPIRED, fields)
        case _:
            # Also for whoever sends it once more: they may never have seen the first answer.
            return page(
                request,
                "answer.html",
                framed=True,
                submitted=assignment_id,
                heading="Submitted, thank you",
                text="Your work has reached the team. They review it and pay you.",
            )


async def looked_at(request: web.Request) -> web.Response:
    """GET: somebody opened or reloaded the address."""
    return _refused(request, "get", "Nothing was sent", _AGAIN_THERE, status=405)


_ASK: Final = "Please tell the team that posted the task. Nothing was lost; you can send it again."
_ACCEPT_FIRST: Final = "Accept the HIT with the button above the task; then it can be submitted."
_EMPTY: Final = "The task sent no field beside the assignment's id. Please tell the team."
_SAFE: Final = "Your answer is still in this page. Please send it again in a moment."
_RETURNED: Final = "What you had entered was not submitted, and the HIT may be somebody else's now."
_EXPIRED: Final = (
    "It can no longer be submitted. If you think you should be paid, write to the team and add "
    "what is below."
)
_TOO_LARGE: Final = "Please go back, make it shorter, and submit it again."
_AGAIN_THERE: Final = "Please go back to the task and submit it there."


def _refused(
    request: web.Request,
    reason: str,
    heading: str,
    text: str,
    fields: Fields = (),
    *,
    assignment_id: str = "",
    status: int = 409,
) -> web.Response:
    return page(
        request,
        "answer.html",
        status=status,
        framed=True,
        submitted=None,
        reason=reason,
        heading=heading,
        text=text,
        fields=fields,
        again=bool(assignment_id),
        assignment_id=assignment_id,
    )
