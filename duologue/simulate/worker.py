"""One simulated worker: comes in, follows its page, does what its behaviour decides."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

import aiohttp

from chatserver.wire import Released, Stage
from duologue.simulate.arrive import arrive
from duologue.simulate.behaviours import BEHAVIOURS, Behaviour
from duologue.simulate.connection import Connection, Down, Lost, TurnedAway
from duologue.simulate.log import Entry, WorkerLog
from duologue.simulate.mix import Kind
from duologue.simulate.page import Page, Replaced
from duologue.simulate.plan import Plan

FIRST_BACK_OFF_S: Final = 0.1
LAST_BACK_OFF_S: Final = 5.0
REOPENS: Final = 5
"""How often a worker opens the page again that another tab took over."""


class Worker:
    """A worker of a plan. `log` holds everything; `page` is the arrival it is working on, and
    `released` how the last one ended.

    `engaged` is set as soon as the worker is in a dialog, or done.
    """

    def __init__(
        self,
        http: aiohttp.ClientSession,
        urls: Sequence[str],
        plan: Plan,
        number: int,
        kind: Kind,
        behaviour: type[Behaviour] | None = None,
    ) -> None:
        self.kind = kind
        self.number = number
        self.log = WorkerLog(number, plan.log_folder)
        self.engaged = asyncio.Event()
        self.finished = False
        self.page: Page | None = None
        self.released: Released | None = None
        self._http = http
        self._urls = urls
        self._plan = plan
        self._behaviour = behaviour or BEHAVIOURS[kind]
        self._rng = plan.rng(number, "behaviour")
        # Apart from the behaviour's, or the network would change what a worker decides.
        self._network = plan.rng(number, "network")
        self._failures = 0

    @property
    def stage(self) -> Stage | None:
        """Where the worker is; None before its first arrival and after the last."""
        return self.page.view.stage if self.page is not None and not self.finished else None

    async def run(self) -> None:
        """Work through the plan's dialogs, one arrival after the other."""
        self.log.write(
            Entry.WORKER,
            number=self.number,
            kind=self.kind.value,
            worker_key=self._plan.worker_key(self.number),
            query=self._plan.query_of(self.number),
        )
        try:
            for done in range(self._plan.dialogs_per_worker):
                self.log.arrival += 1
                self.released = await self._arrival(another=done > 0)
                if self.released is None or not self.released.another:
                    break
            self.finished = True
        finally:
            self.engaged.set()
            self.log.close()

    async def _arrival(self, *, another: bool) -> Released | None:
        """One arrival from the link to its release; None when there is none to be had."""
        behaviour = self._behaviour(self._rng, self._plan.pace, self._plan.corpus)
        self.page = page = Page(self._plan, self.log, behaviour, self.engaged)
        reopened = 0
        connection: Connection | None = None
        try:
            token = await self._arrive(another=another)
            while True:
                connection = connection or await self._connect(token)
                try:
                    ending = await page.work(connection)
                except Lost:
                    connection.cut()
                    connection = None
                    await asyncio.sleep(page.sender.away_s)
                    continue
                except Replaced:
                    reopened += 1
                    if reopened > REOPENS:
                        return None
                    await connection.close()
                    connection = None
                    await asyncio.sleep(self._back_off())
                    continue
                finally:
                    if page.view.fresh:
                        self._failures = 0
                if ending is not None:
                    return ending.released
                connection = await self._second_tab(connection)
        except TurnedAway as refusal:
            self.log.write(Entry.TURNED_AWAY, error=refusal.error, code=refusal.code)
            return None
        finally:
            if connection is not None:
                await connection.close()
            await page.close()

    async def _arrive(self, *, another: bool) -> str:
        while True:
            url = self._url()
            try:
                token = await arrive(self._http, url, self._plan, self.number, another=another)
            except Down as error:
                self.log.write(Entry.DOWN, url=url, error=str(error))
                await asyncio.sleep(self._back_off())
                continue
            self.log.write(Entry.ARRIVED, url=url)
            return token

    async def _connect(self, token: str) -> Connection:
        while True:
            url = self._url()
            connection = Connection(self._http, url, token)
            try:
                await connection.open()
            except Down as error:
                self.log.write(Entry.DOWN, url=url, error=str(error))
                await asyncio.sleep(self._back_off())
                continue
            self.log.connection += 1
            self.log.write(Entry.CONNECTED, url=url)
            return connection

    async def _second_tab(self, first: Connection) -> Connection:
        """Open the link again, as the same person; the first tab must be told to stop."""
        assert self.page is not None
        try:
            second = await self._connect(await self._arrive(another=False))
        except TurnedAway:
            await first.close()
            raise
        self.page.watch_first_tab(first)
        return second

    def _url(self) -> str:
        return self._network.choice(self._urls)

    def _back_off(self) -> float:
        """Seconds until the next try: doubling, with jitter, so that a crowd does not stampede."""
        longest = min(FIRST_BACK_OFF_S * 2.0**self._failures, LAST_BACK_OFF_S)
        self._failures = min(self._failures + 1, 10)
        return longest * self._network.uniform(0.5, 1.0)
