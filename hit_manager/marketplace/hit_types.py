"""HIT types: what HITs of a kind have in common. Equal types are one type.

Source: Amazon's API reference, CreateHITType.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from sqlalchemy import Connection, insert, select

from hit_manager.marketplace.errors import Refused
from hit_manager.marketplace.ids import entity_id
from hit_manager.marketplace.requirements import Requirement, dump_requirements
from hit_manager.marketplace.tables import hit_types


@dataclass(frozen=True, slots=True)
class TypeDraft:
    """What a requester sets of a HIT type. The reward is in cents, times are in seconds."""

    title: str
    description: str
    keywords: str
    reward: int
    duration_s: int
    auto_approval_s: int
    requirements: tuple[Requirement, ...] = ()


def register_type(connection: Connection, now: float, requester_id: str, draft: TypeDraft) -> str:
    """The id of the requester's type with exactly these properties, made where there is none."""
    requirements = dump_requirements(draft.requirements)
    properties = {
        "title": draft.title,
        "description": draft.description,
        "keywords": draft.keywords,
        "reward": draft.reward,
        "duration_s": draft.duration_s,
        "auto_approval_s": draft.auto_approval_s,
        "requirements": requirements,
    }
    fingerprint = hashlib.sha256(json.dumps(properties, sort_keys=True).encode()).hexdigest()
    found: str | None = connection.execute(
        select(hit_types.c.id).where(
            hit_types.c.requester_id == requester_id, hit_types.c.fingerprint == fingerprint
        )
    ).scalar()
    if found is not None:
        return found
    made = entity_id()
    connection.execute(
        insert(hit_types).values(
            id=made,
            requester_id=requester_id,
            created_at=now,
            fingerprint=fingerprint,
            **properties,
        )
    )
    return made


def require_type(connection: Connection, requester_id: str, type_id: str) -> None:
    """Make sure that a requester has this type.

    Raises:
        Refused: they have not.
    """
    found = connection.execute(
        select(hit_types.c.id).where(
            hit_types.c.id == type_id, hit_types.c.requester_id == requester_id
        )
    ).scalar()
    if found is None:
        raise Refused(f"HITType {type_id} does not exist.")
