"""Ending what runs beside: cancelled until it has ended."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, Final

AGAIN_S: Final = 0.2
"""How long a task may take over its clean-up before it is cancelled again, in seconds."""


async def end(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel these tasks, and return when all of them have ended, with whatever result.

    Once is not enough. On Python 3.11 `asyncio.wait_for` loses a cancellation that comes in the
    moment in which what it waits for is done (python/cpython#86296), and redis-py and
    python-socketio wait by it: a loop around them would go on, and whoever waits for its end
    would wait for ever. A loop that hardly ever rests loses most of them, and so it asks
    `told_to_end` as well.
    """
    running = {task for task in tasks if not task.done()}
    while running:
        for task in running:
            task.cancel()
        ended, running = await asyncio.wait(running, timeout=AGAIN_S)
        for task in ended:
            if not task.cancelled():
                # Asked for, so that asyncio does not report it as overlooked.
                task.exception()


def told_to_end() -> bool:
    """Whether the task that asks was cancelled, even if a library has lost the cancellation."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
