"""A lock file in a folder: of several processes, one works there."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_POLL_S: Final = 0.01


class Taken(Exception):
    """Another process holds the lock."""


def take(file: Path, within_s: float) -> int:
    """Lock `file`, which is made if there is none, and return its descriptor. The lock lasts
    until the last copy of that is closed, so it goes with its process, however that ends.

    Raises:
        Taken: it is still another's after `within_s` seconds.
    """
    import fcntl  # Not on Windows.

    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    give_up_at = time.monotonic() + within_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > give_up_at:
                os.close(descriptor)
                raise Taken from None
            time.sleep(_POLL_S)
        else:
            return descriptor


@contextmanager
def held(file: Path, within_s: float) -> Iterator[None]:
    """The lock for as long as the context is open; on Windows there is none.

    Raises:
        Taken: as `take` does.
    """
    if sys.platform == "win32":
        yield
        return
    descriptor = take(file, within_s)
    try:
        yield
    finally:
        os.close(descriptor)
