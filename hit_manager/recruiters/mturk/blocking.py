"""The soft block: a qualification of ours that people must not have.

It is milder than the service's own block, which counts against the worker there and is told to
them: whoever has this qualification is merely not shown our HITs, and gets no word of it. Workers
can see its name and description, among the requirements of HITs and when it is taken away again,
of which the API always tells them; so neither says what it is for.
"""

from __future__ import annotations

import asyncio

from hit_manager.recruiters.base import NotThere, Unavailable
from hit_manager.recruiters.mturk.client import Client
from hit_manager.recruiters.mturk.errors import AlreadyDone, WrongState

DESCRIPTION = "A group of people, for arranging who sees which of this requester's HITs."


class SoftBlock:
    """The qualification type with this name; made, if there is none, when first needed."""

    def __init__(self, client: Client, name: str) -> None:
        self._client = client
        self._name = name
        self._id: str | None = None
        self._finding = asyncio.Lock()

    async def type_id(self) -> str:
        """The id of the type over there."""
        async with self._finding:
            if self._id is None:
                self._id = await self._find() or await self._make()
            return self._id

    async def add(self, worker_id: str) -> None:
        """Give it to a worker; again, and nothing changes."""
        await self._client.call(
            "associate_qualification_with_worker",
            changes=True,
            QualificationTypeId=await self.type_id(),
            WorkerId=worker_id,
            IntegerValue=1,
            SendNotification=False,
        )

    async def remove(self, worker_id: str) -> None:
        """Take it away; from one who has it not, and nothing changes."""
        try:
            await self._client.call(
                "disassociate_qualification_from_worker",
                changes=True,
                QualificationTypeId=await self.type_id(),
                WorkerId=worker_id,
            )
        except (NotThere, WrongState):
            return

    async def _find(self) -> str | None:
        rows = self._client.rows(
            "list_qualification_types",
            "QualificationTypes",
            Query=self._name,
            MustBeRequestable=False,
            MustBeOwnedByCaller=True,
        )
        # The query is a search: names that merely contain its words come too.
        found = [
            row["QualificationTypeId"]
            async for row in rows
            if row["Name"] == self._name and row["QualificationTypeStatus"] == "Active"
        ]
        return str(found[0]) if found else None

    async def _make(self) -> str:
        try:
            answer = await self._client.call(
                "create_qualification_type",
                changes=True,
                Name=self._name,
                Description=DESCRIPTION,
                QualificationTypeStatus="Active",
            )
        except AlreadyDone:
            # By another process, or by a try of ours whose answer was lost.
            found = await self._find()
            if found is None:
                raise Unavailable(f'the qualification "{self._name}" is not shown yet') from None
            return found
        return str(answer["QualificationType"]["QualificationTypeId"])
