"""The embedded Redis: what it keeps, what it refuses, and that it ends with us."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psutil
import pytest
import redis

from duologue import embedded
from duologue.embedded import CannotStart, EmbeddedRedis, FolderInUse


def _client(server: EmbeddedRedis) -> redis.Redis:
    return redis.Redis.from_url(server.url, decode_responses=True)


def test_what_was_written_is_there_at_the_next_start(tmp_path: Path) -> None:
    with EmbeddedRedis.start(tmp_path) as first, _client(first) as client:
        client.set("key", "value")
    with EmbeddedRedis.start(tmp_path) as second, _client(second) as client:
        assert client.get("key") == "value"
        assert client.config_get("appendonly") == {"appendonly": "yes"}


def test_a_folder_in_use_is_refused_with_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "_LOCK_TIMEOUT_S", 0.1)
    with EmbeddedRedis.start(tmp_path):
        with pytest.raises(FolderInUse, match=str(tmp_path)) as refusal:
            EmbeddedRedis.start(tmp_path)
        assert "\n" not in str(refusal.value)
    EmbeddedRedis.start(tmp_path).stop()


def test_another_port_is_tried_when_the_first_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        ports = iter([taken.getsockname()[1], embedded.free_port()])
        monkeypatch.setattr(embedded, "free_port", lambda: next(ports))
        with EmbeddedRedis.start(tmp_path) as server, _client(server) as client:
            assert client.ping()


def test_a_server_that_cannot_start_says_why_in_one_line(tmp_path: Path) -> None:
    # A folder where the server wants its file.
    (tmp_path / "appendonlydir").write_text("not a folder")
    with pytest.raises(CannotStart, match=r"valkey\.log") as refusal:
        EmbeddedRedis.start(tmp_path)
    assert "\n" not in str(refusal.value)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a child with its parent")
def test_the_server_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    program = textwrap.dedent("""
        import sys, time
        from pathlib import Path
        from duologue.embedded import EmbeddedRedis
        server = EmbeddedRedis.start(Path(sys.argv[1]))
        print(server.process.pid, flush=True)
        time.sleep(60)
    """)
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        server = psutil.Process(int(parent.stdout.readline()))
        parent.send_signal(signal.SIGKILL)
    _, alive = psutil.wait_procs([server], timeout=10)
    assert not alive
    # And the folder is free again.
    started_at = time.monotonic()
    EmbeddedRedis.start(tmp_path).stop()
    assert time.monotonic() - started_at < embedded._LOCK_TIMEOUT_S
