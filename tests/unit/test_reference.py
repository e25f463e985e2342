"""The reference pages say what the code says."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from chatserver.sockets import Sockets
from chatserver.wire import EXPORTED
from duologue.cli import cli
from duologue.reference import PAGES
from duologue.reference.wire import wire_page

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
