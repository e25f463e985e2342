"""A canvas of 800 × 600 for drawings in flat colours with soft shadows, drawn large and shrunk."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import Final

from PIL import Image, ImageColor, ImageDraw, ImageFilter, ImageFont

WIDTH: Final = 800
HEIGHT: Final = 600
_SCALE: Final = 3
"""Everything is drawn this many times larger: shrinking smooths the edges."""

Colour = str | tuple[int, int, int] | tuple[int, int, int, int]
Point = tuple[float, float]


def rgb(colour: Colour) -> tuple[int, int, int]:
    if isinstance(colour, str):
        red, green, blue = ImageColor.getrgb(colour)[:3]
        return red, green, blue
    return colour[0], colour[1], colour[2]


def mix(one: Colour, two: Colour, share: float) -> tuple[int, int, int]:
    """`one`, with a share (0 to 1) of `two`."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(rgb(one), rgb(two), strict=True))
    return red, green, blue


def dark(colour: Colour, by: float = 0.2) -> tuple[int, int, int]:
    return mix(colour, "#1b1a2e", by)


def light(colour: Colour, by: float = 0.25) -> tuple[int, int, int]:
    return mix(colour, "#ffffff", by)


def clear(colour: Colour, opacity: float) -> tuple[int, int, int, int]:
    return (*rgb(colour), round(255 * opacity))


class Canvas:
    """Coordinates are in pixels of the finished picture; `rng` decides all variation."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self._image = Image.new("RGB", (WIDTH * _SCALE, HEIGHT * _SCALE), "white")
        self._draw = ImageDraw.Draw(self._image, "RGBA")

    def finished(self) -> Image.Image:
        return self._image.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)

    # --- Shapes ----------------------------------------------------------------------------

    def rect(self, x: float, y: float, w: float, h: float, fill: Colour, radius: float = 0) -> None:
        """A rectangle with its top left corner at (x, y)."""
        box = self._box(x, y, x + w, y + h)
        self._draw.rounded_rectangle(box, radius * _SCALE, fill)

    def oval(self, x: float, y: float, rx: float, ry: float, fill: Colour) -> None:
        """An ellipse around (x, y)."""
        self._draw.ellipse(self._box(x - rx, y - ry, x + rx, y + ry), fill)

    def disc(self, x: float, y: float, r: float, fill: Colour) -> None:
        self.oval(x, y, r, r, fill)

    def pie(
        self, x: float, y: float, rx: float, ry: float, start: float, end: float, fill: Colour
    ) -> None:
        """A part of an ellipse, in degrees clockwise from the right."""
        self._draw.pieslice(self._box(x - rx, y - ry, x + rx, y + ry), start, end, fill)

    def arc(
        self, x: float, y: float, rx: float, ry: float, start: float, end: float,
        fill: Colour, width: float = 2,
    ) -> None:  # fmt: skip
        box = self._box(x - rx, y - ry, x + rx, y + ry)
        self._draw.arc(box, start, end, fill, max(1, round(width * _SCALE)))

    def poly(self, points: Sequence[Point], fill: Colour) -> None:
        self._draw.polygon([(x * _SCALE, y * _SCALE) for x, y in points], fill)

    def blob(self, points: Sequence[Point], fill: Colour) -> None:
        """A closed shape with a smooth outline through the points."""
        self.poly(_smooth(points, closed=True), fill)

    def line(self, points: Sequence[Point], fill: Colour, width: float = 2) -> None:
        """A line with round ends and corners."""
        scaled = [(x * _SCALE, y * _SCALE) for x, y in points]
        thick = max(1, round(width * _SCALE))
        self._draw.line(scaled, fill, thick, joint="curve")
        for x, y in (scaled[0], scaled[-1]):
            half = thick / 2
            self._draw.ellipse((x - half, y - half, x + half, y + half), fill)

    def curve(self, points: Sequence[Point], fill: Colour, width: float = 2) -> None:
        self.line(_smooth(points, closed=False), fill, width)

    def text(self, x: float, y: float, text: str, size: float, fill: Colour) -> None:
        """A word in the middle of (x, y)."""
        font = ImageFont.load_default(size * _SCALE)
        self._draw.text((x * _SCALE, y * _SCALE), text, fill, font, anchor="mm")

    # --- Light -----------------------------------------------------------------------------

    def fade(self, x: float, y: float, w: float, h: float, top: Colour, bottom: Colour) -> None:
        """A rectangle that changes its colour from top to bottom."""
        left, upper, right, lower = (round(v) for v in self._box(x, y, x + w, y + h))
        for row in range(upper, lower):
            colour = mix(top, bottom, (row - upper) / max(1, lower - upper))
            self._draw.line([(left, row), (right - 1, row)], colour)

    def shadow(
        self, x: float, y: float, rx: float, ry: float, opacity: float = 0.25,
        colour: Colour = "#1b1a2e",
    ) -> None:  # fmt: skip
        """A soft dark ellipse, or with a light colour a glow."""
        blur = max(1.5, ry * 0.35)
        margin = 3 * blur
        size = (round(2 * (rx + margin)), round(2 * (ry + margin)))
        # Soft as it is, it needs no more than the finished picture's pixels.
        mask = Image.new("L", size, 0)
        ImageDraw.Draw(mask).ellipse(
            (margin, margin, size[0] - margin, size[1] - margin), round(255 * opacity)
        )
        mask = mask.filter(ImageFilter.GaussianBlur(blur))
        mask = mask.resize((size[0] * _SCALE, size[1] * _SCALE), Image.Resampling.BILINEAR)
        at = (round((x - rx - margin) * _SCALE), round((y - ry - margin) * _SCALE))
        self._image.paste(rgb(colour), (*at, at[0] + mask.width, at[1] + mask.height), mask)

    def beam(self, points: Sequence[Point], colour: Colour, opacity: float) -> None:
        """A patch of light or shade with soft edges."""
        mask = Image.new("L", (WIDTH, HEIGHT), 0)
        ImageDraw.Draw(mask).polygon(list(points), round(255 * opacity))
        mask = mask.filter(ImageFilter.GaussianBlur(8)).resize(self._image.size)
        self._image.paste(rgb(colour), (0, 0), mask)

    # --- Chance ----------------------------------------------------------------------------

    def near(self, value: float, by: float) -> float:
        """A value within `by` of the given one."""
        return value + self.rng.uniform(-by, by)

    @staticmethod
    def _box(x0: float, y0: float, x1: float, y1: float) -> tuple[float, float, float, float]:
        return x0 * _SCALE, y0 * _SCALE, x1 * _SCALE, y1 * _SCALE


def _smooth(points: Sequence[Point], *, closed: bool, steps: int = 12) -> list[Point]:
    """A Catmull-Rom spline through the points."""
    count = len(points)
    found: list[Point] = []
    for i in range(count if closed else count - 1):
        before, a, b, after = (
            points[j % count] if closed else points[min(max(j, 0), count - 1)]
            for j in (i - 1, i, i + 1, i + 2)
        )
        for step in range(steps):
            t = step / steps
            found.append(
                (
                    _spline(before[0], a[0], b[0], after[0], t),
                    _spline(before[1], a[1], b[1], after[1], t),
                )
            )
    return found if closed else [*found, points[-1]]


def _spline(p0: float, p1: float, p2: float, p3: float, t: float) -> float:
    return 0.5 * (
        2 * p1
        + (p2 - p0) * t
        + (2 * p0 - 5 * p1 + 4 * p2 - p3) * t**2
        + (3 * p1 - p0 - 3 * p2 + p3) * t**3
    )


def around(x: float, y: float, r: float, degrees: float) -> Point:
    """The point at distance `r` from (x, y), clockwise from the right."""
    angle = math.radians(degrees)
    return x + r * math.cos(angle), y + r * math.sin(angle)
