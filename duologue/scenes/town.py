"""Scenes in a town: a street, a market stall, a harbour."""

from __future__ import annotations

from dataclasses import replace

from duologue.scenes.canvas import Canvas, around, clear, dark, light, mix
from duologue.scenes.things import (
    PAINT,
    a,
    bird,
    cloud,
    dog,
    head,
    person,
    some_look,
    tree,
)


def _house(c: Canvas, x: float, w: float, h: float, paint: str, roof: str, floors: int) -> None:
    base = 440.0
    c.rect(x, base - h, w, h, PAINT.get(paint, paint))
    c.rect(x, base - h, w * 0.12, h, clear("#ffffff", 0.12))
    if roof == "gable":
        c.poly([(x - 12, base - h), (x + w / 2, base - h - 74), (x + w + 12, base - h)], "#8d4f3d")
        c.poly([(x + w / 2, base - h - 74), (x + w + 12, base - h), (x + w / 2, base - h)],
               clear("#1b1a2e", 0.12))  # fmt: skip
        c.rect(x + w * 0.7, base - h - 72, 18, 52, "#7d4335")
    else:
        c.rect(x - 6, base - h - 14, w + 12, 18, dark(PAINT.get(paint, paint), 0.3), 2)
    for floor in range(floors):
        for k in range(2 if w < 170 else 3):
            wide = w / (2 if w < 170 else 3)
            wx, wy = x + wide * k + wide / 2 - 19, base - h + 26 + floor * 84
            c.rect(wx - 4, wy - 4, 46, 62, "#f4f1ea", 2)
            c.fade(wx, wy, 38, 54, "#58707f", "#a9c6cf")
            c.rect(wx + 17, wy, 4, 54, "#f4f1ea")
            c.rect(wx - 6, wy + 56, 50, 6, dark("#f4f1ea", 0.12))
            if c.rng.random() < 0.35:
                for dot in range(4):
                    c.disc(wx + 5 + 10 * dot, wy + 53, 5, PAINT[c.rng.choice(["red", "pink"])])


def street(c: Canvas) -> str:
    rng = c.rng
    c.fade(0, 0, 800, 440, "#86bfe4", "#f3ead9")
    for _ in range(2):
        cloud(c, rng.uniform(80, 720), rng.uniform(40, 90), rng.uniform(90, 140))
    paints = rng.sample(["#e0b487", "#d98f7a", "#a9bfae", "#c9b3c9", "#e6d3a3", "#8fb0c4"], 4)
    _house(c, -20, 190, 300, paints[0], "gable", 2)
    _house(c, 170, 210, 340, paints[1], "flat", 2)
    _house(c, 380, 160, 280, paints[2], "gable", 1)
    _house(c, 540, 280, 330, paints[3], "flat", 2)
    door = rng.choice(["red", "green", "blue", "yellow"])
    for x, colour in ((54, door), (612, rng.choice(["brown", "black", "turquoise"]))):
        c.rect(x - 4, 340, 56, 100, "#f4f1ea", 2)
        c.rect(x, 344, 48, 96, PAINT[colour], 2)
        c.rect(x + 8, 354, 32, 26, clear("#ffffff", 0.35), 2)
        c.disc(x + 40, 396, 3, "#f2cf4f")
    # The café.
    c.rect(184, 322, 182, 118, "#4a3328")
    c.fade(194, 350, 92, 82, "#f7dfa0", "#e8b76a")
    c.rect(302, 344, 52, 96, "#7a5438", 2)
    c.rect(310, 354, 36, 52, "#f7dfa0", 2)
    c.rect(184, 296, 182, 28, "#33333d", 3)
    c.text(275, 310, rng.choice(["CAFE", "BAKERY", "BOOKS", "PIZZA"]), 20, "#f7e3b5")
    awning = PAINT[rng.choice(["red", "green", "blue"])]
    for k in range(9):
        c.poly([(184 + 20 * k, 324), (204 + 20 * k, 324), (202 + 22 * k - 8, 350),
                (180 + 22 * k - 8, 350)], awning if k % 2 else "#f7f3ea")  # fmt: skip
    c.rect(396, 330, 128, 110, dark(paints[2], 0.12))
    for k in range(2):
        c.rect(406 + 58 * k, 342, 50, 64, "#f4f1ea", 2)
        c.fade(410 + 58 * k, 346, 42, 56, "#58707f", "#a9c6cf")
    # Pavement and road.
    c.fade(0, 440, 800, 56, "#c9c2b8", "#b5ada2")
    for x in range(-20, 820, 62):
        c.line([(x, 442), (x - 16, 494)], clear("#8f8779", 0.5), 1.6)
    c.rect(0, 494, 800, 7, "#8f8779")
    c.fade(0, 501, 800, 99, "#5a5d66", "#6d7078")
    for x in range(10, 800, 120):
        c.rect(x, 552, 66, 7, "#efe9d8", 1)
    tree(c, 466, 462, 190, "#6fa05a")
    # A lamp post.
    c.shadow(560, 490, 16, 4)
    c.line([(560, 488), (560, 262)], "#3b4048", 6)
    c.curve([(560, 270), (566, 240), (596, 240)], "#3b4048", 5)
    c.poly([(582, 242), (612, 242), (606, 262), (588, 262)], "#f6dfa4")
    # People, a dog, perhaps a bicycle.
    shirt = rng.choice(["red", "yellow", "blue", "purple"])
    with_dog = rng.random() < 0.7
    person(c, 690, 488, 138, some_look(c, shirt))
    if with_dog:
        c.curve([(713, 428), (736, 446), (746, 438)], "#33333d", 2.4)
        dog(c, 762, 489, 52, rng.choice(["#a9744a", "#33333d", "#e2c391"]), -1)
    if rng.random() < 0.6:
        person(c, 400, 484, 126, some_look(c, rng.choice(["white", "green", "pink"])))
    frame = PAINT[rng.choice(["red", "turquoise", "black", "orange"])]
    c.shadow(124, 490, 62, 5)
    for x in (88, 160):
        c.arc(x, 464, 25, 25, 0, 360, "#2f3138", 4)
        for k in range(4):
            c.line([around(x, 464, 23, 45 * k), around(x, 464, 23, 45 * k + 180)], "#9aa1a8", 1)
    c.line([(88, 464), (112, 426), (150, 426), (122, 466), (88, 464)], frame, 4.5)
    c.line([(160, 464), (146, 412), (136, 408)], frame, 4.5)
    c.line([(122, 466), (108, 414)], frame, 4.5)
    c.line([(100, 413), (118, 413)], "#33333d", 6)
    # A car or a bus on the road.
    colour = rng.choice(["red", "blue", "yellow", "green", "white", "turquoise"])
    vehicle = rng.choice(["car", "bus", "car"])
    left = rng.uniform(220, 330)
    paint = PAINT[colour]
    if vehicle == "bus":
        c.shadow(left + 130, 574, 170, 9, 0.4)
        c.rect(left - 20, 448, 310, 112, paint, 14)
        for k in range(5):
            c.rect(left - 4 + 52 * k, 462, 44, 40, "#bfdbe6", 4)
        c.rect(left + 256, 462, 30, 52, "#bfdbe6", 4)
        c.rect(left - 20, 516, 310, 8, light(paint, 0.55))
    else:
        c.shadow(left + 100, 574, 140, 9, 0.4)
        c.blob(
            [
                (left + 22, 522),
                (left + 54, 474),
                (left + 150, 472),
                (left + 196, 520),
                (left + 110, 530),
            ],
            paint,
        )
        c.poly(
            [(left + 46, 516), (left + 66, 484), (left + 102, 484), (left + 102, 516)], "#bfdbe6"
        )
        c.poly(
            [(left + 110, 484), (left + 146, 484), (left + 172, 516), (left + 110, 516)], "#bfdbe6"
        )
        c.rect(left - 16, 512, 238, 48, paint, 20)
        c.rect(left - 16, 540, 238, 8, dark(paint, 0.2))
        c.oval(left + 216, 528, 6, 8, "#fdf3c8")
    for wheel in (left + 34, left + (234 if vehicle == "bus" else 176)):
        c.disc(wheel, 560, 22, "#2b2d33")
        c.disc(wheel, 560, 11, "#b6bbc4")
    return f"a {colour} {vehicle} drives down a street with shops and houses"


def market(c: Canvas) -> str:
    rng = c.rng
    c.fade(0, 0, 800, 430, "#bfe0ef", "#f5efe0")
    for x, w, h, tone in ((0, 190, 250, "#d8b59a"), (190, 150, 210, "#c9c3a8"),
                          (340, 210, 270, "#d9a58c"), (550, 250, 230, "#b9c4c9")):  # fmt: skip
        c.rect(x, 400 - h, w, h, tone)
        for wx in range(int(x) + 24, int(x + w) - 30, 52):
            for wy in range(int(400 - h) + 22, 330, 62):
                c.rect(wx, wy, 26, 36, light(tone, 0.45), 2)
                c.rect(wx + 12, wy, 2, 36, dark(tone, 0.1))
    c.fade(0, 400, 800, 200, "#b9aa98", "#d3c6b4")
    for k in range(5):
        y = 420 + 38 * k
        for x in range(-40 + 40 * (k % 2), 820, 80):
            c.rect(x, y, 76, 3, clear("#8a7a68", 0.35), 1)
    awning = rng.choice(["red", "green", "blue", "orange", "purple"])
    look = some_look(c, rng.choice([n for n in ("yellow", "turquoise", "pink") if n != awning]))
    c.shadow(400, 556, 360, 22, 0.35)
    for x in (84, 700):
        c.rect(x, 130, 14, 420, "#7a5438", 3)
    c.rect(98, 150, 604, 214, clear("#4a3328", 0.35))
    # The seller behind the counter.
    c.rect(342, 288, 108, 90, look.shirt, 34)
    c.rect(384, 270, 24, 30, dark(look.skin, 0.12), 10)
    head(c, 396, 240, 42, look)
    c.rect(366, 314, 60, 60, "#f4f1ea", 8)
    for side in (-1, 1):
        c.line([(396 + side * 24, 318), (396 + side * 26, 292)], "#f4f1ea", 7)
        c.curve([(396 + side * 44, 308), (396 + side * 64, 340), (396 + side * 52, 372)],
                dark(look.shirt, 0.12), 25)  # fmt: skip
    # The scales.
    c.rect(560, 316, 84, 46, "#9aa1a8", 8)
    c.disc(602, 338, 17, "#fbf7ec")
    c.line([(602, 338), (612, 328)], PAINT["red"], 2.5)
    c.oval(602, 308, 54, 9, "#c5cbd1")
    c.rect(70, 362, 660, 24, "#a5714a", 3)
    # Crates with fruit and vegetables.
    goods = [("apples", "red"), ("oranges", "orange"), ("lemons", "yellow"), ("limes", "green"),
             ("plums", "purple")]  # fmt: skip
    rng.shuffle(goods)
    for k, (name, colour) in enumerate(goods[:4]):
        x = 82 + 162 * k
        c.rect(x, 386, 152, 160, "#8f5f3c", 3)
        for row in range(3):
            for col in range(6 - row % 2):
                px, py = x + 22 + 22 * col + 11 * (row % 2), 424 - 15 * row
                rx = 14 if name == "lemons" else 12.5
                c.oval(px, py, rx, 12, mix(PAINT[colour], "#ffffff", rng.uniform(0, 0.15)))
                c.oval(px - 4, py - 4, 3, 2.6, clear("#ffffff", 0.45))
        for y in (436, 474, 512):
            c.rect(x - 2, y, 156, 30, mix("#c68d5c", "#a87448", (y - 436) / 120), 3)
        c.rect(x + 48, 446, 58, 40, "#fbf7ec", 3)
        c.text(x + 77, 466, f"{rng.randint(1, 4)}.{rng.choice('25')}0", 19, "#33333d")
    # The striped awning.
    for k in range(10):
        colour = PAINT[awning] if k % 2 == 0 else "#f7f3ea"
        x0, x1 = 110 + 58 * k, 110 + 58 * (k + 1)
        b0, b1 = 50 + 70 * k, 50 + 70 * (k + 1)
        c.poly([(x0, 76), (x1, 76), (b1, 160), (b0, 160)], colour)
        c.pie((b0 + b1) / 2, 160, 35, 22, 0, 180, dark(colour, 0.08))
    c.beam([(50, 182), (750, 182), (730, 250), (70, 250)], "#1b1a2e", 0.2)
    return f"a person sells fruit at a market stall with {a(awning)} and white roof"


def harbour(c: Canvas) -> str:
    rng = c.rng
    evening = rng.random() < 0.35
    c.fade(0, 0, 800, 350, "#5c6aa8" if evening else "#76b6e2", "#f8c79a" if evening else "#eaf4f2")
    cloud(c, 150, 70, 120, "#fbe3cf" if evening else "#ffffff")
    cloud(c, 420, 112, 90, "#fbe3cf" if evening else "#ffffff")
    for _ in range(rng.randint(2, 5)):
        bird(c, rng.uniform(200, 620), rng.uniform(60, 190), rng.uniform(11, 18), "#f7f3ea")
    c.blob([(360, 330), (430, 236), (560, 190), (700, 176), (840, 150), (840, 400), (360, 360)],
           "#7fa06b")  # fmt: skip
    for x, y, w, h in ((470, 300, 66, 62), (548, 284, 72, 78), (632, 262, 64, 92),
                       (704, 250, 78, 104), (520, 232, 52, 50), (600, 206, 50, 52)):  # fmt: skip
        paint = rng.choice(["#f4e6cf", "#e5b08f", "#d6c4dd", "#b9d3d9", "#efd08f", "#e39a8b"])
        c.rect(x, y - h / 2, w, h, paint)
        c.poly([(x - 6, y - h / 2), (x + w / 2, y - h / 2 - 30), (x + w + 6, y - h / 2)], "#a8523f")
        for k in range(2):
            c.rect(x + 10 + (w - 32) * k, y - h / 2 + 14, 13, 18,
                   "#ffd980" if evening else "#58707f", 1)  # fmt: skip
    # The lighthouse.
    c.blob([(20, 352), (60, 318), (130, 306), (200, 320), (238, 354)], "#6f6a63")
    stripe = PAINT[colour := rng.choice(["red", "blue", "black"])]
    if evening:
        for reach in (860, 640, 430):
            c.beam([(128, 118), (reach, 118 - reach / 7), (reach, 118 + reach / 12)],
                   "#fff0bf", 0.16)  # fmt: skip
    for k in range(6):
        top, low = 26 + 3 * k, 29 + 3 * k
        c.poly([(128 - top, 146 + 30 * k), (128 + top, 146 + 30 * k), (128 + low, 176 + 30 * k),
                (128 - low, 176 + 30 * k)], "#f7f3ea" if k % 2 else stripe)  # fmt: skip
    c.rect(96, 138, 64, 9, "#3b4048", 2)
    c.rect(110, 104, 36, 34, "#ffe7a8", 3)
    for x in (110, 126, 142):
        c.rect(x, 104, 4, 34, "#3b4048")
    c.pie(128, 106, 25, 26, 180, 360, "#a83f36")
    c.rect(118, 300, 20, 26, "#5a3c28", 8)
    # Water and quay.
    c.fade(0, 346, 800, 254, "#4a6a9a" if evening else "#3d8fb5", "#2f6f92")
    for _ in range(44):
        left, up = rng.uniform(0, 770), rng.uniform(356, 560)
        c.line([(left, up), (left + rng.uniform(16, 50), up)], clear("#ffffff", 0.22), 1.8)
    c.rect(440, 340, 360, 20, "#a39a8c")
    c.rect(440, 358, 360, 10, "#7d7568")
    # Fishing boats.
    count = rng.randint(2, 4)
    paints = rng.sample(["red", "blue", "yellow", "green", "white", "turquoise", "orange"], 4)
    for k in range(count):
        _fishing_boat(c, 130 + 176 * k + c.near(0, 14), 420 + 34 * (k % 2), 1.0, paints[k])
    # The jetty with somebody who fishes.
    for x in (60, 180, 300, 420):
        c.rect(x, 536, 16, 64, "#5a3c28")
    c.fade(0, 520, 470, 26, "#b98a5c", "#9a6b45")
    for x in range(0, 470, 34):
        c.line([(x, 520), (x - 6, 546)], clear("#5a3c28", 0.5), 1.8)
    look = replace(some_look(c, rng.choice(["yellow", "red", "green"])), hat=PAINT["blue"])
    person(c, 380, 534, 122, look)
    c.curve([(398, 482), (450, 430), (520, 408)], "#4a3328", 3)
    c.line([(520, 408), (528, 560)], clear("#ffffff", 0.7), 1.2)
    c.disc(528, 560, 4, PAINT["red"])
    c.shadow(322, 536, 18, 4)
    c.poly([(304, 506), (340, 506), (335, 535), (309, 535)], "#8f959c")
    c.arc(322, 508, 17, 20, 180, 360, "#5b5f68", 2.4)
    c.shadow(250, 534, 26, 4)
    c.arc(250, 524, 24, 9, 0, 360, "#e2c391", 6)
    return f"boats in a harbour with a lighthouse painted {colour} and white"


def _fishing_boat(c: Canvas, x: float, y: float, u: float, paint: str) -> None:
    colour = PAINT[paint]
    c.oval(x, y + 18 * u, 84 * u, 8 * u, clear("#10304a", 0.3))
    c.rect(x - 26 * u, y - 62 * u, 50 * u, 44 * u, "#f4f1ea", 4 * u)
    c.rect(x - 32 * u, y - 68 * u, 62 * u, 9 * u, dark(colour, 0.1), 3 * u)
    for k in range(2):
        c.rect(x - 18 * u + 21 * k * u, y - 52 * u, 14 * u, 15 * u, "#58707f", 2)
    c.line([(x + 36 * u, y - 16 * u), (x + 36 * u, y - 100 * u)], "#5a3c28", 4 * u)
    c.line([(x + 36 * u, y - 94 * u), (x + 74 * u, y - 26 * u)], "#5a3c28", 1.6 * u)
    c.line([(x + 36 * u, y - 94 * u), (x - 64 * u, y - 26 * u)], "#5a3c28", 1.6 * u)
    c.poly([(x + 37 * u, y - 100 * u), (x + 58 * u, y - 93 * u), (x + 37 * u, y - 86 * u)], colour)
    c.poly([(x - 76 * u, y - 28 * u), (x + 84 * u, y - 32 * u), (x + 62 * u, y + 16 * u),
            (x - 58 * u, y + 16 * u)], colour)  # fmt: skip
    c.poly([(x - 76 * u, y - 28 * u), (x + 84 * u, y - 32 * u), (x + 81 * u, y - 23 * u),
            (x - 72 * u, y - 19 * u)], "#f7f3ea")  # fmt: skip
    c.poly([(x - 62 * u, y + 6 * u), (x + 67 * u, y + 6 * u), (x + 62 * u, y + 16 * u),
            (x - 58 * u, y + 16 * u)], dark(colour, 0.25))  # fmt: skip
    for k in range(2):
        c.disc(x - 36 * u + 60 * k * u, y - 8 * u, 7 * u, "#2b2d33")
        c.disc(x - 36 * u + 60 * k * u, y - 8 * u, 3.4 * u, light(colour, 0.3))
