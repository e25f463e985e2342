"""UniqueRequestTokens: a call that was done is not done again for 24 hours.

A repeat is an error that names what was made, not the first answer: so Amazon's reference has
it, and programs that were left without an answer read back what they need.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection, and_, delete, insert, or_, select

from hit_manager.marketplace.tables import request_tokens

REMEMBERED_S: Final = 86_400


def made_with(
    connection: Connection, now: float, requester_id: str, operation: str, token: str
) -> str | None:
    """The id of what a call with this token made within the last day."""
    found: str | None = connection.execute(
        select(request_tokens.c.made_id).where(
            request_tokens.c.requester_id == requester_id,
            request_tokens.c.operation == operation,
            request_tokens.c.token == token,
            request_tokens.c.made_at > now - REMEMBERED_S,
        )
    ).scalar()
    return found


def remember(
    connection: Connection, now: float, requester_id: str, operation: str, token: str, made_id: str
) -> None:
    """Remember what was made with a token now, and forget those whose day is over."""
    same = and_(request_tokens.c.operation == operation, request_tokens.c.token == token)
    connection.execute(
        delete(request_tokens).where(
            request_tokens.c.requester_id == requester_id,
            or_(request_tokens.c.made_at <= now - REMEMBERED_S, same),
        )
    )
    connection.execute(
        insert(request_tokens).values(
            requester_id=requester_id,
            operation=operation,
            token=token,
            made_id=made_id,
            made_at=now,
        )
    )
