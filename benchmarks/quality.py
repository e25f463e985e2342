"""How often do the quality flags err, what do they find, and what do they cost?

False alarms are counted on the real dialogs of `../shared` when they are there, findings on
simulated spammers. `python -m benchmarks.quality --write` writes the figures into the page of the
flags, which a test compares with a fresh run.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import orjson

from dialogs.files import write_whole
from dialogs.quality import Flag, Line, Talk, findings, load, mean_words, summary
from dialogs.rules import Role
from duologue.simulate.corpus import Corpus
from duologue.simulate.spammers import EXPECTED, Half, Spam, Spammed, spammed

ROOT: Final = Path(__file__).parents[1]
REAL: Final = ROOT.parent / "shared/data/visdialconv/visdial_1.0_val_crowdsourced.json"
PAGE: Final = ROOT / "docs/reference/quality-flags.md"
QUESTION: Final = "How often do the quality flags err, what do they find, and what do they cost?"

DIALOGS: Final = 100
"""Simulated dialogs of each kind and half."""
QUICK_DIALOGS: Final = 20
REPETITIONS: Final = 5

NOT_MEASURABLE: Final = {
    Flag.TOO_FAST: "no times in VisDial",
    Flag.PASTED: "no pastes in VisDial",
    Flag.SAME_ADDRESS: "no addresses in VisDial",
}
OF_PERSONS: Final = frozenset(
    (Flag.PASTED, Flag.MONOTONOUS, Flag.LANGUAGE, Flag.LENGTH_OUTLIER, Flag.SAME_ADDRESS)
)
"""Flags that are about a person or a dialog, and name no message."""


def real_talks(file: Path = REAL) -> list[Talk]:
    """The dialogs of a VisDial file, each person counted as one worker of the study."""
    data = orjson.loads(file.read_bytes())["data"]
    questions, answers = data["questions"], data["answers"]
    talks = []
    for dialog in data["dialogs"]:
        lines: list[Line] = []
        for number, turn in enumerate(dialog["dialog"], 1):
            lines.append(Line(Role.QUESTIONER, number, questions[turn["question"]], len(lines)))
            lines.append(Line(Role.ANSWERER, number, answers[turn["answer"]], len(lines)))
        talks.append(Talk(dialog["caption"], "en", tuple(lines)))
    lengths = {}
    for role in Role:
        means = [mean for talk in talks if (mean := mean_words(talk.of(role))) is not None]
        if (found := summary(means)) is not None:
            lengths[role] = found
    return [replace(talk, lengths=lengths) for talk in talks]


def real_texts(file: Path = REAL) -> list[Line]:
    """All different questions and answers of a VisDial file, each for itself."""
    data = orjson.loads(file.read_bytes())["data"]
    tables = ((Role.QUESTIONER, data["questions"]), (Role.ANSWERER, data["answers"]))
    return [Line(role, 1, text, 1) for role, table in tables for text in table]


def false_alarms(talks: Sequence[Talk], texts: Sequence[Line]) -> dict[str, Any]:
    """How many good dialogs, messages of them, and single texts each flag is raised for."""
    single: Counter[Flag] = Counter()
    for line in texts:
        single.update({each.flag for each in findings(Talk("", "en", (line,)))})
    dialogs: Counter[Flag] = Counter()
    messages: Counter[Flag] = Counter()
    reasons: list[str] = []
    for talk in talks:
        found = findings(talk)
        dialogs.update({each.flag for each in found})
        messages.update(flag for flag, _ in {(f.flag, f.seq) for f in found if f.seq is not None})
        reasons += [each.reason for each in found]
    return {
        "dialogs": len(talks),
        "messages": sum(len(talk.lines) for talk in talks),
        "texts": len(texts),
        "by_flag": {
            flag.value: {
                "dialogs": dialogs[flag],
                "messages": messages[flag],
                "texts": single[flag],
            }
            for flag in Flag
            if flag not in NOT_MEASURABLE
        },
        "reasons": reasons,
    }


def recall(dialogs: int) -> dict[str, Any]:
    """How many spammers and spam messages are found, by half and kind."""
    scripts = Corpus.builtin().scripts
    counted: dict[str, Any] = {}
    for half in Half:
        counted[half.value] = {}
        for kind in Spam:
            rng = random.Random(f"{kind.value} {half.value}")
            made = (spammed(kind, scripts[n % len(scripts)], rng, half) for n in range(dialogs))
            counted[half.value][kind.value] = _found(kind, made)
    return counted


def _found(kind: Spam, made: Iterable[Spammed]) -> dict[str, Any]:
    flag = EXPECTED[kind]
    count: Counter[str] = Counter()
    for each in made:
        by_flag = defaultdict(set)
        for finding in findings(each.talk):
            by_flag[finding.flag].add(finding.seq)
        flagged = {seq for seqs in by_flag.values() for seq in seqs if seq is not None}
        count["dialogs"] += 1
        count["dialogs_found"] += flag in by_flag
        count["dialogs_found_by_any"] += bool(by_flag)
        count["messages"] += len(each.spam)
        count["messages_found"] += len(by_flag[flag] & each.spam)
        count["others"] += len(each.talk.lines) - len(each.spam)
        count["others_flagged"] += len(flagged - each.spam)
    names = (
        "dialogs", "dialogs_found", "dialogs_found_by_any", "messages", "messages_found", "others",
        "others_flagged",
    )  # fmt: skip
    return {"flag": flag.value, **{name: count[name] for name in names}}


def speed(talks: Sequence[Talk]) -> dict[str, float]:
    """Milliseconds of processor time a dialog: the first time, and the fastest repetition."""
    load()
    times = []
    for _ in range(REPETITIONS):
        start = time.process_time()
        for talk in talks:
            findings(talk)
        times.append(1000 * (time.process_time() - start) / len(talks))
    return {"first_ms": times[0], "fastest_ms": min(times)}


def run(*, quick: bool = False, tell: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """All figures; without `../shared` those of the real dialogs are left out."""
    rng = random.Random(1)
    scripts = Corpus.builtin().scripts
    talks = [spammed(Spam.ONE_PERSON, scripts[n % 6], rng, Half.SEEN).talk for n in range(100)]
    result: dict[str, Any] = {"question": QUESTION}
    if REAL.exists():
        tell("the real dialogs")
        talks = real_talks()
        result["speed"] = speed(talks)
        result["false_alarms"] = false_alarms(talks, real_texts())
    else:
        tell(f"{REAL} is not there: false alarms are not counted")
        result["speed"] = speed(talks)
    tell("the simulated spammers")
    result["recall"] = recall(QUICK_DIALOGS if quick else DIALOGS)
    return result


# --- Shown and written ------------------------------------------------------------------------


def table(result: dict[str, Any]) -> str:
    """The figures as text."""
    parts = [recall_part(result["recall"])]
    if (alarms := result.get("false_alarms")) is not None:
        parts = [false_alarms_part(alarms), *parts]
    cost = result["speed"]
    parts.append(
        f"{cost['fastest_ms']:.2f} ms of processor time a dialog ({cost['first_ms']:.2f} ms the "
        "first time)"
    )
    return "\n\n".join(parts)


def false_alarms_part(alarms: dict[str, Any]) -> str:
    rows = [
        f"| flag | of {alarms['dialogs']} dialogs | of {alarms['messages']:,} messages | "
        f"of {alarms['texts']:,} texts |",
        "|---|---|---|---|",
    ]
    for flag in Flag:
        counted = alarms["by_flag"].get(flag.value)
        if counted is None:
            rows.append(f"| `{flag}` | not measurable: {NOT_MEASURABLE[flag]} | | |")
        else:
            messages = "" if flag in OF_PERSONS else counted["messages"]
            texts = "" if flag in OF_PERSONS or flag is Flag.REPEATS else counted["texts"]
            rows.append(f"| `{flag}` | {counted['dialogs']} | {messages} | {texts} |")
    reasons = [f"- {reason}" for reason in alarms["reasons"]]
    return "\n".join(
        [*rows, "", "All that was found in the dialogs:", "", *(reasons or ["- nothing"])]
    )


def recall_part(counted: dict[str, Any]) -> str:
    seen, held_out = counted[Half.SEEN], counted[Half.HELD_OUT]
    rows = [
        "| the spammer | flag | dialogs, held out | messages, held out | dialogs, seen | "
        "messages, seen |",
        "|---|---|---|---|---|---|",
    ]
    for kind in Spam:
        cells = [cell for half in (held_out, seen) for cell in _cells(half[kind.value])]
        rows.append(f"| {kind} | `{EXPECTED[kind]}` | {' | '.join(cells)} |")
    everything = [each for half in counted.values() for each in half.values()]
    others = sum(each["others"] for each in everything)
    flagged = sum(each["others_flagged"] for each in everything)
    return "\n".join(
        [*rows, "", f"Of the {others:,} other messages in these dialogs, {flagged:,} are flagged."]
    )


def _cells(counted: dict[str, Any]) -> tuple[str, str]:
    dialogs = f"{counted['dialogs_found']} of {counted['dialogs']}"
    if Flag(counted["flag"]) in OF_PERSONS:
        return dialogs, ""
    return dialogs, f"{counted['messages_found']} of {counted['messages']}"


def put_in(page: str, name: str, part: str) -> str:
    """The page with `part` between the markers of that name."""
    begin, end = f"<!-- measured: {name} -->", f"<!-- end of {name} -->"
    pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    written, times = pattern.subn(lambda _: f"{begin}\n{part}\n{end}", page)
    if times != 1:
        raise ValueError(f"the page has {times} parts {name!r}, not one")
    return written


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures, and write them into the page with `--write`; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write them into {PAGE.name}")
    given = parser.parse_args(arguments)
    result = run(tell=lambda line: print(f"  {line}", file=sys.stderr, flush=True))
    print(table(result))
    if given.write:
        page = put_in(PAGE.read_text("utf-8"), "recall", recall_part(result["recall"]))
        if "false_alarms" in result:
            page = put_in(page, "false alarms", false_alarms_part(result["false_alarms"]))
        write_whole(PAGE, page.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
