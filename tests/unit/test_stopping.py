"""What is being done when somebody presses Ctrl-C."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from duologue.serve import unless_told_to_stop

REDIS = "redis://nobody-asks-it"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_it_is_broken_off_in_order_and_says_so(number: signal.Signals) -> None:
    told: list[str] = []

    async def work() -> str:
        try:
            # The handlers are set by what runs beside this.
            asyncio.get_running_loop().call_later(0.05, os.kill, os.getpid(), number)
            await asyncio.Event().wait()
        finally:
            told.append("tidied up")
        return "never"

    assert await unless_told_to_stop(REDIS, work()) is None
    assert told == ["tidied up"]


async def test_without_it_the_result_is_that_of_the_work() -> None:
    async def work() -> int:
        return 7

    assert await unless_told_to_stop(REDIS, work()) == 7
    # What stops a program does so again.
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


async def test_what_goes_wrong_is_not_hidden() -> None:
    async def work() -> int:
        raise LookupError("x")

    with pytest.raises(LookupError):
        await unless_told_to_stop(REDIS, work())
