"""Scenes for warm clothes: winter, and a camp at night."""

from __future__ import annotations

from duologue.scenes.canvas import Canvas, around, clear, dark, light, mix
from duologue.scenes.things import (
    PAINT,
    Look,
    a,
    fir,
    person,
    some_look,
)


def winter(c: Canvas) -> str:
    rng = c.rng
    dusk = rng.random() < 0.4
    c.fade(0, 0, 800, 360, "#3d4a7d" if dusk else "#a9cbe6", "#f0b7a0" if dusk else "#eef5f9")
    for k, tone in enumerate(("#8fa3c4", "#b3c4da")):
        y = 250 + 40 * k
        c.poly([(-20, y + 90), (110 + 60 * k, y - 90), (230, y), (380 - 40 * k, y - 130),
                (540, y + 10), (680, y - 80), (830, y + 60), (830, 420), (-20, 420)],
               tone)  # fmt: skip
    c.blob([(-30, 350), (140, 322), (330, 346), (540, 318), (830, 344), (830, 640), (-30, 640)],
           "#e3edf6")  # fmt: skip
    for x, tall in ((40, 190), (120, 150), (300, 120), (560, 130), (708, 180), (776, 230)):
        fir(c, x, 372 + tall * 0.06, tall, "#3f6f63", snow=True)
    # A cabin with a light.
    c.shadow(440, 398, 120, 9, 0.2)
    c.rect(350, 288, 176, 110, "#8a5a3c")
    for k in range(7):
        c.rect(350, 288 + 16 * k, 176, 3, clear("#1b1a2e", 0.2))
    c.rect(374, 220, 24, 60, "#7d4335")
    c.poly([(328, 294), (438, 208), (548, 294)], "#5a3c2c")
    c.poly([(322, 292), (438, 200), (554, 292), (540, 296), (438, 222), (336, 296)], "#f7fbff")
    for puff in range(3):
        c.disc(388 + 12 * puff, 196 - 24 * puff, 10 + 5 * puff, clear("#ffffff", 0.5 - 0.12 * puff))
    if dusk:
        c.shadow(392, 340, 60, 50, 0.5, "#ffdf94")
    c.rect(370, 318, 46, 44, "#f4f1ea", 2)
    c.rect(374, 322, 38, 36, "#ffd980")
    c.rect(391, 322, 4, 36, "#f4f1ea")
    c.rect(456, 322, 42, 76, "#5b3624", 2)
    c.disc(490, 362, 3, "#f2cf4f")
    c.blob([(-30, 420), (200, 392), (420, 416), (620, 396), (830, 424), (830, 640), (-30, 640)],
           "#f4f9fd")  # fmt: skip
    # The snowman.
    x, ground = 236, 556
    c.shadow(x, ground, 78, 11, 0.25)
    for dy, r in ((46, 58), (122, 43), (182, 31)):
        c.disc(x, ground - dy, r, "#d5e3f0")
        c.disc(x - r * 0.08, ground - dy - r * 0.06, r * 0.92, "#ffffff")
    for side in (-1, 1):
        hand = (x + side * 96, ground - 156)
        c.line([(x + side * 38, ground - 128), hand], "#6b4a34", 5)
        c.line([(x + side * 78, ground - 147), (x + side * 84, ground - 170)], "#6b4a34", 3.4)
        c.disc(x + side * 11, ground - 190, 4, "#2b2430")
    c.poly([(x, ground - 184), (x + 38, ground - 176), (x, ground - 174)], PAINT["orange"])
    for k in range(5):
        c.disc(x - 14 + 7 * k, ground - 166 + (2 if k in (1, 2, 3) else 0), 2.2, "#2b2430")
    buttons = rng.randint(2, 4)
    for k in range(buttons):
        c.disc(x, ground - 138 + 24 * k, 4.6, "#2b2430")
    scarf = PAINT[rng.choice(["red", "green", "blue", "purple"])]
    c.rect(x - 34, ground - 160, 68, 15, scarf, 7)
    c.poly([(x + 14, ground - 150), (x + 34, ground - 150), (x + 40, ground - 96),
            (x + 22, ground - 94)], dark(scarf, 0.1))  # fmt: skip
    c.rect(x - 40, ground - 214, 80, 9, "#33333d", 3)
    c.rect(x - 25, ground - 258, 50, 46, "#33333d", 4)
    c.rect(x - 25, ground - 224, 50, 9, scarf)
    # Children and a sledge.
    children = rng.randint(1, 3)
    coats = rng.sample(["red", "yellow", "turquoise", "purple", "green"], 3)
    for k in range(children):
        look = Look(PAINT[coats[k]], "#39465f", some_look(c, "red").skin, "#6b4429",
                    hat=PAINT[coats[(k + 1) % 3]])  # fmt: skip
        person(c, 470 + 92 * k, 538 - 14 * (k % 2), 136 - 10 * k, look, wave=k == 0)
    sledge = PAINT[rng.choice(["red", "brown", "blue"])]
    c.shadow(408, 584, 70, 6, 0.2)
    for dy in (0, 12):
        c.curve([(340, 582 - dy), (450, 582 - dy), (472, 574 - dy), (476, 556 - dy)],
                dark(sledge, 0.25), 5)  # fmt: skip
    c.poly([(342, 560), (462, 560), (452, 548), (350, 548)], sledge)
    for _ in range(rng.choice([0, 110])):
        c.disc(rng.uniform(0, 800), rng.uniform(0, 600), rng.uniform(1.2, 3.2), "#ffffff")
    who = "a child" if children == 1 else f"{('two', 'three')[children - 2]} children"
    return f"a snowman and {who} in front of a wooden cabin in the snow"


def camp(c: Canvas) -> str:
    rng = c.rng
    c.fade(0, 0, 800, 400, "#131a3f", "#4a4f86")
    for _ in range(130):
        c.disc(rng.uniform(0, 800), rng.uniform(0, 300), rng.uniform(0.6, 1.9), "#fff7d6")
    moon = rng.uniform(560, 700)
    c.shadow(moon, 96, 90, 90, 0.3, "#fff7d6")
    c.disc(moon, 96, 36, "#fdf3c8")
    for dx, dy, r in ((-11, -8, 7), (10, 9, 9), (8, -14, 4)):
        c.disc(moon + dx, 96 + dy, r, "#efe0a8")
    c.poly([(-20, 370), (120, 196), (210, 286), (330, 150), (470, 310), (590, 216), (830, 372)],
           "#454e86")  # fmt: skip
    c.poly([(292, 193), (330, 150), (372, 198), (346, 210), (330, 196), (312, 212)], "#c9d1ea")
    c.poly([(94, 228), (120, 196), (148, 224), (122, 234)], "#c9d1ea")
    c.fade(0, 346, 800, 60, "#39477f", "#2c3a6a")
    c.oval(moon, 372, 46, 7, clear("#fdf3c8", 0.4))
    for _ in range(16):
        x, y = rng.uniform(0, 780), rng.uniform(352, 396)
        c.line([(x, y), (x + rng.uniform(16, 44), y)], clear("#cfd8f5", 0.25), 1.6)
    c.blob([(-30, 396), (200, 380), (420, 396), (640, 382), (830, 398), (830, 640), (-30, 640)],
           "#2c4a3f")  # fmt: skip
    c.blob([(-30, 430), (240, 408), (520, 424), (830, 412), (830, 640), (-30, 640)], "#355a47")
    for x, tall in ((30, 230), (104, 170), (694, 200), (772, 250)):
        fir(c, x, 420 + tall * 0.06, tall, "#1f3d3a", snow=False)
    # Fire light.
    c.shadow(420, 520, 300, 90, 0.4, "#e8953f")
    # The tent.
    paint = PAINT[colour := rng.choice(["orange", "red", "blue", "yellow", "green", "turquoise"])]
    c.shadow(206, 512, 150, 14, 0.4)
    c.poly([(80, 508), (196, 330), (332, 508)], dark(paint, 0.12))
    c.poly([(196, 330), (286, 324), (420, 478), (332, 508)], dark(paint, 0.38))
    c.poly([(150, 508), (196, 352), (252, 508)], "#3b2c30")
    c.poly([(150, 508), (196, 352), (176, 508)], light(paint, 0.1))
    c.line([(80, 508), (196, 330), (332, 508)], dark(paint, 0.4), 3)
    c.line([(80, 508), (54, 520)], "#d9d2c4", 1.6)
    if lantern := rng.random() < 0.6:
        c.shadow(110, 540, 60, 40, 0.5, "#ffdf94")
        c.rect(99, 520, 22, 28, "#ffe7a8", 4)
        c.rect(97, 516, 26, 6, "#5b5f68", 2)
        c.rect(97, 546, 26, 6, "#5b5f68", 2)
        c.arc(110, 517, 10, 12, 180, 360, "#5b5f68", 2.4)
    # People around the fire.
    people = rng.randint(1, 3)
    shirts = rng.sample(["red", "yellow", "turquoise", "purple", "pink", "white"], 3)
    for k in range(people):
        person(c, (530, 606, 356)[k], (538, 560, 526)[k], 138 - 10 * k, some_look(c, shirts[k]))
    # The fire.
    x, ground = 440, 566
    c.shadow(x, ground - 24, 90, 70, 0.55, "#ffb75a")
    for k in range(9):
        px, py = around(x, ground + 2, 52, 40 * k)
        c.oval(px, ground + (py - ground) * 0.32, 11, 8, mix("#6f6a73", "#8f8a8f", (k % 3) / 2))
    for lean in (-1, 1):
        c.line([(x - lean * 36, ground - 2), (x + lean * 30, ground - 18)], "#5a3c28", 11)
    for width, tall, tone in ((30, 84, "#e0602f"), (21, 62, "#f39a3b"), (12, 38, "#ffd76a")):
        sway = c.near(0, 4)
        c.blob([(x - width, ground - 14), (x - width * 0.6, ground - tall * 0.55),
                (x + sway, ground - tall), (x + width * 0.55, ground - tall * 0.5),
                (x + width, ground - 14), (x, ground - 6)], tone)  # fmt: skip
    for _ in range(14):
        c.disc(x + c.near(0, 46), ground - rng.uniform(70, 170), rng.uniform(1, 2.4), "#ffcf7a")
    # A guitar, a pot or a log to sit on.
    c.shadow(690, 582, 70, 8, 0.35)
    c.rect(626, 552, 128, 30, "#6b4a34", 15)
    c.oval(752, 567, 9, 15, "#c9a27a")
    c.arc(752, 567, 5, 9, 0, 360, "#8a5f40", 1.6)
    if guitar := rng.random() < 0.5:
        c.line([(676, 520), (716, 448)], "#4a3328", 8)
        c.disc(668, 534, 24, "#c9823f")
        c.disc(680, 512, 17, "#c9823f")
        c.disc(671, 526, 8, "#3b2c24")
        c.line([(662, 544), (712, 454)], clear("#ffffff", 0.6), 1)
    who = "a person" if people == 1 else f"{('two', 'three')[people - 2]} people"
    holding = " with a guitar" if guitar else ""
    light_by = " and a lantern" if lantern else ""
    return f"{who}{holding} at a camp fire beside {a(colour)} tent{light_by} at night"
