"""A run that never was: rows of a record, and logs of workers that agree with them.

The checker's own test tells a story in which all is well and then spoils one thing in it.
"""

from __future__ import annotations

from typing import Any, Final

from tests.chaos.evidence import TABLES, Evidence, Happening, Line, Row

ROLES: Final = ("questioner", "answerer")
RULES: Final = {
    "protocol": "visdial",
    "rounds": 10,
    "pay": {"currency": "USD", "complete": 150, "left": 0, "waiting_per_minute": 10},
}
STEP_S: Final = 1.0
LATER_S: Final = 0.05


class Story:
    """Tells a run step by step. Ids are short: worker `w1` is in arrival `a1`."""

    def __init__(self) -> None:
        self.tables: dict[str, list[Row]] = {name: [] for name in TABLES}
        self.logs: dict[int, list[Line]] = {}
        self.outages: list[tuple[float, float]] = []
        self.at = 1000.0

    def evidence(self) -> Evidence:
        journal = [Happening(1000.0, "server A killed")]
        return Evidence(self.tables, list(self.logs.values()), journal, self.outages)

    # --- Who and what ----------------------------------------------------------------------

    def item(self, name: str, wanted: int = 1) -> None:
        self.tables["items"].append({"id": name, "wanted": wanted})

    def person(self, number: int, kind: str = "normal", *, ready: bool = True) -> None:
        """Somebody comes in, connects, and waits."""
        key = f"worker-{number}"
        self.tables["workers"].append({"id": f"w{number}", "external_id": f"key:{key}"})
        self.tables["arrivals"].append(
            {
                "id": f"a{number}",
                "worker_id": f"w{number}",
                "status": "waiting" if ready else "arrived",
                "created_at": self.at,
                "ready_at": self.at if ready else None,
                "waited_s": 0.0,
            }
        )
        self.logs[number] = []
        self.note(number, "worker", number=number, kind=kind, worker_key=key)
        self.note(number, "arrived", url="http://one")
        self.note(number, "connected", url="http://one")

    def note(self, who: int, event: str, /, **fields: Any) -> Line:
        """A line in somebody's log."""
        talks = any(seat["worker_id"] == f"w{who}" for seat in self.tables["seats"])
        place = {"arrival": 1, "dialog": int(talks), "connection": 1}
        line = {"at": self.at, "event": event, **place, **fields}
        self.logs[who].append(line)
        return line

    def row(self, table: str, **where: Any) -> Row:
        """The one row of a table with these values."""
        (found,) = (
            row
            for row in self.tables[table]
            if all(row[name] == value for name, value in where.items())
        )
        return found

    def lines(self, number: int, event: str, **where: Any) -> list[Line]:
        return [
            line
            for line in self.logs[number]
            if line["event"] == event and all(line.get(k) == v for k, v in where.items())
        ]

    # --- A dialog --------------------------------------------------------------------------

    def open(self, dialog: str, item: str, asker: int, teller: int, place: int = 1) -> None:
        self.tables["dialogs"].append(
            {
                "id": dialog,
                "item_id": item,
                "place": place,
                "phase": "paired",
                "outcome": None,
                "opened_at": self.at,
            }
        )
        seats = dict(zip(ROLES, (asker, teller), strict=True))
        for role, number in seats.items():
            self.tables["seats"].append(
                {
                    "dialog_id": dialog,
                    "role": role,
                    "arrival_id": f"a{number}",
                    "worker_id": f"w{number}",
                    "item_id": item,
                    "status": "live",
                }
            )
            self.row("arrivals", id=f"a{number}")["status"] = "seated"
            self.note(number, "state", stage="talking", seq=1, applied="new")
        taken = [{"role": role, "arrival_id": f"a{n}"} for role, n in seats.items()]
        self.event(dialog, "opened", rules=RULES, item_id=item, place=place, seats=taken)

    def event(self, dialog: str, kind: str, **data: Any) -> int:
        """An event in the record only; returns its number."""
        seq = 1 + len([row for row in self.tables["events"] if row["dialog_id"] == dialog])
        self.tables["events"].append(
            {"dialog_id": dialog, "seq": seq, "kind": kind, "at": self.at, "data": data}
        )
        return seq

    def number_of(self, dialog: str, role: str) -> int:
        seat = self.row("seats", dialog_id=dialog, role=role)
        return int(seat["worker_id"].removeprefix("w"))

    def _here(self, dialog: str) -> list[str]:
        gone = [
            row["data"]["role"]
            for row in self.tables["events"]
            if row["dialog_id"] == dialog and row["kind"] == "seat_lost"
        ]
        return [role for role in ROLES if role not in gone]

    def say(self, dialog: str, role: str, round_: int, *, told: bool = True) -> int:
        """A message, stored, acknowledged, and shown to whoever is there; returns its number."""
        self.at += STEP_S
        author = self.number_of(dialog, role)
        key = f"key-{dialog}-{role}-{round_}"
        text = f"{role} in round {round_}"
        self.note(author, "sent", key=key, text=text, attempt=1)
        parts = [{"text": text}]
        seq = self.event(dialog, "said", role=role, key=key, round=round_, parts=parts)
        self.at += LATER_S
        if told:
            self.note(author, "acked", key=key, seq=seq)
        for reader in self._here(dialog):
            self.note(
                self.number_of(dialog, reader),
                "frame",
                name="message",
                via="live",
                applied="new",
                seq=seq,
                round=round_,
                role=role,
                parts=parts,
                key=key if reader == role else None,
            )
        return seq

    def show(self, dialog: str, name: str, seq: int, **payload: Any) -> None:
        """A frame other than a message, to whoever is there."""
        for reader in self._here(dialog):
            number = self.number_of(dialog, reader)
            line = {"name": name, "via": "live", "applied": "new", "seq": seq}
            self.note(number, "frame", **line, **payload)

    def lose(self, dialog: str, role: str, why: str = "grace") -> None:
        """A seat is lost; the other person goes on alone."""
        self.at += STEP_S
        number = self.number_of(dialog, role)
        settlement = {"arrival_id": f"a{number}", "release": "left", "cents": 0}
        lost = {"role": role, "why": why, "phase": "solo", "settlement": settlement}
        seq = self.event(dialog, "seat_lost", **lost)
        self.show(dialog, "phase", seq, phase="solo")
        row = self.row("dialogs", id=dialog)
        row["phase"] = "solo"
        self.row("seats", dialog_id=dialog, role=role)["status"] = "lost"
        self.release(number, "left", 0, dialog)
        self.tables["relaunches"].append({"dialog_id": dialog, "item_id": row["item_id"]})

    def tell(self, dialog: str, to: str, key: str = "team-1") -> int:
        """The team writes to one of them; the other page learns only that something happened."""
        self.at += STEP_S
        seq = self.event(dialog, "told", key=key, to=to, text="please go on")
        for reader in self._here(dialog):
            line: Line = {"via": "live", "applied": "new", "seq": seq}
            shown = {"name": "told", "text": "please go on"}
            hidden = {"name": "phase", "phase": "paired"}
            self.note(
                self.number_of(dialog, reader),
                "frame",
                **line,
                **(shown if reader == to else hidden),
            )
        return seq

    def extend(self, dialog: str) -> None:
        """The team gives more time."""
        self.at += STEP_S
        seq = self.event(dialog, "extended", key="team-2", by_s=300)
        self.show(dialog, "extended", seq, turn_ends_at=self.at + 180, grace_ends_at=None)

    def end(
        self, dialog: str, outcome: str, release: str, *, cents: int = 150, key: str = ""
    ) -> None:
        """The dialog ends; whoever is there is released and paid, by the team with a `key`."""
        here = self._here(dialog)
        settlements = [
            {"arrival_id": f"a{self.number_of(dialog, r)}", "release": release, "cents": cents}
            for r in here
        ]
        last = {"outcome": outcome, "settlements": settlements, "waiting_again": []}
        self.event(dialog, "ended", **last, reason="", key=key)
        self.row("dialogs", id=dialog).update(phase="ended", outcome=outcome)
        for role in here:
            self.row("seats", dialog_id=dialog, role=role)["status"] = "done"
            self.release(self.number_of(dialog, role), release, cents, dialog)
            self.leave(self.number_of(dialog, role))

    # --- The end ---------------------------------------------------------------------------

    def release(self, number: int, release: str, cents: int, dialog: str | None = None) -> None:
        arrival = f"a{number}"
        self.row("arrivals", id=arrival)["status"] = "released"
        self.tables["releases"].append(
            {
                "arrival_id": arrival,
                "dialog_id": dialog,
                "release": release,
                "code": f"code-{number}",
                "at": self.at,
            }
        )
        if cents:
            reason = "dialog" if dialog else "waiting"
            row = {"arrival_id": arrival, "reason": reason, "cents": cents}
            self.tables["ledger"].append(row)

    def leave(self, number: int) -> None:
        """The worker is told how it ended, and goes."""
        release = self.row("releases", arrival_id=f"a{number}")
        owed = [r["cents"] for r in self.tables["ledger"] if r["arrival_id"] == f"a{number}"]
        self.note(
            number,
            "released",
            release=release["release"],
            outcome=None,
            cents=sum(owed),
            code=release["code"],
        )
        self.note(number, "answered", name="finish", answer={"ok": True})


def all_is_well() -> Story:
    """A complete dialog `d1` of 1 and 2; `d2`, in which 3 finishes alone without 4; 5, who
    waits for a minute in vain; `d3` of 7 and 8, which the team steers and ends."""
    story = Story()
    for item in ("i1", "i2"):
        story.item(item)
    for number, kind in ((1, "normal"), (2, "slow"), (3, "normal"), (4, "leaver"), (5, "flaky")):
        story.person(number, kind)
    story.open("d1", "i1", 1, 2)
    story.open("d2", "i2", 3, 4)
    for round_ in range(1, 11):
        story.say("d1", "questioner", round_)
        story.say("d1", "answerer", round_)
        if round_ <= 2:
            story.say("d2", "questioner", round_)
            story.say("d2", "answerer", round_)
        if round_ == 3:
            story.say("d2", "questioner", round_)
            story.note(4, "vanished")
            story.show("d2", "partner", story.event("d2", "away", role="answerer"), present=False)
            story.logs[4].pop()
        if round_ == 5:
            story.lose("d2", "answerer")
        if round_ > 5:
            story.say("d2", "questioner", round_ - 2)
    story.end("d1", "complete", "completed")
    story.say("d2", "questioner", 9)
    story.say("d2", "questioner", 10)
    # Its place is free again, and taken by nobody.
    story.end("d2", "solo", "finished_alone")
    story.at = 1000.0 + 65.0
    story.release(5, "never_paired", 20)
    story.leave(5)
    story.item("i0")
    story.person(7)
    story.person(8)
    story.open("d3", "i0", 7, 8)
    story.say("d3", "questioner", 1)
    story.tell("d3", "answerer")
    story.extend("d3")
    story.say("d3", "answerer", 1)
    story.end("d3", "abandoned", "ended_by_team", cents=40, key="team-3")
    story.tables["relaunches"].append({"dialog_id": "d3", "item_id": "i0"})
    return story
