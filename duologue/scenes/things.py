"""What stands about in several scenes: people, animals, trees, clouds, furniture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from duologue.scenes.canvas import Canvas, Colour, around, clear, dark, light, mix

PAINT: Final[Mapping[str, str]] = MappingProxyType(
    {
        "red": "#d1493f",
        "orange": "#e58a3c",
        "yellow": "#efc14a",
        "green": "#5c9a64",
        "blue": "#3f78b5",
        "purple": "#7d5ba6",
        "pink": "#e08fa6",
        "white": "#f4f1ea",
        "black": "#33333d",
        "brown": "#8a5a3c",
        "grey": "#8f959c",
        "turquoise": "#3fa7a3",
    }
)
"""Colours by the names that people use in captions."""

SKIN: Final = ("#f2c9a5", "#d9a27a", "#a9714b", "#7a4b31")
HAIR: Final = ("#2f2522", "#6b4429", "#c79a52", "#9b3f22", "#b9b4ad")


@dataclass(frozen=True, slots=True)
class Look:
    """How a person looks."""

    shirt: Colour
    trousers: Colour
    skin: Colour
    hair: Colour
    long_hair: bool = False
    hat: Colour | None = None


def a(noun: str) -> str:
    """The noun with its article."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def some_look(c: Canvas, shirt: str) -> Look:
    """A person in a shirt of the given colour, otherwise as chance has it."""
    rng = c.rng
    return Look(
        PAINT[shirt],
        rng.choice(["#39465f", "#5a4a42", "#4c5c54", "#7a7f88"]),
        rng.choice(SKIN),
        rng.choice(HAIR),
        rng.random() < 0.5,
    )


def person(c: Canvas, x: float, ground: float, tall: float, look: Look, wave: bool = False) -> None:
    """A person who stands and looks at us; `tall` in pixels."""
    u = tall / 100
    c.shadow(x, ground, 17 * u, 4 * u)
    shoe = dark(look.trousers, 0.5)
    for side in (-1, 1):
        c.line([(x + side * 6 * u, ground - 44 * u), (x + side * 7 * u, ground - 3 * u)],
               look.trousers, 9.5 * u)  # fmt: skip
        c.oval(x + side * 8.5 * u, ground - 1.5 * u, 6.5 * u, 3 * u, shoe)
    top = ground - 78 * u
    hands = [(x - 16.5 * u, ground - 44 * u), (x + 16.5 * u, ground - 44 * u)]
    elbows = [(x - 16 * u, ground - 58 * u), (x + 16 * u, ground - 58 * u)]
    if wave:
        elbows[1], hands[1] = (x + 21 * u, ground - 72 * u), (x + 22 * u, ground - 90 * u)
    for side, elbow, hand in zip((-1, 1), elbows, hands, strict=True):
        c.disc(*hand, 3.8 * u, look.skin)
        c.curve([(x + side * 10 * u, top + 5 * u), elbow, hand], dark(look.shirt, 0.12), 7 * u)
    c.rect(x - 12.5 * u, top, 25 * u, 38 * u, look.shirt, 9 * u)
    c.rect(x - 3.5 * u, top - 5 * u, 7 * u, 9 * u, dark(look.skin, 0.12), 3 * u)
    head(c, x, top - 11 * u, 11 * u, look)


def head(c: Canvas, x: float, y: float, r: float, look: Look) -> None:
    """A head seen from the front, around (x, y)."""
    if look.long_hair:
        c.rect(x - 1.14 * r, y - 0.6 * r, 2.28 * r, 2.0 * r, look.hair, 0.8 * r)
        c.rect(x - 0.55 * r, y + 0.5 * r, 1.1 * r, 1.1 * r, dark(look.skin, 0.12), 0.3 * r)
    c.oval(x, y, 0.92 * r, r, look.skin)
    c.pie(x, y - 0.18 * r, 1.03 * r, 0.98 * r, 180, 360, look.hair)
    c.blob([(x - r, y - 0.25 * r), (x - 0.2 * r, y - 0.5 * r), (x + 1.02 * r, y - 0.2 * r),
            (x + 0.6 * r, y - 0.95 * r), (x - 0.6 * r, y - 0.95 * r)], look.hair)  # fmt: skip
    for side in (-1, 1):
        c.disc(x + side * 0.34 * r, y + 0.08 * r, 0.09 * r, "#2b2430")
        c.oval(x + side * 0.52 * r, y + 0.38 * r, 0.16 * r, 0.1 * r, clear("#e0705c", 0.35))
    c.arc(x, y + 0.32 * r, 0.3 * r, 0.24 * r, 20, 160, dark(look.skin, 0.55), 0.09 * r)
    if look.hat is not None:
        c.pie(x, y - 0.42 * r, 1.05 * r, 0.95 * r, 180, 360, look.hat)
        c.oval(x, y - 0.42 * r, 1.5 * r, 0.24 * r, dark(look.hat, 0.15))


def cat(c: Canvas, x: float, ground: float, size: float, fur: Colour, asleep: bool) -> None:
    """A cat, curled up or sitting; `size` is its height when it sits."""
    u, shade = size / 100, dark(fur, 0.22)
    c.shadow(x, ground - 2 * u, (75 if asleep else 42) * u, 8 * u)
    if asleep:
        c.oval(x, ground - 28 * u, 70 * u, 29 * u, fur)
        for k in range(3):
            c.arc(x + (4 + 22 * k) * u, ground - 24 * u, 14 * u, 26 * u, 230, 300, shade, 5 * u)
        c.curve([(x + 60 * u, ground - 16 * u), (x + 20 * u, ground - 3 * u),
                 (x - 40 * u, ground - 6 * u)], shade, 13 * u)  # fmt: skip
        hx, hy = x - 46 * u, ground - 32 * u
    else:
        c.curve([(x + 26 * u, ground - 8 * u), (x + 58 * u, ground - 14 * u),
                 (x + 54 * u, ground - 48 * u)], shade, 11 * u)  # fmt: skip
        c.blob([(x - 30 * u, ground), (x - 24 * u, ground - 50 * u), (x, ground - 68 * u),
                (x + 24 * u, ground - 48 * u), (x + 32 * u, ground)], fur)  # fmt: skip
        for side in (-1, 1):
            c.oval(x + side * 11 * u, ground - 5 * u, 9 * u, 6 * u, light(fur))
        hx, hy = x, ground - 76 * u
    for side in (-1, 1):
        c.poly([(hx + side * 24 * u, hy - 4 * u), (hx + side * 21 * u, hy - 34 * u),
                (hx + side * 2 * u, hy - 19 * u)], fur)  # fmt: skip
        c.poly([(hx + side * 20 * u, hy - 10 * u), (hx + side * 19 * u, hy - 26 * u),
                (hx + side * 8 * u, hy - 18 * u)], "#e5a59a")  # fmt: skip
    c.oval(hx, hy, 26 * u, 22 * u, fur)
    c.oval(hx, hy + 9 * u, 13 * u, 9 * u, light(fur, 0.45))
    for side in (-1, 1):
        if asleep:
            c.arc(hx + side * 10 * u, hy - 3 * u, 5 * u, 4 * u, 10, 170, "#2b2430", 2.4 * u)
        else:
            c.oval(hx + side * 10 * u, hy - 3 * u, 4.6 * u, 5.4 * u, "#8fae4a")
            c.oval(hx + side * 10 * u, hy - 3 * u, 1.7 * u, 5 * u, "#2b2430")
        for rise in (-3, 3):
            c.line([(hx + side * 12 * u, hy + 8 * u), (hx + side * 34 * u, hy + (8 + rise) * u)],
                   clear("#ffffff", 0.8), 1.2 * u)  # fmt: skip
    c.poly([(hx - 3.6 * u, hy + 4 * u), (hx + 3.6 * u, hy + 4 * u), (hx, hy + 8 * u)], "#c96f6a")


def dog(c: Canvas, x: float, ground: float, size: float, fur: Colour, way: int = 1) -> None:
    """A dog that stands and looks to the right (`way` 1) or left (-1)."""
    u, w = size / 100, way * size / 100
    shade = dark(fur, 0.25)
    c.shadow(x, ground, 50 * u, 6 * u)
    for leg in (-32, 26):
        c.line([(x + (leg + 8) * w, ground - 38 * u), (x + (leg + 8) * w, ground - 4 * u)],
               shade, 11 * u)  # fmt: skip
    c.curve([(x - 40 * w, ground - 60 * u), (x - 58 * w, ground - 76 * u),
             (x - 60 * w, ground - 94 * u)], fur, 8 * u)  # fmt: skip
    c.blob([(x - 46 * w, ground - 40 * u), (x - 42 * w, ground - 66 * u), (x, ground - 66 * u),
            (x + 40 * w, ground - 74 * u), (x + 44 * w, ground - 44 * u),
            (x, ground - 34 * u)], fur)  # fmt: skip
    for leg in (-36, 28):
        c.line([(x + leg * w, ground - 44 * u), (x + leg * w, ground - 4 * u)], fur, 12 * u)
        c.oval(x + (leg + 3) * w, ground - 3 * u, 9 * u, 4.5 * u, light(fur))
    c.blob([(x + 30 * w, ground - 84 * u), (x + 44 * w, ground - 102 * u),
            (x + 62 * w, ground - 96 * u), (x + 82 * w, ground - 82 * u),
            (x + 80 * w, ground - 70 * u), (x + 56 * w, ground - 66 * u)], fur)  # fmt: skip
    c.blob([(x + 40 * w, ground - 100 * u), (x + 30 * w, ground - 84 * u),
            (x + 34 * w, ground - 66 * u), (x + 46 * w, ground - 84 * u)], shade)  # fmt: skip
    c.oval(x + 81 * w, ground - 79 * u, 5 * u, 4.4 * u, "#2b2430")
    c.disc(x + 60 * w, ground - 87 * u, 3 * u, "#2b2430")
    c.line([(x + 34 * w, ground - 66 * u), (x + 46 * w, ground - 62 * u)], "#c0433c", 6 * u)


def tree(c: Canvas, x: float, ground: float, tall: float, leaves: Colour) -> None:
    """A tree with a round crown; `tall` in pixels."""
    u = tall / 100
    c.shadow(x, ground, 30 * u, 5 * u)
    c.poly([(x - 5 * u, ground), (x - 3 * u, ground - 50 * u), (x + 3 * u, ground - 50 * u),
            (x + 6 * u, ground)], "#7a5438")  # fmt: skip
    c.line([(x, ground - 36 * u), (x + 14 * u, ground - 56 * u)], "#7a5438", 3.5 * u)
    for dx, dy, r, tone in (
        (-17, 52, 19, 0.2), (17, 50, 18, 0.22), (0, 72, 24, 0.08), (-12, 66, 19, 0.0),
        (12, 64, 17, 0.06), (-2, 82, 15, -0.12),
    ):  # fmt: skip
        colour = dark(leaves, tone) if tone >= 0 else light(leaves, -tone)
        c.disc(x + dx * u, ground - dy * u, r * u, colour)


def fir(c: Canvas, x: float, ground: float, tall: float, needles: Colour, snow: bool) -> None:
    """A fir tree; `tall` in pixels."""
    u = tall / 100
    c.shadow(x, ground, 24 * u, 4 * u)
    c.rect(x - 4 * u, ground - 14 * u, 8 * u, 14 * u, "#6b4a34")
    for base, top, half in ((12, 58, 30), (34, 78, 24), (58, 100, 17)):
        tone = mix(needles, "#ffffff", base / 700)
        c.poly([(x - half * u, ground - base * u), (x, ground - top * u),
                (x + half * u, ground - base * u)], tone)  # fmt: skip
        c.poly([(x, ground - base * u), (x, ground - top * u), (x + half * u, ground - base * u)],
               clear("#10202a", 0.13))  # fmt: skip
        if snow:
            c.poly([(x - half * 0.45 * u, ground - (base + (top - base) * 0.55) * u),
                    (x, ground - top * u),
                    (x + half * 0.45 * u, ground - (base + (top - base) * 0.55) * u),
                    (x + half * 0.15 * u, ground - (base + (top - base) * 0.47) * u),
                    (x - half * 0.1 * u, ground - (base + (top - base) * 0.6) * u)],
                   "#f7fbff")  # fmt: skip


def cloud(c: Canvas, x: float, y: float, wide: float, colour: Colour = "#ffffff") -> None:
    u = wide / 100
    for dx, dy, r in ((-30, 0, 15), (-10, -10, 20), (14, -6, 17), (33, 2, 13)):
        c.disc(x + dx * u, y + dy * u, r * u, colour)
    c.rect(x - 45 * u, y, 91 * u, 15 * u, colour, 7.5 * u)


def sun(c: Canvas, x: float, y: float, r: float) -> None:
    c.shadow(x, y, 2.6 * r, 2.6 * r, 0.5, "#fff3c4")
    c.disc(x, y, r, "#ffe08a")


def bird(c: Canvas, x: float, y: float, wide: float, colour: Colour = "#ffffff") -> None:
    """A bird in the sky, far away."""
    c.curve([(x - wide, y), (x - wide * 0.5, y - wide * 0.42), (x, y)], colour, wide * 0.16)
    c.curve([(x, y), (x + wide * 0.5, y - wide * 0.42), (x + wide, y)], colour, wide * 0.16)


def window(c: Canvas, x: float, y: float, w: float, h: float, frame: Colour) -> None:
    """The frame and cross of a window; draw the view first."""
    for dx, dy, fw, fh in (
        (-8, -8, w + 16, 9), (-8, h - 1, w + 16, 9), (-8, -8, 9, h + 16), (w - 1, -8, 9, h + 16),
        (w / 2 - 3, 0, 6, h), (0, h / 2 - 3, w, 6),
    ):  # fmt: skip
        c.rect(x + dx, y + dy, fw, fh, frame)
    c.rect(x - 16, y + h + 6, w + 32, 10, light(frame, 0.3), 2)
    c.rect(x - 16, y + h + 14, w + 32, 4, dark(frame, 0.15))


def pot_plant(c: Canvas, x: float, ground: float, size: float, pot: Colour) -> None:
    """A plant with long leaves in a pot; `size` is its height."""
    u = size / 100
    c.shadow(x, ground, 22 * u, 5 * u)
    for degrees, length in ((-150, 46), (-128, 60), (-105, 68), (-80, 70), (-55, 60), (-32, 46)):
        tip = around(x, ground - 30 * u, length * u, degrees)
        bend = around(x, ground - 30 * u, length * 0.55 * u, degrees * 0.6 - 36)
        green = mix("#3f7d53", "#7fb069", abs(degrees + 90) / 70)
        c.blob([(x - 2 * u, ground - 28 * u), (bend[0] - 5 * u, bend[1]), tip,
                (bend[0] + 6 * u, bend[1] + 4 * u), (x + 3 * u, ground - 28 * u)],
               green)  # fmt: skip
    c.poly([(x - 18 * u, ground - 32 * u), (x + 18 * u, ground - 32 * u), (x + 13 * u, ground),
            (x - 13 * u, ground)], pot)  # fmt: skip
    c.rect(x - 20 * u, ground - 36 * u, 40 * u, 8 * u, dark(pot, 0.12), 2 * u)


def mug(c: Canvas, x: float, ground: float, size: float, colour: Colour) -> None:
    """A mug with its handle on the right."""
    u = size / 100
    c.shadow(x, ground, 44 * u, 9 * u)
    c.arc(x + 38 * u, ground - 46 * u, 24 * u, 26 * u, 270, 90, dark(colour, 0.1), 10 * u)
    c.rect(x - 38 * u, ground - 84 * u, 76 * u, 84 * u, colour, 14 * u)
    c.rect(x - 38 * u, ground - 84 * u, 16 * u, 84 * u, clear("#ffffff", 0.25), 8 * u)
    c.oval(x, ground - 84 * u, 38 * u, 10 * u, dark(colour, 0.25))
    c.oval(x, ground - 82 * u, 31 * u, 7 * u, "#5b3a28")


def books(c: Canvas, x: float, ground: float, colours: list[str], wide: float = 90) -> None:
    """Books in a pile, the first at the bottom."""
    c.shadow(x, ground, wide * 0.55, 5)
    for k, name in enumerate(colours):
        half, y = wide / 2 - 3 * k, ground - 15 * (k + 1)
        shift = c.near(0, 5)
        c.rect(x - half + shift, y, 2 * half, 15, PAINT[name], 3)
        c.rect(x + half - 8 + shift, y + 3, 8, 9, "#f3ead6", 1)
        c.rect(x - half + 12 + shift, y, 5, 15, clear("#ffffff", 0.35))
