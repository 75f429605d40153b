"""Verdicts of drawn designs against elimination in exact fractions, in any order of symmetric groups, and against R."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recombine as rc
from recombine.verdicts import Verdict

#: Designs per test: few with the other tests, many in `make fuzz`.
DESIGNS = max(25, int(os.environ.get("RECOMBINE_FUZZ_CASES", "0")) // 10)
DRAWN = settings(max_examples=DESIGNS, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)

Cell = tuple[int, ...]
Groups = tuple[tuple[int, ...], ...]


@st.composite
def designs(draw: st.DrawFn) -> tuple[tuple[int, ...], int, Groups, list[Cell]]:
    """Draw sizes, an order, groups of symmetric factors with their members in any order, and seen cells."""
    factors = draw(st.integers(2, 4))
    sizes = [draw(st.integers(2, 4 if factors < 4 else 3)) for _ in range(factors)]
    order = draw(st.integers(1, factors - 1))
    members = draw(st.permutations(range(factors)))[: draw(st.sampled_from([0, 0, 2, 3, 4]))]
    groups: Groups = (tuple(members),) if 2 <= len(members) <= factors else ()
    if len(members) == 4 == factors and draw(st.booleans()):
        groups = tuple(members[:2]), tuple(members[2:])
    for group in groups:
        for factor in group:
            sizes[factor] = sizes[group[0]]
    cells = list(itertools.product(*map(range, sizes)))
    share = draw(st.sampled_from([0.2, 0.4, 0.6]))
    seen = draw(st.lists(st.sampled_from(cells), min_size=1, max_size=max(2, int(share * len(cells))), unique=True))
    return tuple(sizes), order, groups, seen


def features(cell: Cell, order: int, groups: Groups) -> Counter[tuple[object, ...]]:
    """Return how often a cell has each conjunction, written from the definition: factors of a group are one."""
    name = {factor: f"group {place}" for place, group in enumerate(groups) for factor in group}
    return Counter(
        tuple(sorted((name.get(factor, f"factor {factor}"), cell[factor]) for factor in chosen))
        for chosen in itertools.combinations(range(len(cell)), order)
    )


class Span:
    """The rows that seen cells span, kept in echelon form; everything is a fraction, so nothing is rounded."""

    def __init__(self, rows: Sequence[Counter[tuple[object, ...]]]) -> None:
        self._pivots: dict[tuple[object, ...], dict[tuple[object, ...], Fraction]] = {}
        for row in rows:
            rest = self._reduced(row)
            if rest:
                pivot = min(rest, key=str)
                self._pivots[pivot] = {name: value / rest[pivot] for name, value in rest.items()}

    def _reduced(self, row: Counter[tuple[object, ...]]) -> dict[tuple[object, ...], Fraction]:
        rest = {name: Fraction(count) for name, count in row.items()}
        # A pivot's row may bring in columns of pivots that came before it; each round removes one for good.
        while hit := next((name for name in rest if name in self._pivots), None):
            factor = rest[hit]
            for name, value in self._pivots[hit].items():
                rest[name] = rest.get(name, Fraction(0)) - factor * value
                if not rest[name]:
                    del rest[name]
        return rest

    def __contains__(self, row: Counter[tuple[object, ...]]) -> bool:
        return not self._reduced(row)


def expected(cell: Cell, seen: list[Cell], order: int, groups: Groups, span: Span) -> Verdict:
    def canonical(one: Cell) -> Cell:
        levels = list(one)
        for group in groups:
            for factor, level in zip(sorted(group), sorted(one[factor] for factor in group), strict=True):
                levels[factor] = level
        return tuple(levels)

    if canonical(cell) in set(map(canonical, seen)):
        return Verdict.SEEN
    single = [features(one, 1, groups) for one in seen]
    known = {name for row in single for name in row}
    if not set(features(cell, 1, groups)) <= known:
        return Verdict.UNSEEN_LEVEL
    return Verdict.DETERMINED if features(cell, order, groups) in span else Verdict.DISCONNECTED


@DRAWN
@given(designs())
def test_verdicts_are_those_of_exact_fractions(design: tuple[tuple[int, ...], int, Groups, list[Cell]]) -> None:
    sizes, order, groups, seen = design
    cells = list(itertools.product(*map(range, sizes)))
    span = Span([features(cell, order, groups) for cell in seen])
    wanted = [expected(cell, seen, order, groups, span) for cell in cells]
    for route in (None, "projection"):
        found = rc.identify(seen, cells, order, sizes=sizes, symmetric=groups, route=route)
        for cell, code, want in zip(cells, found.verdicts, wanted, strict=True):
            assert Verdict(code) in ((want,) if route is None else (want, Verdict.UNDECIDED)), (cell, route)


@DRAWN
@given(designs(), st.randoms(use_true_random=False))
def test_groups_and_factors_in_any_order_give_one_answer(design, shuffle) -> None:
    sizes, order, groups, seen = design
    cells = list(itertools.product(*map(range, sizes)))
    plain = rc.identify(seen, cells, order, sizes=sizes, symmetric=[tuple(sorted(group)) for group in groups])
    drawn = rc.identify(seen, cells, order, sizes=sizes, symmetric=groups)
    assert plain.verdicts.tolist() == drawn.verdicts.tolist()
    assert plain.count_verdicts() == drawn.count_verdicts()
    assert plain.rank == drawn.rank
    places = list(range(len(sizes)))
    shuffle.shuffle(places)
    moved = [tuple(places.index(factor) for factor in group) for group in groups]
    turned = rc.identify(
        np.array(seen)[:, places], np.array(cells)[:, places], order, sizes=[sizes[p] for p in places], symmetric=moved
    )
    assert turned.verdicts.tolist() == plain.verdicts.tolist()


SCRIPT = """
input <- commandArgs(trailingOnly = TRUE)
for (path in input) {
  table <- read.csv(path, colClasses = "character")
  factors <- grep("^f", names(table), value = TRUE)
  for (name in factors) table[[name]] <- factor(table[[name]])
  X <- model.matrix(reformulate(factors), table)
  seen <- X[table$seen == "1", , drop = FALSE]
  decomposed <- qr(t(seen))
  outside <- qr.resid(decomposed, t(X))
  cat(paste(as.integer(colSums(outside^2) < 1e-12), collapse = " "), "\\n")
}
"""


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="needs R")
def test_verdicts_are_those_of_r(tmp_path: Path) -> None:
    """A cell is estimable in R's own model matrix if its row is one of seen rows; treatment contrasts are R's."""
    draw = np.random.default_rng(0)
    paths, wanted = [], []
    for number in range(max(10, DESIGNS // 5)):
        sizes = draw.integers(2, 5, size=draw.integers(2, 4)).tolist()
        cells = np.array(list(itertools.product(*map(range, sizes))))
        mask = draw.random(len(cells)) < draw.uniform(0.15, 0.6)
        for factor, size in enumerate(sizes):  # R leaves out levels that no row has
            for level in range(size):
                if not mask[cells[:, factor] == level].any():
                    mask[draw.choice(np.flatnonzero(cells[:, factor] == level))] = True
        path = tmp_path / f"{number}.csv"
        lines = [",".join([*(f"f{factor}" for factor in range(len(sizes))), "seen"])]
        lines += [",".join(map(str, [*cell, int(one)])) for cell, one in zip(cells, mask, strict=True)]
        path.write_text("\n".join(lines) + "\n")
        paths.append(path)
        verdicts = rc.identify(cells[mask], cells, 1, sizes=sizes).verdicts
        wanted.append([int(Verdict(code) in (Verdict.SEEN, Verdict.DETERMINED)) for code in verdicts])
    script = tmp_path / "estimable.R"
    script.write_text(SCRIPT)
    command = ["Rscript", str(script), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert [[int(word) for word in line.split()] for line in done.stdout.splitlines()] == wanted
