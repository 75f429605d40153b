"""Write the gallery's pages and figures from committed results: python tools/build_gallery.py.

A page is ``tools/gallery/NAME.md``, prose with holes that the numbers in ``results/gallery`` fill, and goes to
``docs/gallery``. The results come from ``benchmarks/gallery.py``, ``published_predictions.py`` and ``libero.py`` there.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
from gallery_figures import (
    CAUSES,
    Board,
    GearsFigure,
    LiberoFigure,
    MutationsFigure,
    PairsFigure,
    ScenesFigure,
    summed,
    title,
)
from jinja2 import Environment, StrictUndefined

from recombine.report.figure import Figure
from recombine.writing import few_digits

ROOT = Path(__file__).parents[1]
RESULTS, WRITTEN, PAGES = ROOT / "results" / "gallery", ROOT / "tools" / "gallery", ROOT / "docs" / "gallery"
Record = Mapping[str, Any]
#: Pages whose results come from benchmarks/gallery.py.
STUDIED = ("flights", "pairs", "gb1", "screen", "scenes", "builds", "cars", "times")


def main() -> None:
    """Write pages and figures."""
    PAGES.mkdir(exist_ok=True)
    for name, text in pages().items():
        (PAGES / f"{name}.md").write_text(text, encoding="utf-8")
        print(f"{name}: {len(text.split())} words")
    for figure in figures():
        figure.save(PAGES / f"{figure.name}.svg")


def results(name: str) -> dict[str, Any]:
    """Return the committed results of a page."""
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def figures() -> list[Figure]:
    """Return every figure of the gallery."""
    return [
        GearsFigure(results("gears")["rows"]),
        LiberoFigure(results("libero")["rows"]),
        PairsFigure(results("pairs")),
        MutationsFigure(results("gb1")),
        ScenesFigure(results("scenes")["squares"]),
        *boards(),
    ]


def boards() -> list[Figure]:
    """Return the figures that show a table's cells as squares."""
    flights, builds, cars, times = (results(name) for name in ("flights", "builds", "cars", "times"))
    routes = flights["map"]["columns"]
    jobs = builds["map"] | {"values": [["seen" if one else None for one in line] for line in builds["map"]["values"]]}
    shares = [[percent(one).replace(" ", "") for one in line] for line in cars["shares"]["values"]]
    products = [[one * other for other in range(1, 11)] for one in range(1, 11)]
    open_products = [
        [number if verdict == "seen" else "?" for number, verdict in zip(numbers, verdicts, strict=True)]
        for numbers, verdicts in zip(products, times["map"]["values"], strict=True)
    ]
    counts = [
        [f"{one:.0f} job{'s' if one > 1 else ''}" if one else "" for one in line] for line in builds["map"]["values"]
    ]
    proposed = builds["map"]["rows"].index(builds["proposed"][0]), builds["map"]["columns"].index(builds["proposed"][2])
    carrier, route = flights["answer"]["Measure next"].partition(";")[0].split(" · ")
    return [
        Board(
            "flights",
            "Sixteen airlines by routes: Hawaiian's row and the column of its only route are open, the rest follows.",
            flights["map"],
            {
                "across": f"{len(routes)} routes, those of most airlines first",
                "down": "airline, punctual ones first",
                "named": False,
                "ring": (flights["map"]["rows"].index(carrier), routes.index(route), 1, 5),
                "note": f"would tie it: {carrier} on {route}",
                "legend": {
                    "seen": "flown",
                    "determined": "comparable, if effects add",
                    "disconnected": "open",
                },
            },
        ),
        Board(
            "builds",
            "Jobs by Python and database: three Pythons run on SQLite and MySQL, three others on Postgres only.",
            jobs,
            {
                "across": "database",
                "down": "Python",
                "texts": counts,
                "ring": (*proposed, 1, 1),
                "note": "would tie both halves",
                "legend": {"seen": "runs"},
                "tall": 360,
            },
        ),
        Board(
            "cars",
            "Share of choices by fuel and range: the fuel called methanol shares 75 miles with one other fuel.",
            cars["map"],
            {
                "across": "range in miles",
                "down": "fuel, as labelled",
                "texts": shares,
                "ring": (cars["map"]["rows"].index("cng"), cars["map"]["columns"].index(str(cars["shared"][0])), 2, 1),
                "note": "methanol's one shared range",
                "legend": {"seen": "shown: share chosen", "determined": "never shown: share if effects add"},
                "tall": 340,
            },
        ),
        Board(
            "times",
            "The times table: products of two small or two large numbers are shown, the others are open.",
            times["map"],
            {
                "across": "right",
                "down": "left",
                "texts": open_products,
                "legend": {"seen": "shown", "disconnected": "open"},
                "size": 15,
            },
        ),
    ]


def pages() -> dict[str, str]:
    """Return the text of every page, by name."""
    environment = Environment(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)
    environment.filters |= {
        "percent": percent,
        "whole": whole,
        "minutes": lambda value: f"{value:.0f}",
        "hundredths": lambda value: f"{value:.2f}",
        "tenths": lambda share: f"{100 * share:.1f} %",
    }
    holes = {"gears": gears_holes(results("gears")), "libero": libero_holes(results("libero"))}
    holes |= {name: results(name) for name in STUDIED}
    return {
        path.stem: environment.from_string(path.read_text(encoding="utf-8")).render(**holes)
        for path in sorted(WRITTEN.glob("*.md"))
    }


def gears_holes(found: Record) -> dict[str, Any]:
    """Return what the page about GEARS says in numbers."""
    rows = found["rows"]
    clean = [row["never trained on"] for row in rows]
    later = [row for row in rows if row["trained before"]]
    first = [row for row in rows if not row["trained before"]]
    named = [word for word, _, _ in CAUSES]
    parts = {word: [summed(row, causes) for row in rows] for word, causes, _ in CAUSES}
    return {
        "record": record(found),
        "files": len(rows),
        "seeds": len({row["seed"] for row in rows}),
        "sizes": f"{min(row['size'] for row in rows):,} to {max(row['size'] for row in rows):,}",
        "trained": span((row["trained"] for row in rows), whole),
        "curve": few_digits(max(abs(one["published"] - one["from files"]) for one in found["published curve"])),
        "printed_over": span((row["printed"] - row["error"] for row in rows), few_digits),
        "score_differs": few_digits(max(row["score differs by"] for row in rows)),
        "truth_differs": few_digits(max(row["truth differs by"] for row in rows)),
        "renamed": found["called in the table"]["another size"],
        "renamed_sizes": ", ".join(f"{a} is called {b}" for a, b in found["called in the table"]["sizes"].items()),
        "genes": found["genes"],
        "later": len(later),
        "later_shares": span((row["trained before"] / row["listed"] for row in later), percent),
        "first_error": few_digits(rows[0]["error"]),
        "first_trained": rows[0]["trained"],
        "second_error": few_digits(later[0]["error"]),
        "second_trained": later[0]["trained"],
        "before_second": f"{max(row['trained'] for row in rows if row['seed'] == rows[0]['seed']):,}",
        "before_ratio": span(
            (row["error where trained before"] / row["never trained on"]["error"]["gears"] for row in later),
            lambda ratio: f"{ratio:.2f}",
        ),
        "beats": {name: beats(clean, name) for name in ("add", "link")},
        "beats_listed": {
            name: sum(row["as listed"]["error"][name] < row["error"] for row in rows) for name in ("add", "link")
        },
        "ratio": {
            name: span((one["error"]["gears"] / one["error"][name] for one in clean), lambda ratio: f"{ratio:.1f}")
            for name in ("add", "link")
        },
        "nearer": {
            name: span((one["pairs nearer than GEARS"][name] for one in clean), percent) for name in ("add", "link")
        },
        "mean_better": sum(one["error"]["plain mean"] < one["error"]["gears"] for one in clean),
        "ordered": {
            name: sum(one["correlation"][name] > one["correlation"]["gears"] for one in clean)
            for name in ("add", "link")
        },
        "correlations": {
            name: span((one["correlation"][name] for one in clean), lambda r: f"{r:.2f}")
            for name in ("gears", "add", "link")
        },
        "median_correlation": {
            name: f"{np.median([one['correlation'][name] for one in clean]):.2f}" for name in ("gears", "add", "link")
        },
        "determined": percent(min(settled(one["verdicts"]["add"]) for one in clean)),
        "shares": {word: span(values, percent) for word, values in parts.items()},
        "medians": {word: percent(float(np.median(values))) for word, values in parts.items()},
        "largest": {word: largest(parts, named).count(word) for word in named},
        "aside": span((a + b for a, b in zip(parts["scale"], parts["offset"], strict=True)), percent),
        "aside_half": sum(a + b > 0.5 for a, b in zip(parts["scale"], parts["offset"], strict=True)),
        "slopes": span((one["slope"]["value"] for one in clean), lambda slope: f"{slope:.2f}"),
        "over": sum(one["slope"]["low"] > 1 for one in clean),
        "under": sum(one["slope"]["high"] < 1 for one in clean),
        "structures": ", ".join(f"{name} in {count}" for name, count in counted(one["structure"] for one in clean)),
        "beyond": span((beyond(one["verdicts"]["link"]) for one in clean), percent),
        "noise": span((one["noise"] for one in clean), few_digits),
        "errors": gears_errors(rows),
        "causes": gears_causes(rows),
        "alone": gears_alone(first),
    }


def gears_errors(rows: Sequence[Record]) -> str:
    """Return the table of errors, one row per file."""
    head = (
        "seed",
        "asked",
        "trained",
        "GEARS, all listed",
        "tested",
        "GEARS",
        "adding",
        "link",
        "lead of the link [95 %]",
    )
    lines = []
    for row in rows:
        clean = row["never trained on"]
        ahead = clean["less error than GEARS"]["link"]
        errors = [four(clean["error"][name]) for name in ("gears", "add", "link")]
        least = f"**{errors[-1]}**" if ahead["low"] > 0 else errors[-1]
        lines.append(
            [row["seed"], row["size"], row["trained"], four(row["error"]), f"{clean['held out']:,}", *errors[:2], least,
             f"[{four(ahead['low'])}, {four(ahead['high'])}]"]
        )  # fmt: skip
    return markdown(head, lines)


def gears_causes(rows: Sequence[Record]) -> str:
    """Return the table of causes in percent of the error, one row per file."""
    shown = ("noise", "structure", "leak", "offset", "rest")
    head = ("seed", "asked", "error", "noise", "structure", "scale", "offset", "no named cause", "slope")
    lines = []
    for row in rows:
        clean = row["never trained on"]
        slope = clean["slope"]
        shares = [in_percent(clean["causes"][name]) for name in shown]
        lines.append([row["seed"], row["size"], four(clean["error on determined"]), *shares, f"{slope['value']:.2f}"])
    return markdown(head, lines)


def gears_alone(rows: Sequence[Record]) -> str:
    """Return verdicts and shares of the error if only pairs had been seen, for files trained from scratch."""
    words = list(dict.fromkeys(one["verdict"] for row in rows for one in row["pairs alone"]["add"]))
    lines = []
    for row in rows:
        known = {one["verdict"]: one for one in row["pairs alone"]["add"]}
        cells = [
            f"{known[word]['cells']:,} ({percent(known[word]['share'])})" if word in known else "0" for word in words
        ]
        lines.append([row["size"], row["trained"], *cells])
    return markdown(("asked", "trained", *words), lines)


def libero_holes(found: Record) -> dict[str, Any]:
    """Return what the page about LIBERO says in numbers."""
    rows = {(row["suite"], row["view"]): row for row in found["rows"]}
    ten, anywhere = rows["libero_10", "by scene"], rows["libero_10", "any scene"]
    return {
        "record": record(found),
        "training": found["training"],
        "ten": ten,
        "ten_anywhere": anywhere,
        "goal": rows["libero_goal", "any scene"],
        "object": rows["libero_object", "any scene"],
        "spatial": rows["libero_spatial", "any scene"],
        "recombine": sum(row["verdicts"].get("determined", 0) for row in found["rows"]),
        "recombine_closer": sum(row["verdicts if pairs count"].get("determined", 0) for row in found["rows"]),
        "verdicts": libero_verdicts(found["rows"]),
        "tasks": libero_tasks(found["rows"]),
        "fresh": libero_fresh(found["rows"]),
    }


def libero_verdicts(rows: Sequence[Record]) -> str:
    """Return atoms by verdict."""
    words = list(dict.fromkeys(word for row in rows for word in row["verdicts"]))
    head = ("suite", "scene counts", "goal atoms", *words, "recombine and follow if pairs count too")
    lines = []
    for row in rows:
        counts = [row["verdicts"].get(word, 0) for word in words]
        closer = f"{row['verdicts if pairs count'].get('determined', 0)} of {row['verdicts'].get('determined', 0)}"
        lines.append([title(row["suite"]), yes(row["view"] == "by scene"), row["atoms"], *counts, closer])
    return markdown(head, lines)


def libero_tasks(rows: Sequence[Record]) -> str:
    """Return how many tasks have a goal, atoms or pairs of atoms that were trained on."""
    names = (
        "tasks",
        "whole goal seen",
        "every atom seen",
        "pairs of atoms",
        "pairs of seen atoms",
        "pairs seen together",
    )
    lines = [
        [title(row["suite"]), yes(row["view"] == "by scene"), *(row["tasks"][name] for name in names)] for row in rows
    ]
    return markdown(("suite", "scene counts", *names), lines)


def libero_fresh(rows: Sequence[Record]) -> str:
    """Return the atoms that were not seen: of LIBERO-10 with the scene, of the other suites without."""
    lines = []
    for row in rows:
        if row["view"] == ("by scene" if row["suite"] == "libero_10" else "any scene"):
            for one in row["not seen"]:
                atom = " · ".join(one["levels"].values())
                lines.append([title(row["suite"]), f"`{atom}`", one["verdict"], ", ".join(one["never seen"]) or "none"])
    return markdown(("suite", "atom", "verdict", "new level of"), lines)


def beats(clean: Sequence[Record], name: str) -> dict[str, int]:
    """Return in how many files a baseline has less error than GEARS: at all, beyond its range, never, undecided."""
    gains = [one["less error than GEARS"][name] for one in clean]
    return {
        "at all": sum(gain["value"] > 0 for gain in gains),
        "beyond": sum(gain["low"] > 0 for gain in gains),
        "lost": sum(gain["high"] < 0 for gain in gains),
        "open": sum(gain["low"] <= 0 <= gain["high"] for gain in gains),
    }


def largest(parts: Mapping[str, Sequence[float]], named: Sequence[str]) -> list[str]:
    """Return the cause with the largest share, for each file."""
    return [named[place] for place in np.argmax([parts[word] for word in named], axis=0)]


def beyond(verdicts: Sequence[Record]) -> float:
    """Return the share of cells that lie beyond the seen range."""
    outside = sum(one["cells"] for one in verdicts if one["verdict"] == "beyond the seen range")
    return float(outside / sum(one["cells"] for one in verdicts))


def settled(verdicts: Sequence[Record]) -> float:
    """Return the share of cells that are determined."""
    known = sum(one["cells"] for one in verdicts if one["verdict"] == "determined")
    return float(known / sum(one["cells"] for one in verdicts))


def record(found: Record) -> str:
    """Return in a sentence where numbers come from."""
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    return f"`{found['command']}` on {found['date']} with {versions}, Python {found['python']}; data: {found['source']}"


def markdown(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in cells)} |" for cells in lines)


def counted(values: Iterable[str]) -> list[tuple[str, int]]:
    """Return each value with how often it comes, in order of appearance."""
    every = list(values)
    return [(one, every.count(one)) for one in dict.fromkeys(every)]


def span(values: Iterable[float], written: Callable[[float], str]) -> str:
    """Return least and largest of some values."""
    every = list(values)
    return f"{written(min(every))} to {written(max(every))}"


def whole(value: float) -> str:
    """Return a count with its thousands apart."""
    return f"{value:,.0f}"


def percent(share: float) -> str:
    """Return a share in percent."""
    return f"{share:.0%}".replace("%", " %").replace("-0 %", "0 %")


def in_percent(amount: Record) -> str:
    """Return a share with its range, in percent."""
    value, low, high = (round(100 * amount[name]) for name in ("value", "low", "high"))
    return f"{value} [{low}, {high}]"


def four(value: float) -> str:
    """Return an error with as many digits as tell files apart."""
    return f"{value:.4f}"


def yes(value: bool) -> str:
    """Return a truth in words."""
    return "yes" if value else "no"


if __name__ == "__main__":
    main()
