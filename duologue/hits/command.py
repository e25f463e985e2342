"""The group `duologue hits`."""

from __future__ import annotations

import click

from duologue.hits import money, people, posting, refusing, review, status


@click.group()
def command() -> None:
    """Recruit people, relaunch what failed, review, and pay exactly once.

    Example: duologue hits plan my-study
    """


for each in (
    posting.plan,
    posting.launch,
    status.status,
    posting.extend,
    posting.expire,
    posting.reconcile,
    review.review,
    money.approve,
    refusing.reject,
    refusing.cancel,
    money.bonus,
    money.pay,
    people.message,
    people.block,
    people.unblock,
    posting.invite,
    posting.cost,
):
    command.add_command(each)
