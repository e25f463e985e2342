"""The marketplace put together: its database, its clock and where it can be reached."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Concatenate, Final, ParamSpec, TypeVar

from sqlalchemy import Connection

from hit_manager.marketplace.about import About
from hit_manager.marketplace.assignments import due, settle
from hit_manager.marketplace.clock import Clock
from hit_manager.marketplace.store import Store

if TYPE_CHECKING:
    from hit_manager.marketplace.faults import Faults

P = ParamSpec("P")
T = TypeVar("T")

SETTLED_AT_ONCE: Final = 100
"""Things of a kind, in one transaction."""


@dataclass(frozen=True, slots=True)
class Marketplace:
    """What every request works with.

    `public_url` has no slash at its end; frames get it as `turkSubmitTo`. `allow_http` lets
    questions and webhooks have addresses without TLS and on private networks, as on a laptop
    and in tests. `wall` is the clock of signatures. `faults` is for tests alone. `about` is what
    the pages say of the team.
    """

    store: Store
    clock: Clock
    public_url: str
    allow_http: bool = False
    wall: Callable[[], float] = time.time
    faults: Faults | None = None
    about: About = field(default_factory=About)

    async def write(
        self,
        change: Callable[Concatenate[Connection, float, P], T],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run `change(connection, now, *args)` in one transaction, with all that is due settled.

        Raises:
            MarketplaceError: as `change` does; nothing was changed then.
        """

        def settled(connection: Connection, now: float) -> T:
            settle(connection, now)
            return change(connection, now, *args, **kwargs)

        await self.tick()
        return await self.store.write(settled)

    async def read(
        self,
        query: Callable[Concatenate[Connection, float, P], T],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run `query(connection, now, *args)` on what is stored, with all that is due settled.

        Raises:
            MarketplaceError: as `query` does.
        """
        await self.tick()
        return await self.store.read(query, *args, **kwargs)

    async def tick(self) -> bool:
        """Settle what has become due, and say whether there was anything.

        Every write does so itself; a server calls this now and then, so that people are told
        in time.
        """
        anything = False
        while await self.store.read(due):
            # Not all at once: others who write would wait for longer than they may.
            await self.store.write(settle, SETTLED_AT_ONCE)
            anything = True
        return anything
