"""How a simulated worker comes in: `POST /api/arrivals`."""

from __future__ import annotations

import aiohttp
import orjson

from duologue.simulate.connection import Down, TurnedAway, is_final
from duologue.simulate.plan import Plan

WITHIN_S = 15.0


async def arrive(
    http: aiohttp.ClientSession, url: str, plan: Plan, number: int, *, another: bool
) -> str:
    """The token of the arrival of worker `number`.

    Raises:
        TurnedAway: the study does not take this worker.
        Down: the server cannot be reached, or asks to come back later.
    """
    body = {
        "query": plan.query_of(number),
        "worker_key": plan.worker_key(number),
        "language": plan.language,
        "another": another,
        "consented": True,
        "check_answers": list(plan.check_answers),
    }
    try:
        async with http.post(
            f"{url.rstrip('/')}/api/arrivals",
            json=body,
            timeout=aiohttp.ClientTimeout(total=WITHIN_S),
        ) as response:
            status, text = response.status, await response.read()
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        raise Down(repr(error)) from None
    try:
        answer = orjson.loads(text)
    except orjson.JSONDecodeError:
        answer = {}
    if status == 200 and isinstance(answer.get("token"), str):
        return str(answer["token"])
    code = str(answer.get("code", ""))
    if is_final(code) or (status < 500 and not code):
        raise TurnedAway(str(answer.get("error", f"HTTP {status}")), code or f"http_{status}")
    raise Down(code or f"HTTP {status}")
