"""A server process for tests that end one: `python -m tests.web.process CONFIGURATION`.

The argument is the pickled configuration, database URL, Redis URL and, if the process shall end
itself as by kill -9, where (`before` or `after` a commit) and the file that says when.
"""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import signal
import sys
from pathlib import Path

from chatserver.config import Failpoints
from chatserver.server import serve
from duologue.serve import until_told_to_stop


def fatal(where: str, when: Path) -> Failpoints:
    def die() -> None:
        if when.exists():
            os.kill(os.getpid(), signal.SIGKILL)

    return Failpoints(before_commit=die) if where == "before" else Failpoints(after_commit=die)


async def main(given: str) -> None:
    config, database_url, redis_url, dies = pickle.loads(bytes.fromhex(given))
    failpoints = fatal(*dies) if dies else None
    async with serve(config, database_url, redis_url, failpoints):
        await until_told_to_stop(redis_url)


if __name__ == "__main__":
    logging.basicConfig(level="INFO")
    asyncio.run(main(sys.argv[1]))
