"""Coverage recounted by hand over the table's rows."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.design.design import Design
from recombine.jobs.audit.coverage import cover


@st.composite
def designs(draw):
    sizes = draw(st.lists(st.integers(2, 4), min_size=2, max_size=4))
    rows = draw(st.lists(st.tuples(*[st.integers(0, size - 1) for size in sizes]), min_size=1, max_size=15))
    return Design.from_cells(rows, sizes=sizes), rows


@given(designs())
def test_t_way_coverage_counts_the_distinct_projections(case):
    design, rows = case
    coverage = cover(design)
    for t in range(1, min(3, len(design.sizes)) + 1):
        subsets = list(itertools.combinations(range(len(design.sizes)), t))
        seen = [len({tuple(row[place] for place in subset) for row in rows}) for subset in subsets]
        possible = [math.prod(design.sizes[place] for place in subset) for subset in subsets]
        of_t = coverage.ways.where(coverage.ways["t"] == t)
        assert of_t["seen"].tolist() == [*seen, sum(seen)]
        assert of_t["possible"].tolist() == [*possible, sum(possible)]
        assert coverage.share(t) == pytest.approx(sum(seen) / sum(possible))


@given(designs())
def test_levels_are_counted_in_rows_and_in_cells(case):
    design, rows = case
    cells = set(rows)
    for row in cover(design).levels.rows():
        place, level = design.names.index(row["factor"]), int(row["level"])
        assert row["rows"] == sum(entry[place] == level for entry in rows)
        assert row["cells"] == sum(cell[place] == level for cell in cells)


def test_the_sparsest_levels_come_first():
    counts = cover(Design.from_cells([[0, 0], [0, 1], [1, 0], [0, 2]])).levels["cells"]
    assert np.all(np.diff(counts) >= 0)


def test_symmetric_pairs_are_unordered_and_a_twin_counts_once():
    design = Design.from_cells([[0, 1], [1, 0], [2, 2]], names=["a", "b"], symmetric=[(0, 1)], sizes=(4, 4))
    coverage = cover(design)
    assert (coverage.product, coverage.seen, coverage.rows) == (10, 2, 3)
    assert coverage.share(2) == pytest.approx(2 / 10)
    assert coverage.share(1) == pytest.approx(3 / 4)
    cells = {row["level"]: (row["rows"], row["cells"]) for row in coverage.levels.rows()}
    assert cells == {"0": (2, 1), "1": (2, 1), "2": (1, 1), "3": (0, 0)}
    assert set(coverage.levels["factor"]) == {"a / b"}


def test_only_training_rows_count_and_weights_are_measurements():
    frame = pd.DataFrame(
        {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "n": [3, 5, 2, 9], "y": [1.0, 2, 3, 4], "part": ["train"] * 3 + ["test"]}
    )
    coverage = cover(Design.from_frame(frame, factors=["a", "b"], outcome="y", weight="n", split="part"))
    assert (coverage.seen, coverage.rows, coverage.measurements) == (3, 3, 10.0)
    assert coverage.per_cell == (2.0, 3.0, 5.0)


def test_a_product_of_10_to_the_30_is_counted():
    cells = np.random.default_rng(0).integers(0, 1000, size=(50, 10))
    coverage = cover(Design.from_cells(cells, sizes=(1000,) * 10))
    assert coverage.product == 10**30
    assert coverage.ways["possible"].tolist()[-1] == 120 * 1000**3
