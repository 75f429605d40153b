"""Photograph the page for README and docs: python tools/build_film.py. Needs Chromium; nothing else leaves or enters.

Every picture is a link: the scene behind its # is all there is to it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

from recombine.explore import page_path

IMAGES = Path(__file__).parents[1] / "docs" / "images"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDTH, HEIGHT = 1300, 920
#: Name -> what stands behind the #, and which part of the page is kept: left, upper, right, lower.
PICTURES = {
    "explore": ("p=islands&m=2.1.8.1.6.5.6.1.8.1.d.1.6.4.7.1.8.1&k=ntk3&c=14", (0, 62, WIDTH, 818)),
    "explore-square": ("s=6x6&m=7.1.2.1.e.1&t=adding&k=ntk3&c=s", (0, 180, WIDTH, 756)),
    "explore-bridge": ("s=8x8&m=2.1.5.4.1.1.4.1.7.1.b.1.5.4.6.1.7.1&t=adding&k=ntk3&c=v", (0, 180, WIDTH, 818)),
    "explore-depth": ("s=9x9&m=4.1.8.1.8.1.8.1.4.9.4.1.8.1.8.1.8.1&t=adding&k=ntk16&c=a", (0, 180, WIDTH, 818)),
    "explore-shortcut": ("s=9x9&m=0.2.7.3.7.3.7.3.7.3.7.3.7.3.7.3.7.2&t=formula&y=b&k=ntk1&c=8", (0, 180, WIDTH, 818)),
    "explore-collect": (
        "s=12x12&m=0.4.2.1.2.1.2.1.b.1.e.3.9.1.b.1.e.3.9.1.b.1.e.3.9.1.b.1&t=adding&k=ntk3&c=3u",
        (0, 180, WIDTH, 818),
    ),
}


def photograph(browser: str, scene: str, path: Path) -> None:
    """Write what the browser shows of a scene."""
    with tempfile.TemporaryDirectory() as profile:
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--no-first-run",
            "--disable-background-networking",
            f"--user-data-dir={profile}",
            f"--window-size={WIDTH},{HEIGHT}",
            "--virtual-time-budget=3000",
            f"--screenshot={path}",
        ]
        address = f"{page_path().as_uri()}#{scene}"
        subprocess.run([browser, *options, address], check=True, capture_output=True, timeout=120)


def main() -> None:
    """Write every picture, in few colours: they are flat, and small files load fast."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        sys.exit(f"no browser was found; install one of {', '.join(BROWSERS)}")
    with tempfile.TemporaryDirectory() as folder:
        for name, (scene, part) in PICTURES.items():
            raw = Path(folder) / f"{name}.png"
            photograph(browser, scene, raw)
            picture = Image.open(raw).convert("RGB").crop(part).quantize(256)
            picture.save(IMAGES / f"{name}.png", optimize=True)
            print(f"{name}.png: {(IMAGES / f'{name}.png').stat().st_size} bytes")


if __name__ == "__main__":
    main()
