"""The reference page of the commands, made from the command line itself."""

from __future__ import annotations

from collections.abc import Iterator

import click

_HEAD = """\
# Commands

What `duologue COMMAND --help` prints. Bad input ends a command with one line that names the place
and says what would be right, and exit code 2.

"""


def commands_page() -> str:
    """`docs/reference/commands.md`."""
    from duologue.cli import cli

    return _HEAD + "\n".join(_sections("duologue", cli)).rstrip() + "\n"


def _sections(name: str, command: click.Command) -> Iterator[str]:
    context = click.Context(
        command, info_name=name, max_content_width=100, help_option_names=["-h", "--help"]
    )
    if isinstance(command, click.Group):
        for sub in sorted(command.commands):
            yield from _sections(f"{name} {sub}", command.commands[sub])
        return
    yield f"## `{name}`\n\n```\n{command.get_help(context)}\n```\n"
