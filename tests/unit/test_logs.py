"""A long outage does not fill the disk with one sentence."""

from __future__ import annotations

import logging

from duologue.logs import SayOnce


def record(template: str, *args: object, level: int = logging.WARNING) -> logging.LogRecord:
    return logging.LogRecord("duologue.x", level, "f.py", 1, template, args, None)


def test_a_warning_passes_once_in_its_time_whatever_it_names() -> None:
    now = [100.0]
    once = SayOnce(30.0, lambda: now[0])
    assert once.filter(record("%s does not answer", "Redis"))
    assert not once.filter(record("%s does not answer", "the database"))
    assert once.filter(record("another warning"))
    now[0] += 30.0
    assert once.filter(record("%s does not answer", "Redis"))


def test_errors_and_plain_news_always_pass() -> None:
    once = SayOnce()
    for level in (logging.INFO, logging.ERROR):
        assert once.filter(record("the same", level=level))
        assert once.filter(record("the same", level=level))
