"""Options of the chaos runs, and their summaries at the end."""

from __future__ import annotations

from collections.abc import Callable

import pytest

_SUMMARIES = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seed", dest="chaos_seed", type=int, help="the seed of the chaos runs")


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """What everything random in a run is derived from."""
    given = request.config.getoption("chaos_seed", None)
    return 1 if given is None else int(given)


@pytest.fixture
def tell(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Keeps a text to be shown at the end of the test run."""
    return request.config.stash.setdefault(_SUMMARIES, []).append


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if summaries := config.stash.get(_SUMMARIES, []):
        terminalreporter.section("chaos")
        terminalreporter.write_line("\n\n".join(summaries))
