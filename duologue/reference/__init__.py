"""The pages of `docs/reference`, made from the code; `python -m duologue.reference` writes them.

A test fails when a page differs from what is made here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from duologue.reference.commands import commands_page
from duologue.reference.models import settings_page, study_page
from duologue.reference.monitor import monitor_page
from duologue.reference.wire import wire_page

PAGES: Final[Mapping[str, Callable[[], str]]] = MappingProxyType(
    {
        "settings.md": settings_page,
        "study-file.md": study_page,
        "commands.md": commands_page,
        "wire.md": wire_page,
        "monitor-api.md": monitor_page,
    }
)
"""The name of each page, and what makes it."""
