"""Signed tokens: who an arrival is, and which picture a role may fetch."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable
from typing import Final

from itsdangerous import BadData, Signer, TimestampSigner

from dialogs.rules import ERASED

TOKEN_LIFETIME_S: Final = 7 * 24 * 3600
DEVICE_LIFETIME_S: Final = 90 * 24 * 3600
_CODE_ALPHABET: Final = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
"""Without the characters that people confuse when they copy by hand."""


class Tokens:
    """Makes and reads the tokens of a study. A token of another study or purpose is nothing."""

    def __init__(self, secret_key: str, study_id: str) -> None:
        self._arrivals = TimestampSigner(secret_key, salt=f"arrival:{study_id}")
        self._devices = TimestampSigner(secret_key, salt=f"device:{study_id}")
        # No time in it: the address of a picture stays the same while its page is open.
        self._pictures = Signer(secret_key, salt=f"picture:{study_id}")
        self._erased_key = hashlib.sha256(f"erased:{study_id}:{secret_key}".encode()).digest()
        self._name_key = hashlib.sha256(f"name:{study_id}:{secret_key}".encode()).digest()
        self._address_key = hashlib.sha256(f"address:{study_id}:{secret_key}".encode()).digest()

    def arrival(self, arrival_id: str) -> str:
        return self._arrivals.sign(arrival_id).decode()

    def read_arrival(self, token: object) -> str | None:
        """The arrival a token stands for, or None if it is forged, foreign or too old."""
        return _text(lambda text: self._arrivals.unsign(text, max_age=TOKEN_LIFETIME_S), token)

    def picture(self, arrival_id: str) -> str:
        return self._pictures.sign(arrival_id).decode()

    def read_picture(self, token: object) -> str | None:
        """The arrival that may fetch its picture with this token, or None."""
        return _text(self._pictures.unsign, token)

    def address(self, address: str) -> str:
        """A keyed hash of a network address: equal for equal ones, and not to be undone."""
        return hmac.new(self._address_key, address.encode(), hashlib.sha256).hexdigest()[:24]

    def admin_name(self, name: str) -> str:
        """A keyed hash of what somebody typed as their name: some type their password there."""
        return hmac.new(self._name_key, name.encode(), hashlib.sha256).hexdigest()[:24]

    def device(self, admin_name: str) -> str:
        """A token for a browser in which this `admin_name` has signed in."""
        return self._devices.sign(f"{admin_name}.{secrets.token_hex(12)}").decode()

    def read_device(self, token: object, admin_name: str) -> str | None:
        """What the browser that holds this token is known by, if that name signed in there."""
        said = _text(lambda text: self._devices.unsign(text, max_age=DEVICE_LIFETIME_S), token)
        return said if said is not None and said.startswith(f"{admin_name}.") else None

    def erased(self, recruiter: str, external_id: str) -> str:
        """What stands in place of a recruiter's id of somebody who was erased: by it we know them
        again when they come, and it is not to be undone."""
        who = f"{recruiter}:{external_id}".encode()
        return ERASED + hmac.new(self._erased_key, who, hashlib.sha256).hexdigest()[:32]


def _text(unsign: Callable[[str], bytes], token: object) -> str | None:
    if not isinstance(token, str):
        return None
    try:
        return unsign(token).decode()
    except (BadData, UnicodeError):
        return None


def new_id(prefix: str) -> str:
    """A random id, such as `d_5x…` for a dialog."""
    return f"{prefix}_{secrets.token_hex(12)}"


def new_code(_arrival_id: str) -> str:
    """A completion code of 12 characters in three groups: 60 bits, easy to copy by hand."""
    # The alphabet has 32 characters, so five bits of each byte choose one evenly.
    picked = "".join(_CODE_ALPHABET[byte & 31] for byte in secrets.token_bytes(12))
    return "-".join((picked[:4], picked[4:8], picked[8:]))
