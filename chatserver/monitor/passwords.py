"""Passwords of the team: how they are hashed, and which ones are refused.

Argon2id (RFC 9106) with the memory and the passes of its second recommended option, and one lane:
a server whose pages wait should spend one core on a sign-in, not four. That is more than OWASP's
Password Storage Cheat Sheet asks for.
"""

from __future__ import annotations

import asyncio
import base64
import os
import secrets
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Final

from argon2 import Parameters, PasswordHasher, Type
from argon2.exceptions import InvalidHashError, VerificationError

SHORTEST: Final = 12
"""Characters of a new password, at least."""
LONGEST: Final = 1000
"""As many as the sign-in page may send."""

_PARAMETERS: Final = Parameters(
    type=Type.ID,
    version=19,
    salt_len=16,
    hash_len=32,
    time_cost=3,
    memory_cost=64 * 1024,
    parallelism=1,
)
AT_ONCE: Final = 2
MOST_INSIDE: Final = 10
"""Sign-ins that run or wait; further ones are refused at once."""
_NICE: Final = 5
_ALPHABET: Final = "23456789abcdefghjkmnpqrstuvwxyz"
"""Without the characters that people confuse."""

_WORST: Final = frozenset(
    {
        "123456789012",
        "1234567890123",
        "12345678901234",
        "123456123456",
        "administrator",
        "changemechangeme",
        "correcthorsebatterystaple",
        "iloveyouiloveyou",
        "letmeinletmein",
        "password1234",
        "password12345",
        "password123456",
        "passwordpassword",
        "passw0rd1234",
        "p@ssw0rd1234",
        "qwertyqwerty",
        "qwertyuiop12",
        "qwertyuiop123",
        "qwertyuiopasdfgh",
        "welcome12345",
    }
)
"""Of long passwords those that are tried first."""


def problem_with(password: str, name: str) -> str | None:
    """What is wrong with a new password of this admin, if anything."""
    plain = password.casefold()
    if len(password) < SHORTEST:
        return f"the password must have at least {SHORTEST} characters"
    if len(password) > LONGEST:
        return f"the password must have at most {LONGEST} characters"
    if any("\ud800" <= char <= "\udfff" for char in password):
        return "the password is no text in UTF-8"
    if not plain.replace(name.casefold(), ""):
        return "the password must not be the name"
    if plain in _WORST or len(set(plain)) < 5:
        return "the password is one of those that everybody tries first; choose another"
    return None


def new_password() -> str:
    """A password of 24 characters in six groups: 118 bits, which can be read out."""
    picked = [secrets.choice(_ALPHABET) for _ in range(24)]
    return "-".join("".join(picked[n : n + 4]) for n in range(0, 24, 4))


def hashed(password: str) -> str:
    """The hash that the record keeps; takes a tenth of a second."""
    return PasswordHasher.from_parameters(_PARAMETERS).hash(password)


class Passwords:
    """Verifies passwords off the event loop, few at a time."""

    def __init__(self) -> None:
        self._hasher = PasswordHasher.from_parameters(_PARAMETERS)
        self._nobodys = _nobodys_hash()
        self._pool = ThreadPoolExecutor(AT_ONCE, "passwords", initializer=_let_others_go_first)
        self._taken = 0

    @contextmanager
    def place(self) -> Iterator[bool]:
        """A place among those whose password is looked at, or waits for it; False, if all are
        taken."""
        if self._taken >= MOST_INSIDE:
            yield False
            return
        self._taken += 1
        try:
            yield True
        finally:
            self._taken -= 1

    async def is_right(self, password: str, stored: str | None) -> bool:
        """Whether the password is the one of the `stored` hash. Without one, that of a stand-in is
        verified: who is nobody takes as long as somebody."""
        loop = asyncio.get_running_loop()
        given = stored or self._nobodys
        right = await loop.run_in_executor(self._pool, self._verify, given, password)
        return right and stored is not None

    async def renewed(self, password: str, stored: str) -> str:
        """The hash to keep from now on, of a password that was right: another one where the stored
        one is of other parameters than today's."""
        if not self._hasher.check_needs_rehash(stored):
            return stored
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, self._hasher.hash, password)

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)

    def _verify(self, stored: str, password: str) -> bool:
        try:
            return self._hasher.verify(stored, password)
        except (VerificationError, InvalidHashError, UnicodeEncodeError):
            return False


def _nobodys_hash() -> str:
    """A hash of today's parameters that is of no password anybody knows."""
    salt, digest = (
        base64.b64encode(secrets.token_bytes(size)).decode().rstrip("=")
        for size in (_PARAMETERS.salt_len, _PARAMETERS.hash_len)
    )
    cost = f"m={_PARAMETERS.memory_cost},t={_PARAMETERS.time_cost},p={_PARAMETERS.parallelism}"
    return f"$argon2id$v={_PARAMETERS.version}${cost}${salt}${digest}"


def _let_others_go_first() -> None:
    """The pages of the people in the study go before whoever signs in."""
    if sys.platform == "linux":
        # There, a thread has a priority of its own.
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
