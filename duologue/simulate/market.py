"""Simulated workers of a marketplace: they use its pages as people do, and our page in its frame.

Each joins by an invitation link, looks through the list of HITs, accepts one, opens the task's
real URL, works through it, and hands in by the form of the end page.
"""

from __future__ import annotations

import asyncio
import html
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from time import monotonic
from typing import Final
from urllib.parse import parse_qsl, urljoin, urlsplit

import aiohttp

from chatserver.ending import end
from chatserver.wire import Released
from duologue.simulate.mix import Kind
from duologue.simulate.plan import Plan
from duologue.simulate.run import Progress
from duologue.simulate.summary import Summary, summarize
from duologue.simulate.worker import Worker

LOOK_S: Final = 0.5
"""How often somebody without a HIT looks at the list again, in seconds."""

WITHIN_S: Final = 30.0

_GROUP: Final = re.compile(r'href="(/worker/groups/\w+)" data-testid="preview"')
_TOKEN: Final = re.compile(r'name="token" value="(\w+)"')
_ACCEPT: Final = re.compile(r'action="(/worker/hits/\w+/accept)"')
_FRAME: Final = re.compile(r'<iframe [^>]*src="([^"]+)"')
_RETURN: Final = re.compile(r'action="(/worker/assignments/\w+/return)"')


class MarketWorker:
    """One person with an account at the marketplace. `handed_in` counts what was submitted."""

    def __init__(
        self, http: aiohttp.ClientSession, invitation: str, plan: Plan, number: int, kind: Kind
    ) -> None:
        self.kind = kind
        self.handed_in = 0
        self.workers: list[Worker] = []
        self._pages = aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True))
        self._http = http
        self._invitation = invitation
        self._plan = plan
        self._number = number

    async def run(self, enough: Callable[[], bool]) -> None:
        """Join, then take one HIT after the other until there are enough dialogs, or, for
        somebody who leaves, until they have left."""
        async with self._pages:
            form = {"name": f"Simulated {self._number}", "country": "DE"}
            await self._post(self._invitation, form)
            while not enough():
                page = await self._accept()
                if page is None:
                    await asyncio.sleep(LOOK_S)
                    continue
                if not await self._work(page):
                    return

    async def _accept(self) -> str | None:
        """The page of a HIT that was accepted; None when there is none to be had."""
        base, listed = await self._get(urljoin(self._invitation, "/worker/"))
        found = _GROUP.search(listed)
        if found is None:
            return None
        base, preview = await self._get(urljoin(base, found[1]))
        action, token = _ACCEPT.search(preview), _TOKEN.search(preview)
        if action is None or token is None:
            return None
        _, page = await self._post(urljoin(base, action[1]), {"token": token[1]})
        return page if _FRAME.search(page) else None

    async def _work(self, page: str) -> bool:
        """Do the task in the frame, and hand it in or give it back; False after vanishing."""
        frame = _FRAME.search(page)
        assert frame is not None, "the page of an accepted HIT shows its task"
        task = urlsplit(html.unescape(frame[1]))
        plan = replace(self._plan, query=dict(parse_qsl(task.query)), dialogs_per_worker=1)
        number = 1000 * self._number + len(self.workers)
        worker = Worker(self._http, [f"{task.scheme}://{task.netloc}"], plan, number, self.kind)
        self.workers.append(worker)
        await worker.run()
        released = worker.released
        if released is None:
            # Turned away, or gone without a word; only who is there still gives the task back.
            if self.kind is not Kind.LEAVER:
                await self._give_back(page)
            return False
        if released.submit is not None:
            await self._hand_in(released)
            self.handed_in += 1
        else:
            await self._give_back(page)
        return self.kind is not Kind.LEAVER

    async def _hand_in(self, released: Released) -> None:
        """The form in the frame: another site's, so it brings no cookie along."""
        submit = released.submit
        assert submit is not None, "there is a form to be sent"
        async with self._http.post(submit.url, data=submit.fields) as response:
            response.raise_for_status()

    async def _give_back(self, page: str) -> None:
        action, token = _RETURN.search(page), _TOKEN.search(page)
        if action is not None and token is not None:
            await self._post(urljoin(self._invitation, action[1]), {"token": token[1]})

    async def _get(self, url: str) -> tuple[str, str]:
        async with self._pages.get(url) as response:
            return str(response.url), await response.text()

    async def _post(self, url: str, form: dict[str, str]) -> tuple[str, str]:
        async with self._pages.post(url, data=form) as response:
            return str(response.url), await response.text()


async def simulate_market(
    invitations: Sequence[str],
    plan: Plan,
    enough: Callable[[], bool],
    progress: Callable[[Progress], None] | None = None,
) -> tuple[Summary, int]:
    """Let one worker come by each invitation, until `enough()`; what happened, and how many
    assignments were handed in."""
    began = monotonic()
    timeout = aiohttp.ClientTimeout(total=WITHIN_S)
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=timeout,
    ) as http:
        people = [
            MarketWorker(http, invitation, plan, number, kind)
            for number, (invitation, kind) in enumerate(
                zip(invitations, plan.kinds(), strict=True), start=1
            )
        ]
        tasks = [asyncio.create_task(person.run(enough)) for person in people]
        teller = asyncio.create_task(_tell(people, began, progress))
        try:
            await asyncio.gather(*tasks)
        finally:
            await end((*tasks, teller))
    workers = [worker for person in people for worker in person.workers]
    unfinished = sum(not worker.finished for worker in workers)
    summary = summarize([worker.log for worker in workers], unfinished, monotonic() - began)
    # Whoever took several HITs is still one person.
    summary = replace(summary, workers=len(people))
    return summary, sum(person.handed_in for person in people)


async def _tell(
    people: Sequence[MarketWorker], began: float, progress: Callable[[Progress], None] | None
) -> None:
    while progress is not None:
        await asyncio.sleep(1.0)
        progress(progress_of(people, monotonic() - began))


def progress_of(people: Sequence[MarketWorker], seconds: float) -> Progress:
    """Everything that was taken so far counts: who is done takes the next HIT."""
    taken = [worker for person in people for worker in person.workers]
    talking = sum(worker.engaged.is_set() and not worker.finished for worker in taken)
    done = sum(worker.finished for worker in taken)
    return Progress(
        workers=len(taken),
        waiting=len(taken) - talking - done,
        talking=talking,
        done=done,
        seconds=seconds,
        people=len(people),
    )
