"""An embedded Redis that was killed comes back at its address, with what it held."""

from __future__ import annotations

from pathlib import Path

from redis import Redis

from duologue.embedded import EmbeddedRedis


def test_a_killed_server_is_started_again_and_a_living_one_left_alone(tmp_path: Path) -> None:
    with EmbeddedRedis.start(tmp_path / "redis") as server:
        assert not server.revive()
        url = server.url
        with Redis.from_url(url) as client:
            client.set("kept", "yes")
            client.execute_command("BGREWRITEAOF")
        server.process.kill()
        server.process.wait()
        assert server.revive()
        assert server.url == url
        with Redis.from_url(url) as client:
            assert client.ping()
