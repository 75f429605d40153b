"""How much cells matter: patterns against a brute-force match, means against pandas, and what bad tables are told."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.cells.arrays import IntArray
from recombine.cells.conjunctions import canonical, distinct, every_cell
from recombine.cells.possible import Possible
from recombine.design import Design
from recombine.errors import InputError
from recombine.jobs import Importance, read_importance
from recombine.jobs.importance import ANY

COLOURS = Design.from_frame(
    pd.DataFrame({"colour": ["red", "red", "blue"], "shape": ["cube", "ball", "cube"]}), factors=["colour", "shape"]
)


def matches(pattern: list[int], cell: list[int], symmetric: list[tuple[int, ...]]) -> bool:
    """Say whether some exchange of interchangeable levels makes a cell agree with a pattern."""
    exchanges = [list(itertools.permutations(group)) for group in symmetric]
    for exchange in itertools.product(*exchanges):
        moved = list(cell)
        for group, order in zip(symmetric, exchange, strict=True):
            for place, source in zip(group, order, strict=True):
                moved[place] = cell[source]
        if all(code in (ANY, level) for code, level in zip(pattern, moved, strict=True)):
            return True
    return False


def by_hand(weights: Importance, cell: list[int]) -> float:
    found = [row for row, rule in enumerate(weights.patterns.tolist()) if matches(rule, cell, list(weights.symmetric))]
    named = {row: sum(code != ANY for code in weights.patterns[row].tolist()) for row in found}
    best = [row for row in found if named[row] == max(named.values())]
    return float(weights.values[best[0]]) if best else 0.0


@st.composite
def weighted(draw: st.DrawFn) -> tuple[Importance, tuple[int, ...]]:
    factors = draw(st.integers(1, 4))
    symmetric = draw(st.sampled_from([(), ((0, 1),), ((0, 1, 2),), ((1, 3),)]))
    symmetric = tuple(group for group in symmetric if max(group) < factors)
    sizes = [draw(st.integers(2, 3)) for _ in range(factors)]
    for group in symmetric:
        for place in group:
            sizes[place] = sizes[group[0]]
    rules = draw(st.lists(st.tuples(*[st.integers(ANY, size - 1) for size in sizes]), min_size=1, max_size=8))
    patterns = canonical(np.array(rules), symmetric)
    patterns = distinct(patterns - ANY)[0] + ANY
    values = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 7.0]), min_size=len(patterns), max_size=len(patterns)))
    shuffled = np.array(draw(st.permutations(range(len(patterns)))))
    return Importance(patterns[shuffled], np.array(values), symmetric), tuple(sizes)


@given(weighted())
def test_the_most_specific_pattern_counts(case: tuple[Importance, tuple[int, ...]]) -> None:
    weights, sizes = case
    cells = every_cell(sizes)
    expected = [by_hand(weights, cell) for cell in cells.tolist()]
    assert weights.of(cells).tolist() == expected
    assert not weights.everywhere or min(expected) > 0


@given(weighted(), st.integers(0, 40))
def test_the_support_is_every_cell_that_matters(case: tuple[Importance, tuple[int, ...]], most: int) -> None:
    weights, sizes = case
    possible = Possible.product(sizes, weights.symmetric)
    cells = possible.cells()
    expected = cells[weights.of(cells) > 0]
    found = weights.support(possible, most)
    assert found is None or found.tolist() == expected.tolist()
    assert weights.support(possible, 10**6) is not None


def test_a_huge_product_is_not_written_out() -> None:
    possible = Possible.product((100,) * 12)
    whole = np.arange(12)[None]
    assert Importance(whole, np.ones(1)).support(possible, 1000) is not None
    rule = whole.copy()
    rule[0, :6] = ANY
    assert Importance(rule, np.ones(1)).support(possible, 1000) is None


def codes(*cells: tuple[str, str]) -> IntArray:
    return np.array([COLOURS.space.cell(cell) for cell in cells])


def test_a_table_of_patterns_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "matters.csv"
    path.write_text("shape,colour,importance\nball,,2\nball,blue,0\n,,0.25\n")
    weights = read_importance(path, COLOURS)
    assert weights.of(codes(("red", "ball"), ("blue", "ball"), ("red", "cube"))).tolist() == [2, 0, 0.25]
    assert weights.name == "matters.csv"


def test_levels_that_are_numbers_are_found_beside_blanks() -> None:
    design = Design.from_cells([[0, 0], [1, 1]], names=["colour", "shape"])
    weights = read_importance(pd.DataFrame({"colour": [1, None], "shape": [0, 1], "importance": [2, 3]}), design)
    assert weights.of(every_cell((2, 2))).tolist() == [0, 3, 2, 3]


def test_a_set_is_named_as_in_the_audited_table() -> None:
    frame = pd.DataFrame({"genes": ["A+B", "A", "B+C", "ctrl"], "y": [1.0, 2, 3, 4]})
    design = Design.from_frame(frame, outcome="y", sets="genes")
    table = pd.DataFrame({"genes": ["A+C", None], "importance": [4, 1]})
    weights = read_importance(table, design)
    asked = np.array([design.space.cell(["C+A"]), design.space.cell(["B"])])
    assert weights.of(asked).tolist() == [4, 1]
    members = pd.DataFrame({"C": ["present"], "importance": [2]})
    assert read_importance(members, design).of(asked).tolist() == [2, 0]


def test_a_column_is_averaged_over_the_rows_of_a_cell(tmp_path: Path) -> None:
    generator = np.random.default_rng(3)
    frame = pd.DataFrame({name: generator.integers(0, 3, 60) for name in ("a", "b")})
    frame["traffic"] = generator.integers(0, 9, 60) / 4
    frame.to_csv(tmp_path / "rows.csv", index=False)
    design = Design.from_frame(frame, factors=["a", "b"])
    means = frame.groupby(["a", "b"])["traffic"].mean()
    expected = [means.get((row[0], row[1]), 0.0) for row in every_cell(design.sizes).tolist()]
    for data in (frame, tmp_path / "rows.csv"):
        weights = read_importance(data, design, "traffic")
        np.testing.assert_allclose(weights.of(every_cell(design.sizes)), expected)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"colour": ["red"], "weight": [1]}, "importance column 'importance' is not a column of the table"),
        ({"color": ["red"], "importance": [1]}, "none of the factor columns colour, shape"),
        ({"colour": ["red"], "importance": [-1]}, "the importance -1 in row 1 of the table is no number from 0 on"),
        ({"colour": ["red", "blue"], "importance": [1, None]}, "row 2 of the table has no importance"),
        ({"colour": ["red"], "importance": [np.inf]}, "the importance inf in row 1"),
        ({"colour": ["red"], "importance": ["much"]}, "the importance 'much' in row 1"),
        (
            {"colour": ["blu"], "importance": [1]},
            "row 1 of the table: 'blu' is not a level of factor 'colour' in the table; did you mean 'blue'?",
        ),
        ({"colour": ["red", "blue"], "importance": [0, 0]}, "every importance in the table is 0"),
        ({"colour": ["red", None], "importance": [1, None]}, "row 2 of the table is blank; remove it"),
        (
            {"colour": ["red", "red"], "importance": [1, 2]},
            "rows 1 and 2 of the table both give the importance of red, any shape; keep one of them",
        ),
        ({"colour": [], "importance": []}, "the table has no rows"),
    ],
)
def test_bad_tables_are_told_what_is_wrong(table: dict[str, list[object]], said: str) -> None:
    with pytest.raises(InputError) as caught:
        read_importance(pd.DataFrame(table), COLOURS)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("traffic", "said"),
    [
        ([1.0, -2.0, 3.0], "column 'traffic' of the table is -2 in a row of red · ball; importances are numbers from"),
        ([1.0, None, 3.0], "holds no finite number in 1 row, such as one of red · ball"),
        (["x", "y", "z"], "column 'traffic' of the table is of kind text"),
        ([0.0, 0.0, 0.0], "every importance in column 'traffic' of the table is 0"),
    ],
)
def test_bad_columns_are_told_what_is_wrong(traffic: list[object], said: str) -> None:
    frame = pd.DataFrame({"colour": ["red", "red", "blue"], "shape": ["cube", "ball", "cube"], "traffic": traffic})
    with pytest.raises(InputError) as caught:
        read_importance(frame, COLOURS, "traffic")
    assert said in str(caught.value)


def test_a_column_has_one_part() -> None:
    frame = pd.DataFrame({"colour": ["red"], "shape": ["cube"]})
    with pytest.raises(InputError, match="both a factor and the importance"):
        read_importance(frame, COLOURS, "shape")
    with pytest.raises(InputError, match="importance 'trafic' is not a column"):
        read_importance(frame, COLOURS, "trafic")


def test_a_factor_named_importance_is_refused() -> None:
    design = Design.from_cells([[0, 0], [1, 1]], names=["importance", "shape"])
    with pytest.raises(InputError, match="one factor is itself named 'importance'"):
        read_importance(pd.DataFrame({"importance": [1]}), design)
