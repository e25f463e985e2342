"""Looks through every dialog that has ended for what a reviewer should look at."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from typing import Final

from chatserver.live.deadlines import every
from dialogs.quality import Lengths, findings, load
from dialogs.record.errors import BadRow, Conflict, RecordError
from dialogs.record.findings import checked, unchecked
from dialogs.record.store import Record
from dialogs.record.talks import talks_of, usual_lengths
from dialogs.rules import Role

log = logging.getLogger("duologue.flags")

LOOK_S: Final = 2.0
AT_ONCE: Final = 50
"""Dialogs that are read at a time."""
USUAL_S: Final = 300.0
"""How long what is usual in a study is taken to be so."""
REST: Final = 9.0
"""So many times as long as a dialog takes, nothing is looked through: people who talk go first."""


class Flagging:
    """Raises the quality flags of a study's dialogs, each dialog once, whichever process does."""

    def __init__(
        self, record: Record, study_id: str, *, now: Callable[[], float] = time.time
    ) -> None:
        self._record = record
        self._study_id = study_id
        self._now = now
        self._lengths: Mapping[Role, Lengths] = {}
        self._lengths_until = 0.0

    async def run(self, stop: asyncio.Event) -> None:
        """Look through what has ended, until `stop`."""
        # Takes a moment, which nobody should wait for when the first dialog ends.
        await asyncio.to_thread(load)
        while await every(LOOK_S, stop):
            try:
                while await self.once() == AT_ONCE and not stop.is_set():
                    continue
            except RecordError as error:
                log.warning("the flags wait: %s", error)

    async def once(self) -> int:
        """Look through some dialogs; returns how many there were."""
        ids = await self._record.read(unchecked, self._study_id, AT_ONCE)
        if not ids:
            return 0
        await self._look_at_lengths()
        talks = await self._record.read(talks_of, ids, self._lengths)
        for dialog_id in ids:
            # What cannot be read counts as looked through, or it would be tried for ever.
            talk = talks.get(dialog_id)
            began = time.monotonic()
            found = await asyncio.to_thread(findings, talk) if talk is not None else ()
            await asyncio.sleep(REST * (time.monotonic() - began))
            try:
                await self._record.writer.commit(checked(dialog_id, found, self._now()))
            except Conflict:
                # Another process was faster.
                continue
            except BadRow as error:
                log.error("dialog %s: its flags cannot be stored: %s", dialog_id, error)
                await self._record.writer.commit(checked(dialog_id, (), self._now()))
        return len(ids)

    async def _look_at_lengths(self) -> None:
        if time.monotonic() < self._lengths_until:
            return
        self._lengths = await self._record.read(usual_lengths, self._study_id)
        self._lengths_until = time.monotonic() + USUAL_S
