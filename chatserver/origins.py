"""Origins: which pages a browser may let talk to us."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

Origin = tuple[str, str, int | None]

_PORTS: Final = {"http": 80, "https": 443}


def origin_of(address: str) -> Origin | None:
    """Scheme, host and port of an address (RFC 6454, section 4); None of what is none."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if not parts.scheme or not host:
        return None
    return parts.scheme, host, port or _PORTS.get(parts.scheme)
