"""How far two reviewers agree: the share, and Cohen's kappa by hand."""

from __future__ import annotations

import pytest

from dialogs.record.agreement import Pairs, agreement, kappa
from dialogs.rules import Acceptance

A, R = Acceptance.ACCEPTED, Acceptance.REJECTED

CASES: dict[str, tuple[Pairs, float | None, float | None]] = {
    "nothing": ({}, None, None),
    "one": ({(A, A): 1}, 1.0, None),
    "always the same of every dialog": ({(A, A): 7}, 1.0, None),
    "all alike, and both kinds": ({(A, A): 3, (R, R): 4}, 1.0, 1.0),
    "never alike": ({(A, R): 2, (R, A): 2}, 0.0, -1.0),
    "as by chance": ({(A, A): 1, (A, R): 1, (R, A): 1, (R, R): 1}, 0.5, 0.0),
    "one says the same of all": ({(A, A): 3, (A, R): 1}, 0.75, 0.0),
    "one says the one, the other the other": ({(A, R): 5}, 0.0, 0.0),
    # The worked example of two raters and 50 proposals: p_o = 0.7, p_e = 0.5.
    "a worked example": ({(A, A): 20, (A, R): 5, (R, A): 10, (R, R): 15}, 0.7, 0.4),
}


@pytest.mark.parametrize(("pairs", "alike", "by_kappa"), CASES.values(), ids=CASES)
def test_agreement(pairs: Pairs, alike: float | None, by_kappa: float | None) -> None:
    assert agreement(pairs) == (None if alike is None else pytest.approx(alike))
    assert kappa(pairs) == (None if by_kappa is None else pytest.approx(by_kappa))
