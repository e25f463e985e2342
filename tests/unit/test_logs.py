"""Neither a long outage nor a client fills the disk, or writes an address into the log; and
programs can read it."""

from __future__ import annotations

import json
import logging
import subprocess
import sys

import pytest
from aiohttp.http_exceptions import BadStatusLine

from duologue.logs import OFTEN, JsonLines, NoStrangers, SayOnce


class Clock:
    """A time that moves when it is told to, in seconds."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def once(clock: Clock) -> SayOnce:
    return SayOnce(30.0, clock)


def record(
    template: str, *args: object, level: int = logging.WARNING, name: str = "duologue.x"
) -> logging.LogRecord:
    return logging.LogRecord(name, level, "f.py", 1, template, args, None)


def failure(error: Exception, name: str = "duologue.x", *args: object) -> logging.LogRecord:
    """What `log.exception` makes of an error that was raised here."""
    try:
        raise error
    except Exception:
        said = ("Error handling request from %s", args) if args else ("it failed", ())
        return logging.LogRecord(name, logging.ERROR, "f.py", 1, *said, sys.exc_info())


def passed(once: SayOnce, made: list[logging.LogRecord]) -> int:
    return sum(once.filter(each) for each in made)


def test_a_warning_passes_once_in_its_time_whatever_it_names(once: SayOnce, clock: Clock) -> None:
    assert once.filter(record("%s does not answer", "Redis"))
    assert not once.filter(record("%s does not answer", "the database"))
    assert once.filter(record("another warning"))
    clock.now += 30.0
    assert once.filter(record("%s does not answer", "Redis"))


def test_news_that_a_client_can_cause_without_end_comes_to_an_end(
    once: SayOnce, clock: Clock
) -> None:
    made = [record("socket %s is odd", n, level=logging.INFO) for n in range(1000)]
    assert passed(once, made) == OFTEN[logging.INFO]
    assert once.filter(record("other news", level=logging.INFO))
    clock.now += 30.0
    after = record("socket %s is odd", 1, level=logging.INFO)
    assert once.filter(after)
    assert after.getMessage() == "socket 1 is odd (900 like it left out)"


def test_the_same_error_comes_to_an_end_and_hides_no_other(once: SayOnce) -> None:
    made = [failure(ValueError(n)) for n in range(1000)]
    assert passed(once, made) == OFTEN[logging.ERROR]
    assert once.filter(failure(KeyError("another kind")))
    try:
        raise ValueError("another place")
    except ValueError:
        other = logging.LogRecord("duologue.x", 40, "f.py", 1, "it failed", (), sys.exc_info())
    assert once.filter(other)
    # Each sentence of our own says something else, however many there are.
    told = [record("payment %s was refused", n, level=logging.ERROR) for n in range(500)]
    assert passed(once, told) == 500
    assert passed(once, [record("the same", level=logging.ERROR) for _ in range(50)]) == 10


def test_what_was_said_takes_no_memory_without_end(once: SayOnce) -> None:
    for n in range(5000):
        assert once.filter(record(f"error {n}", level=logging.ERROR))
    assert len(once._said) <= 1000


def test_bad_http_is_not_logged_and_an_error_of_ours_without_the_address() -> None:
    quiet = NoStrangers()
    assert not quiet.filter(failure(BadStatusLine("x"), "aiohttp.server", "192.0.2.7"))
    ours = failure(RuntimeError("a fault of ours"), "aiohttp.server", "192.0.2.7")
    assert quiet.filter(ours)
    assert "192.0.2.7" not in ours.getMessage()
    assert ours.exc_info is not None
    assert not quiet.filter(record("192.0.2.7: Client protocols", name="aiohttp.websocket"))
    assert quiet.filter(record("%s from 192.0.2.7", "a message of another part"))


# --- For programs ----------------------------------------------------------------------------


def as_json(made: logging.LogRecord) -> dict[str, object]:
    line = JsonLines().format(made)
    assert line.isascii()
    assert "\n" not in line
    found: dict[str, object] = json.loads(line)
    return found


def test_a_line_is_one_object_with_what_the_call_named() -> None:
    made = record("%s of arrival %s:\n%s", "message", "a_1", "\ud800 \u2028", name="duologue.x")
    made.created = 1_700_000_000.25
    made.arrival, made.dialog = "a_1", None
    assert as_json(made) == {
        "time": "2023-11-14T22:13:20.250Z",
        "level": "warning",
        "logger": "duologue.x",
        "message": "message of arrival a_1:\n\ud800 \u2028",
        "arrival": "a_1",
    }


def test_an_exception_is_one_field() -> None:
    said = as_json(failure(ValueError("odd")))
    assert said["message"] == "it failed"
    assert str(said["exception"]).startswith("Traceback")
    assert str(said["exception"]).endswith("ValueError: odd")


@pytest.mark.parametrize("style", ["text", "json"])
def test_what_libraries_tell_their_makers_is_not_logged(style: str) -> None:
    """A request to a recruiter, say, with everything in it."""
    program = (
        "import logging; from duologue.logs import log_to_stderr\n"
        f"log_to_stderr('debug', {style!r})\n"
        "logging.getLogger('botocore.endpoint').debug('WorkerId=A1')\n"
        "logging.getLogger('duologue.x').debug('ours')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0
    assert "ours" in done.stderr
    assert "A1" not in done.stderr
    assert done.stderr.startswith("{") == (style == "json")
