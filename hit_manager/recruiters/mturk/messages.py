"""Messages to workers, a hundred at a time, and who did not get them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from hit_manager.recruiters.base import NotYet, Refused, Unavailable, Unsure
from hit_manager.recruiters.mturk.client import Client

GROUP: Final = 100
"""Workers that one request can name."""


async def notify(
    client: Client, worker_ids: Collection[str], subject: str, text: str
) -> dict[str, str]:
    """Write to all of these workers; who was not reached, and why.

    Only those whose work was approved or rejected before can be written to. Once the first group
    has been asked for, nothing leaves as an error: who has got the message must be known.

    Raises:
        Refused: the subject or the text is too long or empty.
    """
    if not 1 <= len(subject) <= 200 or not 1 <= len(text) <= 4096:
        raise Refused("a message has a subject of 1 to 200 characters and a text of 1 to 4096")
    everyone = sorted(set(worker_ids))
    unreached: dict[str, str] = {}
    for start in range(0, len(everyone), GROUP):
        try:
            unreached |= await _to_group(client, everyone[start : start + GROUP], subject, text)
        except Unavailable as error:
            unreached |= dict.fromkeys(everyone[start:], f"not sent: {error}")
            break
    return unreached


async def _to_group(client: Client, workers: list[str], subject: str, text: str) -> dict[str, str]:
    try:
        answer = await client.call(
            "notify_workers",
            changes=True,
            # A message that came twice cannot be taken back either.
            repeats=False,
            Subject=subject,
            MessageText=text,
            WorkerIds=workers,
        )
    except Unsure as error:
        return dict.fromkeys(workers, f"may not have arrived: {error}")
    except (Refused, NotYet) as error:
        if len(workers) == 1:
            return {workers[0]: str(error)}
        # One id that is wrong must not keep the message from the others.
        half = len(workers) // 2
        first = await _to_group(client, workers[:half], subject, text)
        return first | await _to_group(client, workers[half:], subject, text)
    return {
        failure["WorkerId"]: failure.get("NotifyWorkersFailureMessage")
        or failure.get("NotifyWorkersFailureCode", "not reached")
        for failure in answer.get("NotifyWorkersFailureStatuses", ())
    }
