"""What platforms tell the server by themselves, at addresses that the composition root names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class Hook(Protocol):
    """Takes what was posted to `/hooks/` and its name."""

    def __call__(self, headers: Mapping[str, str], body: bytes) -> bool:
        """Whether it is genuine. `body` is as it came, byte by byte.

        Anybody can post here, so it only looks, and does nothing that takes long.
        """
