"""Every Redis key of the project.

All keys of a study share the hash tag `{study_id}`, so that a script may touch them together on a
cluster too.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Keys:
    """The Redis keys of one study: `duologue:{<study id>}:<name>`."""

    study_id: str

    def __call__(self, name: str) -> str:
        return f"duologue:{{{self.study_id}}}:{name}"

    # --- Pairing: arrivals ---

    @property
    def lobby(self) -> str:
        """Sorted set: the arrivals that may be matched now, by `ready_at`."""
        return self("lobby")

    @property
    def arrivals(self) -> str:
        """Hash: arrival → what pairing knows of it, `ready_at` first; see `common.lua`."""
        return self("arrivals")

    @property
    def beats(self) -> str:
        """Sorted set: every known arrival by the time of its last answered heartbeat."""
        return self("beats")

    # --- Pairing: matches ---

    @property
    def matches(self) -> str:
        """Hash: match → JSON."""
        return self("matches")

    @property
    def due(self) -> str:
        """Sorted set: matches by the time until which both must start."""
        return self("due")

    @property
    def matched(self) -> str:
        """Hash: arrival → its match."""
        return self("matched")

    @property
    def workers(self) -> str:
        """Hash: worker → the match they are in, by whichever arrival."""
        return self("workers")

    # --- Pairing: places ---

    @property
    def items(self) -> str:
        """Sorted set: items with a free place, in the order offered."""
        return self("items")

    @property
    def numbers(self) -> str:
        """Hash: item → the numbers of its free places, separated by spaces."""
        return self("numbers")

    @property
    def free(self) -> str:
        """Number: how many places are free."""
        return self("free")

    @property
    def held(self) -> str:
        """Hash: `<number>:<item>` → the match that holds it, after a `!` if withdrawn since."""
        return self("held")

    @property
    def sealed(self) -> str:
        """Sorted set: places whose dialog was opened just now, by that time."""
        return self("sealed")

    @property
    def order(self) -> str:
        """Number: how many items were offered so far."""
        return self("order")

    # --- Pairing: the rest ---

    @property
    def cursor(self) -> str:
        """String: where the scan of a lobby that is hard to pair goes on."""
        return self("cursor")

    @property
    def waits(self) -> str:
        """List: recent waits that ended in a dialog, in seconds, newest first."""
        return self("waits")

    @property
    def pairing(self) -> tuple[str, ...]:
        """All of the above, in the order in which `common.lua` names them."""
        return (
            self.lobby,
            self.arrivals,
            self.beats,
            self.matches,
            self.due,
            self.matched,
            self.workers,
            self.items,
            self.numbers,
            self.free,
            self.held,
            self.sealed,
            self.order,
            self.cursor,
            self.waits,
        )

    # --- Live dialogs ---

    @property
    def deadlines(self) -> str:
        """Sorted set: deadlines by the Redis time at which they fire."""
        return self("deadlines")

    @property
    def channel(self) -> str:
        """Publish/subscribe channel: committed events, between processes."""
        return self("events")

    @property
    def clock(self) -> str:
        """Hash: `alive`, when a healthy process last said so; `lost`, seconds of outage so far."""
        return self("clock")

    @property
    def processes(self) -> str:
        """Hash: server process → when it started, its last sign of life, and its pages."""
        return self("processes")

    def typing(self, turn: str) -> str:
        """String that expires: somebody typed in this turn of a dialog."""
        return self(f"typing:{turn}")
