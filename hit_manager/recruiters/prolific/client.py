"""Requests to Prolific: one session, errors told apart, patience where asking again is harmless.

Sources: https://docs.prolific.com/api-reference/introduction (addresses end in a slash, errors),
https://docs.prolific.com/api-reference/introduction/rate-limits-and-api-status (429).
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import AsyncIterator, Mapping
from enum import StrEnum
from typing import Any, Final

import aiohttp
import orjson

from hit_manager.recruiters.backoff import Patience, Pause
from hit_manager.recruiters.base import (
    NoFunds,
    NotThere,
    NotYet,
    RecruiterError,
    Refused,
    Unavailable,
    Unsure,
)

log = logging.getLogger("duologue.prolific")

_TIMEOUT: Final = aiohttp.ClientTimeout(total=30, connect=5, sock_read=20)
_PAGE: Final = 100
_ID: Final = re.compile(r"\b[0-9a-f]{24}\b")


def masked(text: str) -> str:
    """The text with every id of a participant, submission or study made unrecognisable; equal ids
    stay equal, so that a team can still follow one through its logs."""
    return _ID.sub(lambda m: "#" + hashlib.sha256(m[0].encode()).hexdigest()[:8], text)


class Repeat(StrEnum):
    """Whether a request that may have been carried out can be made again."""

    HARMLESS = "harmless"
    """Done twice is done once, or costs nothing."""
    ONCE = "once"
    """It must not be made again before somebody has looked."""


class _Busy(Unavailable):
    """Refused for now, and certainly not carried out."""


class Client:
    """Speaks to the API with a team's token. Neither the token nor anybody's id is ever logged,
    or part of the text of an error."""

    def __init__(self, base_url: str, token: str, patience: Patience) -> None:
        self._base_url = base_url.rstrip("/") + "/api/v1/"
        self._token = token
        self._patience = patience
        self._session: aiohttp.ClientSession | None = None
        self._closed = False

    async def close(self) -> None:
        self._closed = True
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            # A connection for each request: on a kept one that Prolific has just closed, nobody
            # could say whether a payment has gone out.
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(force_close=True),
                timeout=_TIMEOUT,
                headers={"Authorization": f"Token {self._token}"},
            )
        return self._session

    async def get(
        self,
        path: str,
        query: Mapping[str, str | int] | None = None,
        patience: Patience | None = None,
    ) -> Any:
        return await self._call("GET", path, None, query, Repeat.HARMLESS, patience)

    async def post(self, path: str, body: Mapping[str, Any] | None, repeat: Repeat) -> Any:
        """The answer's JSON.

        Raises:
            Unsure: the answer was lost, and `repeat` says that this matters.
        """
        return await self._call("POST", path, body, None, repeat)

    async def patch(self, path: str, body: Mapping[str, Any]) -> Any:
        """Set what `body` says; setting it twice is setting it once."""
        return await self._call("PATCH", path, body, None, Repeat.HARMLESS)

    async def delete(self, path: str, body: Mapping[str, Any] | None = None) -> None:
        await self._call("DELETE", path, body, None, Repeat.HARMLESS)

    async def pages(
        self, path: str, query: Mapping[str, str | int] | None = None
    ) -> AsyncIterator[dict[str, Any]]:
        """All results of a list, page by page.

        The pages' links are not in the API's schema, so their absence is allowed for: then a page
        that is not full is the last.
        """
        page = 1
        while True:
            answer = await self.get(path, {**(query or {}), "page": page, "page_size": _PAGE})
            results = answer["results"]
            for result in results:
                yield result
            links = answer.get("_links")
            if links is not None:
                more = bool((links.get("next") or {}).get("href"))
            else:
                more = len(results) >= _PAGE
            if not results or not more:
                return
            page += 1

    async def _call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        query: Mapping[str, str | int] | None,
        repeat: Repeat,
        patience: Patience | None = None,
    ) -> Any:
        name = f"{method} {masked(path)}"
        if self._closed:
            raise Unavailable(f"{name}: not asked, because the recruiter is closed")

        def again(error: RecruiterError) -> bool:
            return isinstance(error, _Busy) or (
                isinstance(error, Unavailable) and repeat is Repeat.HARMLESS
            )

        return await (patience or self._patience).call(
            name, lambda: self._once(name, method, path, body, query, repeat), again
        )

    async def _once(
        self,
        name: str,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        query: Mapping[str, str | int] | None,
        repeat: Repeat,
    ) -> Any:
        lost = Unavailable if repeat is Repeat.HARMLESS else Unsure
        try:
            async with self._opened().request(
                method,
                self._base_url + path,
                params=query,
                data=None if body is None else orjson.dumps(body),
                headers={"Content-Type": "application/json"} if body is not None else None,
                # A redirect would make a POST a GET.
                allow_redirects=False,
            ) as response:
                raw = await response.read()
                status = response.status
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            raise _Busy(f"{name}: no connection ({type(error).__name__})") from None
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            # From None: the library's own text has the address in it, with the ids.
            raise lost(f"{name}: the answer was lost ({type(error).__name__})") from None
        if 200 <= status < 300:
            return _json(raw, name, lost)
        raise _error(name, status, raw, lost)


def shown(pause: Pause) -> None:
    """Tell in the log that Prolific is being waited for."""
    log.warning(
        "%s, try %d: %s; waiting %.1f s", pause.call, pause.attempt, pause.why, pause.seconds
    )


def _json(raw: bytes, name: str, lost: type[Unavailable]) -> Any:
    if not raw:
        return None
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        raise lost(f"{name}: the answer cannot be read") from None


def _error(name: str, status: int, raw: bytes, lost: type[Unavailable]) -> RecruiterError:
    """What an answer that is not a success means."""
    code, said = _said(raw)
    text = masked(f"{name}: {status} {said}".strip())
    if status == 429:
        return _Busy(text, code)
    if status >= 500:
        return lost(text, code)
    if status == 404:
        return NotThere(text, code)
    if status == 409:
        return NotYet(text, code)
    # No code is documented for an empty wallet.
    if re.search(r"insufficient|not enough (money|funds|balance)|top up", said, re.IGNORECASE):
        return NoFunds(text, code)
    return Refused(text, code)


def _said(raw: bytes) -> tuple[str, str]:
    """The code and the text of an error body, whichever of its shapes it has: with the envelope
    `error`, without it, or `message` and `detail`."""
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return "", ""
    if not isinstance(body, dict):
        return "", str(body)[:500]
    inner = body.get("error", body)
    if not isinstance(inner, dict):
        return "", str(inner)[:500]
    parts = [inner.get("title"), inner.get("message"), _flat(inner.get("detail"))]
    return str(inner.get("error_code", "")), ": ".join(str(p) for p in parts if p)[:500]


def _flat(detail: object) -> str:
    match detail:
        case None:
            return ""
        case dict():
            return "; ".join(f"{key}: {_flat(value)}" for key, value in detail.items())
        case list():
            return ", ".join(_flat(value) for value in detail)
        case _:
            return str(detail)
