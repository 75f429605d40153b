"""Which products of numbers of either sign follow from seen ones."""

from __future__ import annotations

import numpy as np
import pytest

import recombine as rc
from recombine import words
from recombine.errors import InputError
from recombine.jobs.estimators import CompositionalRegressor
from recombine.theory.structures import STRUCTURES, StructureData

#: Only the square of the product at 0, 0, 0 is a product of these: all three numbers of level 0 may change sign.
SQUARED = np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 1, 1]])
ORIGIN = [0, 0, 0]
#: Cells with both outcomes, and levels that only ever succeeded and failed, whose own cell can have any chance.
MIXED, ONLY_ONES, ONLY_ZEROS = np.array(list(np.ndindex(3, 3))), [[3, 0], [3, 1], [3, 2]], [[0, 3], [1, 3], [2, 3]]


def products(numbers, cells) -> np.ndarray:
    return np.prod([np.array(numbers[factor])[np.array(cells)[:, factor]] for factor in range(len(numbers))], axis=0)


def verdicts(cells, y, asked) -> list[str]:
    sizes = (np.vstack([cells, asked]).max(axis=0) + 1).tolist()
    decided = rc.audit(rc.Design.from_cells(cells, outcome=y, sizes=sizes), structure="multiplicative").decided
    return [rc.Verdict(code).word for code in decided.verdicts_of(np.array(asked))]


def fitted(cells, y):
    return STRUCTURES["multiplicative"].fit(StructureData(np.array(cells), np.array(y, dtype=float)))


def judged(cells, y, asked) -> list[str]:
    codes = rc.identify(cells, sizes=(np.vstack([cells, asked]).max(axis=0) + 1).tolist()).verdicts_of(np.array(asked))
    return [rc.Verdict(code).word for code in fitted(cells, y).judge(np.array(asked), codes.astype(int))]


def test_a_sign_that_two_models_of_the_seen_products_differ_in_is_open() -> None:
    numbers, changed = ([2.0, 1.0], [3.0, 1.0], [5.0, 1.0]), ([-2.0, 1.0], [-3.0, 1.0], [-5.0, 1.0])
    y = products(numbers, SQUARED)
    assert np.array_equal(y, products(changed, SQUARED))
    assert products(numbers, [ORIGIN]) == -products(changed, [ORIGIN])
    assert verdicts(SQUARED, y, [ORIGIN]) == ["disconnected"]
    # Logarithms add: if numbers are positive, the same cell follows.
    assert rc.identify(SQUARED, [ORIGIN]).verdicts.tolist() == [rc.Verdict.DETERMINED]


def test_a_sign_follows_once_its_cell_is_a_product_of_seen_ones() -> None:
    more = np.vstack([SQUARED, [[0, 1, 1]]])
    y = products(([2.0, 1.0], [3.0, 1.0], [5.0, 1.0]), more)
    assert judged(more, y, [ORIGIN]) == ["determined"]
    assert not fitted(more, y).leaves_open
    assert fitted(SQUARED, y[:4]).leaves_open


@pytest.mark.parametrize(("y", "word"), [([3.0, 5.0, 2.0, 4.0], "determined"), ([3.0, 5.0, 0.0, 0.0], "disconnected")])
def test_a_bridge_of_zeros_tells_no_size(y: list[float], word: str) -> None:
    assert judged([[0, 0], [1, 1], [2, 0], [2, 1]], y, [[0, 1], [1, 0]]) == [word] * 2


def test_a_level_that_must_be_zero_makes_its_cells_zero() -> None:
    cells, y = [[0, 0], [0, 1], [1, 0], [2, 0], [2, 1]], [3.0, 6.0, 0.0, 1.0, 2.0]
    assert judged(cells, y, [[1, 1]]) == ["determined"]
    # Of a zero whose levels have no other product either may be the reason.
    assert judged([[0, 0], [0, 1], [1, 0]], [0.0, 0.0, 0.0], [[1, 1]]) == ["disconnected"]


def test_zeros_that_no_numbers_give_are_taken_as_measured() -> None:
    assert judged([[0, 0], [0, 1], [1, 0]], [0.0, 2.0, 3.0], [[1, 1]]) == ["determined"]


def test_an_explanation_names_the_sign() -> None:
    dense = np.array(list(np.ndindex(3, 3, 3))) + 2  # the four cells share no level with these
    cells = np.vstack([SQUARED, dense])
    y = products([np.array([2.0, 1.0, 1.0, -2.0, 3.0])] * 3, cells)
    audit = rc.audit(rc.Design.from_cells(cells, outcome=y), structure="multiplicative")
    assert "not its sign" in audit.explain(ORIGIN)
    assert audit.decided.counts[rc.Verdict.DETERMINED] == 0


def test_an_explanation_names_the_zeros_that_are_in_the_way() -> None:
    blocks = [[row, column] for row in range(6) for column in range(6) if row // 3 == column // 3]
    cells = np.array([*blocks, *([6, column] for column in range(6))])
    y = np.where(cells[:, 0] == 6, 0.0, (cells[:, 0] + 1.0) * (cells[:, 1] + 2.0))
    audit = rc.audit(rc.Design.from_cells(cells, outcome=y), structure="multiplicative")
    assert "a product that is zero tells no size" in audit.explain([0, 5])
    assert audit.decided.counts[rc.Verdict.DISCONNECTED] == 18


@pytest.mark.parametrize(
    ("structure", "cells", "y"),
    [
        ("multiplicative", SQUARED, [6.0, 10.0, 15.0, 1.0]),
        ("logit", np.vstack([MIXED, MIXED, ONLY_ONES, ONLY_ZEROS]), [0] * 9 + [1] * 9 + [1] * 3 + [0] * 3),
    ],
)
def test_a_plan_does_not_say_that_open_cells_are_determined(structure: str, cells, y) -> None:
    audit = rc.audit(rc.Design.from_cells(cells, outcome=y), structure=structure)
    assert audit.decided.counts[rc.Verdict.DISCONNECTED]
    assert "determined already" not in words.plan_sentence(audit.plan(3))
    settled = rc.audit(audit.design, structure="add").plan(3)
    assert "determined already" in words.plan_sentence(settled)


def test_the_regressor_gives_no_value_to_a_sign_that_is_open() -> None:
    y = products(([2.0, 1.0], [3.0, 1.0], [5.0, 1.0]), SQUARED)
    model = CompositionalRegressor("multiplicative", undetermined="nan").fit(SQUARED.astype(str), y)
    assert model.verdicts([["0", "0", "0"]]).tolist() == ["disconnected"]
    assert np.isnan(model.predict([["0", "0", "0"]])).all()
    with pytest.raises(InputError, match="not its sign"):
        model.set_params(undetermined="raise").predict([["0", "0", "0"]])
