"""What a page is told of a study."""

from __future__ import annotations

import pytest

from chatserver.config import StudyConfig
from chatserver.live.views import study_out
from dialogs.rules import Pay, Rules


@pytest.mark.parametrize(("complete", "rate", "told"), [(150, 10, 10), (0, 10, 0), (5, 10, 5)])
def test_waiting_promises_no_more_than_a_dialog_pays(complete: int, rate: int, told: int) -> None:
    rules = Rules(pay=Pay(complete=complete, waiting_per_minute=rate))
    study = StudyConfig(id="s", title="Test", rules=rules)
    shown = study_out(study, "link", paused=False, preview=True)
    assert shown.waiting_per_minute == told == rules.pay.for_waiting(60)
