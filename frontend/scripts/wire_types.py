"""Writes src/generated/wire.ts from the payload models that chatserver/wire.py exports.

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

from pydantic.json_schema import models_json_schema

from chatserver.wire import EXPORTED

FRONTEND = Path(__file__).resolve().parent.parent
TARGET = FRONTEND / "src" / "generated" / "wire.ts"
HEADER = "/* Made by `make types` from chatserver/wire.py. Change that file, not this one. */"


def schema() -> dict[str, Any]:
    """One JSON schema that defines every exported model, and one object that names them all."""
    _, whole = models_json_schema(
        [(model, "serialization") for model in EXPORTED], ref_template="#/$defs/{model}"
    )
    plain = _without_titles(whole)
    assert isinstance(plain, dict)
    names = [model.__name__ for model in EXPORTED]
    return {
        "title": "Wire",
        "description": "Every payload by its name.",
        "type": "object",
        "additionalProperties": False,
        "required": names,
        "properties": {name: {"$ref": f"#/$defs/{name}"} for name in names},
        **plain,
    }


def types() -> str:
    """The TypeScript source."""
    done = subprocess.run(
        [
            FRONTEND / "node_modules" / ".bin" / "json2ts",
            # A list with limits is a list, not a union of tuples of every length.
            "--ignoreMinAndMaxItems",
            "--no-additionalProperties",
            "--bannerComment",
            HEADER,
            "--style.printWidth=100",
        ],
        input=json.dumps(schema()),
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
    made = types()
    if "--check" not in sys.argv:
        TARGET.parent.mkdir(parents=True, exist_ok=True)
        TARGET.write_text(made)
        return
    there = TARGET.read_text() if TARGET.exists() else ""
    if made != there:
        lines = difflib.unified_diff(
            there.splitlines(), made.splitlines(), "wire.ts", "from wire.py", lineterm=""
        )
        print("\n".join(lines))
        sys.exit("The generated types differ from chatserver/wire.py: run `make types`.")


if __name__ == "__main__":
    main()
