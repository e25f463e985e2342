"""A marketplace for tests: a requester, HITs, and workers who use its pages without a browser."""

from __future__ import annotations

import html
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit
from xml.sax.saxutils import escape

from aiohttp import ClientResponse, ClientSession, CookieJar, web
from defusedxml import ElementTree
from sqlalchemy import insert

from hit_manager.marketplace import assignments, hit_types, hits, workers
from hit_manager.marketplace.answers import NAMESPACE
from hit_manager.marketplace.clock import MovableClock
from hit_manager.marketplace.core import Marketplace
from hit_manager.marketplace.requirements import Requirement
from hit_manager.marketplace.server import serve_marketplace
from hit_manager.marketplace.tables import bonuses

EXTERNAL = (
    '<ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/'
    '2006-07-14/ExternalQuestion.xsd"><ExternalURL>{}</ExternalURL>'
    "<FrameHeight>{}</FrameHeight></ExternalQuestion>"
)
HTML = (
    '<HTMLQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/'
    '2011-11-11/HTMLQuestion.xsd"><HTMLContent><![CDATA[{}]]></HTMLContent>'
    "<FrameHeight>{}</FrameHeight></HTMLQuestion>"
)


def external(url: str, height: int = 0) -> str:
    return EXTERNAL.format(escape(url), height)


def html_question(page: str, height: int = 0) -> str:
    return HTML.format(page, height)


@dataclass
class Person:
    """A worker with a cookie jar, who reads pages as text."""

    url: str
    client: ClientSession
    last: str = ""

    async def get(self, path: str) -> ClientResponse:
        response = await self.client.get(self.url + path if path.startswith("/") else path)
        self.last = await response.text()
        return response

    async def post(self, path: str, form: dict[str, str] | None = None, **more: Any) -> Any:
        """Post the form of the page that was read last."""
        token = re.search(r'name="token" value="([^"]+)"', self.last)
        data = {"token": token[1]} if token else {}
        response = await self.client.post(self.url + path, data=data | (form or {}), **more)
        self.last = await response.text()
        return response

    async def submit(self, pairs: Any, **more: Any) -> Any:
        """Post to the address for answers as a frame does: without any cookie."""
        async with ClientSession() as stranger:
            response = await stranger.post(f"{self.url}/mturk/externalSubmit", data=pairs, **more)
            self.last = await response.text()
            return response

    async def accept(self, hit_id: str) -> str:
        """Accept a HIT and return the assignment's id."""
        await self.get(f"/worker/hits/{hit_id}")
        response = await self.post(f"/worker/hits/{hit_id}/accept")
        assert response.status == 200, self.last
        return str(response.url.path.rpartition("/")[2])

    def frame(self) -> tuple[str, dict[str, str]]:
        """The frame's address on the page that was read last, and what its query says."""
        found = re.search(r'<iframe [^>]*src="([^"]+)"', self.last)
        assert found, "no frame on this page"
        src = html.unescape(found[1])
        return src, {key: value[0] for key, value in parse_qs(urlsplit(src).query).items()}

    def has(self, testid: str) -> bool:
        return f'data-testid="{testid}"' in self.last


@dataclass
class Market:
    """A marketplace that runs, seen by whoever set it up."""

    url: str
    local: str
    market: Marketplace
    clock: MovableClock
    requester_id: str
    people: list[Person] = field(default_factory=list)

    async def invite(self) -> str:
        [code] = await self.market.store.write(workers.invite, 1)
        return code

    async def person(
        self, *, name: str = "Ada", country: str = "DE", adult: bool = False
    ) -> Person:
        """Somebody who has come in by an invitation."""
        jar = CookieJar(unsafe=True)
        person = Person(self.url, ClientSession(cookie_jar=jar))
        self.people.append(person)
        form = {"name": name, "country": country} | ({"adult": "1"} if adult else {})
        response = await person.post(f"/worker/join/{await self.invite()}", form)
        assert response.status == 200, person.last
        return person

    async def worker_id(self, person: Person) -> str:
        await person.get("/worker/")
        found = re.search(r'data-testid="worker-id">(\w+)<', person.last)
        assert found
        return found[1]

    async def hit(self, question: str | None = None, **changes: Any) -> str:
        """A HIT of a type with these properties."""
        return (await self.hits(1, question, **changes))[0]

    async def hits(self, number: int, question: str | None = None, **changes: Any) -> list[str]:
        seats = changes.pop("seats", 1)
        lifetime_s = changes.pop("lifetime_s", 3600)
        requirements: tuple[Requirement, ...] = changes.pop("requirements", ())
        values: dict[str, Any] = {
            "title": "Ask about a picture",
            "description": "Talk with somebody about a picture.",
            "keywords": "talk, picture",
            "reward": 125,
            "duration_s": 1800,
            "auto_approval_s": 7 * 86_400,
            "requirements": requirements,
        }
        draft = hit_types.TypeDraft(**values | changes)
        asked = question or external("https://study.example.org/work?hit=1&k=v")

        def make(connection: Any, now: float) -> list[str]:
            type_id = hit_types.register_type(connection, now, self.requester_id, draft)
            return [
                hits.create(
                    connection,
                    now,
                    self.requester_id,
                    type_id,
                    question=asked,
                    max_assignments=seats,
                    lifetime_s=lifetime_s,
                ).id
                for _ in range(number)
            ]

        return await self.market.write(make)


@asynccontextmanager
async def open_market(store_url: str, **options: Any) -> AsyncIterator[Market]:
    """A marketplace whose clock is the test's, with a requester who has 1,000 dollars."""
    clock = MovableClock()
    async with serve_marketplace(store_url, clock=clock, **options) as server:
        requester_id = await server.market.store.write(
            workers.create_requester, "Vision Lab", 100_000
        )
        opened = Market(server.url, server.local_url, server.market, clock, requester_id)
        try:
            yield opened
        finally:
            for person in opened.people:
                await person.client.close()


@asynccontextmanager
async def task_site(page: str) -> AsyncIterator[str]:
    """Another site with one page; by this name it is another site than the marketplace."""

    async def show(_: web.Request) -> web.Response:
        return web.Response(text=page, content_type="text/html")

    app = web.Application()
    app.router.add_get("/", show)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://localhost:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


# --- Looking -------------------------------------------------------------------------------


async def stored(market: Market, assignment_id: str) -> assignments.Assignment:
    found = await market.market.read(lambda c, _: assignments.find(c, assignment_id))
    assert found is not None
    return found


def answers(document: str | None) -> dict[str, str]:
    """What a QuestionFormAnswers document says."""
    root = ElementTree.fromstring((document or "").encode())
    assert root.tag == f"{{{NAMESPACE}}}QuestionFormAnswers"
    return {
        each.findtext(f"{{{NAMESPACE}}}QuestionIdentifier") or "": each.findtext(
            f"{{{NAMESPACE}}}FreeText"
        )
        or ""
        for each in root
    }


def titles(person: Person) -> list[str]:
    return re.findall(r'<h2 id="t-\w+"><a [^>]*>([^<]+)</a>', person.last)


async def ids_by_title(market: Market) -> dict[str, str]:
    found = await market.market.read(hits.load)
    return {hit.type.title: hit.id for hit in found}


async def give_bonus(
    market: Market, assignment_id: str, worker_id: str, amount: int, reason: str
) -> None:
    row = await stored(market, assignment_id)

    def put(connection: Any, now: float) -> None:
        connection.execute(
            insert(bonuses).values(
                requester_id=market.requester_id,
                hit_id=row.hit_id,
                assignment_id=assignment_id,
                worker_id=worker_id,
                amount=amount,
                fee=1,
                reason=reason,
                granted_at=now,
            )
        )

    await market.market.write(put)
