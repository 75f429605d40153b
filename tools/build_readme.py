"""Write numbers of the README from the program and from committed results: python tools/build_readme.py.

They are what the demo prints and the rates at which its sentences were right; the table of papers is written by
``tools/build_pages.py``, the page of all rates by ``tools/build_vocabulary.py``.
"""

from __future__ import annotations

import json
from pathlib import Path

import recombine as rc
from recombine.data import hit_rate, screen_path

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
BEGIN, END = "<!-- numbers: written by tools/build_readme.py -->\n", "<!-- end of numbers -->"


def answer() -> str:
    """Return what the demo prints."""
    table = {"factors": ["drug", "cell_line"], "outcome": "activity", "split": "split=measured"}
    return str(rc.audit(screen_path(), **table))


def numbers() -> str:
    """Return how often what is printed was right, one line each."""
    final = json.loads((ROOT / "results" / "values" / "final.json").read_text(encoding="utf-8"))
    models, draws = final["models"]["all"], int(final["draws"])
    ours, forest, mixed = (models[name] for name in ("CompositionalRegressor", "forest", "lme4"))
    given, seen = hit_rate("error"), hit_rate("error on seen cells")
    explained = f"lme4 {mixed['mean R2']:.2f}, forest {forest['mean R2']:.2f}"
    worse, worse_forest, held = (round(100 * share) for share in (ours["worse"], forest["worse"], ours["in range"]))
    return (
        f"- Values explain {ours['mean R2']:.2f} of the variance on {draws} hidden parts of {final['tables']} tables "
        f"nothing was tuned on ({explained}), and are worse than the mean in {worse} % (forest {worse_forest} %); "
        f"90 % ranges held {held} %.\n"
        f"- Forecasts of networks' errors were within 20 % in {given} with held-out rows, in "
        f"{seen} without ([how](docs/rates.md)).\n"
        "- Verdicts are exact, and agree with R's `estimability` on every cell that the tests carry.\n"
    )


def written(readme: str) -> str:
    """Return the README with the demo's answer in its first block of text, and with its numbers."""
    before, block, rest = readme.partition("```text\n")
    _, closing, after = rest.partition("```")
    head, begin, tail = after.partition(BEGIN)
    _, end, last = tail.partition(END)
    return f"{before}{block}{answer()}\n{closing}{head}{begin}{numbers()}{end}{last}"


if __name__ == "__main__":
    README.write_text(written(README.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"{README.name}: {len(README.read_text(encoding='utf-8').split())} words")
