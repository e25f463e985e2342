"""Our table of requests against botocore's service model, and the yardstick itself."""

from __future__ import annotations

from typing import Any

import pytest

from hit_manager.marketplace.api.operations import OPERATIONS
from hit_manager.marketplace.api.shapes import INPUTS, Flag, Many, Parts, Shape, Text, Time, Whole
from tests.contract.service_model import differences, service_model


def as_ours(shape: Any) -> Shape:
    """A shape of botocore's in our form."""
    least, most = shape.metadata.get("min"), shape.metadata.get("max")
    match shape.type_name:
        case "structure":
            members = {name: as_ours(member) for name, member in shape.members.items()}
            return Parts(members, frozenset(shape.required_members))
        case "list":
            return Many(as_ours(shape.member))
        case "string":
            pattern = shape.metadata.get("pattern")
            bare = pattern.removeprefix("^").removesuffix("$") if pattern else None
            return Text(bare, least, most, tuple(shape.enum))
        case "integer":
            return Whole(32, least, most)
        case "long":
            return Whole(64, least, most)
        case "boolean":
            return Flag()
        case _:
            return Time()


def sorted_words(shape: Shape) -> Shape:
    """A shape whose words are in order: in which one they are listed means nothing."""
    match shape:
        case Parts(members, required):
            return Parts({name: sorted_words(member) for name, member in members.items()}, required)
        case Many(member):
            return Many(sorted_words(member))
        case Text(pattern, least, most, words):
            return Text(pattern, least, most, tuple(sorted(words)))
        case _:
            return shape


def test_every_operation_of_the_model_but_the_dead_one_is_there() -> None:
    assert set(service_model().operation_names) - set(INPUTS) == {"GetFileUploadURL"}
    assert set(INPUTS) == set(OPERATIONS)


@pytest.mark.parametrize("operation", sorted(INPUTS))
def test_requests_have_the_form_of_the_model(operation: str) -> None:
    theirs = as_ours(service_model().operation_model(operation).input_shape)
    assert sorted_words(INPUTS[operation]) == sorted_words(theirs)


@pytest.mark.parametrize(
    "wrong",
    [
        {"HITId": 7},
        {"HITId": "lower"},
        {"HITStatus": "Gone"},
        {"MaxAssignments": "1"},
        {"MaxAssignments": True},
        {"CreationTime": "2026-11-30"},
        {"Reward": "1.234"},
        {"Colour": "red"},
        {"QualificationRequirements": {}},
        {"QualificationRequirements": [{"Comparator": "Exists"}]},
    ],
)
def test_the_yardstick_finds_what_is_wrong(wrong: dict[str, Any]) -> None:
    shape = service_model().shape_for("HIT")
    assert list(differences(wrong, shape))
    assert not list(differences({"HITId": "3A", "Reward": "1.23"}, shape))
