"""Hooks of Prolific: only genuine and fresh ones are read, and they only say where to look."""

from __future__ import annotations

import base64
import hashlib
import hmac

import pytest

from hit_manager.recruiters.base import Refused
from hit_manager.recruiters.prolific import Look, LookAt, read_hook

SECRET = "the workspace's secret"
NOW = 1_790_000_000.0
# As it comes: spacing and order are the sender's, and the signature is over these bytes.
BODY = (
    b'{"event_type": "submission.status.change","resource_id":"65a1",  "status":"AWAITING REVIEW"}'
)


def headers(body: bytes = BODY, *, at: float = NOW, secret: str = SECRET) -> dict[str, str]:
    stamp = str(int(at))
    digest = hmac.new(secret.encode(), stamp.encode() + body, hashlib.sha256).digest()
    return {
        "X-Prolific-Request-Signature": base64.b64encode(digest).decode(),
        "X-Prolific-Request-Timestamp": stamp,
        "X-Event-ID": "ev-1",
    }


def read(body: bytes = BODY, given: dict[str, str] | None = None, secret: str = SECRET) -> object:
    return read_hook(headers(body) if given is None else given, body, secret=secret, now=NOW)


def test_a_signature_made_elsewhere_is_known() -> None:
    # openssl dgst -sha256 -hmac secret -binary | base64, over 1790000000{"a":1}
    known = {
        "x-prolific-request-signature": "Z4oktbUnuAgL0yJFbftTWlcsGTmLWj41Dn5YXonwNNA=",
        "x-prolific-request-timestamp": "1790000000",
    }
    with pytest.raises(Refused, match="cannot be read"):
        read_hook(known, b'{"a":1}', secret="secret", now=NOW)


def test_it_says_where_to_look() -> None:
    assert read() == Look(LookAt.SUBMISSION, "65a1", "ev-1")
    study = b'{"event_type":"study.has_high_return_rate","resource_id":"65b2"}'
    assert read(study) == Look(LookAt.STUDY, "65b2", "ev-1")
    assert read(b'{"event_type":"workspace.renamed","resource_id":"5f"}') is None


def test_names_of_headers_have_no_case() -> None:
    assert read(given={name.lower(): value for name, value in headers().items()})


@pytest.mark.parametrize(
    "given",
    [
        {},
        {k: v for k, v in headers().items() if k != "X-Prolific-Request-Signature"},
        {k: v for k, v in headers().items() if k != "X-Prolific-Request-Timestamp"},
        headers() | {"X-Prolific-Request-Signature": ""},
        headers() | {"X-Prolific-Request-Signature": "ü"},
        headers() | {"X-Prolific-Request-Timestamp": "1790000001"},
        headers() | {"X-Prolific-Request-Timestamp": "soon"},
        headers(secret="another"),
        headers(BODY + b" "),
        headers(at=NOW - 301),
        headers(at=NOW + 301),
    ],
)
def test_anything_else_is_refused(given: dict[str, str]) -> None:
    with pytest.raises(Refused):
        read(given=given)


def test_an_empty_secret_opens_nothing() -> None:
    with pytest.raises(Refused):
        read(given=headers(secret=""), secret="")


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{}", b'{"event_type":1,"resource_id":"5"}', b'{"event_type":"study.x"}'],
)
def test_what_cannot_be_read_is_refused(body: bytes) -> None:
    with pytest.raises(Refused):
        read(body)
