"""A live study for tests: real servers in the test's event loop, and people as their pages behave.

    async def test_two_people_talk(live: Live) -> None:
        await live.begin(items=1)
        asker, teller = await live.pair(*await live.people(2))
        await live.converse(asker, teller)
        await asker.shows("released")

Every time of the product is long here unless a test makes it short, so that a slow machine takes
nobody's seat; how often things are looked for is short. Nothing sleeps: tests wait for conditions.
When the study closes, what every page was told is compared with the record.
"""

from __future__ import annotations

import asyncio
import pickle
import secrets
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeVar

import aiohttp
import orjson
import socketio
from PIL import Image
from sqlalchemy import Table, select

from chatserver.config import Failpoints, ServerConfig, StudyConfig
from chatserver.ending import end
from chatserver.server import Server, serve
from dialogs.events import Event
from dialogs.images import Prepared, prepare
from dialogs.record import queries, tables
from dialogs.record.errors import Unavailable
from dialogs.record.store import Record
from dialogs.record.studies import PreparedItem, changed_status, new_items, new_study
from dialogs.rules import Role, Rules, StudyStatus
from dialogs.state import DialogState, fold
from duologue.embedded import end_with_parent, free_port

WITHIN_S: Final = 30.0
"""How long a condition may take before the test fails: far more than it should."""

SECRET: Final = "a secret key that only tests know"
ROOT: Final = Path(__file__).parents[1]

T = TypeVar("T")


async def eventually(
    what: Callable[[], Awaitable[T]], within: float = WITHIN_S, told: str = ""
) -> T:
    """Ask again and again until the answer is true; returns it."""
    give_up_at = time.monotonic() + within
    while not (answer := await what()):
        if time.monotonic() > give_up_at:
            raise AssertionError(f"not within {within} s: {told or what}")
        await asyncio.sleep(0.02)
    return answer


async def until(what: Callable[[], object], within: float = WITHIN_S, told: str = "") -> None:
    """The same for what can be asked without waiting."""

    async def ask() -> bool:
        return bool(what())

    await eventually(ask, within, told)


# --- Pictures ------------------------------------------------------------------------------


def draw_pictures(folder: Path, count: int = 4) -> list[Prepared]:
    """A few tiny pictures as the server keeps them, with blurred variants, in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    for n in range(count):
        image = Image.linear_gradient("L").resize((48, 32)).convert("RGB")
        image.putpixel((n, n), (255, 0, 0))
        source = folder / f"source-{n}.png"
        image.rotate(90 * n).save(source)
        drawn.append(prepare(source, folder, blurred=True))
        source.unlink()
    return drawn


# --- A person ------------------------------------------------------------------------------

FRAMES: Final = {
    "message": "parts",
    "partner": "present",
    "phase": "phase",
    "told": "text",
    "extended": "turn_ends_at",
}
"""The frames of a dialog, each with the field by which it is known in the answer to `sync`."""


class Person:
    """One person's page: answers heartbeats, keeps its position, syncs on a gap, comes back.

    `state` is the last `state`, kept up by the frames since; `log` is everything that came, as
    (event, payload); `acknowledged` says under which number each of one's messages was stored.
    """

    def __init__(self, live: Live, name: str) -> None:
        self.live = live
        self.name = name
        self.worker_key = secrets.token_hex(16)
        self.token = ""
        self.url: str | None = None
        self.state: dict[str, Any] = {}
        self.seq = 0
        self.messages: dict[int, dict[str, Any]] = {}
        self.told: dict[int, dict[str, Any]] = {}
        self.log: list[tuple[str, Any]] = []
        self.acknowledged: dict[str, int] = {}
        self.stopped: dict[str, Any] | None = None
        self.refused: dict[str, Any] | None = None
        self.answers_heartbeats = True
        self.takes_frames = True
        self.comes_back = True
        self.connections = 0
        self._client: socketio.AsyncClient | None = None
        # A client that is thrown away closes the session that all of them share.
        self._clients: list[socketio.AsyncClient] = []
        self._news = asyncio.Event()
        self._awake = asyncio.Event()
        self._syncing = False
        self._tasks: set[asyncio.Task[Any]] = set()

    def __repr__(self) -> str:
        dialog = self.state.get("dialog") or {}
        told = {
            "stage": self.stage,
            "seq": self.seq,
            "role": dialog.get("role"),
            "phase": dialog.get("phase"),
            "messages": len(self.messages),
            "released": self.state.get("released"),
            "stopped": self.stopped,
            "refused": self.refused,
            "connected": self.connected,
        }
        return f"{self.name}({', '.join(f'{k}={v!r}' for k, v in told.items())})"

    # --- What the page knows ---

    @property
    def stage(self) -> str | None:
        return self.state.get("stage")

    @property
    def dialog(self) -> dict[str, Any]:
        found: dict[str, Any] = self.state["dialog"]
        return found

    @property
    def role(self) -> str:
        return str(self.dialog["role"])

    @property
    def released(self) -> dict[str, Any]:
        found: dict[str, Any] = self.state["released"]
        return found

    @property
    def lobby(self) -> dict[str, Any]:
        return self.state.get("lobby") or {}

    @property
    def phase(self) -> str | None:
        return (self.state.get("dialog") or {}).get("phase")

    @property
    def partner(self) -> dict[str, Any]:
        return (self.state.get("dialog") or {}).get("partner") or {}

    @property
    def texts(self) -> list[str]:
        """The conversation as shown."""
        return [self.messages[n]["parts"][0]["text"] for n in sorted(self.messages)]

    @property
    def connected(self) -> bool:
        return self._client is not None and self._client.connected

    def seen(self, event: str) -> list[Any]:
        """The payloads of every `event` that came."""
        return [payload for name, payload in self.log if name == event]

    # --- Waiting for conditions ---

    async def until(
        self, condition: Callable[[], object], within: float = WITHIN_S, told: str = ""
    ) -> None:
        """Wait until `condition` holds; it is looked at whenever something comes."""
        try:
            async with asyncio.timeout(within):
                while not condition():
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise AssertionError(f"not within {within} s: {told or condition}: {self}") from None

    async def shows(self, stage: str, within: float = WITHIN_S) -> None:
        await self.until(lambda: self.stage == stage, within, stage)

    async def shows_text(self, text: str) -> None:
        """Wait until a message with this text is shown."""
        await self.until(lambda: text in self.texts, told=text)

    async def reads(self, *texts: str) -> None:
        """Wait until the conversation ends with these texts."""
        await self.until(lambda: self.texts[-len(texts) :] == list(texts), told=str(texts))

    # --- Coming and going ---

    async def arrive(self, **fields: Any) -> dict[str, Any]:
        """Ask for the token. Returns the answer, with its HTTP status as `status`."""
        body = {
            "worker_key": self.worker_key,
            "consented": True,
            "check_answers": [],
            **fields,
        }
        async with self.live.http.post(f"{self._url()}/api/arrivals", json=body) as response:
            answer: dict[str, Any] = await response.json()
            answer["status"] = response.status
        self.token = answer.get("token", self.token)
        return answer

    async def connect(self, url: str | None = None) -> None:
        """Open a socket as the page does, and wait for the first `state`.

        Raises:
            socketio.exceptions.ConnectionError: refused, or nobody is there.
        """
        if url is not None:
            self.url = url
        client = socketio.AsyncClient(reconnection=False, http_session=self.live.http)
        for event in ("state", *FRAMES, "lobby", "typing", "stopped"):
            client.on(event, self._taking(event, client))
        client.on("heartbeat", self._heartbeat)
        client.on("connect_error", self._on_refused)
        client.on("disconnect", lambda *_: self._on_disconnect(client))
        states = len(self.seen("state"))
        self._client = client
        self._clients.append(client)
        await client.connect(
            self._url(), auth={"token": self.token}, transports=["websocket"], wait_timeout=5
        )
        self.connections += 1
        if self.takes_frames:
            await self.until(lambda: len(self.seen("state")) > states or self.stopped)

    async def drop(self, *, comes_back: bool = True) -> None:
        """Cut the connection without a word. The page comes back by itself unless told not to."""
        self.comes_back = comes_back
        client = self._client
        assert client is not None, "it was never connected"
        client.eio.ws._response.connection.transport.abort()
        await until(lambda: not client.connected, told="the cut is noticed")

    async def come_back(self, url: str | None = None) -> None:
        """Connect, trying again as the page does; also after a `drop` that told it not to."""
        self.comes_back = True
        if url is not None:
            self.url = url
        async with asyncio.timeout(WITHIN_S):
            await self._reconnect()

    async def close(self) -> None:
        """Close the tab."""
        self.comes_back = False
        self.wake()
        await end(self._tasks)
        if self._client is not None:
            with suppress(Exception):
                async with asyncio.timeout(5):
                    await self._client.disconnect()
            await until(lambda: not self.connected)

    def another_tab(self) -> Person:
        """A second tab of the same person, not connected yet."""
        tab = self.live.person(f"{self.name}'s other tab")
        tab.worker_key, tab.token, tab.url = self.worker_key, self.token, self.url
        return tab

    def _url(self) -> str:
        if self.url is not None and self.url in self.live.urls:
            return self.url
        if not self.live.urls:
            raise OSError("no server runs")
        return self.live.urls[self.connections % len(self.live.urls)]

    async def _reconnect(self) -> None:
        while self.comes_back and self.stopped is None:
            try:
                await self.connect()
            except (socketio.exceptions.ConnectionError, AssertionError, OSError):
                if self.refused and self.refused.get("code") == "bad_token":
                    return
                await asyncio.sleep(0.05)
            else:
                return

    # --- What the page asks ---

    async def ask(self, event: str, payload: Any = None, within: float = WITHIN_S) -> Any:
        """Send a request and return its acknowledgement."""
        assert self._client is not None
        return await self._client.call(event, payload or {}, timeout=within)

    async def tell(self, event: str, payload: Any) -> None:
        """Send an event and wait for nothing."""
        assert self._client is not None
        await self._client.emit(event, payload)

    async def do(self, event: str, payload: Any = None) -> None:
        """Send a request that must be carried out."""
        answer = await self.ask(event, payload)
        assert answer == {"ok": True}, f"{event} of {self}: {answer}"

    async def say(self, text: str, key: str | None = None) -> dict[str, Any]:
        """Send a message; returns the acknowledgement."""
        return await self._say(text, key or secrets.token_hex(8), WITHIN_S)

    async def say_surely(self, text: str) -> int:
        """Send a message as the page does: again with the same key until it is acknowledged."""
        key = secrets.token_hex(8)

        async def attempt() -> int:
            try:
                if not self.connected:
                    return 0
                answer: dict[str, Any] = await self._say(text, key, within=2.0)
            except (socketio.exceptions.SocketIOError, OSError):
                return 0
            assert answer.get("code") in (None, "try_again"), answer
            return int(answer.get("seq", 0))

        return await eventually(attempt, told=f"{self.name} says {text!r}")

    async def _say(self, text: str, key: str, within: float) -> dict[str, Any]:
        answer: dict[str, Any] = await self.ask("message", letter(text, key), within)
        if "seq" in answer:
            known = self.acknowledged.setdefault(key, answer["seq"])
            assert known == answer["seq"], f"{key} was acknowledged as {known} and {answer}"
        return answer

    # --- What comes ---

    def _taking(self, event: str, client: socketio.AsyncClient) -> Callable[[Any], None]:
        def take(payload: Any) -> None:
            if client is self._client and self.takes_frames:
                self.log.append((event, payload))
                self._take(event, payload)
                self._news.set()

        return take

    def _take(self, event: str, payload: Any) -> None:
        match event:
            case "state":
                self.state, self.seq = payload, payload["seq"]
                if payload.get("dialog"):
                    self.messages = {m["seq"]: m for m in payload["dialog"]["messages"]}
                    self.told = {m["seq"]: m for m in payload["dialog"]["told"]}
            case "lobby":
                self.state["lobby"] = payload
            case "stopped":
                self.stopped = payload
            case _ if event in FRAMES:
                if payload["seq"] == self.seq + 1:
                    self._apply(event, payload)
                elif payload["seq"] > self.seq + 1 and not self._syncing:
                    self._syncing = True
                    self._later(self._sync())

    def _apply(self, event: str, payload: Any) -> None:
        self.seq = payload["seq"]
        match event:
            case "message":
                self.messages[payload["seq"]] = payload
            case "told":
                self.told[payload["seq"]] = payload
            case "extended" if self.state.get("dialog"):
                self.dialog["extended"].append(payload["seq"])
                self.dialog["turn_ends_at"] = payload["turn_ends_at"]
                self.partner["grace_ends_at"] = payload["grace_ends_at"]
            case "partner" if self.state.get("dialog"):
                self.partner["present"] = payload["present"]
                self.partner["grace_ends_at"] = payload["grace_ends_at"]
            case _:
                pass

    async def _sync(self) -> None:
        try:
            answer = await self.ask("sync", {"after_seq": self.seq})
            for payload in answer.get("frames", ()):
                if payload["seq"] > self.seq:
                    (kind,) = (name for name, field in FRAMES.items() if field in payload)
                    self._apply(kind, payload)
            self.seq = max(self.seq, answer.get("seq", 0))
        finally:
            self._syncing = False
            self._news.set()

    async def _heartbeat(self, *_: Any) -> Any:
        """Answer, or as a page whose timers sleep: when it is awake again."""
        while not self.answers_heartbeats:
            self._awake.clear()
            await self._awake.wait()
        return True

    def wake(self) -> None:
        """Answer heartbeats again, those that came meanwhile too."""
        self.answers_heartbeats = True
        self._awake.set()

    def _on_refused(self, payload: Any) -> None:
        told = payload if isinstance(payload, dict) else {"message": str(payload)}
        self.refused = told.get("data") or {"error": told["message"]}
        self._news.set()

    def _on_disconnect(self, client: socketio.AsyncClient) -> None:
        self._news.set()
        if client is self._client and self.comes_back and self.stopped is None:
            self._later(self._reconnect())

    def _later(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def letter(text: str, key: str) -> dict[str, Any]:
    """The payload of `message`."""
    return {"key": key, "parts": [{"text": text}]}


# --- A socket without a page ---------------------------------------------------------------


class RawSocket:
    """A WebSocket that speaks only what a test puts on it, besides answering pings."""

    def __init__(self, ws: aiohttp.ClientWebSocketResponse) -> None:
        self.ws = ws
        self.packets: list[str] = []
        self._acks = 0

    async def send(self, packet: str) -> None:
        await self.ws.send_str(packet)

    async def receive(self, within: float = WITHIN_S) -> str | None:
        """The next packet; None when the socket has closed."""
        async with asyncio.timeout(within):
            while True:
                message = await self.ws.receive()
                if message.type is not aiohttp.WSMsgType.TEXT:
                    return None
                if message.data == "2":
                    await self.send("3")
                    continue
                self.packets.append(message.data)
                return str(message.data)

    async def join(self, token: str) -> str | None:
        """Join with a token; returns the answer: `40…` admitted, `44…` refused, None closed."""
        await self.send("40" + orjson.dumps({"token": token}).decode())
        while (packet := await self.receive()) is not None and packet[:2] not in ("40", "44"):
            pass
        return packet

    async def call(self, event: str, payload: Any) -> Any:
        """Send an event and return its acknowledgement; None when the socket has closed."""
        self._acks += 1
        number = str(self._acks)
        await self.send(f"42{number}" + orjson.dumps([event, payload]).decode())
        head = f"43{number}["
        while (packet := await self.receive()) is not None:
            if packet.startswith(head):
                answer = orjson.loads(packet[len(head) - 1 :])
                return answer[0] if answer else None
        return None

    async def closed(self, within: float = WITHIN_S) -> None:
        """Wait until the server has closed the socket."""
        async with asyncio.timeout(within):
            while await self.receive(within) is not None:
                pass


# --- A server of its own process -----------------------------------------------------------


class ServerProcess:
    """`tests.web.process` with a configuration: a server to end with a signal."""

    def __init__(
        self, live: Live, config: ServerConfig, dies: tuple[str, Path] | None = None
    ) -> None:
        self.live = live
        self.url = f"http://127.0.0.1:{config.port}"
        self._path = live.folder / f"server-{config.port}-{secrets.token_hex(4)}.log"
        given = pickle.dumps((config, live.database_url, live.redis_url, dies))
        with self._path.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.web.process", given.hex()],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=end_with_parent(signal.SIGKILL),
            )

    @property
    def log(self) -> str:
        return self._path.read_text()

    async def ready(self) -> None:
        """Wait until it serves."""

        async def ask() -> bool:
            assert self.process.poll() is None, f"the server has ended: {self.log}"
            try:
                async with self.live.http.get(f"{self.url}/readyz") as response:
                    return response.status == 200
            except aiohttp.ClientError:
                return False

        # On a busy machine starting Python takes its time.
        await eventually(ask, 3 * WITHIN_S, f"a server at {self.url}")
        self.live.urls.append(self.url)

    def signal(self, number: int) -> None:
        if self.url in self.live.urls:
            self.live.urls.remove(self.url)
        self.process.send_signal(number)

    async def gone(self, within: float = WITHIN_S) -> int:
        """Wait until the process has ended; returns its exit status."""
        await until(lambda: self.process.poll() is not None, within, "the process ends")
        if self.url in self.live.urls:
            self.live.urls.remove(self.url)
        return int(self.process.returncode)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


# --- The study -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Held:
    """A dialog as the record has it."""

    state: DialogState
    events: list[Event]


class Live:
    """One study with its servers and people."""

    def __init__(
        self,
        database_url: str,
        redis_url: str,
        folder: Path,
        pictures: Path,
        drawn: Sequence[Prepared],
        http: aiohttp.ClientSession,
    ) -> None:
        static = folder / "static"
        (static / "assets").mkdir(parents=True)
        (static / "worker.html").write_text("<!doctype html><title>work</title>")
        (static / "monitor.html").write_text("<!doctype html><title>monitor</title>")
        (static / "assets" / "worker-1a2b.js").write_text("0")
        self.database_url = database_url
        self.redis_url = redis_url
        self.folder = folder
        self.drawn = drawn
        self.http = http
        self.record = Record(database_url, serving=False)
        self.urls: list[str] = []
        self.http_trace: list[Callable[..., Awaitable[None]]] = []
        self.everybody: list[Person] = []
        self.processes: list[ServerProcess] = []
        self.config = ServerConfig(
            study=StudyConfig(id=f"s-{secrets.token_hex(4)}", title="Test", rules=Rules()),
            secret_key=SECRET,
            pictures=pictures,
            static=static,
            port=0,
            heartbeat_s=0.5,
            health_s=0.2,
            poll_s=0.2,
            sweep_s=0.5,
        )
        self._running: dict[Server, AsyncExitStack] = {}
        self._items = 0

    @property
    def servers(self) -> list[Server]:
        """The servers of this event loop."""
        return list(self._running)

    @property
    def study_id(self) -> str:
        return self.config.study.id

    # --- Beginning ---

    async def begin(
        self,
        *,
        items: int = 2,
        wanted: int = 1,
        rules: dict[str, Any] | None = None,
        study: dict[str, Any] | None = None,
        **server: Any,
    ) -> Server:
        """Put the study into the record and start a server. Arguments change the defaults."""
        await self.prepare(items=items, wanted=wanted, rules=rules, study=study, **server)
        return await self.serve()

    async def prepare(
        self,
        *,
        items: int = 2,
        wanted: int = 1,
        rules: dict[str, Any] | None = None,
        study: dict[str, Any] | None = None,
        **server: Any,
    ) -> None:
        """Put the study into the record."""
        changed = replace(self.config.study.rules, **(rules or {}))
        about = replace(self.config.study, rules=changed, **(study or {}))
        self.config = replace(self.config, study=about, **server)
        self.record.open()
        await self.record.writer.commit(new_study(self.study_id, {}, time.time()))
        await self.add_items(items, wanted)

    async def add_items(self, count: int, wanted: int = 1) -> None:
        new = []
        for n in range(self._items, self._items + count):
            picture = self.drawn[n % len(self.drawn)]
            new.append(
                PreparedItem(
                    id=f"{self.study_id}-i{n}",
                    image_id=str(n),
                    caption=f"picture {n}",
                    file=picture.file,
                    blurred_file=picture.blurred_file,
                    width=picture.width,
                    height=picture.height,
                    sha256=picture.sha256,
                    wanted=wanted,
                    position=n,
                )
            )
        self._items += count
        if new:
            await self.record.writer.commit(new_items(self.study_id, new, time.time()))

    async def set_status(self, status: StudyStatus) -> None:
        await self.record.writer.commit(changed_status(self.study_id, status))

    async def serve(self, failpoints: Failpoints | None = None, **changes: Any) -> Server:
        """Start a (further) server in this event loop."""
        config = replace(self.config, **changes)
        stack = AsyncExitStack()
        server = await stack.enter_async_context(
            serve(config, self.database_url, self.redis_url, failpoints)
        )
        self._running[server] = stack
        self.urls.append(server.url)
        return server

    async def stop(self, server: Server) -> None:
        """Stop a server as SIGTERM does."""
        self.urls.remove(server.url)
        await self._running.pop(server).aclose()

    async def process(self, dies: tuple[str, Path] | None = None, **changes: Any) -> ServerProcess:
        """Start a (further) server as a process of its own.

        `dies` ends it as by kill -9 at its next commit once the file is there: before or after it.
        """
        port = changes.pop("port", None) or free_port()
        server = ServerProcess(self, replace(self.config, port=port, **changes), dies)
        self.processes.append(server)
        await server.ready()
        return server

    # --- People ---

    def person(self, name: str | None = None) -> Person:
        """Somebody who has not opened the page yet."""
        person = Person(self, name or f"person {len(self.everybody) + 1}")
        self.everybody.append(person)
        return person

    async def people(self, count: int, url: str | None = None) -> list[Person]:
        """People who have been admitted and are connected."""
        people = [self.person() for _ in range(count)]

        async def come(person: Person) -> None:
            person.url = url
            answer = await person.arrive()
            assert answer["status"] == 200, answer
            await person.come_back()

        await asyncio.gather(*(come(p) for p in people))
        return people

    async def match(self, one: Person, two: Person) -> None:
        """Both press ready and are proposed to each other."""
        for person in (one, two):
            await person.do("ready")
        for person in (one, two):
            await person.shows("matched")

    async def pair(self, one: Person, two: Person) -> tuple[Person, Person]:
        """Both press ready and start; returns the questioner and the answerer."""
        await self.match(one, two)
        for person in (one, two):
            await person.do("start")
        for person in (one, two):
            await person.shows("talking")
        return (one, two) if one.role == Role.QUESTIONER else (two, one)

    async def two(self, **begin: Any) -> tuple[Person, Person]:
        """A study with one server and two people in a dialog: questioner, answerer."""
        await self.begin(**begin)
        one, two = await self.people(2)
        return await self.pair(one, two)

    async def converse(self, asker: Person, teller: Person, messages: int = 20) -> None:
        """Talk until the dialog has so many messages, each shown to both."""
        for n in range(len(asker.texts), messages):
            speaker, listener = (asker, teller) if n % 2 == 0 else (teller, asker)
            text = f"message {n + 1}"
            answer = await speaker.say(text)
            assert "seq" in answer, f"{speaker}: {answer}"
            for person in (speaker, listener):
                await person.shows_text(text)

    async def alone(self, person: Person, messages: int) -> None:
        """Say so many messages alone."""
        for n in range(messages):
            answer = await person.say(f"alone {n + 1}")
            assert "seq" in answer, f"{person}: {answer}"

    # --- The record ---

    async def rows(self, table: Table) -> list[Any]:
        """All rows of a table, in no order."""
        return await self._read(lambda connection: connection.execute(select(table)).all())

    async def _read(self, query: Callable[..., T], *args: Any) -> T:
        """Read again over a new connection where the database was restarted."""
        try:
            return await self.record.read(query, *args)
        except Unavailable:
            return await self.record.read(query, *args)

    async def rows_of(self, table: str) -> list[Any]:
        """All rows of the table of this name."""
        return await self.rows(tables.metadata.tables[table])

    async def dialogs(self) -> list[Held]:
        """All dialogs, oldest first."""
        rows = sorted(await self.rows(tables.dialogs), key=lambda row: row.opened_at)
        held = []
        for row in rows:
            events = await self._read(queries.events_after, row.id, 0)
            held.append(Held(fold(row.id, events), events))
        return held

    async def happened(self, kind: str) -> list[Event]:
        """All events of a kind in all dialogs."""
        return [e for held in await self.dialogs() for e in held.events if e.kind == kind]

    async def releases(self) -> dict[str, Any]:
        """The release row of each released arrival."""
        return {row.arrival_id: row for row in await self.rows(tables.releases)}

    async def owed(self) -> list[int]:
        """What is owed, in cents, smallest first."""
        return sorted(row.cents for row in await self.rows(tables.ledger))

    async def audit(self) -> None:
        """What every page was told must be what the record says."""
        held = await self.dialogs()
        stored: dict[str, list[tuple[str, int]]] = {}
        for one in held:
            for message in one.state.messages:
                stored.setdefault(message.said.key, []).append((one.state.dialog_id, message.seq))
        for person in self.everybody:
            for key, seq in person.acknowledged.items():
                places = [n for _, n in stored.get(key, [])]
                assert places == [seq], f"{key} was acknowledged as {seq}; stored: {places}"
        conversations = [[(m.seq, m.said.text) for m in one.state.messages] for one in held] or [[]]
        for person in self.everybody:
            shown = [(n, person.messages[n]["parts"][0]["text"]) for n in sorted(person.messages)]
            assert any(shown == some[: len(shown)] for some in conversations), (
                f"{person.name} was shown {shown}; stored: {conversations}"
            )
        releases = Counter(row.arrival_id for row in await self.rows(tables.releases))
        assert not releases or max(releases.values()) == 1, f"released twice: {releases}"
        rejected = {
            row.id for row in await self.rows(tables.dialogs) if row.acceptance == "rejected"
        }
        lost = {
            one.state.dialog_id
            for one in held
            if one.state.phase != "paired" and one.state.outcome != "complete"
        }
        relaunched = [row.dialog_id for row in await self.rows(tables.relaunches)]
        told = "one relaunch for each dialog that is incomplete or rejected"
        assert sorted(relaunched) == sorted(lost | rejected), told

    async def close(self) -> None:
        """End everything, people first."""
        try:
            await asyncio.gather(*(person.close() for person in self.everybody))
        finally:
            for process in self.processes:
                process.close()
            for stack in self._running.values():
                await stack.aclose()
            await self.record.close()


@asynccontextmanager
async def open_live(
    database_url: str, redis_url: str, folder: Path, pictures: tuple[Path, Sequence[Prepared]]
) -> AsyncIterator[Live]:
    """A study that is compared with its record at the end."""
    heard: list[Live] = []

    async def tell(*told: Any) -> None:
        for listener in heard[0].http_trace:
            await listener(*told)

    trace = aiohttp.TraceConfig()
    trace.on_request_end.append(tell)
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        trace_configs=[trace],
    ) as http:
        live = Live(database_url, redis_url, folder, *pictures, http)
        heard.append(live)
        try:
            yield live
            await live.audit()
        finally:
            await live.close()


def roles(people: Iterable[Person]) -> dict[str, Person]:
    return {person.role: person for person in people}
