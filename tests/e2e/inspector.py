"""Looks at a page in every look it is read in: axe-core's rules, and whether it is too wide."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from playwright.async_api import Page

AXE: Final = Path(__file__).parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
Look = tuple[Literal["light", "dark"], tuple[int, int]]


async def too_wide(place: Any) -> bool:
    """Whether a reader of this page or frame has to scroll sideways."""
    return bool(await place.evaluate("document.documentElement.scrollWidth > innerWidth"))


@dataclass
class Inspector:
    """Looks at screens in each of the looks, and notes what is wrong with them. With `pictures`
    it keeps a picture of each there."""

    looks: tuple[Look, ...]
    pictures: Path | None = None
    seen: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    async def look(self, page: Page, name: str) -> None:
        self.seen.append(name)
        if not await page.evaluate("'axe' in window"):
            await page.evaluate(AXE.read_text(encoding="utf-8"))
        for scheme, (width, height) in self.looks:
            await page.emulate_media(color_scheme=scheme)
            await page.set_viewport_size({"width": width, "height": height})
            where = f"{name}, {scheme}, {width}"
            if await too_wide(page):
                self.faults.append(f"{where}: wider than the window")
            found = await page.evaluate("axe.run(document, {resultTypes: ['violations']})")
            assert found["passes"], f"{where}: axe found nothing to look at"
            for violation in found["violations"]:
                nodes = ", ".join(node["html"][:100] for node in violation["nodes"][:3])
                self.faults.append(f"{where}: {violation['help']}: {nodes}")
            if self.pictures is not None:
                file = self.pictures / f"{name.replace(' ', '-')}-{scheme}-{width}.png"
                await page.screenshot(path=file, full_page=True)
