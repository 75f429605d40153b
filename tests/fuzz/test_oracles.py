"""A few drawn designs and structures of every kind against exact oracles; `run_verdicts.py` judges many."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from exact import Echelon, in_cone
from run_verdicts import KINDS, judge
from worlds import World

#: Cells of each kind; the kinds that fit curves take longest.
CELLS = 20


@pytest.mark.parametrize("kind", KINDS)
def test_verdicts_are_those_of_the_oracle(kind: str) -> None:
    cells = 0
    for number in itertools.count():
        judged = judge(kind, 7, number)
        assert not judged.wrong, (kind, number)
        cells += judged.cells
        if cells >= CELLS:
            break


def test_the_oracle_knows_designs_solved_by_hand() -> None:
    cells = tuple(itertools.product("01", "012"))
    path = World({"a": ["0", "1"], "b": ["0", "1", "2"]}, frozenset([cells[0], cells[1], cells[3]]), cells)
    assert [path.verdicts()[cell] for cell in cells] == [
        "seen", "seen", "unseen level", "seen", "determined", "unseen level",
    ]  # fmt: skip
    islands = World(path.levels, frozenset([("0", "0"), ("1", "1")]), cells[:2])
    assert islands.verdicts() == {("0", "0"): "seen", ("0", "1"): "disconnected"}


def test_exact_algebra_on_examples_by_hand() -> None:
    rows = [{"x": 1, "y": 1}, {"y": 1, "z": 1}]
    assert {"x": 1, "z": -1} in Echelon(rows)
    assert {"x": 1, "z": 1} not in Echelon(rows)
    assert {"x": 1, "z": 1} in Echelon(rows, modulus=2)
    assert Echelon(rows).null_vector("z") == {"z": 1, "x": 1, "y": -1}
    assert in_cone(rows, {"x": Fraction(1, 2), "y": 1, "z": Fraction(1, 2)})
    assert not in_cone(rows, {"x": 1, "z": -1})
    assert in_cone([], {})
