"""Standard socket.io clients, in Python and in JavaScript, work with the server as with any."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import socketio
from socketio.exceptions import ConnectionError as Refused

from tests.live import Live, until

FRONTEND = Path(__file__).parents[2] / "frontend"

SCRIPT = """
const { io } = require("socket.io-client");
const [url, token] = process.argv.slice(1);
const open = (auth) => io(url, { auth, transports: ["websocket"], reconnection: false });
const say = (what) => process.stdout.write(JSON.stringify(what) + "\\n");
const forged = open({ token: "forged" });
forged.on("connect_error", (error) => {
  say({ refused: error.message, data: error.data });
  forged.close();
  const socket = open({ token });
  socket.once("state", async (state) => {
    say({ state: state.stage });
    say({ unknown: await socket.timeout(5000).emitWithAck("nonsense", {}) });
    say({ report: await socket.timeout(5000).emitWithAck("report", { text: "ein Bär 🐻" }) });
    socket.once("disconnect", (why) => {
      say({ gone: why });
      socket.once("state", () => { say({ back: true }); socket.close(); });
      socket.connect();
    });
    socket.disconnect();
  });
});
const elsewhere = io(url + "/admin", { transports: ["websocket"], reconnection: false });
elsewhere.on("connect_error", (error) => { say({ elsewhere: error.message }); elsewhere.close(); });
"""


async def test_the_python_client_calls_is_refused_and_comes_back(live: Live) -> None:
    server = await live.begin()
    ada = live.person()
    await ada.arrive()
    client = socketio.AsyncClient(reconnection=True, reconnection_delay=0.05)
    states: list[Any] = []
    refusals: list[Any] = []
    client.on("state", states.append)
    client.on("connect_error", refusals.append)
    with pytest.raises(Refused):
        await client.connect(live.urls[0], auth={"token": "forged"}, transports=["websocket"])
    assert refusals[0]["data"]["code"] == "bad_token"
    await client.connect(live.urls[0], auth={"token": ada.token}, transports=["websocket"])
    await until(lambda: bool(states))
    assert await client.call("report", {"text": "hello"}) == {"ok": True}
    page = next(server.service.hub.pages())
    server.service.wire.abort(page.sid)
    await until(lambda: len(states) > 1 and client.connected)
    assert await client.call("report", {"text": "again"}) == {"ok": True}
    await client.disconnect()
    await until(lambda: len(server.service.wire) == 0)


async def test_the_javascript_client_calls_is_refused_and_comes_back(live: Live) -> None:
    node = shutil.which("node", path=f"{FRONTEND.parent}/.venv/bin:/usr/bin:/usr/local/bin")
    if node is None or not (FRONTEND / "node_modules" / "socket.io-client").is_dir():
        pytest.skip("needs Node and the front end's packages: make setup")
    server = await live.begin()
    ada = live.person()
    await ada.arrive()
    process = await asyncio.create_subprocess_exec(
        node,
        "-e",
        SCRIPT,
        live.urls[0],
        ada.token,
        cwd=FRONTEND,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(30):
            out, err = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    assert process.returncode == 0, err.decode()
    said = {key: value for line in out.splitlines() for key, value in json.loads(line).items()}
    assert said["refused"] == "This link is not valid (any more)."
    assert said["data"]["code"] == "bad_token"
    assert said["elsewhere"] == "There is no such namespace"
    assert said["state"] == "arrived"
    assert said["unknown"]["code"] == "bad_request"
    assert said["report"] == {"ok": True}
    assert said["gone"] == "io client disconnect"
    assert said["back"] is True
    await until(lambda: len(server.service.wire) == 0)
