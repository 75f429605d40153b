"""Write numbers of README and docs from the program and from committed results: python tools/build_readme.py.

They are what the demo prints and the rates at which its sentences were right, of forecasts also as a table in
docs/concepts.md; the table of papers is written by ``tools/build_pages.py``.
"""

from __future__ import annotations

import json
from pathlib import Path

import recombine as rc
from recombine.data import hit_rate, hit_rates, screen_path
from recombine.jobs.training.expected_range import TableKind, Way

ROOT = Path(__file__).parents[1]
README, CONCEPTS = ROOT / "README.md", ROOT / "docs" / "concepts.md"
BEGIN, END = "<!-- numbers: written by tools/build_readme.py -->\n", "<!-- end of numbers -->"
#: Sentences of the forecast that docs tell, by what they are called there.
TOLD = {
    "error": "error of a network, one trained here, held-out rows",
    "error on seen cells": "the same by folds, without held-out rows",
    "error by theory": "error of a network by theory (NTK), held-out rows",
    "error by theory on seen cells": "the same on seen cells",
    "slopes": "share of an effect that arrives, held-out rows",
    "slopes without a split": "the same without",
    "leak": "RC201, held-out rows",
    "leak without a split": "RC201 without",
    "shortcut": "RC202, held-out rows",
    "shortcut without a split": "RC202 without",
}


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
        f"{seen} without ([how](docs/concepts.md#forecast)).\n"
        "- Verdicts are exact, and agree with R's `estimability` on every cell that the tests carry.\n"
    )


def forecasts() -> str:
    """Return tables of how often forecasts were right, and of the ranges that are printed."""
    record = hit_rates()
    lines = [
        f"{record['tables']} published tables and planted designs, {record['trials']} trials:",
        "",
        "| said | right | a constant | |",
        "|---|---|---|---|",
    ]
    for key, name in TOLD.items():
        rate = record["sentences"][key]
        right = f"{rate['right']} of {rate['of']}"
        lines.append(f"| {name} | {right} {rate['says']} | {rate['constant']:.0%} | {rate['measure']} |")
    lines += ["", "| network, by | tables | range of what came out over what was said | held | on tables kept back |"]
    lines.append("|---|---|---|---|---|")
    for way in Way:
        for kind in ("all", *TableKind):
            entry = record["ranges"].get(f"network: {way}", {}).get(kind)
            if entry is not None:
                back = f"{entry['held, kept back']} of {entry['trials, kept back']}"
                span = f"{entry['low']:.2f} to {entry['high']:.2f}"
                lines.append(f"| {way} | {kind} | {span} | {entry['held']} of {entry['trials']} | {back} |")
    return "\n".join(lines) + "\n\n"


def with_forecasts(page: str) -> str:
    """Return a page with the tables of forecasts between its marks."""
    head, begin, tail = page.partition(BEGIN)
    return f"{head}{begin}{forecasts()}{END}{tail.partition(END)[2]}"


def written(readme: str) -> str:
    """Return the README with the demo's answer in its first block of text, and with its numbers."""
    before, block, rest = readme.partition("```text\n")
    _, closing, after = rest.partition("```")
    head, begin, tail = after.partition(BEGIN)
    _, end, last = tail.partition(END)
    return f"{before}{block}{answer()}\n{closing}{head}{begin}{numbers()}{end}{last}"


if __name__ == "__main__":
    README.write_text(written(README.read_text(encoding="utf-8")), encoding="utf-8")
    CONCEPTS.write_text(with_forecasts(CONCEPTS.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"{README.name}: {len(README.read_text(encoding='utf-8').split())} words")
