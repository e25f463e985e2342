"""What a set-up installs is pinned by content and tied to no one's package index."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
REQUIREMENTS = sorted((ROOT / "requirements").glob("*.txt"))


@pytest.mark.parametrize("path", REQUIREMENTS, ids=lambda path: path.name)
def test_every_requirement_has_hashes_and_none_an_address(path: Path) -> None:
    text = path.read_text()
    pins = re.split(r"\n(?=[a-zA-Z0-9])", text)
    assert pins
    for pin in pins:
        assert re.match(r"[a-zA-Z0-9._-]+(\[[^\]]+\])?==\S+", pin), pin.splitlines()[0]
        assert "--hash=sha256:" in pin, pin.splitlines()[0]
    assert "://" not in text
    assert "--index-url" not in text
    assert "--find-links" not in text


def test_the_front_end_lock_holds_checksums_and_no_addresses() -> None:
    lock = json.loads((ROOT / "frontend" / "package-lock.json").read_text())
    packages = {name: entry for name, entry in lock["packages"].items() if name}
    assert packages
    for name, entry in packages.items():
        assert entry["integrity"].startswith("sha512-"), name
        assert "resolved" not in entry, name


def test_pins_agree_between_the_files() -> None:
    pinned: dict[str, str] = {}
    for path in REQUIREMENTS:
        for name, version in re.findall(r"^([a-zA-Z0-9._-]+)==(\S+)", path.read_text(), re.M):
            assert pinned.setdefault(name, version) == version, name
