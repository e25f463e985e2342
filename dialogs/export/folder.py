"""The folder of an export: there as a whole, or not at all.

The files are written beside it and moved into place by one rename, so a folder with a manifest
is a finished export. Only an export is ever replaced.
"""

from __future__ import annotations

import hashlib
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import orjson

from dialogs.files import PARTIAL_SUFFIX, write_whole

MANIFEST: Final = "manifest.json"
KIND: Final = "duologue-export"


class ExportError(ValueError):
    """Nothing was exported, and why; the message is one line."""


def check_folder(out: Path) -> None:
    """Make sure that an export may be written to `out`.

    Raises:
        ExportError: something else than an export is there.
    """
    try:
        there = {path.name for path in out.iterdir()}
    except FileNotFoundError:
        return
    except OSError as error:
        raise ExportError(f"{out}: {error.strerror}; name a folder that is new or empty") from None
    if not there:
        return
    if (files := _files_of(out / MANIFEST)) is None:
        raise ExportError(f"{out}: holds other files; name a folder that is new or empty")
    if others := sorted(there - files - {MANIFEST}):
        raise ExportError(f"{out}: holds {others[0]} beside an export; move it elsewhere")


def _files_of(manifest: Path) -> set[str] | None:
    """The names that an export's manifest lists; None if this is not one."""
    try:
        content = orjson.loads(manifest.read_bytes())
        return set(content["files"]) if content["kind"] == KIND else None
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError):
        return None


def write_folder(out: Path, files: Mapping[str, bytes], about: Mapping[str, Any]) -> None:
    """Write `files` and a manifest that says `about` and their hashes; replace an older export.

    Raises:
        ExportError: something else than an export is there, or it cannot be written.
    """
    out = out.resolve()
    check_folder(out)
    token = secrets.token_hex(8)
    partial = out.with_name(f".{out.name}.{token}{PARTIAL_SUFFIX}")
    older = out.with_name(f".{out.name}.{token}.older")
    listed = {
        name: {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
        for name, data in sorted(files.items())
    }
    manifest = orjson.dumps({"kind": KIND, **about, "files": listed}, option=orjson.OPT_INDENT_2)
    try:
        partial.mkdir(parents=True)
        for name, data in {**files, MANIFEST: manifest + b"\n"}.items():
            write_whole(partial / name, data)
        if out.exists() and any(out.iterdir()):
            out.rename(older)
        try:
            partial.rename(out)
        except OSError:
            if older.exists():
                older.rename(out)
            raise
    except OSError as error:
        raise ExportError(f"{out}: cannot be written: {error.strerror or error}") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    shutil.rmtree(older, ignore_errors=True)
