"""Starts what is measured: each server in a process of its own, with a study of its own."""

from __future__ import annotations

import secrets
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import orjson
from PIL import Image

from duologue.embedded import end_with_parent, free_port

ROOT: Final = Path(__file__).parents[1]
START_S: Final = 60.0
STOP_S: Final = 15.0
ITEMS: Final = 100

STUDY: Final = """\
[study]
id = "benchmark"
title = "Benchmark"
dialogs_per_item = {wanted}
[items]
file = "items.jsonl"
"""


class CannotStart(Exception):
    """A server did not start; the text ends with what it said."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running server. `processes` names the process trees that work for it."""

    name: str
    url: str
    processes: Mapping[str, int] = field(default_factory=dict)


def start_study(folder: Path, places: int) -> None:
    """Write a study with room for `places` dialogs, without an instructions check."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = -(-places // ITEMS)
    (folder / "study.toml").write_text(STUDY.format(wanted=wanted), encoding="utf-8")
    with (folder / "items.jsonl").open("wb") as items:
        for n in range(ITEMS):
            image = f"{n}.png"
            Image.new("RGB", (64, 48), (n, 2 * n, 255 - n)).save(folder / image)
            item = {"image": image, "image_id": str(n), "caption": f"picture number {n}"}
            items.write(orjson.dumps(item) + b"\n")


@contextmanager
def start_duologue(
    name: str,
    database_url: str,
    redis_url: str,
    *,
    places: int,
    beside: Mapping[str, int] | None = None,
) -> Iterator[Server]:
    """`duologue serve` on a new study, as anybody runs it, until the context ends.

    `beside` names further process trees that work for it, as the database's.

    Raises:
        CannotStart: it does not get ready.
    """
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="duologue-benchmark-") as path:
        folder = Path(path)
        start_study(folder / "study", places)
        environment = {
            "DUOLOGUE_DATABASE_URL": database_url,
            "DUOLOGUE_REDIS_URL": redis_url,
            "DUOLOGUE_SECRET_KEY": secrets.token_hex(32),
            "DUOLOGUE_PORT": str(port),
            "DUOLOGUE_LOG_LEVEL": "warning",
        }
        command = ["-c", "from duologue.cli import main; main()", "serve", str(folder / "study")]
        with _process(command, folder / "log", environment) as process:
            url = f"http://127.0.0.1:{port}"
            _wait_ready(process, f"{url}/readyz", folder / "log")
            yield Server(name, url, {"server": process.pid, **(beside or {})})


@contextmanager
def start_relay(module: str) -> Iterator[Server]:
    """A relay of `benchmarks.relays`, until the context ends.

    Raises:
        CannotStart: it does not get ready.
    """
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="duologue-benchmark-") as path:
        log = Path(path) / "log"
        command = ["-m", f"benchmarks.relays.{module}", str(port)]
        with _process(command, log, {}) as process:
            _wait_for(process, log, lambda: b"ready" in log.read_bytes())
            yield Server(module, f"http://127.0.0.1:{port}", {"server": process.pid})


@contextmanager
def _process(
    arguments: list[str], log: Path, environment: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=ROOT,
            env={"PATH": "/usr/bin:/bin", "PYTHONHASHSEED": "0", **environment},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            preexec_fn=end_with_parent(signal.SIGKILL),
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_ready(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    def answers() -> bool:
        try:
            with urllib.request.urlopen(url, timeout=1) as response:
                return bool(response.status == 200)
        except OSError:
            return False

    _wait_for(process, log, answers)


def _wait_for(process: subprocess.Popen[bytes], log: Path, condition: Callable[[], bool]) -> None:
    until = time.monotonic() + START_S
    while not condition():
        if process.poll() is not None or time.monotonic() > until:
            raise CannotStart(f"{process.args!r}: {log.read_text(errors='replace')[-2000:]}")
        time.sleep(0.05)
