"""Scenes in the open: a beach, a park, a farm."""

from __future__ import annotations

from duologue.scenes.canvas import Canvas, Colour, around, clear, dark, light, mix
from duologue.scenes.things import (
    PAINT,
    a,
    bird,
    cloud,
    dog,
    person,
    some_look,
    sun,
    tree,
)


def _sky(c: Canvas, horizon: float, top: str = "#6db3e2", bottom: str = "#e6f3f4") -> None:
    c.fade(0, 0, 800, horizon, top, bottom)


def _sailing_boat(c: Canvas, x: float, y: float, size: float, sail: Colour) -> None:
    u = size / 100
    c.line([(x, y - 8 * u), (x, y - 96 * u)], "#5a3c28", 3 * u)
    c.poly([(x + 3 * u, y - 92 * u), (x + 3 * u, y - 16 * u), (x + 46 * u, y - 16 * u)], sail)
    c.poly([(x - 4 * u, y - 84 * u), (x - 4 * u, y - 16 * u), (x - 34 * u, y - 16 * u)],
           light(sail, 0.5))  # fmt: skip
    c.poly([(x - 44 * u, y - 10 * u), (x + 52 * u, y - 10 * u), (x + 36 * u, y + 8 * u),
            (x - 32 * u, y + 8 * u)], "#f4f1ea")  # fmt: skip
    c.poly([(x - 44 * u, y - 10 * u), (x + 52 * u, y - 10 * u), (x + 48 * u, y - 5 * u),
            (x - 42 * u, y - 5 * u)], PAINT["red"])  # fmt: skip


def beach(c: Canvas) -> str:
    rng = c.rng
    _sky(c, 270)
    sun(c, rng.choice([120, 650]), 88, 36)
    for _ in range(rng.randint(1, 3)):
        cloud(c, rng.uniform(180, 600), rng.uniform(50, 130), rng.uniform(80, 140))
    for _ in range(rng.randint(2, 4)):
        bird(c, rng.uniform(250, 560), rng.uniform(110, 200), rng.uniform(9, 15), "#5b6470")
    c.fade(0, 262, 800, 140, "#2f86b7", "#6cc3cf")
    for _ in range(26):
        x, y = rng.uniform(0, 780), rng.uniform(272, 380)
        c.line([(x, y), (x + rng.uniform(14, 44), y)], clear("#ffffff", 0.32), 1.6)
    boats = rng.randint(1, 3)
    for k in range(boats):
        sail = PAINT[rng.choice(["white", "red", "yellow", "orange"])]
        _sailing_boat(c, 250 + 190 * k + c.near(0, 40), 286 + 12 * k, 54 + 16 * k, sail)
    c.blob([(-30, 392), (160, 378), (360, 396), (560, 376), (830, 394), (830, 640), (-30, 640)],
           "#f3f7f4")  # fmt: skip
    c.blob([(-30, 404), (160, 388), (360, 407), (560, 386), (830, 404), (830, 640), (-30, 640)],
           "#cfae7c")  # fmt: skip
    c.blob([(-30, 414), (160, 399), (360, 418), (560, 397), (830, 414), (830, 640), (-30, 640)],
           "#efd9a8")  # fmt: skip
    for _ in range(120):
        c.disc(rng.uniform(0, 800), rng.uniform(430, 598), rng.uniform(0.6, 1.5), "#d3b684")
    # A palm tree.
    c.shadow(702, 520, 80, 9, 0.22)
    c.curve([(716, 522), (700, 420), (664, 300), (668, 214)], "#94683f", 20)
    for k in range(9):
        c.arc(704 - 5.4 * k, 500 - 32 * k, 12, 5, 20, 160, "#6f4a2c", 2)
    for degrees in (-172, -140, -104, -62, -28, 4, 32, 160):
        tip = around(668, 214, 118, degrees)
        middle = around(668, 196, 66, degrees)
        tip = (tip[0], tip[1] + 26)
        c.blob([(668, 210), (middle[0], middle[1] - 12), tip, (middle[0], middle[1] + 10)],
               mix("#3f8a55", "#79b35f", abs(degrees) / 180))  # fmt: skip
    for dx in (-10, 8):
        c.disc(668 + dx, 222, 9, "#6b4630")
    # The parasol, a towel, a person beneath.
    one, two = rng.sample(["red", "blue", "yellow", "green", "purple", "orange"], 2)
    c.shadow(196, 540, 150, 20, 0.25)
    towel = PAINT[rng.choice(["pink", "turquoise", "orange"])]
    c.poly([(96, 508), (300, 508), (326, 552), (76, 552)], towel)
    for k in range(3):
        y = 518 + 12 * k
        c.line([(92 - 5 * k, y), (306 + 5 * k, y)], clear("#ffffff", 0.6), 4)
    c.line([(196, 300), (196, 536)], "#f4f1ea", 7)
    for k in range(8):
        c.pie(196, 384, 138, 118, 180 + 22.5 * k, 202.5 + 22.5 * k, PAINT[(one, two)[k % 2]])
    c.oval(196, 384, 138, 10, dark(PAINT[one], 0.3))
    c.disc(196, 266, 6, "#f4f1ea")
    look = some_look(c, rng.choice(["yellow", "turquoise", "white"]))
    people = rng.randint(1, 2)
    person(c, 396, 520, 150, look, wave=rng.random() < 0.5)
    if people == 2:
        person(c, 462, 528, 106, some_look(c, rng.choice(["red", "green", "purple"])))
    # A ball, a bucket, a sandcastle.
    x, y = 548, 556
    c.shadow(x, y + 2, 34, 7)
    c.disc(x, y - 28, 30, "#f4f1ea")
    for k in range(3):
        c.pie(x, y - 28, 30, 30, 120 * k + 15, 120 * k + 75, PAINT[["red", "blue", "yellow"][k]])
    c.disc(x, y - 28, 6, "#f4f1ea")
    if castle := rng.random() < 0.7:
        c.shadow(652, 572, 70, 9)
        c.rect(602, 532, 100, 40, "#d9b878", 4)
        for k in range(3):
            c.rect(596 + 42 * k, 508 - 16 * (k == 1), 28, 64 + 16 * (k == 1), "#e3c48a", 3)
            for tooth in range(3):
                c.rect(596 + 42 * k + 10 * tooth, 501 - 16 * (k == 1), 7, 9, "#e3c48a")
        c.pie(652, 572, 12, 26, 180, 360, "#a9854f")
        c.line([(652, 492), (652, 464)], "#5a3c28", 2.4)
        c.poly([(653, 464), (676, 471), (653, 479)], PAINT["red"])
    who = "a person" if people == 1 else "two people"
    return f"{who} on a sandy beach beside a parasol{' and a sandcastle' if castle else ''}"


def park(c: Canvas) -> str:
    rng = c.rng
    autumn = rng.random() < 0.35
    leaves = ["#c98a3c", "#b5633a", "#d3a843"] if autumn else ["#6fa05a", "#5c9a64", "#86b05a"]
    _sky(c, 320, "#7fbbe3", "#eef4ea")
    sun(c, 690, 70, 30)
    cloud(c, 180, 82, 130)
    cloud(c, 430, 56, 90)
    c.blob([(-30, 320), (120, 262), (300, 290), (480, 256), (660, 286), (830, 258), (830, 360),
            (-30, 360)], mix(leaves[0], "#cfe0e0", 0.45))  # fmt: skip
    c.fade(0, 312, 800, 288, "#a9c36f" if autumn else "#8dbb66", "#7d9d4a" if autumn else "#5f9a4e")
    for x, ground, tall in ((70, 372, 210), (240, 348, 150), (566, 344, 140), (742, 380, 230)):
        tree(c, x, ground, tall, rng.choice(leaves))
    # The path and the pond.
    c.blob([(300, 330), (352, 330), (330, 400), (430, 470), (560, 540), (620, 640), (330, 640),
            (330, 560), (240, 450), (262, 380)], "#e2cfa6")  # fmt: skip
    c.oval(610, 448, 176, 52, "#c9b98a")
    c.oval(610, 446, 168, 47, "#5aa5c4")
    c.oval(596, 440, 120, 28, clear("#bfe3ee", 0.35))
    ducks = rng.randint(2, 5)
    for k in range(ducks):
        x, y = 500 + 56 * k, 436 + 17 * (k % 2) + c.near(0, 4)
        c.oval(x, y + 9, 21, 3, clear("#ffffff", 0.5))
        body = "#f7f3ea" if k else "#8a5a3c"
        c.blob([(x - 22, y - 7), (x - 8, y - 8), (x + 12, y - 6), (x + 16, y + 4), (x, y + 9),
                (x - 16, y + 6)], body)  # fmt: skip
        c.disc(x + 13, y - 13, 7, body if k else "#3f7d53")
        c.poly([(x + 19, y - 14), (x + 28, y - 11), (x + 19, y - 9)], PAINT["orange"])
        c.disc(x + 15, y - 15, 1.5, "#2b2430")
    # A bench with somebody on it.
    c.shadow(170, 530, 110, 10)
    for y in (424, 444):
        c.rect(70, y, 200, 13, "#a5714a", 4)
    look = some_look(c, rng.choice(["red", "purple", "yellow", "blue"]))
    person(c, 128, 548, 142, look)
    c.rect(62, 476, 216, 15, "#b57f54", 5)
    for x in (84, 246):
        c.rect(x, 488, 10, 44, "#3b4048", 2)
        c.rect(x, 420, 8, 60, "#3b4048", 2)
    c.rect(206, 452, 36, 26, PAINT[rng.choice(["brown", "green", "black"])], 6)
    c.arc(224, 454, 12, 14, 180, 360, "#5a3c28", 3)
    # A child with a kite.
    kite, child = rng.choice(["red", "orange", "pink", "yellow"]), some_look(c, "turquoise")
    kx, ky = rng.uniform(330, 420), rng.uniform(96, 140)
    c.curve([(425, 430), (420, 300), (kx, ky + 44)], clear("#ffffff", 0.9), 1.6)
    c.curve([(kx, ky + 44), (kx - 14, ky + 66), (kx + 8, ky + 86), (kx - 8, ky + 108)],
            PAINT[kite], 3)  # fmt: skip
    c.poly([(kx, ky - 40), (kx + 30, ky), (kx, ky + 46), (kx - 30, ky)], PAINT[kite])
    c.poly([(kx, ky - 40), (kx + 30, ky), (kx, ky + 46)], dark(PAINT[kite], 0.14))
    c.line([(kx - 30, ky), (kx + 30, ky)], clear("#ffffff", 0.8), 2)
    person(c, 404, 520, 104, child, wave=True)
    if with_dog := rng.random() < 0.6:
        dog(c, 486, 560, 70, rng.choice(["#e2c391", "#a9744a", "#f4f1ea", "#4a4248"]))
    for _ in range(40):
        px, py = rng.uniform(0, 800), rng.uniform(540, 598)
        colour = leaves[1] if autumn else PAINT[rng.choice(["white", "yellow", "pink"])]
        c.disc(px, py, rng.uniform(2, 3.4), colour)
    return f"a child {'and a dog play' if with_dog else 'flies a kite'} in a park beside a pond"


def farm(c: Canvas) -> str:
    rng = c.rng
    _sky(c, 330, "#79b8e0", "#f6efd9")
    for _ in range(3):
        cloud(c, rng.uniform(60, 740), rng.uniform(44, 130), rng.uniform(80, 150))
    for k, tone in enumerate(("#9cc0a0", "#8ab579", "#a9c26a")):
        y = 262 + 26 * k
        c.blob([(-40, y + 20), (140, y - 28 + 16 * k), (330, y + 14), (540, y - 30), (840, y + 8),
                (840, 420), (-40, 420)], tone)  # fmt: skip
    c.fade(0, 340, 800, 260, "#8fbf5f", "#5f9a4a")
    for x in (640, 700, 752):
        tree(c, x, 352, rng.uniform(92, 124), "#5c9a64")
    # The barn.
    barn = rng.choice(["#b8483c", "#8a5a3c", "#4f6f8f"])
    c.shadow(210, 392, 150, 12)
    c.rect(90, 236, 240, 156, barn)
    for k in range(12):
        c.line([(90 + 20 * k, 236), (90 + 20 * k, 392)], clear("#1b1a2e", 0.12), 1.6)
    c.poly([(90, 236), (120, 166), (210, 130), (300, 166), (330, 236)], barn)
    c.line([(78, 242), (114, 164), (210, 124), (306, 164), (342, 242)], "#5b5f68", 11)
    c.rect(160, 292, 100, 100, "#f4f1ea", 2)
    c.rect(167, 299, 86, 93, dark(barn, 0.12))
    c.line([(167, 299), (253, 392)], "#f4f1ea", 5)
    c.line([(253, 299), (167, 392)], "#f4f1ea", 5)
    c.rect(188, 186, 44, 44, "#f4f1ea", 2)
    c.rect(194, 192, 32, 32, "#3b3440")
    # A silo.
    c.rect(346, 196, 62, 196, "#c5cbd1")
    c.rect(346, 196, 16, 196, clear("#ffffff", 0.35))
    c.pie(377, 196, 31, 34, 180, 360, "#9aa1a8")
    for k in range(4):
        c.rect(346, 228 + 40 * k, 62, 4, "#9aa1a8")
    # Cows or sheep behind the fence.
    kind = rng.choice(["cows", "sheep"])
    herd = rng.randint(2, 5)
    for k in range(herd):
        px, py = 440 + 84 * k + c.near(0, 8), 430 + 22 * (k % 2)
        (_cow if kind == "cows" else _sheep)(c, px, py, 62)
    for x in range(-10, 820, 74):
        c.rect(x, 446, 11, 66, "#a97f57", 3)
    for y in (458, 482):
        c.rect(0, y, 800, 9, "#bd9268", 2)
    # A tractor.
    paint = PAINT[colour := rng.choice(["red", "green", "blue", "orange"])]
    c.shadow(190, 574, 130, 11)
    c.rect(196, 478, 110, 50, paint, 8)
    c.rect(292, 488, 14, 30, "#f2cf4f", 3)
    c.rect(122, 420, 84, 100, dark(paint, 0.1), 6)
    c.rect(132, 430, 64, 48, "#cfe3ea", 4)
    c.rect(112, 410, 104, 13, paint, 4)
    c.line([(262, 478), (262, 438)], "#3b4048", 7)
    for x, y, r in ((144, 524, 50), (276, 544, 30)):
        c.disc(x, y, r, "#2b2d33")
        c.disc(x, y, r * 0.56, "#f2cf4f")
        c.disc(x, y, r * 0.2, "#8f7a2c")
    hens = rng.randint(0, 4)
    for k in range(hens):
        px, py = 420 + 76 * k + c.near(0, 12), 566 + 10 * (k % 2)
        body = rng.choice(["#f4f1ea", "#a9653c", "#e0c39a"])
        c.shadow(px, py, 17, 4)
        for leg in (-4, 5):
            c.line([(px + leg, py - 10), (px + leg, py)], PAINT["orange"], 2)
        c.blob([(px - 24, py - 32), (px - 12, py - 24), (px + 8, py - 30), (px + 18, py - 20),
                (px + 6, py - 8), (px - 14, py - 10)], body)  # fmt: skip
        c.disc(px + 15, py - 32, 7.5, body)
        c.blob([(px + 9, py - 38), (px + 15, py - 45), (px + 21, py - 38)], PAINT["red"])
        c.poly([(px + 21, py - 33), (px + 29, py - 30), (px + 21, py - 28)], PAINT["orange"])
        c.disc(px + 17, py - 33, 1.4, "#2b2430")
    return f"{a(colour)} tractor and {kind} on a farm with a barn"


def _cow(c: Canvas, x: float, y: float, size: float) -> None:
    u = size / 60
    c.shadow(x, y, 34 * u, 5 * u)
    for leg in (-22, -12, 14, 24):
        c.rect(x + leg * u - 3 * u, y - 26 * u, 6.5 * u, 26 * u, "#efe9df", 2)
        c.rect(x + leg * u - 3 * u, y - 5 * u, 6.5 * u, 5 * u, "#4a3f3a", 1)
    c.rect(x - 30 * u, y - 52 * u, 62 * u, 32 * u, "#f7f3ea", 12 * u)
    for dx, dy, rx, ry in ((-16, -42, 10, 8), (8, -34, 11, 9), (22, -46, 7, 5)):
        c.oval(x + dx * u, y + dy * u, rx * u, ry * u, "#4a3f3a")
    c.oval(x + 8 * u, y - 20 * u, 7 * u, 4 * u, "#e8b3a5")
    c.rect(x - 46 * u, y - 64 * u, 21 * u, 25 * u, "#f7f3ea", 7 * u)
    c.rect(x - 46 * u, y - 49 * u, 21 * u, 11 * u, "#e8b3a5", 5 * u)
    c.oval(x - 24 * u, y - 60 * u, 7 * u, 3.4 * u, "#4a3f3a")
    for dx in (-40, -31):
        c.disc(x + dx * u, y - 56 * u, 1.8 * u, "#2b2430")


def _sheep(c: Canvas, x: float, y: float, size: float) -> None:
    u = size / 60
    c.shadow(x, y, 30 * u, 5 * u)
    for leg in (-16, -6, 10, 18):
        c.rect(x + leg * u - 2 * u, y - 20 * u, 5 * u, 20 * u, "#3b3440", 2)
    for dx, dy, r in ((-16, -30, 13), (0, -36, 15), (16, -30, 13), (-8, -24, 12), (9, -23, 12)):
        c.disc(x + dx * u, y + dy * u, r * u, "#f4f1ea")
    c.oval(x - 29 * u, y - 38 * u, 9 * u, 11 * u, "#3b3440")
    c.oval(x - 20 * u, y - 44 * u, 6 * u, 3 * u, "#3b3440")
    c.disc(x - 28 * u, y - 46 * u, 6 * u, "#f4f1ea")
    c.disc(x - 32 * u, y - 39 * u, 1.6 * u, "#ffffff")
