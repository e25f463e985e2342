"""Scenes drawn by program, with captions: items for a demonstration without photographs.

There are twelve kinds; chance decides colours, counts and places, so that any number of
pictures differ. `canvas` draws shapes and light, `things` what stands about in several scenes.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Final

import orjson
from PIL import Image

from duologue.scenes import cold, indoors, nature, town
from duologue.scenes.canvas import Canvas

Scene = Callable[[Canvas], str]
"""Draws on the canvas and returns the caption: what a questioner may know of the picture."""

SCENES: Final[tuple[Scene, ...]] = (
    indoors.kitchen,
    nature.beach,
    town.street,
    indoors.living_room,
    nature.park,
    town.harbour,
    indoors.desk,
    nature.farm,
    town.market,
    indoors.bedroom,
    cold.winter,
    cold.camp,
)

ITEMS_FILE: Final = "items.jsonl"


def draw(number: int, seed: int = 0) -> tuple[Image.Image, str]:
    """Picture `number` (from 1) and its caption; the same arguments give the same picture."""
    canvas = Canvas(Random(f"{seed}-{number}"))
    caption = SCENES[(number - 1) % len(SCENES)](canvas)
    return canvas.finished(), caption


def write_scenes(folder: Path, count: int = 12, seed: int = 0) -> Path:
    """Draw `count` scenes into `folder` as PNG and return the path of their items file."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for number in range(1, count + 1):
        image, caption = draw(number, seed)
        name = f"scene-{number:02}.png"
        image.save(folder / name)
        row = {"image": name, "image_id": number, "caption": caption}
        lines.append(orjson.dumps(row) + b"\n")
    file = folder / ITEMS_FILE
    file.write_bytes(b"".join(lines))
    return file
