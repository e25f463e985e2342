"""The far side of a link: there is none, only people who open it."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Self

from hit_manager.recruiters.link import Link, make_invitations
from tests.contract.recruiters import Stage, Visit


class LinkStage(Stage):
    """A link that is open to all: a person is the id that their page keeps."""

    def __init__(self, recruiter: Link) -> None:
        self.recruiter = recruiter
        self.waits = []

    @classmethod
    @asynccontextmanager
    async def opened(cls, folder: Path) -> AsyncIterator[Self]:
        stage = cls(Link())
        await stage.recruiter.open()
        yield stage
        await stage.recruiter.close()

    @property
    def calls(self) -> int:
        return 0

    async def take(self, hit_id: str) -> Visit:
        key = secrets.token_urlsafe(24)
        return Visit(f"key:{key}", "", "", {"worker_key": key})

    def previews(self, visit: Visit) -> Sequence[Mapping[str, str]]:
        return ({}, {"worker_key": ""}, {"worker_key": "x"})


class InvitationStage(LinkStage):
    """A link with one-time invitations: a person is the code that they were sent."""

    def __init__(self, codes: Sequence[str]) -> None:
        super().__init__(Link(codes))
        self._codes = list(codes)

    @classmethod
    @asynccontextmanager
    async def opened(cls, folder: Path) -> AsyncIterator[Self]:
        stage = cls(make_invitations(10))
        await stage.recruiter.open()
        yield stage
        await stage.recruiter.close()

    async def take(self, hit_id: str) -> Visit:
        code = self._codes.pop()
        return Visit(f"invite:{code}", "", "", {"invite": code})

    def previews(self, visit: Visit) -> Sequence[Mapping[str, str]]:
        (other,) = make_invitations(1)
        return ({}, {"invite": ""}, {"invite": other}, {"worker_key": "k" * 20})
