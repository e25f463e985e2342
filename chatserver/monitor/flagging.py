"""What flags there are, as the team is told. No I/O here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from chatserver.monitor.wire import FlagOut, Flags
from dialogs.quality import Flag
from dialogs.record.findings import BY_TEAM

_BY_TEAM: Final = ("by the team", "Somebody of the team saw something, and wrote what.")


def known_flags(dialogs: Mapping[str, int]) -> Flags:
    """All that are known, the most frequent first. `dialogs` says in how many dialogs each stands,
    those in none left out."""
    known = [
        FlagOut(
            name=flag.value,
            label=flag.label,
            means=flag.means,
            severity=flag.severity,
            dialogs=dialogs.get(flag.value, 0),
        )
        for flag in Flag
    ]
    label, means = _BY_TEAM
    known.append(_unruled(BY_TEAM, label, means, dialogs.get(BY_TEAM, 0)))
    names = {each.name for each in known}
    # A newer version may have raised what this one does not know.
    known += [
        _unruled(name, name.replace("_", " "), "", n)
        for name, n in dialogs.items()
        if name not in names
    ]
    return Flags(flags=sorted(known, key=lambda each: -each.dialogs))


def _unruled(name: str, label: str, means: str, dialogs: int) -> FlagOut:
    return FlagOut(name=name, label=label, means=means, severity=None, dialogs=dialogs)
