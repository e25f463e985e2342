"""Scenes inside: a kitchen, a living room, a bedroom, a desk."""

from __future__ import annotations

from duologue.scenes.canvas import Canvas, around, clear, dark, light, mix
from duologue.scenes.things import (
    PAINT,
    a,
    books,
    cat,
    cloud,
    mug,
    pot_plant,
    window,
)


def _wall(c: Canvas, colour: str, floor_y: float, floor: str) -> None:
    c.fade(0, 0, 800, floor_y, light(colour, 0.12), dark(colour, 0.06))
    c.fade(0, floor_y, 800, 600 - floor_y, dark(floor, 0.12), light(floor, 0.08))
    for k in range(1, 7):
        y = floor_y + (600 - floor_y) * (k / 7) ** 1.5
        c.line([(0, y), (800, y)], clear(dark(floor, 0.4), 0.35), 1.4)
    c.rect(0, floor_y - 12, 800, 14, light(colour, 0.6))
    c.rect(0, floor_y + 2, 800, 3, clear("#1b1a2e", 0.25))


def _clock(c: Canvas, x: float, y: float, r: float) -> None:
    hour, minute = c.rng.randrange(1, 12), c.rng.choice([0, 10, 15, 30, 45])
    c.shadow(x + 3, y + 5, r, r, 0.2)
    c.disc(x, y, r, PAINT["black"])
    c.disc(x, y, r * 0.87, "#fbf7ec")
    for k in range(12):
        c.line([around(x, y, r * 0.7, 30 * k), around(x, y, r * 0.78, 30 * k)], "#33333d", 2)
    c.line([(x, y), around(x, y, r * 0.45, 30 * hour + minute / 2 - 90)], "#33333d", 4)
    c.line([(x, y), around(x, y, r * 0.66, 6 * minute - 90)], "#33333d", 2.6)
    c.disc(x, y, 3.4, PAINT["red"])


def _picture(c: Canvas, x: float, y: float, w: float, h: float) -> None:
    """A framed landscape."""
    c.shadow(x + w / 2 + 4, y + h / 2 + 6, w / 2, h / 2, 0.18)
    c.rect(x - 8, y - 8, w + 16, h + 16, "#6b4a34", 2)
    c.rect(x, y, w, h, "#fbf7ec")
    c.fade(x + 8, y + 8, w - 16, h - 16, "#f4c6a0", "#fbe9c9")
    c.disc(x + w * 0.68, y + h * 0.42, h * 0.11, "#e0705c")
    c.poly([(x + 8, y + h - 8), (x + w * 0.36, y + h * 0.38), (x + w * 0.66, y + h - 8)], "#5f7f95")
    c.poly([(x + w * 0.3, y + h - 8), (x + w * 0.72, y + h * 0.55), (x + w - 8, y + h * 0.86),
            (x + w - 8, y + h - 8)], "#87a5ad")  # fmt: skip


def _apple(c: Canvas, x: float, y: float, r: float, colour: str) -> None:
    c.oval(x, y, r, r * 0.95, PAINT[colour])
    c.oval(x - r * 0.35, y - r * 0.38, r * 0.26, r * 0.2, clear("#ffffff", 0.45))
    c.curve([(x, y - r * 0.8), (x + r * 0.08, y - r * 1.1), (x + r * 0.3, y - r * 1.35)],
            "#5a3c28", 2.6)  # fmt: skip
    c.blob([(x + r * 0.14, y - r * 1.05), (x + r * 0.5, y - r * 1.32), (x + r * 0.85, y - r * 1.15),
            (x + r * 0.5, y - r * 0.95)], PAINT["green"])  # fmt: skip


def kitchen(c: Canvas) -> str:
    rng = c.rng
    wall, cup = (
        rng.choice(["#cfdccb", "#d8d3e3", "#f0d9c0", "#c8dbe2"]),
        rng.choice(list(PAINT)[:6]),
    )
    _wall(c, wall, 430, "#c9a27a")
    c.fade(86, 70, 230, 210, "#9fd0ec", "#e3f3f7")
    cloud(c, 160, 130, 90)
    cloud(c, 268, 170, 66)
    c.blob([(86, 280), (86, 246), (150, 226), (220, 250), (316, 232), (316, 280)], "#7fae72")
    window(c, 86, 70, 230, 210, "#f6f2e8")
    for side, x in ((1, 62), (-1, 340)):
        c.blob([(x - side * 14, 52), (x + side * 62, 52), (x + side * 34, 170), (x + side * 8, 292),
                (x - side * 16, 292)], PAINT[cup])  # fmt: skip
        c.rect(x - 22 + side * 3, 196, 40, 9, dark(PAINT[cup], 0.25), 4)
    c.rect(36, 44, 330, 8, "#7a5a3c", 4)
    _clock(c, 452, 126, 46)
    # A shelf with jars.
    c.rect(560, 180, 200, 10, "#9a6b45", 2)
    c.rect(560, 190, 200, 4, clear("#1b1a2e", 0.18))
    jars = rng.randint(2, 4)
    for k in range(jars):
        x = 582 + k * 46
        content = ["#e8b54d", "#b5533c", "#7f9a58", "#e9dfc8"][k]
        c.rect(x, 122, 34, 58, clear("#ffffff", 0.55), 7)
        c.rect(x + 3, 138, 28, 40, content, 5)
        c.rect(x + 3, 114, 28, 10, "#8a5a3c", 3)
    # The table.
    c.shadow(400, 566, 380, 26, 0.3)
    for x in (96, 684):
        c.rect(x, 430, 24, 150, "#7d4f30")
    c.poly([(30, 452), (110, 372), (690, 372), (770, 452)], "#b9794a")
    c.poly([(110, 372), (690, 372), (696, 378), (104, 378)], "#cf9465")
    for k in range(1, 5):
        c.line([(110 - 16 * k, 372 + 16 * k), (690 + 16 * k, 372 + 16 * k)],
               clear("#6a3f25", 0.25), 1.4)  # fmt: skip
    c.rect(30, 452, 740, 22, "#8f5a36", 3)
    # A bowl of fruit.
    red, green = rng.randint(1, 3), rng.randint(1, 2)
    c.shadow(300, 424, 100, 12, 0.35)
    fruit = ["red"] * red + ["green"] * green
    rng.shuffle(fruit)
    for k, colour in enumerate(fruit):
        _apple(c, 300 + (k - (len(fruit) - 1) / 2) * 34, 352 - (9 if k % 2 else 0), 25, colour)
    for k in range(2):
        c.curve([(340 + 12 * k, 326), (372 + 10 * k, 342), (384 + 8 * k, 374)],
                mix("#f2cf4f", "#d9a92f", k / 2), 15)  # fmt: skip
    c.pie(300, 364, 96, 62, 0, 180, "#e9e4d8")
    c.pie(300, 364, 96, 62, 0, 74, clear("#8f8673", 0.25))
    c.oval(300, 364, 96, 7, "#f7f3ea")
    # A plate with cake, a mug, flowers.
    c.shadow(506, 430, 82, 11, 0.3)
    c.oval(506, 424, 80, 18, "#f4f1ea")
    c.oval(506, 422, 58, 11, "#dcd8ce")
    cakes = rng.randint(1, 2)
    for k in range(cakes):
        x = 490 - 22 * (cakes - 1) + k * 50
        c.poly([(x - 26, 418), (x + 30, 418), (x + 30, 386), (x - 26, 386)], "#e7b877")
        c.rect(x - 26, 398, 56, 6, "#f6ead2")
        c.poly([(x - 26, 386), (x + 30, 386), (x + 18, 374), (x - 14, 374)], "#6a3b2a")
        c.disc(x + 3, 370, 8, PAINT["red"])
    mug(c, 640, 430, 62, PAINT[cup])
    c.curve([(632, 368), (624, 350), (636, 336), (628, 318)], clear("#ffffff", 0.5), 4)
    c.curve([(648, 368), (642, 352), (652, 338), (646, 324)], clear("#ffffff", 0.4), 4)
    petal = rng.choice(["yellow", "pink", "white", "purple"])
    for x, y in ((136, 268), (164, 244), (190, 274)):
        c.curve([(163, 372), (163, 330), (x, y)], "#4f7f4a", 4)
        for k in range(6):
            c.disc(*around(x, y, 11, 60 * k), 9, PAINT[petal])
        c.disc(x, y, 7, "#d98c2f")
    c.shadow(163, 424, 34, 7, 0.3)
    c.blob([(146, 334), (142, 372), (134, 402), (148, 422), (178, 422), (192, 402), (184, 372),
            (180, 334)], light(PAINT["blue"], 0.1))  # fmt: skip
    c.oval(163, 336, 17, 4, dark(PAINT["blue"], 0.3))
    c.beam([(316, 70), (610, 600), (250, 600), (86, 280)], "#fff6d8", 0.13)
    return "a wooden kitchen table with fruit and cake in front of a window"


def living_room(c: Canvas) -> str:
    rng = c.rng
    sofa = rng.choice(["turquoise", "orange", "purple", "blue", "red", "green"])
    asleep, fur = rng.random() < 0.6, rng.choice(["#e0a458", "#6f6a70", "#33333d", "#efe6d8"])
    _wall(c, rng.choice(["#ead9c4", "#d5dfe0", "#e3d5dc", "#dfe2cc"]), 440, "#b08968")
    pictures = rng.randint(1, 3)
    for k in range(pictures):
        _picture(c, 330 + (k - (pictures - 1) / 2) * 142 - 55, 78, 112, 88)
    # The bookcase.
    c.shadow(690, 452, 100, 12, 0.3)
    c.rect(604, 120, 170, 330, "#7d5538", 3)
    for row in range(4):
        c.rect(616, 132 + row * 79, 146, 68, "#4f3524")
        x = 620.0
        while x < 738 and not (row == 1 and x > 690):
            wide, tall = rng.uniform(9, 17), rng.uniform(42, 62)
            colour = PAINT[rng.choice(list(PAINT))]
            c.rect(x, 200 + row * 79 - tall, wide, tall, colour, 1.5)
            c.rect(x, 200 + row * 79 - tall + 8, wide, 4, light(colour, 0.4))
            x += wide + 1
    pot_plant(c, 726, 279, 52, "#c9744c")
    # The lamp.
    c.shadow(96, 200, 130, 150, 0.35, "#fff0bf")
    c.shadow(96, 470, 42, 8, 0.3)
    c.line([(96, 210), (96, 462)], "#4a3c34", 6)
    c.oval(96, 466, 36, 8, "#4a3c34")
    c.poly([(66, 136), (126, 136), (150, 218), (42, 218)], "#f6dfa4")
    c.rect(40, 214, 112, 6, "#e0bd6b", 3)
    # The rug.
    rug = rng.choice(["#b5533c", "#47637d", "#6d7f56", "#8b6a94"])
    c.oval(372, 540, 330, 46, rug)
    c.oval(372, 540, 290, 38, light(rug, 0.25))
    c.oval(372, 540, 262, 33, rug)
    # The sofa.
    paint = PAINT[sofa]
    c.shadow(366, 500, 250, 18, 0.35)
    for x in (176, 540):
        c.rect(x, 478, 16, 28, "#5a3c28", 3)
    c.rect(156, 276, 420, 170, dark(paint, 0.1), 34)
    for x in (168, 368):
        c.rect(x, 288, 196, 128, paint, 26)
        c.rect(x + 8, 294, 180, 26, clear("#ffffff", 0.1), 13)
    c.rect(150, 386, 432, 100, dark(paint, 0.05), 22)
    c.rect(164, 380, 202, 52, light(paint, 0.1), 16)
    c.rect(366, 380, 202, 52, light(paint, 0.1), 16)
    for x in (126, 548):
        c.rect(x, 338, 58, 150, dark(paint, 0.16), 26)
        c.rect(x + 6, 344, 46, 20, clear("#ffffff", 0.1), 10)
    cushions = rng.randint(1, 3)
    for k, colour in enumerate(rng.sample([n for n in PAINT if n != sofa], cushions)):
        x, y, lean = 206 + 64 * k, 350, rng.uniform(-5, 5)
        c.blob([(x - 30, y - 28 - lean), (x + 30, y - 32 + lean), (x + 33, y + 30),
                (x - 29, y + 32 + lean)], PAINT[colour])  # fmt: skip
        c.disc(x + 1, y, 4, dark(PAINT[colour], 0.2))
    cat(c, 480, 392, 92 if asleep else 104, fur, asleep)
    # The low table.
    c.shadow(380, 586, 130, 9, 0.35)
    for x in (282, 470):
        c.rect(x, 540, 11, 46, "#4f3524")
    c.oval(380, 538, 134, 21, "#5f4129")
    c.oval(380, 532, 134, 21, "#a5714a")
    books(c, 330, 530, rng.sample(list(PAINT), rng.randint(1, 3)), 74)
    mug(c, 434, 534, 38, PAINT[rng.choice(["white", "yellow", "red"])])
    return f"a cat is on {a(sofa)} sofa in a living room"


def bedroom(c: Canvas) -> str:
    rng = c.rng
    night = rng.random() < 0.6
    cover = rng.choice(["blue", "yellow", "pink", "green", "red", "purple"])
    _wall(c, "#46527a" if night else "#d9e2ec", 430, "#8a6a52" if night else "#c79f78")
    c.fade(520, 70, 190, 200, "#141a3c" if night else "#8cc7ea", "#3a4580" if night else "#e6f4f7")
    if night:
        for _ in range(26):
            c.disc(rng.uniform(526, 704), rng.uniform(76, 262), rng.uniform(0.7, 1.8), "#fff7d6")
        c.shadow(660, 120, 52, 52, 0.35, "#fff7d6")
        c.disc(660, 120, 25, "#fdf3c8")
        c.disc(671, 113, 21, "#232c58")
    else:
        cloud(c, 590, 130, 100)
        c.disc(672, 104, 20, "#ffe08a")
        c.blob([(520, 270), (520, 240), (590, 226), (710, 248), (710, 270)], "#79a86b")
    window(c, 520, 70, 190, 200, "#ece6da")
    _picture(c, 120, 84, 120, 92)
    _picture(c, 266, 104, 82, 64)
    # The rug and the bed.
    c.oval(330, 560, 300, 36, light("#8c7aa0", 0.2))
    c.shadow(330, 540, 300, 22, 0.35)
    c.rect(70, 240, 40, 290, "#6b4630", 10)
    c.rect(70, 252, 460, 30, "#6b4630", 8)
    c.rect(78, 270, 444, 130, "#7d5538", 4)
    c.rect(540, 376, 30, 156, "#6b4630", 8)
    c.rect(96, 420, 452, 88, "#7d5538", 4)
    c.rect(100, 372, 446, 62, "#f1ece2", 16)
    for k in range(rng.randint(1, 2)):
        c.blob([(112 + 78 * k, 350), (190 + 78 * k, 342), (202 + 78 * k, 388),
                (110 + 78 * k, 394)], "#fdfaf3")  # fmt: skip
        c.curve([(130 + 78 * k, 380), (160 + 78 * k, 384), (188 + 78 * k, 376)], "#d9d2c4", 2)
    paint = PAINT[cover]
    c.blob([(262, 366), (330, 348), (440, 352), (552, 366), (562, 440), (556, 508), (420, 520),
            (286, 516), (252, 440)], paint)  # fmt: skip
    for k in range(4):
        for row in range(3):
            c.disc(304 + 66 * k + 22 * (row % 2), 396 + 42 * row, 9, light(paint, 0.45))
    c.blob([(258, 368), (276, 356), (300, 420), (290, 514), (262, 512), (248, 440)],
           light(paint, 0.6))  # fmt: skip
    # A bear on the pillow's side.
    if bear := rng.random() < 0.7:
        x, y = 236, 356
        c.oval(x, y + 26, 27, 30, "#a9744a")
        c.oval(x, y + 30, 15, 18, "#d9ae80")
        for side in (-1, 1):
            c.disc(x + side * 20, y - 26, 10, "#a9744a")
            c.disc(x + side * 20, y - 26, 5, "#d9ae80")
            c.oval(x + side * 27, y + 22, 9, 17, "#9a6841")
            c.oval(x + side * 16, y + 52, 13, 11, "#9a6841")
        c.disc(x, y - 10, 25, "#a9744a")
        c.oval(x, y - 2, 12, 9, "#e0bd93")
        for side in (-1, 1):
            c.disc(x + side * 9, y - 14, 3, "#2b2430")
        c.oval(x, y - 5, 4, 3, "#2b2430")
    # The table beside it.
    c.shadow(672, 532, 70, 10, 0.35)
    c.rect(616, 410, 112, 122, "#8a5f40", 4)
    for y in (424, 476):
        c.rect(626, y, 92, 42, "#a5764f", 3)
        c.disc(672, y + 21, 5, "#e8c26a")
    c.rect(608, 402, 128, 12, "#9d6e48", 3)
    if night:
        c.shadow(648, 336, 130, 120, 0.5, "#ffdf94")
    c.rect(644, 356, 8, 40, "#d9d2c4")
    c.oval(648, 400, 24, 6, "#d9d2c4")
    c.poly([(628, 304), (668, 304), (686, 360), (610, 360)], "#ffe7a8" if night else "#f3ead6")
    books(c, 706, 402, rng.sample(list(PAINT), rng.randint(1, 3)), 46)
    slipper = PAINT[rng.choice(["red", "blue", "pink", "grey"])]
    for x in (596, 636):
        c.oval(x, 566, 17, 10, dark(slipper, 0.25))
        c.pie(x, 566, 17, 11, 150, 390, slipper)
    lies = "a teddy bear lies on" if bear else "there is"
    return f"{lies} a bed in a bedroom {'at night' if night else 'in daylight'}"


def desk(c: Canvas) -> str:
    rng = c.rng
    _wall(c, rng.choice(["#cddbe6", "#dfd3c3", "#d3e0d0", "#e6d3cf"]), 470, "#a98467")
    # A board with notes.
    c.shadow(250, 170, 180, 110, 0.18)
    c.rect(76, 56, 340, 214, "#8a5f40", 4)
    c.rect(88, 68, 316, 190, "#d3a873", 2)
    notes = rng.randint(4, 6)
    for k in range(notes):
        x, y = 106 + (k % 3) * 98 + c.near(0, 6), 84 + (k // 3) * 88 + c.near(0, 5)
        paper = ["#f7e48b", "#f2b3b0", "#b7dba8", "#a9cfe8"][rng.randrange(4)]
        c.rect(x + 3, y + 4, 74, 66, clear("#1b1a2e", 0.18))
        c.rect(x, y, 74, 66, paper)
        for line in range(3):
            c.line([(x + 10, y + 24 + 13 * line), (x + rng.uniform(36, 64), y + 24 + 13 * line)],
                   clear("#33333d", 0.55), 2.4)  # fmt: skip
        c.disc(x + 37, y + 7, 5, PAINT[rng.choice(["red", "blue", "green"])])
    # A shelf.
    c.rect(500, 176, 240, 12, "#7d5538", 2)
    for x in (524, 704):
        c.poly([(x, 188), (x + 10, 188), (x + 10, 214)], "#5f4129")
    x = 512.0
    for _ in range(rng.randint(4, 7)):
        wide, tall = rng.uniform(13, 22), rng.uniform(60, 92)
        colour = PAINT[rng.choice(list(PAINT))]
        c.rect(x, 176 - tall, wide, tall, colour, 2)
        c.rect(x, 176 - tall + 12, wide, 6, light(colour, 0.45))
        x += wide + 1.5
    pot_plant(c, 700, 176, 88, "#e0d6c4")
    # The desk.
    c.shadow(400, 584, 380, 14, 0.3)
    for x in (54, 722):
        c.rect(x, 452, 24, 140, "#5f4129")
    c.rect(560, 452, 162, 110, "#8f6340", 3)
    for y in (462, 512):
        c.rect(570, y, 142, 42, "#a5764f", 3)
        c.rect(622, y + 17, 38, 7, "#e8c26a", 3)
    c.rect(26, 430, 748, 26, "#b98657", 4)
    c.rect(26, 430, 748, 7, "#d0a074", 3)
    # The screen of a laptop.
    c.shadow(372, 432, 170, 10, 0.3)
    c.rect(246, 252, 254, 166, "#3a3d47", 10)
    c.fade(256, 262, 234, 144, "#5aa0d8", "#cfe8f4")
    kind = rng.choice(["chart", "photo", "chart"])
    if kind == "chart":
        c.rect(256, 262, 234, 144, "#f7f8fa")
        for k in range(6):
            tall = rng.uniform(24, 96)
            c.rect(276 + 34 * k, 392 - tall, 22, tall, PAINT[["blue", "orange"][k % 2]], 2)
        c.line([(270, 393), (478, 393)], "#33333d", 2)
    else:
        c.disc(440, 300, 17, "#fff3c4")
        c.poly([(256, 406), (320, 310), (372, 406)], "#4f7f6a")
        c.poly([(320, 406), (410, 330), (490, 406)], "#3d6a5a")
    c.poly([(236, 418), (510, 418), (536, 432), (210, 432)], "#b6bbc4")
    c.rect(210, 430, 326, 6, "#8f959c", 3)
    # The lamp.
    lamp = PAINT[rng.choice(["red", "yellow", "turquoise", "black", "green"])]
    c.shadow(118, 432, 42, 7, 0.3)
    c.oval(118, 428, 38, 8, dark(lamp, 0.2))
    c.line([(118, 424), (84, 350), (150, 292)], "#6d7078", 7)
    c.disc(84, 350, 7, "#4a4d55")
    c.poly([(120, 290), (170, 262), (214, 322), (138, 340)], lamp)
    c.oval(176, 331, 40, 11, "#fff0bf")
    c.beam([(140, 336), (212, 324), (262, 430), (120, 430)], "#fff0bf", 0.3)
    mug(c, 584, 432, 52, PAINT[rng.choice(["white", "blue", "orange", "pink"])])
    books(c, 690, 430, rng.sample(list(PAINT), rng.randint(2, 4)), 96)
    # Pencils in a cup.
    for k, colour in enumerate(rng.sample(["red", "yellow", "green", "blue", "purple"], 4)):
        c.line([(196 + 7 * k, 404), (186 + 13 * k, 356)], PAINT[colour], 6)
    c.shadow(206, 432, 24, 5, 0.25)
    c.rect(186, 384, 40, 46, "#6d7f8f", 5)
    return "a desk with a laptop and a lamp under a board full of notes"
