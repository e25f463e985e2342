"""What a team says about its marketplace: how it is called, whom to ask, how people are paid.

The marketplace keeps books and moves no money, so only the team can tell how the money comes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

NAME: Final = "Marketplace"
PAID_SOMEHOW: Final = (
    "The team that runs this marketplace pays you what is listed as earned; ask them how."
)

_MAIL: Final = re.compile(r"[^\s@<>?&]+@[^\s@<>?&]+\.[^\s@<>?&]+")


@dataclass(frozen=True, slots=True)
class About:
    """What every page may say. `contact` is a mail address, a web address or words; nothing if
    the team did not say."""

    name: str = NAME
    contact: str = ""
    how_paid: str = PAID_SOMEHOW

    @property
    def contact_link(self) -> str:
        """Where a press on the contact leads; nothing if it is words."""
        if _MAIL.fullmatch(self.contact):
            return f"mailto:{self.contact}"
        if self.contact.startswith(("https://", "http://")) and " " not in self.contact:
            return self.contact
        return ""
