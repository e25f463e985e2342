"""Which addresses have the same origin, as a browser sees it."""

from __future__ import annotations

import pytest

from chatserver.origins import origin_of


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://study.example.org", "https://Study.Example.org:443/a/path?x#y"),
        ("http://study.example.org:80", "HTTP://study.example.org"),
        ("http://[::1]:8000", "http://[::1]:8000/work"),
    ],
)
def test_the_same_origin_however_it_is_written(one: str, other: str) -> None:
    assert origin_of(one) == origin_of(other) is not None


@pytest.mark.parametrize(
    "other",
    [
        "http://study.example.org",
        "https://study.example.org:8443",
        "https://example.org",
        "https://study.example.org.evil.example",
        "https://evil.example/https://study.example.org",
        "https://evil.example@study.example.org.evil.example",
    ],
)
def test_another_origin(other: str) -> None:
    assert origin_of(other) != origin_of("https://study.example.org")


@pytest.mark.parametrize(
    "text", ["", "null", "//", "x:", "http://", "http://[", "http://[x]", "http://a\u2100b",
             "http://host:port", "http://host:99999"]
)  # fmt: skip
def test_what_is_no_origin(text: str) -> None:
    assert origin_of(text) is None
