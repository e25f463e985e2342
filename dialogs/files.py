"""Writing a file so that nobody ever sees half of it."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Final

PARTIAL_SUFFIX: Final = ".partial"
"""How the name of a file ends while it is being written."""


def write_whole(path: Path, data: bytes, *, mode: int = 0o666) -> None:
    """Write `data` to `path`: afterwards it holds all of it, or what it held before.

    `mode` is the permission of a new file, less the process's umask. The folder must exist.
    """
    partial = path.with_name(f".{path.name}.{secrets.token_hex(8)}{PARTIAL_SUFFIX}")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
