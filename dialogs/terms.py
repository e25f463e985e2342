"""What of a study can be changed while it runs, and what all of it must fit to.

The study file and the monitor are held to the same: whoever changes one of these by either is
told the same sentence. Dialogs that are open keep the rules that they began with. Durations in
seconds, money in cents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from dialogs.money import to_text
from dialogs.rules import Pay, Rules

READING_S: Final = 600.0
"""Seconds that an assignment must leave for consent and instructions."""

ROUND_S: Final = 60.0
"""Seconds that a dialog's limit must leave for each round."""

MOST_PAY: Final = 1_000_000_000
"""The most of any amount, in the currency's smallest unit: what the record holds, and room to pay
in currencies of many small units. No amount is so high; it is a number with digits too many."""
MOST_TIMES: Final = 10
"""How many times the full pay of the study file an amount may be that is changed while the study
runs. Whoever means to pay more writes it into the file."""

Changes = Mapping[str, float | int]
"""What the team has changed, by name; what is not named is as the study file says."""

RULES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "grace_s": "protocol.grace_s",
        "turn_limit_s": "protocol.turn_limit_s",
        "dialog_limit_s": "protocol.dialog_limit_s",
    }
)
LOBBY: Final[Mapping[str, str]] = MappingProxyType({"lobby_limit_s": "lobby.limit_s"})
PAY: Final[Mapping[str, str]] = MappingProxyType(
    {
        "pay_complete": "pay.complete",
        "pay_left": "pay.left",
        "pay_waiting_per_minute": "pay.waiting_per_minute",
    }
)
CHANGEABLE: Final[Mapping[str, str]] = MappingProxyType({**RULES, **LOBBY, **PAY})
"""The names of what can be changed, and each one's key in the study file."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What can be changed, with what it must fit to.

    `recruiter` is the kind of the study's recruiter; `reward` what approving work pays by itself
    and `screen_out` the fixed payment of a screen-out, where the study file sets them.
    """

    rules: Rules
    start_s: float
    lobby_limit_s: float
    assignment_duration_s: float
    recruiter: str = "link"
    reward: int | None = None
    screen_out: int | None = None

    def changed(self, changes: Changes) -> Terms:
        """The terms with these changes."""
        is_now = self.values() | dict(changes)
        pay = replace(
            self.rules.pay,
            complete=int(is_now["pay_complete"]),
            left=int(is_now["pay_left"]),
            waiting_per_minute=int(is_now["pay_waiting_per_minute"]),
        )
        rules = replace(
            self.rules,
            grace_s=float(is_now["grace_s"]),
            turn_limit_s=float(is_now["turn_limit_s"]),
            dialog_limit_s=float(is_now["dialog_limit_s"]),
            pay=pay,
        )
        return replace(self, rules=rules, lobby_limit_s=float(is_now["lobby_limit_s"]))

    def values(self) -> dict[str, float | int]:
        """What can be changed, as it is."""
        rules, pay = self.rules, self.rules.pay
        return {
            **{name: getattr(rules, name) for name in RULES},
            "lobby_limit_s": self.lobby_limit_s,
            **{name: getattr(pay, name.removeprefix("pay_")) for name in PAY},
        }


def contradictions(terms: Terms) -> list[str]:
    """What no single value shows: terms that cannot all hold, each by its key in the file."""
    rules, pay = terms.rules, terms.rules.pay
    needed = READING_S + terms.lobby_limit_s + terms.start_s + rules.dialog_limit_s
    stretched = rules.turn_limit_s * rules.turn_stretch
    checks = (
        (
            rules.grace_s >= rules.turn_limit_s,
            "protocol.grace_s must be less than protocol.turn_limit_s",
        ),
        (
            stretched > rules.dialog_limit_s,
            "protocol.dialog_limit_s must be at least protocol.turn_limit_s times "
            f"protocol.turn_stretch ({stretched:g})",
        ),
        (
            rules.rounds * ROUND_S > rules.dialog_limit_s,
            f"protocol.dialog_limit_s must leave {ROUND_S:g} s for each of {rules.rounds} "
            f"rounds ({rules.rounds * ROUND_S:g})",
        ),
        (
            rules.pair_again_below > rules.rounds,
            "protocol.pair_again_below must not be more than protocol.rounds",
        ),
        (terms.start_s >= terms.lobby_limit_s, "lobby.start_s must be less than lobby.limit_s"),
        (
            terms.assignment_duration_s < needed,
            f"recruiter.assignment_duration_s must be at least {needed:g}: {READING_S:g} s to "
            "read, lobby.limit_s, lobby.start_s and protocol.dialog_limit_s",
        ),
        *_recruiting(terms),
        *(
            (cents > MOST_PAY, f"{key} must not be more than {to_text(MOST_PAY, pay.currency)}")
            for key, cents in _amounts(terms)
        ),
        (pay.left > pay.complete, "pay.left must not be more than pay.complete"),
    )
    return [problem for wrong, problem in checks if wrong]


def far_above(file: Terms, is_now: Terms, becomes: Terms) -> list[str]:
    """Changed amounts that are so much more than the file's full pay that somebody must have
    mistyped."""
    full = file.rules.pay.complete
    most = to_text(MOST_TIMES * full, file.rules.pay.currency)
    unchanged = {*_amounts(file), *_amounts(is_now)}
    return [
        f"{key} must not be more than {most}, {MOST_TIMES} times the full pay of the study file; "
        "whoever means it changes the file"
        for key, cents in _amounts(becomes)
        if full and cents > MOST_TIMES * full and (key, cents) not in unchanged
    ]


def _amounts(terms: Terms) -> list[tuple[str, int]]:
    """Each amount by its key in the file, in cents."""
    pay = terms.rules.pay
    return [(key, getattr(pay, name.removeprefix("pay_"))) for name, key in PAY.items()]


def _recruiting(terms: Terms) -> Iterator[tuple[bool, str]]:
    """What would make a payment impossible: approving the work pays its reward, no less."""
    pay, kind = terms.rules.pay, terms.recruiter
    if kind == "mturk" and pay.currency != "USD":
        yield True, 'pay.currency must be "USD" for recruiter.kind = "mturk"'
    if kind == "prolific" and terms.screen_out is not None:
        # Prolific's fixed payment of a screen-out is less than the reward.
        reward = terms.reward if terms.reward is not None else pay.complete
        yield (
            not 0 < terms.screen_out < reward,
            "recruiter.prolific.screen_out must be more than nothing and less than the reward",
        )
    if kind == "link":
        return
    least = least_for(kind, pay)
    if not least:
        # A HIT without a reward cannot be posted.
        which = "one of them" if kind == "mturk" else "pay.complete"
        all_of = "pay.complete, pay.left and pay.waiting_per_minute are all 0; "
        start = all_of if kind == "mturk" else ""
        yield True, f'{start}{which} must be more than 0 for recruiter.kind = "{kind}"'
        return
    if terms.reward is None:
        return
    yield terms.reward < 1, "recruiter.reward must be more than nothing"
    most = to_text(least, pay.currency)
    yield (
        terms.reward > least,
        f"recruiter.reward must not be more than {most}, the least that is owed",
    )


def least_owed(pay: Pay) -> int:
    """The least that anybody is owed who is owed anything, in cents; 0 if nobody ever is."""
    owed = (pay.complete, pay.left, pay.for_waiting(1.0))
    return min((cents for cents in owed if cents > 0), default=0)


def least_for(recruiter: str, pay: Pay) -> int:
    """The most that approving work may pay by itself, in cents: on Prolific, partial pay has ways
    of its own."""
    return least_owed(pay) if recruiter == "mturk" else pay.complete
