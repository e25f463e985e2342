"""One call of the API inside its transaction: who asks for what, and paging."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from sqlalchemy import Connection

from hit_manager.marketplace import hits
from hit_manager.marketplace.errors import InvalidValue, NoSuchHit, OutOfRange

T = TypeVar("T")

RESULTS_BY_DEFAULT: Final = 10
_MAC_BYTES: Final = 12


@dataclass(frozen=True, slots=True)
class Call:
    """A call whose form was checked. `given` holds its parameters, none of them null.

    What was made after `seen_until` is not there yet for requesters; only tests set it.
    """

    connection: Connection
    now: float
    requester_id: str
    operation: str
    given: dict[str, Any]
    secret: bytes
    allow_http: bool
    seen_until: float = float("inf")

    def get(self, name: str, otherwise: Any = None) -> Any:
        return self.given.get(name, otherwise)

    def hit(self, hit_id: str) -> hits.Hit:
        """A HIT of the requester's.

        Raises:
            NoSuchHit: there is none, or none that can be seen yet.
        """
        found = hits.get(self.connection, self.now, hit_id, self.requester_id)
        if found.created_at > self.seen_until:
            raise NoSuchHit(f"Hit {hit_id} does not exist.")
        return found

    def limited(self, name: str, most: int, least: int = 0) -> str | None:
        """A text parameter of at most so many characters.

        Raises:
            OutOfRange: it has more, or fewer than `least`.
        """
        value: str | None = self.given.get(name)
        if value is not None and not least <= len(value) <= most:
            raise OutOfRange(
                f"The value of {name} has {len(value)} characters. Valid lengths range from "
                f"{least} to {most}."
            )
        return value

    def between(self, name: str, least: int, most: int, otherwise: int = 0) -> int:
        """A number parameter within a range; `otherwise` where a parameter that may be left out is.

        Raises:
            OutOfRange: it is outside.
        """
        value: int = self.given.get(name, otherwise)
        if not least <= value <= most:
            raise OutOfRange(
                f"The value {value} is invalid for {name}. Valid values range from {least} to "
                f"{most}."
            )
        return value

    @property
    def page_size(self) -> int:
        return int(self.given.get("MaxResults", RESULTS_BY_DEFAULT))

    def after(self) -> list[Any] | None:
        """Where the page before ended; None for the first one.

        Raises:
            InvalidValue: not a token of this list, or of a list with other filters.
        """
        token = self.given.get("NextToken")
        if token is None:
            return None
        try:
            raw = base64.urlsafe_b64decode(token.encode())
        except ValueError:
            raw = b""
        mac, body = raw[:_MAC_BYTES], raw[_MAC_BYTES:]
        if not hmac.compare_digest(mac, self._mac(body)):
            raise InvalidValue("The NextToken is not one of this list.")
        position: list[Any] = json.loads(body)
        return position

    def page(
        self,
        name: str,
        rows: Sequence[T],
        show: Callable[[T], dict[str, Any]],
        position: Callable[[T], Sequence[Any]],
    ) -> dict[str, Any]:
        """The answer for a page, of rows of which one more than the page has was read.

        `position` is where in the list a row is; the next page begins behind it, whatever
        happens to the list meanwhile.
        """
        size = self.page_size
        shown = rows[:size]
        result: dict[str, Any] = {"NumResults": len(shown), name: [show(row) for row in shown]}
        if len(rows) > size:
            body = json.dumps(list(position(shown[-1])), separators=(",", ":")).encode()
            result["NextToken"] = base64.urlsafe_b64encode(self._mac(body) + body).decode()
        return result

    def _mac(self, body: bytes) -> bytes:
        filters = {k: v for k, v in self.given.items() if k not in ("NextToken", "MaxResults")}
        scope = json.dumps([self.operation, self.requester_id, filters], sort_keys=True)
        text = scope.encode() + b"\n" + body
        return hmac.new(self.secret, text, hashlib.sha256).digest()[:_MAC_BYTES]
