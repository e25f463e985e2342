"""`duologue market`: a marketplace is served, people are invited, programs get a key."""

from __future__ import annotations

import asyncio
import csv
import json
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import boto3
import pytest
from aiohttp import ClientSession
from click.testing import CliRunner, Result

from duologue.demo_market import market_site, requester_lines
from duologue.market import DATABASE_FILE, URL_FILE, market
from duologue.problems import BadInput
from hit_manager.marketplace.clock import Clock
from hit_manager.marketplace.store import Store

PROGRAM = "from duologue.market import market; market()"


def call(*arguments: str | Path) -> Result:
    return CliRunner().invoke(market, [str(each) for each in arguments])


def refused(*arguments: str | Path) -> str:
    """The one line of a refusal."""
    result = call(*arguments)
    assert isinstance(result.exception, BadInput), result.output
    assert "\n" not in str(result.exception)
    return str(result.exception)


def git(folder: Path, *words: str) -> str:
    """What git prints in a folder."""
    done = subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


@asynccontextmanager
async def served(folder: Path, *options: str) -> AsyncIterator[tuple[str, list[str]]]:
    """`duologue market serve` as a process of its own, and its first three lines."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PROGRAM, "serve", str(folder), "--port", "0", *options,
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        async with asyncio.timeout(30):
            said = [(await process.stdout.readline()).decode().strip() for _ in range(3)]
        yield said[0].removeprefix("marketplace: ").removesuffix("/worker/"), said
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(10):
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def test_serve_invite_and_key_make_a_marketplace_that_works(tmp_path: Path) -> None:
    folder = tmp_path / "my-market"
    async with served(folder) as (url, said):
        assert said[1].endswith(f"duologue market invite 10 {folder}")
        invited = await asyncio.to_thread(call, "invite", "2", folder)
        links = invited.stdout.split()
        assert invited.stderr == (
            f"note: links that begin with {url} work on this machine only; start the marketplace "
            "with --public-url, or give it here\n"
        )
        assert len(set(links)) == 2
        assert all(link.startswith(f"{url}/worker/join/") for link in links)
        async with ClientSession() as client:
            assert "You are invited" in await (await client.get(links[0])).text()
        made = await asyncio.to_thread(call, "key", folder, "--name", "Lab", "--json")
        key = json.loads(made.output)
        assert key["endpoint_url"] == url
        assert await asyncio.to_thread(balance, key) == "1000.00"
        more = await asyncio.to_thread(
            call, "key", folder, "--name", "Lab", "--funds", "5.50", "--json"
        )
        second = json.loads(more.output)
        assert second["requester_id"] == key["requester_id"]
        assert second["access_key_id"] != key["access_key_id"]
        assert await asyncio.to_thread(balance, key) == "1005.50"


async def test_serve_says_who_runs_it_and_how_people_are_paid(tmp_path: Path) -> None:
    said = ("--name", "Picture Lab", "--contact", "a@lab.example.org", "--how-we-pay", "In cash.")
    async with served(tmp_path / "my-market", *said) as (url, _), ClientSession() as client:
        invited = await asyncio.to_thread(call, "invite", "1", tmp_path / "my-market")
        joining = await (await client.get(invited.stdout.strip())).text()
        assert invited.stdout.startswith(url)
        assert all(text in joining for text in ("Picture Lab", "mailto:a@lab.", "In cash."))


def balance(key: dict[str, str]) -> Any:
    client = boto3.client(
        "mturk",
        endpoint_url=key["endpoint_url"],
        region_name="us-east-1",
        aws_access_key_id=key["access_key_id"],
        aws_secret_access_key=key["secret_access_key"],
    )
    try:
        return client.get_account_balance()["AvailableBalance"]
    finally:
        client.close()


async def test_the_demonstration_can_be_looked_at_as_its_requester(tmp_path: Path) -> None:
    async with market_site(tmp_path, {"DUOLOGUE_PORT": "0"}, 0) as at:
        _, access, secret, status = requester_lines(at)
        assert status == f"duologue hits status {tmp_path}"
        key = {
            "endpoint_url": at.server.url,
            "access_key_id": access.removeprefix("export DUOLOGUE_MTURK_ACCESS_KEY="),
            "secret_access_key": secret.removeprefix("export DUOLOGUE_MTURK_SECRET_KEY="),
        }
        assert await asyncio.to_thread(balance, key) == "1000.00"
        invited = await asyncio.to_thread(call, "invite", "1", tmp_path)
        async with ClientSession() as client:
            assert "You are invited" in await (await client.get(invited.stdout.strip())).text()


async def test_links_in_a_file_are_for_its_owner_and_harmless(tmp_path: Path) -> None:
    file = tmp_path / "links.csv"
    assert "there is no marketplace" in refused("invite", "3", tmp_path, "--csv", file)
    assert not file.exists()
    store = Store(f"sqlite:///{tmp_path / DATABASE_FILE}", Clock())
    store.open()
    await store.close()
    done = await asyncio.to_thread(
        call, "invite", "3", tmp_path, "--csv", file, "--note", "=1+1",
        "--public-url", "https://market.example.org/",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with file.open(encoding="utf-8", newline="") as opened:
        rows = list(csv.reader(opened))
    assert rows[0] == ["link", "note"]
    assert len(rows) == 4
    assert all(link.startswith("https://market.example.org/worker/join/") for link, _ in rows[1:])
    assert {note for _, note in rows[1:]} == {"'=1+1"}
    before = file.read_bytes()
    again = await asyncio.to_thread(refused, "invite", "3", tmp_path, "--csv", file)
    assert "is there already" in again
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("serve", "--host", "0.0.0.0"), "--public-url"),
        (("serve", "--public-url", "market.example.org"), "--public-url must be"),
        (("serve", "--public-url", "https://a@market.example.org/x"), "--public-url must be"),
        (("serve", "--database", "mysql://x"), "--database must begin"),
        (("serve", "--name", " "), "--name must not be empty"),
        (("serve", "--name", "x" * 61), "--name may have at most 60"),
        (("serve", "--contact", "a\0b"), "--contact may have at most 200 ordinary characters"),
        (("serve", "--how-we-pay", ""), "--how-we-pay must not be empty"),
        (("key", "--funds", "1.005"), "--funds has 3 digits"),
        (("key", "--funds", "lots"), "--funds must be"),
        (("key", "--name", " "), "--name must not be empty"),
    ],
)
def test_what_cannot_be_is_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert said in refused(*arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_port_in_use_is_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert f"port {port} is in use" in refused("serve", tmp_path, "--port", port)
        assert f"port {port} is in use" in refused("serve", tmp_path / "new", "--port", port)
    assert list(tmp_path.iterdir()) == []


async def test_a_new_marketplace_keeps_its_secrets_out_of_a_repository(tmp_path: Path) -> None:
    await asyncio.to_thread(git, tmp_path, "init", "-q")
    folder = tmp_path / "my-market"
    async with served(folder):
        await asyncio.to_thread(call, "invite", "2", folder, "--csv", folder / "links-may.csv")
        words = ("ls-files", "--others", "--exclude-standard")
        assert await asyncio.to_thread(git, tmp_path, *words) == "my-market/.gitignore\n"
    # One that is there is the team's own.
    (folder / ".gitignore").write_text("*\n")
    async with served(folder):
        assert (folder / ".gitignore").read_text() == "*\n"


async def test_one_folder_has_one_running_marketplace(tmp_path: Path) -> None:
    """The second would have changed the address that links are made with."""
    folder = tmp_path / "my-market"
    for _ in range(2):
        async with served(folder) as (url, _said):
            second = await asyncio.to_thread(refused, "serve", folder, "--port", "0")
            assert f"another marketplace is running on {folder}" in second
            assert (folder / URL_FILE).read_text(encoding="utf-8").strip() == url


@pytest.mark.parametrize("command", ["serve", "invite", "key"])
def test_help_has_an_example(command: str) -> None:
    assert f"Example: duologue market {command}" in " ".join(call(command, "--help").output.split())
