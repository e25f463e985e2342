"""The fake Prolific's users and studies."""

from __future__ import annotations

import re
from typing import Any

from aiohttp import web

from tests.contract.prolific_routes import Body, page, route
from tests.contract.prolific_world import Fault, World

_STUDY_FIELDS = {
    "name", "internal_name", "description", "project", "metadata", "external_study_url",
    "prolific_id_option", "total_available_places", "estimated_completion_time",
    "maximum_allowed_time", "reward", "device_compatibility", "peripheral_requirements", "filters",
    "naivety_distribution_rate", "submissions_config", "study_labels", "content_warnings",
    "completion_codes",
}  # fmt: skip
_REQUIRED = {
    "name", "description", "external_study_url", "prolific_id_option", "total_available_places",
    "estimated_completion_time", "reward", "completion_codes",
}  # fmt: skip
_PUBLISHED_FIELDS = {"internal_name", "total_available_places", "submissions_config"}
_CODE_TYPES = {
    "COMPLETED", "FAILED_ATTENTION_CHECK", "FOLLOW_UP_STUDY", "GIVE_BONUS", "INCOMPATIBLE_DEVICE",
    "NO_CONSENT", "OTHER", "FIXED_SCREENOUT", "SCREENED_IN", "SCREENED_OUT",
}  # fmt: skip
_ACTIONS = {
    "AUTOMATICALLY_APPROVE": {"action"},
    "MANUALLY_REVIEW": {"action"},
    "REQUEST_RETURN": {"action", "return_reason"},
    "FIXED_SCREEN_OUT_PAYMENT": {"action", "fixed_screen_out_reward", "slots"},
}
_TRANSITIONS = {
    ("UNPUBLISHED", "PUBLISH"): "ACTIVE",
    ("SCHEDULED", "CANCEL_PUBLISH"): "UNPUBLISHED",
    ("ACTIVE", "PAUSE"): "PAUSED",
    ("PAUSED", "START"): "ACTIVE",
    ("ACTIVE", "STOP"): "COMPLETED",
    ("PAUSED", "STOP"): "COMPLETED",
}


class StudyRoutes:
    def __init__(self, world: World) -> None:
        self.world = world

    @route("GET", "users/me/")
    async def user(self, request: web.Request, body: Body) -> web.Response:
        """https://docs.prolific.com/api-reference/users/get-user"""
        world = self.world
        return web.json_response(
            {
                "id": "5f0000000000000000000003",
                "email": "team@example.org",
                "currency_code": world.currency,
                "balance": world.balance,
                "available_balance": world.balance,
            }
        )

    @route("POST", "studies/", fields=_STUDY_FIELDS)
    async def create_study(self, request: web.Request, body: Body) -> web.Response:
        """https://docs.prolific.com/api-reference/studies/create-study"""
        if missing := _REQUIRED - set(body):
            raise Fault(400, "Validation error", {name: ["required"] for name in missing})
        self._check_study(body)
        estimated = body["estimated_completion_time"]
        study = {
            "internal_name": None,
            "metadata": None,
            "project": self.world.project_id,
            "filters": [],
            "device_compatibility": [],
            "maximum_allowed_time": int(2 + 2 * estimated + 2 * estimated**0.5),
            "submissions_config": {
                "max_submissions_per_participant": 1,
                "max_concurrent_submissions": -1,
            },
            **body,
            "id": self.world.new_id(),
            "status": "UNPUBLISHED",
            "date_created": self.world.time(self.world.now),
        }
        self.world.studies[study["id"]] = study
        return web.json_response(study, status=201)

    def _check_study(self, body: dict[str, Any]) -> None:
        def need(good: bool, field: str, why: str) -> None:
            if not good:
                raise Fault(400, "Validation error", {field: [why]})

        estimated = body["estimated_completion_time"]
        need(body["prolific_id_option"] == "url_parameters", "prolific_id_option", "unknown")
        need(type(body["total_available_places"]) is int, "total_available_places", "not whole")
        need(body["total_available_places"] > 0, "total_available_places", "too small")
        need(type(body["reward"]) is int, "reward", "minor units")
        need(body["reward"] * 60 / estimated >= 800, "reward", "below $8 an hour")
        need(body["external_study_url"].startswith("https://"), "external_study_url", "not https")
        need(body.get("project", self.world.project_id) == self.world.project_id, "project", "?")
        if (longest := body.get("maximum_allowed_time")) is not None:
            least = 2 + 2 * estimated + 2 * estimated**0.5
            need(least <= longest < 24 * 60, "maximum_allowed_time", "out of bounds")
        tags = set(re.findall(r"</?(\w+)", body["description"]))
        allowed = {"b", "i", "em", "strong", "s", "u", "h1", "h2", "ol", "ul", "li", "p"}
        need(tags <= allowed, "description", "tags")
        for wanted in body.get("filters", []):
            known = {"filter_id", "selected_values", "selected_range", "weightings"}
            need(set(wanted) <= known, "filters", "unknown field")
            if wanted["filter_id"] == "participant_group_blocklist":
                need(set(wanted["selected_values"]) <= set(self.world.groups), "filters", "group")
        config = body.get("submissions_config", {})
        known = {"max_submissions_per_participant", "max_concurrent_submissions"}
        need(set(config) <= known, "submissions_config", "unknown field")
        codes = body["completion_codes"]
        need(len({code["code"] for code in codes}) == len(codes) > 0, "completion_codes", "twice")
        for code in codes:
            self._check_code(code, body["reward"], need)

    def _check_code(self, code: dict[str, Any], reward: int, need: Any) -> None:
        known = {"code", "code_type", "actions", "actor"}
        need(set(code) <= known, "completion_codes", "unknown field")
        need(code["code_type"] in _CODE_TYPES, "completion_codes", "code_type")
        need(code.get("actor", "participant") in ("participant", "researcher"), "actor", "unknown")
        for action in code["actions"]:
            need(_ACTIONS.get(action["action"]) == set(action), "actions", "fields")
            if action["action"] == "FIXED_SCREEN_OUT_PAYMENT":
                need(self.world.has_screen_outs, "actions", "not in this workspace")
                need(0 < action["fixed_screen_out_reward"] < reward, "actions", "reward")

    @route("GET", "studies/", query={"state"})
    async def studies(self, request: web.Request, body: Body) -> web.Response:
        """https://docs.prolific.com/api-reference/studies/get-studies"""
        state = request.query.get("state")
        found = [s for s in self.world.studies.values() if state in (None, s["status"])]
        return page(request, [self._short(study) for study in found])

    @route("GET", "projects/{project}/studies/", query={"ordering"})
    async def project_studies(self, request: web.Request, body: Body) -> web.Response:
        """https://docs.prolific.com/api-reference/studies/get-project-studies"""
        project = request.match_info["project"]
        found = [s for s in self.world.studies.values() if s["project"] == project]
        return page(request, [self._short(study) for study in found])

    @route("GET", "studies/{id}/")
    async def study(self, request: web.Request, body: Body) -> web.Response:
        """https://docs.prolific.com/api-reference/studies/get-study"""
        return web.json_response(self._study(request))

    @route("PATCH", "studies/{id}/", fields=_STUDY_FIELDS)
    async def update_study(self, request: web.Request, body: Body) -> web.Response:
        """https://docs.prolific.com/api-reference/studies/update-study

        More places make a study that is over recruit again.
        """
        study, world = self._study(request), self.world
        if study["status"] != "UNPUBLISHED":
            if set(body) - _PUBLISHED_FIELDS:
                raise Fault(400, "Validation error", "the study is published")
            places = body.get("total_available_places", study["total_available_places"])
            more = places - study["total_available_places"]
            if more < 0:
                raise Fault(400, "Validation error", {"total_available_places": ["can only grow"]})
            world.spend(world.cost(study["reward"], more))
            if more:
                world.stopped.discard(study["id"])
        study.update(body)
        return web.json_response(study)

    @route("DELETE", "studies/{id}/")
    async def delete_study(self, request: web.Request, body: Body) -> web.Response:
        """https://docs.prolific.com/api-reference/studies/delete-study"""
        study = self._study(request)
        if study["status"] != "UNPUBLISHED":
            raise Fault(400, "Validation error", "only drafts can be deleted")
        del self.world.studies[study["id"]]
        return web.Response(status=204)

    @route("POST", "studies/{id}/transition/", fields={"action", "publish_at"})
    async def move_study(self, request: web.Request, body: Body) -> web.Response:
        """https://docs.prolific.com/api-reference/studies/publish-study"""
        study, world = self._study(request), self.world
        to = _TRANSITIONS.get((study["status"], body["action"]))
        if to is None:
            raise Fault(400, "Validation error", f"{body['action']} of {study['status']}")
        if body["action"] == "PUBLISH":
            world.spend(world.cost(study["reward"], study["total_available_places"]))
        if body["action"] == "STOP":
            world.stopped.add(study["id"])
        study["status"] = to
        return web.json_response(study)

    @route("GET", "studies/{id}/submissions/counts/")
    async def counts(self, request: web.Request, body: Body) -> web.Response:
        """https://docs.prolific.com/api-reference/studies/count-study-submissions-by-status"""
        return web.json_response(self.world.counts(self._study(request)["id"]))

    @route("POST", "study-cost-calculator/", fields={"reward", "total_available_places"})
    async def calculate(self, request: web.Request, body: Body) -> web.Response:
        """https://docs.prolific.com/api-reference/studies/calculate-study-cost"""
        cost = self.world.cost(body["reward"], body["total_available_places"])
        return web.json_response({"total_cost": cost})

    # --- Inside ----------------------------------------------------------------------------

    def _study(self, request: web.Request) -> dict[str, Any]:
        study = self.world.studies.get(request.match_info["id"])
        if study is None:
            raise Fault(404, "Not found", "no such study")
        return study

    def _short(self, study: dict[str, Any]) -> dict[str, Any]:
        """What lists show of a study."""
        names = (
            "id", "name", "internal_name", "status", "total_available_places", "reward",
            "date_created",
        )  # fmt: skip
        here = self.world.of(study["id"])
        # By its page, places taken are those started less those returned or timed out.
        gone = {"RETURNED", "TIMED-OUT"}
        return {name: study[name] for name in names} | {
            "number_of_submissions": len(here),
            "places_taken": sum(submission.status not in gone for submission in here),
        }
