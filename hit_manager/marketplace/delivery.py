"""Carries notifications to their addresses, again and again until they are taken or too old."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from sqlalchemy import Connection

from hit_manager.marketplace.addresses import is_callable, is_public
from hit_manager.marketplace.core import Marketplace
from hit_manager.marketplace.notifications import (
    SIGNATURE_HEADER,
    TIMESTAMP_HEADER,
    Delivery,
    delivered,
    envelope,
    failed,
    postpone,
    signature,
    waiting,
)

log: Final = logging.getLogger(__name__)

BATCH: Final = 100
TIMEOUT_S: Final = 10.0
CONNECTIONS: Final = 10


class PublicResolver(AbstractResolver):
    """Resolves names to addresses on the public network alone, so that nobody makes this server
    call what only it can reach."""

    def __init__(self) -> None:
        self._inner = aiohttp.DefaultResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await self._inner.resolve(host, port, family)
        public = [result for result in found if is_public(result["host"])]
        if not public:
            raise OSError(f"{host} is not on the public network")
        return public

    async def close(self) -> None:
        await self._inner.close()


class Deliverer:
    """Delivers what waits; `close` when done. Needs a running event loop."""

    def __init__(self, marketplace: Marketplace) -> None:
        self._market = marketplace
        resolver = None if marketplace.allow_http else PublicResolver()
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=CONNECTIONS, resolver=resolver),
            timeout=aiohttp.ClientTimeout(total=TIMEOUT_S),
            # Nobody reads what an address answers; a small answer must not become a large one.
            auto_decompress=False,
        )

    async def deliver(self) -> int:
        """Try once each notification whose time has come; how many were taken.

        An address that does not take one is left alone for a while with the others.
        """
        batch = await self._market.store.read(waiting, BATCH)
        groups: dict[str, list[Delivery]] = defaultdict(list)
        for delivery in batch:
            groups[delivery.destination].append(delivery)
        taken = await asyncio.gather(*(self._deliver(group) for group in groups.values()))
        return sum(taken)

    async def close(self) -> None:
        await self._session.close()

    async def _deliver(self, group: Sequence[Delivery]) -> int:
        faults = self._market.faults
        if faults and faults.reordered:
            group = group[::-1]
        for n, delivery in enumerate(group):
            error = await self._send(delivery)
            if error is None and faults and faults.duplicated:
                await self._send(delivery)
            if error is not None:
                log.warning("notification %s was not taken: %s", delivery.id, error)
                await self._market.store.write(_note_failure, delivery, error, group[n + 1 :])
                return n
            await self._market.store.write(delivered, delivery.n)
        return len(group)

    async def _send(self, delivery: Delivery) -> str | None:
        """Send it; what went wrong, or None."""
        # Once more: the connector asks the resolver for names and for no number, and what was
        # stored may have been let in by other rules.
        if not self._market.allow_http and not is_callable(delivery.destination):
            return "this address is not on the public network"
        now = self._market.wall()
        body = envelope(delivery, now)
        stamp = str(int(now))
        headers = {
            "Content-Type": "text/plain; charset=UTF-8",
            "x-amz-sns-message-type": "Notification",
            "x-amz-sns-message-id": delivery.id,
            "x-amz-sns-topic-arn": delivery.destination,
            TIMESTAMP_HEADER: stamp,
            SIGNATURE_HEADER: signature(delivery.secret, stamp, body),
        }
        try:
            async with self._session.post(
                delivery.destination, data=body, headers=headers, allow_redirects=False
            ) as response:
                if 200 <= response.status < 300:
                    return None
                return f"status {response.status}"
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return f"{type(error).__name__}: {error}"


def _note_failure(
    connection: Connection, now: float, delivery: Delivery, error: str, others: Sequence[Delivery]
) -> None:
    failed(connection, now, delivery, error)
    postpone(connection, now, others)
