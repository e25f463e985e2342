"""Which page is connected to this process, and how it is reached.

One arrival has one live page: the newest socket wins, here and in the other processes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic import BaseModel

from chatserver.wire import Stage
from dialogs.rules import ArrivalStatus


class Wire(Protocol):
    """The sockets of this process, as the live service needs them."""

    def send(self, sids: list[str], event: str, payload: Any) -> None:
        """Put one event on the wire of some sockets."""

    def ask(self, sid: str, answered: Callable[[], None]) -> None:
        """Send a heartbeat; `answered` is called when the page acknowledges it."""

    def abort(self, sid: str) -> None:
        """Cut one socket."""

    async def close_all(self, reason: str) -> None:
        """Close every socket; the pages reconnect, here or elsewhere."""


@dataclass(slots=True, eq=False)
class Page:
    """A connected page and what the server knows of it; times by the monotonic clock.

    `dialog_id` is the dialog whose frames it gets, `status` the arrival's as last shown.
    `welcomed` is set once the first `state` has been sent, `shown` is the stage of the last one;
    `behind` says that a newer one could not be sent.
    """

    sid: str
    arrival_id: str
    worker_id: str
    attached_at: float
    dialog_id: str | None = None
    status: ArrivalStatus = ArrivalStatus.ARRIVED
    shown: Stage | None = None
    behind: bool = False
    welcomed: asyncio.Event = field(default_factory=asyncio.Event)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    asked_at: float = 0.0
    asking: bool = False
    typed_at: float = 0.0
    refusals: float = 0.0
    refused_at: float = 0.0


class Hub:
    """The pages of this process, by arrival and by socket."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._by_arrival: dict[str, Page] = {}
        self._by_sid: dict[str, Page] = {}

    def attach(self, page: Page) -> Page | None:
        """Make `page` the arrival's current one; returns the one it replaces."""
        old = self._by_arrival.get(page.arrival_id)
        self._by_arrival[page.arrival_id] = page
        self._by_sid[page.sid] = page
        return old

    def detach(self, sid: str) -> Page | None:
        """The socket has closed. Returns its page if it was the arrival's current one."""
        page = self._by_sid.pop(sid, None)
        if page is None or self._by_arrival.get(page.arrival_id) is not page:
            return None
        del self._by_arrival[page.arrival_id]
        return page

    def page(self, arrival_id: str) -> Page | None:
        return self._by_arrival.get(arrival_id)

    def of_sid(self, sid: str) -> Page | None:
        """The page of a socket, if it is still its arrival's current one."""
        page = self._by_sid.get(sid)
        return page if page and self._by_arrival.get(page.arrival_id) is page else None

    def pages(self) -> Iterator[Page]:
        return iter(list(self._by_arrival.values()))

    def __len__(self) -> int:
        return len(self._by_arrival)

    def emit(self, arrival_id: str, event: str, payload: BaseModel | dict[str, Any]) -> None:
        """Send an event to an arrival's page, if it is connected to this process."""
        page = self._by_arrival.get(arrival_id)
        if page is not None:
            self.emit_to(page.sid, event, payload)

    def emit_to(self, sid: str, event: str, payload: BaseModel | dict[str, Any]) -> None:
        data = payload.model_dump(mode="json") if isinstance(payload, BaseModel) else payload
        self._wire.send([sid], event, data)
