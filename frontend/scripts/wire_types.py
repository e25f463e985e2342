"""Writes src/generated/*.ts from the payload models that the server exports: wire.ts for the
worker's page from chatserver/wire.py, monitor.ts for the team's from chatserver/monitor/wire.py.

python frontend/scripts/wire_types.py            # write it
python frontend/scripts/wire_types.py --check    # fail when what is there differs
"""

from __future__ import annotations

import difflib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from chatserver.monitor.wire import MONITOR_EXPORTED
from chatserver.wire import EXPORTED

FRONTEND = Path(__file__).resolve().parent.parent
GENERATED = FRONTEND / "src" / "generated"
SOURCES: dict[str, tuple[str, tuple[type[BaseModel], ...]]] = {
    "wire": ("chatserver/wire.py", EXPORTED),
    "monitor": ("chatserver/monitor/wire.py", MONITOR_EXPORTED),
}
"""The files that are made, and from what."""


def schema(models: tuple[type[BaseModel], ...]) -> dict[str, Any]:
    """One JSON schema that defines every exported model, and one object that names them all."""
    _, whole = models_json_schema(
        [(model, "serialization") for model in models], ref_template="#/$defs/{model}"
    )
    plain = _without_titles(whole)
    assert isinstance(plain, dict)
    names = [model.__name__ for model in models]
    return {
        "title": "Wire",
        "description": "Every payload by its name.",
        "type": "object",
        "additionalProperties": False,
        "required": names,
        "properties": {name: {"$ref": f"#/$defs/{name}"} for name in names},
        **plain,
    }


def types(source: str, models: tuple[type[BaseModel], ...]) -> str:
    """The TypeScript source."""
    header = f"/* Made by `make types` from {source}. Change that file, not this one. */"
    done = subprocess.run(
        [
            FRONTEND / "node_modules" / ".bin" / "json2ts",
            # A list with limits is a list, not a union of tuples of every length.
            "--ignoreMinAndMaxItems",
            "--no-additionalProperties",
            "--bannerComment",
            header,
            "--style.printWidth=100",
        ],
        input=json.dumps(schema(models)),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"json2ts failed:\n{done.stderr}")
    return done.stdout


def _without_titles(node: Any) -> Any:
    """Drops the titles that pydantic gives every field, each of which would become a type."""
    match node:
        case dict():
            return {
                key: _without_titles(value)
                for key, value in node.items()
                # A field may itself be called "title": then its value is a schema.
                if not (key == "title" and isinstance(value, str))
            }
        case list():
            return [_without_titles(value) for value in node]
        case _:
            return node


def main() -> None:
    for name, (source, models) in SOURCES.items():
        made, target = types(source, models), GENERATED / f"{name}.ts"
        if "--check" in sys.argv:
            _compare(target, made, source)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(made)


def _compare(target: Path, made: str, source: str) -> None:
    there = target.read_text() if target.exists() else ""
    if made != there:
        lines = difflib.unified_diff(
            there.splitlines(), made.splitlines(), target.name, f"from {source}", lineterm=""
        )
        print("\n".join(lines))
        sys.exit(f"The generated types differ from {source}: run `make types`.")


if __name__ == "__main__":
    main()
