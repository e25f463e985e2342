"""The fake Prolific's submissions, bonuses, groups and messages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal, InvalidOperation
from typing import Any

from aiohttp import web

from tests.contract.prolific_routes import Body, page, route
from tests.contract.prolific_world import BulkPayment, Fault, Submission, World

_REJECTIONS = {
    "TOO_QUICKLY", "TOO_SLOWLY", "FAILED_INSTRUCTIONS", "INCOMP_LONGITUDINAL", "FAILED_CHECK",
    "LOW_EFFORT", "MALINGERING", "NO_CODE", "BAD_CODE", "NO_DATA", "UNSUPP_DEVICE", "OTHER",
}  # fmt: skip


class SubmissionRoutes:
    def __init__(self, world: World) -> None:
        self.world = world
        self._busy = False

    # --- Submissions -------------------------------------------------------------------------

    @route("GET", "submissions/", query={"study", "status", "ordering"})
    async def submissions(self, request: web.Request, body: Body) -> web.Response:
        """https://docs.prolific.com/api-reference/submissions/get-submissions"""
        if not (study := request.query.get("study")):
            raise Fault(400, "Validation error", {"study": ["required"]})
        if study not in self.world.studies:
            raise Fault(404, "Not found", "no such study")
        return page(request, [self._short(one) for one in self.world.of(study)])

    @route("GET", "submissions/{id}/")
    async def submission(self, request: web.Request, body: Body) -> web.Response:
        """https://docs.prolific.com/api-reference/submissions/get-submission"""
        return web.json_response(self._detail(self._submission(request)))

    @route(
        "POST",
        "submissions/{id}/transition/",
        fields={"action", "message", "rejection_category", "completion_code"},
    )
    async def move(self, request: web.Request, body: Body) -> web.Response:
        """https://docs.prolific.com/api-reference/submissions/transition-submission

        Idempotent. Chosen: what neither awaits review nor is there already is refused with 400,
        and COMPLETE is possible while inside and while awaiting review.
        """
        async with self._wallet():
            submission = self._submission(request)
            match body["action"]:
                case "APPROVE":
                    if submission.status == "AWAITING REVIEW":
                        self.world.approve(submission)
                    elif submission.status != "APPROVED":
                        raise Fault(400, "Validation error", f"it is {submission.status}")
                case "REJECT":
                    self._reject(submission, body)
                case "COMPLETE":
                    self._complete(submission, body)
                case other:
                    raise Fault(400, "Validation error", f"no action {other} here")
        return web.json_response(self._detail(submission))

    def _reject(self, submission: Submission, body: Body) -> None:
        if len(body.get("message", "")) < 100:
            raise Fault(400, "Validation error", {"message": ["at least 100 characters"]})
        if body.get("rejection_category") not in _REJECTIONS:
            raise Fault(400, "Validation error", {"rejection_category": ["unknown"]})
        if submission.status not in ("AWAITING REVIEW", "REJECTED"):
            raise Fault(400, "Validation error", f"it is {submission.status}")
        submission.status = "REJECTED"

    def _complete(self, submission: Submission, body: Body) -> None:
        if submission.status == "SCREENED OUT":
            return
        if submission.status not in ("ACTIVE", "AWAITING REVIEW"):
            raise Fault(400, "Validation error", f"it is {submission.status}")
        for code in self.world.studies[submission.study_id]["completion_codes"]:
            if code["code"] == body.get("completion_code") and code["actor"] == "researcher":
                for action in code["actions"]:
                    self.world.screen_out(submission, action)
                return
        raise Fault(400, "Validation error", {"completion_code": ["no such code of ours"]})

    @route("POST", "submissions/{id}/request-return/", fields={"request_return_reasons"})
    async def request_return(self, request: web.Request, body: Body) -> web.Response:
        """https://docs.prolific.com/api-reference/submissions/request-submission-return

        It only sends a message; asked twice, it sends two.
        """
        submission = self._submission(request)
        self.world.request_return(submission, body["request_return_reasons"])
        names = ("id", "status", "participant", "return_requested")
        return web.json_response({name: self._detail(submission)[name] for name in names})

    # --- Bonuses -----------------------------------------------------------------------------

    @route("POST", "submissions/bonus-payments/", fields={"study_id", "csv_bonuses"})
    async def create_bonuses(self, request: web.Request, body: Body) -> web.Response:
        """https://docs.prolific.com/api-reference/bonuses/create-bonus-payments

        Amounts come in major units and go back in minor ones. One wrong line fails all.
        """
        amounts = [self._amount(body["study_id"], line) for line in body["csv_bonuses"].split()]
        payment = BulkPayment(self.world.new_id(), body["study_id"], amounts)
        self.world.payments[payment.id] = payment
        amount = sum(cents for _, cents in amounts)
        total = self.world.cost(amount, 1)
        return web.json_response(
            {
                "id": payment.id,
                "study": payment.study_id,
                "amount": amount,
                "fees": total - amount,
                "vat": 0,
                "total_amount": total,
            },
            status=201,
        )

    def _amount(self, study_id: str, line: str) -> tuple[str, int]:
        who, _, text = line.partition(",")
        for submission in self.world.of(study_id):
            if who in (submission.id, submission.participant):
                try:
                    cents = Decimal(text) * 100
                except InvalidOperation:
                    raise Fault(400, "Validation error", f"no amount: {line}") from None
                if cents <= 0 or cents != int(cents):
                    raise Fault(400, "Validation error", f"no amount: {line}")
                return submission.id, int(cents)
        raise Fault(400, "Validation error", [f"{who} did not take part"])

    @route("POST", "bulk-bonus-payments/{id}/pay/")
    async def pay_bonuses(self, request: web.Request, body: Body) -> web.Response:
        """https://docs.prolific.com/api-reference/bonuses/pay-bonus-payments

        Not idempotent: asked twice, it pays twice.
        """
        payment = self.world.payments.get(request.match_info["id"])
        if payment is None:
            raise Fault(404, "Not found", "no such payment")
        async with self._wallet():
            self.world.pay(payment)
        return web.json_response("paying", status=202)

    # --- Groups and messages -------------------------------------------------------------------

    @route("GET", "participant-groups/", query={"workspace_id", "project_id", "active"})
    async def groups(self, request: web.Request, body: Body) -> web.Response:
        """https://docs.prolific.com/api-reference/participant-groups/get-participant-groups"""
        return page(request, list(self.world.groups.values()))

    @route("POST", "participant-groups/", fields={"workspace_id", "name", "description"})
    async def create_group(self, request: web.Request, body: Body) -> web.Response:
        """https://docs.prolific.com/api-reference/participant-groups/create-participant-group"""
        if body["workspace_id"] != self.world.workspace_id:
            raise Fault(400, "Validation error", {"workspace_id": ["unknown"]})
        group = {"id": self.world.new_id(), "is_deleted": False, "description": None, **body}
        self.world.groups[group["id"]] = group
        self.world.members[group["id"]] = []
        return web.json_response(group, status=201)

    @route("POST", "participant-groups/{id}/participants/", fields={"participant_ids"})
    async def add_to_group(self, request: web.Request, body: Body) -> web.Response:
        """https://docs.prolific.com/api-reference/participant-groups/add-to-participant-group"""
        members = self._members(request)
        members += [one for one in body["participant_ids"] if one not in members]
        return self._listed(members)

    @route("DELETE", "participant-groups/{id}/participants/", fields={"participant_ids"})
    async def remove_from_group(self, request: web.Request, body: Body) -> web.Response:
        """https://docs.prolific.com/api-reference/participant-groups/remove-from-participant-group"""
        members = self._members(request)
        members[:] = [one for one in members if one not in body["participant_ids"]]
        return self._listed(members)

    def _listed(self, members: list[str]) -> web.Response:
        created = self.world.time(self.world.now)
        listed = [{"participant_id": one, "datetime_created": created} for one in members]
        return web.json_response({"results": listed})

    @route("POST", "messages/bulk/", fields={"ids", "body", "study_id"})
    async def send_messages(self, request: web.Request, body: Body) -> web.Response:
        """https://docs.prolific.com/api-reference/messages/send-message (and its bulk form)

        Chosen: somebody who did not take part in that study fails the whole call.
        """
        there = {one.participant for one in self.world.of(body["study_id"])}
        if wrong := set(body["ids"]) - there:
            raise Fault(400, "Validation error", [f"{one} did not take part" for one in wrong])
        self.world.messages += [(one, body["study_id"], body["body"]) for one in body["ids"]]
        return web.json_response({}, status=201)

    # --- Inside ----------------------------------------------------------------------------

    @asynccontextmanager
    async def _wallet(self) -> AsyncIterator[None]:
        """Money moves one at a time: others at the same moment get 429, see
        https://docs.prolific.com/api-reference/introduction/rate-limits-and-api-status."""
        if self._busy:
            raise Fault(429, "Too many requests", "the wallet is in use")
        self._busy = True
        try:
            # Lets a request that came at the same moment in.
            await asyncio.sleep(0)
            yield
        finally:
            self._busy = False

    def _submission(self, request: web.Request) -> Submission:
        submission = self.world.submissions.get(request.match_info["id"])
        if submission is None:
            raise Fault(404, "Not found", f"no submission {request.match_info['id']}")
        return submission

    def _members(self, request: web.Request) -> list[str]:
        members = self.world.members.get(request.match_info["id"])
        if members is None:
            raise Fault(404, "Not found", "no such group")
        return members

    def _short(self, submission: Submission) -> dict[str, Any]:
        """SubmissionShort: the code and the participant have other names here than alone."""
        return {
            "id": submission.id,
            "participant_id": submission.participant,
            "status": submission.status,
            "started_at": self.world.time(submission.started),
            "completed_at": self.world.time(submission.completed),
            "has_siblings": False,
            "study_code": submission.code,
            "return_requested": self.world.time(submission.return_requested),
        }

    def _detail(self, submission: Submission) -> dict[str, Any]:
        """SubmissionDetail."""
        return {
            "id": submission.id,
            "participant": submission.participant,
            "study_id": submission.study_id,
            "status": submission.status,
            "started_at": self.world.time(submission.started),
            "completed_at": self.world.time(submission.completed),
            "entered_code": submission.code,
            "bonus_payments": self.world.bonuses_of(submission),
            "return_requested": self.world.time(submission.return_requested),
        }
