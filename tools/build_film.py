"""Photograph the page for README and docs: python tools/build_film.py. Needs Chromium; nothing else leaves or enters.

Every picture is a link: the scene behind its # is all there is to it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from PIL import Image

from recombine.explore import page_path

IMAGES = Path(__file__).parents[1] / "docs" / "images"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDTH, HEIGHT = 1300, 920
#: Name -> what stands behind the #, and which part of the page is kept: left, upper, right, lower.
PICTURES = {
    "explore": ("p=islands&m=2.1.8.1.6.5.6.1.8.1.d.1.6.4.7.1.8.1&k=ntk3&c=14", (0, 62, WIDTH, 840)),
    "explore-square": ("s=6x6&m=7.1.2.1.e.1&t=adding&k=ntk3&c=s", (0, 205, WIDTH, 790)),
    "explore-bridge": ("s=8x8&m=2.1.5.4.1.1.4.1.7.1.b.1.5.4.6.1.7.1&t=adding&k=ntk3&c=v", (0, 205, WIDTH, 840)),
    "explore-depth": ("s=9x9&m=4.1.8.1.8.1.8.1.4.9.4.1.8.1.8.1.8.1&t=adding&k=ntk16&c=a", (0, 205, WIDTH, 840)),
    "explore-shortcut": ("s=9x9&m=0.2.7.3.7.3.7.3.7.3.7.3.7.3.7.3.7.2&t=formula&y=b&k=ntk1&c=8", (0, 205, WIDTH, 840)),
    "explore-collect": (
        "s=12x12&m=0.4.2.1.2.1.2.1.b.1.e.3.9.1.b.1.e.3.9.1.b.1.e.3.9.1.b.1&t=adding&k=ntk3&c=3u",
        (0, 205, WIDTH, 840),
    ),
    "explore-puzzle": (
        "z=7.1&m=1.1.1.1.3.2.6.1.6.1.2.1.7.2.5.1.6.1.2.1.3.1.1.1.2.1.5.1.2.2.8.1&k=ntk3",
        (0, 62, WIDTH, 730),
    ),
}


#: A table of a thousand levels by a thousand, forty groups that were never seen together; where to look, and the part.
SERVED = "explore-served", "at=210.212&sides=0.1", (0, 20, WIDTH, 1420)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve the large table and hand out its link."""
    draw = np.random.default_rng(0)
    users = draw.integers(0, 1000, 6000)
    items = users // 25 * 25 + draw.integers(0, 25, 6000)
    minutes = (users / 100 + items / 50 + draw.normal(0, 0.1, 6000)).round(3)
    rows = [f"u{a:03},i{b:03},{y}" for a, b, y in zip(users, items, minutes, strict=True)]
    (folder / "minutes.csv").write_text("user,item,minutes\n" + "\n".join(rows) + "\n")
    command = [
        sys.executable,
        "-m",
        "recombine",
        "explore",
        "minutes.csv",
        "--factors",
        "user,item",
        "--outcome",
        "minutes",
    ]
    with subprocess.Popen([*command, "--no-open"], stdout=subprocess.PIPE, text=True, cwd=folder) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()


def photograph(browser: str, address: str, path: Path, height: int = HEIGHT) -> None:
    """Write what the browser shows at an address."""
    with tempfile.TemporaryDirectory() as profile:
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--no-first-run",
            "--disable-background-networking",
            f"--user-data-dir={profile}",
            f"--window-size={WIDTH},{height}",
            "--virtual-time-budget=3000",
            f"--screenshot={path}",
        ]
        subprocess.run([browser, *options, address], check=True, capture_output=True, timeout=120)


def main() -> None:
    """Write every picture, in few colours: they are flat, and small files load fast."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        sys.exit(f"no browser was found; install one of {', '.join(BROWSERS)}")
    with tempfile.TemporaryDirectory() as folder:
        for name, (scene, part) in PICTURES.items():
            raw = Path(folder) / f"{name}.png"
            photograph(browser, f"{page_path().as_uri()}#{scene}", raw)
            keep(raw, name, part)
        name, look, part = SERVED
        raw = Path(folder) / f"{name}.png"
        with served(Path(folder)) as link:
            photograph(browser, f"{link}#{look}", raw, part[3] + 80)
        keep(raw, name, part)


def keep(raw: Path, name: str, part: tuple[int, int, int, int]) -> None:
    """Write a part of a picture among those of the docs."""
    Image.open(raw).convert("RGB").crop(part).quantize(256).save(IMAGES / f"{name}.png", optimize=True)
    print(f"{name}.png: {(IMAGES / f'{name}.png').stat().st_size} bytes")


if __name__ == "__main__":
    main()
