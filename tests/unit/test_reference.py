"""The reference pages say what the code says."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from chatserver.monitor.access import NEEDS
from chatserver.monitor.actions import ACTIONS
from chatserver.monitor.wire import MONITOR_EXPORTED, Trouble
from chatserver.sockets import Sockets
from chatserver.wire import EXPORTED
from duologue.cli import cli
from duologue.reference import PAGES
from duologue.reference.monitor import monitor_page
from duologue.reference.wire import wire_page
from tests.monitors import EVENTS

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"


@pytest.mark.parametrize("name", PAGES)
def test_the_pages_are_those_that_the_code_makes(name: str) -> None:
    written = (REFERENCE / name).read_text(encoding="utf-8")
    assert written == PAGES[name](), "run: python -m duologue.reference"


def test_no_page_is_left_over() -> None:
    # The page of the flags holds measured figures; `test_quality_page` checks those.
    assert {path.name for path in REFERENCE.glob("*.md")} == {*PAGES, "quality-flags.md"}


def test_every_command_has_help_with_an_example() -> None:
    def leaves(command: click.Command) -> list[click.Command]:
        if isinstance(command, click.Group):
            return [leaf for sub in command.commands.values() for leaf in leaves(sub)]
        return [command]

    for command in leaves(cli):
        assert "Example: duologue " in (command.help or ""), command.name
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.help or parameter.name, (command.name, parameter.name)


def test_every_payload_and_event_is_on_the_wire_page() -> None:
    page = wire_page()
    for model in EXPORTED:
        assert f"## `{model.__name__}`" in page
    for event in Sockets.EVENTS:
        assert f"`{event}`" in page


def test_every_route_payload_error_and_event_is_on_the_page_of_the_monitor() -> None:
    page = monitor_page()
    rows = [
        line.split(" | ") for line in page.splitlines() if line.startswith(("| `GET", "| `POST"))
    ]
    # Without what an address asks for, and whatever its parts are called.
    found = {
        (re.sub(r"\{\w+\}", "{}", row[0].strip("| `").partition("?")[0]), row[1]) for row in rows
    }
    assert found == {(f"{method} {path}", role.value) for (method, path), role in NEEDS.items()}
    bodies = {row[0].strip("| `"): row[2] for row in rows}
    for action in ACTIONS:
        assert bodies[f"POST /{action.path}"] == f"`{action.takes.__name__}`"
    for model in MONITOR_EXPORTED:
        assert f"## `{model.__name__}`" in page
    for word in (*Trouble, *EVENTS, "watch", "unwatch"):
        assert f"| `{word}` |" in page, word
