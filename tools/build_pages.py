"""Write the documentation's pages of papers from committed results: python tools/build_pages.py [PAPER ...]."""

from __future__ import annotations

import sys
from pathlib import Path

from recombine.papers import available, find, from_results
from recombine.report.papers import PaperFigure, page_text

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "papers"


def main(names: list[str]) -> None:
    """Write docs/papers/NAME.md and the figures that it shows."""
    for paper in [find(name) for name in names] or available().values():
        state = from_results(paper, ROOT / "results")
        text = page_text(state)
        (PAGES / f"{paper.name}.md").write_text(text, encoding="utf-8")
        folder = PAGES / paper.name
        folder.mkdir(exist_ok=True)
        shown = [plot for plot in paper.figures if f"{paper.name}/{plot.name}.svg" in text]
        for plot in shown:
            PaperFigure(plot, state.results).save(folder / f"{plot.name}.svg")
        for stale in set(folder.glob("*.svg")) - {folder / f"{plot.name}.svg" for plot in shown}:
            stale.unlink()
        print(f"{paper.name}: {len(text.split())} words, {len(shown)} figures")


if __name__ == "__main__":
    main(sys.argv[1:])
