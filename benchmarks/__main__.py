"""The overview: `python -m benchmarks [names] [--quick] [--json FILE]` (`make bench`).

Each benchmark answers one question, on servers of its own. `hits` and `reading` take long, and
`quality` needs no server; they run when they are named (`make bench-hits`, …). Exit code 1 means
that one failed: requests were refused, a database was less durable than it must be, or a step grows
much faster than its study. A target that is missed is told, and is no failure.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import orjson

from benchmarks import hits, messages, monitor, page, pairing, quality, reading
from tests.services import ValkeyServer

Tell = Callable[[str], None]


def _messages(quick: bool, tell: Tell) -> tuple[dict[str, Any], str]:
    result = messages.run(quick=quick, tell=tell)
    return result, messages.table(result)


def _pairing(quick: bool, tell: Tell) -> tuple[dict[str, Any], str]:
    with ValkeyServer() as valkey:
        result = asyncio.run(pairing.run(valkey.url))
    return result, pairing.table(result)


def _hits(quick: bool, tell: Tell) -> tuple[dict[str, Any], str]:
    result = hits.run(quick=quick, tell=tell)
    return result, hits.table(result)


def _monitor(quick: bool, tell: Tell) -> tuple[dict[str, Any], str]:
    result = monitor.run(quick=quick, tell=tell)
    return result, monitor.table(result)


def _page(quick: bool, tell: Tell) -> tuple[dict[str, Any], str]:
    result = page.run(quick=quick, tell=tell)
    return result, page.table(result)


def _quality(quick: bool, tell: Tell) -> tuple[dict[str, Any], str]:
    result = quality.run(quick=quick, tell=tell)
    return result, quality.table(result)


def _reading(quick: bool, tell: Tell) -> tuple[dict[str, Any], str]:
    result = reading.run(quick=quick, tell=tell)
    return result, reading.table(result)


BENCHMARKS: Final[dict[str, Callable[[bool, Tell], tuple[dict[str, Any], str]]]] = {
    "messages": _messages,
    "pairing": _pairing,
    "hits": _hits,
    "monitor": _monitor,
    "page": _page,
    "quality": _quality,
    "reading": _reading,
}
USUAL: Final = ("messages", "pairing")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the named benchmarks, by default the usual ones; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--quick", action="store_true", help="shorter, and less exact")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write the results")
    given = parser.parse_args(arguments)
    if unknown := [name for name in given.names if name not in BENCHMARKS]:
        parser.error(f"no benchmark {unknown[0]!r}; there are {', '.join(BENCHMARKS)}")
    results: dict[str, Any] = {}
    problems: list[str] = []
    for name in given.names or USUAL:
        print(f"{name} …", file=sys.stderr, flush=True)
        result, shown = BENCHMARKS[name](
            given.quick, lambda line: print(f"  {line}", file=sys.stderr, flush=True)
        )
        results[name] = result
        problems += result.get("problems", [])
        print(f"\n{result['question']}\n\n{shown}\n", flush=True)
    if given.json is not None:
        given.json.write_bytes(orjson.dumps(results, option=orjson.OPT_INDENT_2))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
