"""Write the reference pages into `docs/reference`."""

from pathlib import Path

from duologue.reference import PAGES

folder = Path(__file__).parents[2] / "docs" / "reference"
folder.mkdir(parents=True, exist_ok=True)
for name, make in PAGES.items():
    (folder / name).write_text(make(), encoding="utf-8")
