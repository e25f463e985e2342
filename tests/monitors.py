"""An open monitor, for tests: the team's page as far as the socket goes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import aiohttp
import socketio

from tests.live import WITHIN_S

NAMESPACE = "/monitor"
EVENTS = ("now", "board", "chart", "entries", "typing", "changed", "waits", "stopped")


class OpenMonitor:
    """`log` is everything that came, as (event, payload); `board` the rows as they stand."""

    def __init__(self) -> None:
        self.log: list[tuple[str, Any]] = []
        self.board: dict[str, dict[str, Any]] = {}
        self.refused: Any = None
        self._news = asyncio.Event()
        # A jar of its own: the client puts the cookies of its headers there.
        self._http = aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True))
        self.client = socketio.AsyncClient(reconnection=False, http_session=self._http)
        for event in EVENTS:
            self.client.on(event, self._taking(event), namespace=NAMESPACE)
        self.client.on("connect_error", self._refuse, namespace=NAMESPACE)

    async def open(self, url: str, auth: Any, headers: dict[str, str] | None = None) -> None:
        """Connect.

        Raises:
            socketio.exceptions.ConnectionError: refused; `refused` is what the page was told.
        """
        await self.client.connect(
            url,
            headers=headers or {},
            auth=auth,
            namespaces=[NAMESPACE],
            transports=["websocket"],
            wait_timeout=5,
        )

    async def close(self) -> None:
        await self.client.disconnect()
        await self._http.close()

    async def ask(self, event: str, payload: Any) -> Any:
        """Send a request and return its acknowledgement."""
        return await self.client.call(event, payload, namespace=NAMESPACE, timeout=WITHIN_S)

    def seen(self, event: str) -> list[Any]:
        """The payloads of every `event` that came."""
        return [payload for name, payload in self.log if name == event]

    @property
    def now(self) -> dict[str, Any]:
        """How the study stands, as last told."""
        found = self.seen("now")
        return found[-1] if found else {}

    @property
    def texts(self) -> list[str]:
        """What was said in the watched dialog, as it came."""
        return [
            entry["text"]
            for happened in self.seen("entries")
            for entry in happened["entries"]
            if entry["kind"] == "said"
        ]

    def changed(self) -> set[str]:
        """What is older than the record, as told since the last call."""
        found = {payload["what"] for payload in self.seen("changed")}
        self.log = [each for each in self.log if each[0] != "changed"]
        return found

    async def until(self, condition: Callable[[], object], told: str = "") -> None:
        """Wait until `condition` holds; it is looked at whenever something comes."""
        try:
            async with asyncio.timeout(WITHIN_S):
                while not condition():
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            tail = self.log[-5:]
            raise AssertionError(f"not within {WITHIN_S} s: {told or condition}: {tail}") from None

    def _taking(self, event: str) -> Callable[[Any], None]:
        def take(payload: Any) -> None:
            self.log.append((event, payload))
            if event == "board":
                if payload["all"]:
                    self.board = {}
                self.board |= {row["id"]: row for row in payload["rows"]}
                for over in payload["over"]:
                    self.board.pop(over, None)
            self._news.set()

        return take

    def _refuse(self, told: Any) -> None:
        self.refused = told
