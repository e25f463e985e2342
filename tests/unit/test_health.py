"""From when on a process may act on time, by a clock that the test moves."""

from __future__ import annotations

from chatserver.live.health import Health

SILENCE_S = 5.0


class Clocks:
    """The monotonic clock and Redis TIME, which run together."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    async def redis(self) -> float:
        return self.now + 1e9


async def _fine() -> None:
    return None


def watched(clocks: Clocks) -> Health:
    return Health(
        _fine, clocks.redis, on_jump=_fine, silence_s=SILENCE_S, monotonic=clocks.monotonic
    )


async def test_readiness_lasts_while_it_is_asked_for() -> None:
    clocks = Clocks()
    health = watched(clocks)
    for _ in range(4):
        assert await health.check()
        clocks.now += SILENCE_S - 1
    assert health.ready_for() == 4 * (SILENCE_S - 1)


async def test_answers_that_take_long_are_no_standstill() -> None:
    clocks = Clocks()

    async def slowly() -> None:
        clocks.now += 1.9

    async def redis() -> float:
        clocks.now += 1.9
        return clocks.now + 1e9

    health = Health(slowly, redis, on_jump=_fine, silence_s=SILENCE_S, monotonic=clocks.monotonic)
    await health.check()
    for _ in range(10):
        clocks.now += 2.0
        assert await health.check()
    assert health.ready_for() > 10 * SILENCE_S


async def test_a_process_that_stood_still_is_not_ready_before_it_has_asked_again() -> None:
    clocks = Clocks()
    health = watched(clocks)
    await health.check()
    clocks.now += 60
    # Before anything else had its turn.
    assert health.ready_for() == 0
    assert await health.check()
    assert health.ready_for() == 0
    clocks.now += 3
    assert health.ready_for() == 3
