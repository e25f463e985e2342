"""The participant group of those who see no study of ours.

Every study of ours leaves out who is in the group, and a change acts at once. Being in it says
nothing about a person to anybody. Source: https://docs.prolific.com/api-reference/participant-groups
"""

from __future__ import annotations

from hit_manager.recruiters.base import Unsure
from hit_manager.recruiters.prolific.client import Client, Repeat


class Group:
    """A group of the workspace, told by its name, and made when it is first needed."""

    def __init__(self, client: Client, workspace_id: str, name: str) -> None:
        self._client = client
        self._workspace_id = workspace_id
        self._name = name
        self._id: str | None = None

    async def id(self) -> str:
        """Raises: Unsure: it may have been made, but cannot be seen yet."""
        if self._id is None:
            self._id = await self._find()
        if self._id is None:
            body = {"workspace_id": self._workspace_id, "name": self._name}
            try:
                made = await self._client.post("participant-groups/", body, Repeat.ONCE)
                self._id = str(made["id"])
            except Unsure:
                self._id = await self._find()
                if self._id is None:
                    raise
        return self._id

    async def add(self, participant_id: str) -> None:
        """Who is in it already stays in it."""
        path = f"participant-groups/{await self.id()}/participants/"
        await self._client.post(path, {"participant_ids": [participant_id]}, Repeat.HARMLESS)

    async def remove(self, participant_id: str) -> None:
        path = f"participant-groups/{await self.id()}/participants/"
        await self._client.delete(path, {"participant_ids": [participant_id]})

    async def _find(self) -> str | None:
        """Of several with this name, always the same one."""
        query = {"workspace_id": self._workspace_id}
        found = [
            str(group["id"])
            async for group in self._client.pages("participant-groups/", query)
            if group["name"] == self._name and not group.get("is_deleted")
        ]
        return min(found, default=None)
