"""People who come by a link: volunteers, students, visitors of a lab.

Nothing is posted and nobody is paid by this recruiter; whoever finishes has a completion code,
and the team pays, if it pays, as it can. Without a platform's ids a person is a random id that
their page keeps, or, with one-time invitations, the code in their link.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlencode, urlsplit, urlunsplit

from hit_manager.recruiters.base import Arriving, Capabilities, Proof, Recruiter, Refused

INVITE: Final = "invite"
"""The parameter that names an invitation."""
WORKER_KEY: Final = "worker_key"
"""The parameter that carries the page's random id, on open links."""

MOST: Final = 100_000
_ALPHABET: Final = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
"""Without the characters that people confuse when they copy by hand."""
_INVITED: Final = "invite:"
"""What the id of a person with an invitation begins with, before its code."""
_WORKER_KEY: Final = re.compile(r"[A-Za-z0-9_-]{16,64}")


class Link(Recruiter):
    """A plain URL. `invitations`: the codes that let somebody in, each for one person; None when
    the link is open to all."""

    name = "link"
    capabilities = Capabilities(proof=Proof.NEVER, needs_code=True)

    def __init__(self, invitations: Collection[str] | None = None) -> None:
        self._invitations = None if invitations is None else frozenset(invitations)

    def arriving(self, query: Mapping[str, str]) -> Arriving | None:
        if self._invitations is not None:
            code = query.get(INVITE, "")
            return Arriving(f"{_INVITED}{code}", "") if code in self._invitations else None
        key = query.get(WORKER_KEY, "")
        return Arriving(f"key:{key}", "") if _WORKER_KEY.fullmatch(key) else None


# --- Invitations -----------------------------------------------------------------------------


def invitation_of(worker_id: str) -> str:
    """The code that this person came by; empty, if by none."""
    return worker_id.removeprefix(_INVITED) if worker_id.startswith(_INVITED) else ""


def make_invitations(number: int, known: Collection[str] = ()) -> list[str]:
    """So many new codes, none of them among `known`: three groups of four characters, 60 bits.

    Raises:
        Refused: not between 1 and 100,000.
    """
    if not 1 <= number <= MOST:
        raise Refused(f"1 to {MOST:,} invitations can be made at a time, not {number:,}")
    taken = set(known)
    made: list[str] = []
    while len(made) < number:
        code = _code()
        if code not in taken:
            taken.add(code)
            made.append(code)
    return made


def invitation_link(page: str, code: str) -> str:
    """The address that a person is sent; `page` is that of the study, such as https://…/work."""
    parts = urlsplit(page)
    query = f"{parts.query}&" if parts.query else ""
    return urlunsplit(parts._replace(query=query + urlencode({INVITE: code})))


def invitation_rows(codes: Iterable[str], page: str) -> Iterator[tuple[str, str]]:
    """A table for `write_csv`: a heading, then a code and its link a row."""
    yield "code", "link"
    for code in codes:
        yield code, invitation_link(page, code)


def add_invitations(file: Path, codes: Iterable[str]) -> None:
    """Add codes to the file that the study names under `invitations`, one a line; a file that is
    not there is begun, for its owner alone: each code lets somebody in. When this returns, they are
    on the disk.

    Raises:
        OSError: it cannot be written.
    """
    before = file.read_bytes() if file.exists() else b""
    text = "".join(f"{code}\n" for code in codes)
    if before and not before.endswith(b"\n"):
        text = f"\n{text}"
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(descriptor, "a", encoding="utf-8", newline="\n") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())


def _code() -> str:
    # The alphabet has 32 characters, so five bits of each byte choose one evenly.
    picked = "".join(_ALPHABET[byte & 31] for byte in secrets.token_bytes(12))
    return "-".join((picked[:4], picked[4:8], picked[8:]))
