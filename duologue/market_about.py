"""What `duologue market serve` is told about the team, for the marketplace's pages."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

import click

from duologue.problems import BadInput
from hit_manager.marketplace.about import NAME, PAID_SOMEHOW, About

_MOST_SAID: Final = {"--name": 60, "--contact": 200, "--how-we-pay": 500}
"""Characters of what the pages say of the team."""


def about_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the three options, as its one parameter `about`."""

    @click.option(
        "--name",
        default=NAME,
        show_default=True,
        help="What the marketplace is called, at the top of its pages.",
    )
    @click.option(
        "--contact",
        default="",
        metavar="TEXT",
        help="Whom workers ask: a mail address, a web address or words, on every page.",
    )
    @click.option(
        "--how-we-pay",
        default=PAID_SOMEHOW,
        metavar="TEXT",
        help="How the money comes, in a sentence or two.  [default: ask the team]",
    )
    @wraps(command)
    def told(*args: Any, name: str, contact: str, how_we_pay: str, **kwargs: Any) -> None:
        command(*args, about=_about(name, contact, how_we_pay), **kwargs)

    return told


def _about(name: str, contact: str, how_we_pay: str) -> About:
    """What the pages say of the team.

    Raises:
        BadInput: too long for where it stands, or nothing where something must.
    """
    said = {"--name": name, "--contact": contact, "--how-we-pay": how_we_pay}
    plain = {option: " ".join(text.split()) for option, text in said.items()}
    for option, most in _MOST_SAID.items():
        if len(plain[option]) > most or not plain[option].isprintable():
            raise BadInput([f"{option} may have at most {most} ordinary characters"])
        if not plain[option] and option != "--contact":
            raise BadInput([f"{option} must not be empty; leave it out instead"])
    return About(*plain.values())
