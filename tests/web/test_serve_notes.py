"""What `duologue serve` says before it serves."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from duologue.demo import make_site
from duologue.serve import prepare_record


async def notes(folder: Path) -> list[str]:
    """The notes of a server that was started and told to stop."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("DUOLOGUE_")}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "duologue", "serve", str(folder), env={**kept, "DUOLOGUE_PORT": "0"},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        async with asyncio.timeout(60):
            while not (line := (await process.stdout.readline()).decode()).startswith("workers: "):
                assert line, "it ended before it served"
    finally:
        if process.returncode is None:
            process.terminate()
        _, err = await process.communicate()
    return [line for line in err.decode().splitlines() if line.startswith("note: ")]


async def test_items_taken_out_of_the_file_are_said_to_be_wanted_still(tmp_path: Path) -> None:
    site = make_site(tmp_path, {}, 2)
    await prepare_record(site)
    items = site.study.items_path
    assert await notes(tmp_path) == []
    items.write_text("".join(items.read_text("utf-8").splitlines(keepends=True)[:4]), "utf-8")
    (note,) = await notes(tmp_path)
    assert note.startswith("note: 8 items of the record are not in items.jsonl")
