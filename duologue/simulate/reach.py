"""Whether a Duologue server answers at an address, asked before a crowd is sent there."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

import aiohttp
import orjson

from duologue.problems import BadInput

TRIES: Final = 4
PAUSE_S: Final = 0.5
WITHIN_S: Final = 1.0
"""How long one try may take; all of them are done within 5.5 s."""


async def reach(urls: Sequence[str], *, pause_s: float = PAUSE_S) -> None:
    """Ask each of the servers for an answer. One that is there but not ready will be waited for.

    Raises:
        BadInput: with a line for each address where there is no Duologue.
    """
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=WITHIN_S)) as http:
        found = await asyncio.gather(*(_problem(http, url, pause_s) for url in urls))
    problems = [problem for problem in found if problem is not None]
    if problems:
        raise BadInput(problems)


async def _problem(http: aiohttp.ClientSession, url: str, pause_s: float) -> str | None:
    """What is wrong with an address after a few tries, or None."""
    problem = None
    for attempt in range(TRIES):
        if attempt:
            await asyncio.sleep(pause_s)
        problem = await _try(http, url)
        if problem is None:
            return None
    return problem


async def _try(http: aiohttp.ClientSession, url: str) -> str | None:
    nobody = f"nobody answers at {url}; is `duologue serve` running, and is the port right?"
    try:
        async with http.get(f"{url.rstrip('/')}/readyz", allow_redirects=False) as response:
            status, text = response.status, await response.content.read(10_000)
    except aiohttp.ClientConnectorCertificateError:
        return f"{url}: the certificate is not trusted by this machine"
    except (aiohttp.ClientConnectorError, aiohttp.ServerTimeoutError, TimeoutError):
        return nobody
    except (aiohttp.ClientError, ValueError, OSError):
        return _other(url, "no HTTP")
    return None if _is_ours(text) else _other(url, f"HTTP {status}")


def _is_ours(text: bytes) -> bool:
    try:
        answer = orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return isinstance(answer, dict) and {"ready", "database", "redis"} <= answer.keys()


def _other(url: str, how: str) -> str:
    end = urlsplit(url).path.rstrip("/").endswith("/work")
    hint = "leave out /work" if end else "is the port right?"
    return f"what answers at {url} is not a Duologue server ({how}); {hint}"
