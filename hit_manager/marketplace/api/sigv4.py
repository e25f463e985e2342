"""Whether a request was signed by somebody who holds one of our keys.

botocore can sign requests and not check them; making it sign once more would need its private
parts, on a server that otherwise has no need of it. So this is the algorithm as AWS publishes it
("Signature Version 4 signing process"), for requests without a query, with the body hashed.
Tests let boto3 sign.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote

from hit_manager.marketplace.errors import BadSignature, NotSigned, UnknownKey

REGION: Final = "us-east-1"
SERVICE: Final = "mturk-requester"
SKEW_S: Final = 300
"""A signature is good for so long before and after its time."""

_ALGORITHM: Final = "AWS4-HMAC-SHA256"
_AUTHORIZATION: Final = re.compile(
    rf"{_ALGORITHM} +Credential=([^/,\s]+)/(\d{{8}})/([^/,\s]+)/([^/,\s]+)/aws4_request, *"
    r"SignedHeaders=([a-z0-9;-]+), *Signature=([0-9a-f]{64})"
)
_MUST_SIGN: Final = frozenset({"host", "x-amz-date", "x-amz-target"})


@dataclass(frozen=True, slots=True)
class Claim:
    """What a request says of its signature."""

    key_id: str
    day: str
    scope: str
    names: tuple[str, ...]
    signature: str


def read_claim(headers: Mapping[str, str]) -> Claim:
    """What the Authorization header says.

    Raises:
        NotSigned: there is none, or not one of this kind.
        BadSignature: signed for elsewhere, or without what has to be signed.
    """
    found = _AUTHORIZATION.fullmatch(headers.get("Authorization", ""))
    if found is None:
        raise NotSigned("The request has no signature of version 4.")
    key_id, day, region, service, names, signature = found.groups()
    if (region, service) != (REGION, SERVICE):
        raise BadSignature(
            f"Credential should be scoped to {REGION}/{SERVICE}, not to {region}/{service}."
        )
    listed = tuple(names.split(";"))
    if list(listed) != sorted(set(listed)) or not _MUST_SIGN.issubset(listed):
        raise BadSignature(
            f"The signed headers have to be sorted and hold {', '.join(sorted(_MUST_SIGN))}."
        )
    if "X-Amz-Security-Token" in headers:
        raise UnknownKey("The security token included in the request is invalid.")
    return Claim(key_id, day, f"{day}/{region}/{service}/aws4_request", listed, signature)


def check(
    claim: Claim,
    secret: str | None,
    *,
    method: str,
    raw_path: str,
    headers: Mapping[str, str],
    body: bytes,
    now: float,
) -> None:
    """Make the signature again and compare. `secret` is None where nobody has such a key.

    `raw_path` is the path as it was sent; `headers` are looked up without regard to case.

    Raises:
        UnknownKey, BadSignature: and what of it is wrong.
    """
    stamp = headers.get("X-Amz-Date", "")
    _check_time(stamp, claim.day, now)
    hashed = hashlib.sha256(body).hexdigest()
    if headers.get("X-Amz-Content-SHA256", hashed) != hashed:
        raise BadSignature("The body is not the one whose hash was sent.")
    if any(name not in headers for name in claim.names):
        raise BadSignature("A signed header is missing.")
    path, _, query = raw_path.partition("?")
    if query:
        raise BadSignature("The request has a query; this API takes none.")
    canonical = "\n".join(
        (
            method,
            quote(path, safe="/-_.~"),
            "",
            *(f"{name}:{' '.join(headers[name].split())}" for name in claim.names),
            "",
            ";".join(claim.names),
            hashed,
        )
    )
    to_sign = "\n".join(
        (
            _ALGORITHM,
            stamp,
            claim.scope,
            hashlib.sha256(canonical.encode(errors="surrogateescape")).hexdigest(),
        )
    )
    key = f"AWS4{secret or ''}".encode()
    for part in claim.scope.split("/"):
        key = _hmac(key, part)
    # Compared for unknown keys too, so that both take as long.
    same = hmac.compare_digest(_hmac(key, to_sign).hex(), claim.signature)
    if secret is None:
        raise UnknownKey("The access key included in the request is invalid.")
    if not same:
        raise BadSignature(
            "The request signature we calculated does not match the signature you provided. Check "
            "your secret access key."
        )


def _check_time(stamp: str, day: str, now: float) -> None:
    try:
        at = datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp()
    except ValueError:
        raise BadSignature("X-Amz-Date is missing, or is not like 20261130T053818Z.") from None
    if stamp[:8] != day:
        raise BadSignature("Credential and X-Amz-Date are of different days.")
    if abs(now - at) > SKEW_S:
        here = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")
        word = "expired" if at < now else "not yet current"
        raise BadSignature(
            f"Signature {word}: it is of {stamp}, here it is {here}; {SKEW_S // 60} minutes are "
            "the most that clocks may differ."
        )


def _hmac(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()
