"""Serving needs both built pages."""

from __future__ import annotations

from pathlib import Path

import pytest

import duologue.serve
from duologue.problems import BadInput


@pytest.mark.parametrize("missing", ["worker.html", "monitor.html"])
def test_nothing_is_served_while_one_of_the_pages_is_not_built(
    missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    static = tmp_path / "static"
    static.mkdir()
    pages = {"worker.html", "monitor.html"}
    for page in pages:
        (static / page).write_text("<!doctype html>")
    monkeypatch.setattr(duologue.serve, "files", lambda _package: tmp_path)
    assert duologue.serve.static_files() == static
    (static / missing).unlink()
    with pytest.raises(BadInput, match="not built"):
        duologue.serve.static_files()
