"""RC301: replicates show that effects do not add."""

from __future__ import annotations

import numpy as np
import pytest

import recombine as rc
from recombine.cells.conjunctions import every_cell

CELLS = every_cell((6, 6))[:-4]


def thrice(cells, values, noise=0.05, seed=0) -> rc.Design:
    """Each cell measured three times."""
    rows, outcome = np.repeat(cells, 3, axis=0), np.repeat(values, 3)
    sizes = tuple(cells.max(axis=0) + 1)
    return rc.Design.from_cells(
        rows, outcome + noise * np.random.default_rng(seed).standard_normal(len(rows)), sizes=sizes
    )


def test_cell_values_without_any_pattern_are_not_additive(found):
    values = np.random.default_rng(0).standard_normal(len(CELLS))
    message = found(thrice(CELLS, values), "RC301").message
    assert message.startswith("at order 1 held-out cells are off by ")
    assert "(0 % of the explainable variance); lack of fit: F(21, 64) = " in message


def test_without_rows_that_repeat_nothing_is_shown(found):
    values = np.random.default_rng(0).standard_normal(len(CELLS))
    assert found(rc.Design.from_cells(CELLS, values), "RC301") is None


def test_sums_are(found):
    assert found(thrice(CELLS, CELLS @ [1.0, 10.0]), "RC301") is None


def test_a_product_is_not_additive_but_its_logarithm_is(found):
    values = np.exp(np.array([0.0, 2.0, -1.0, 1.0, 3.0, -2.0])[CELLS].sum(axis=1))
    assert found(thrice(CELLS, values), "RC301", structure="add") is not None
    assert found(thrice(CELLS, values), "RC301") is None  # products are found to multiply
    assert found(thrice(CELLS, np.log(values)), "RC301") is None


@pytest.mark.slow
def test_the_order_asked_for_is_judged(found):
    cells = every_cell((4, 4, 4))
    values = np.random.default_rng(1).standard_normal((4, 4))[cells[:, 0], cells[:, 1]]
    assert found(thrice(cells, values), "RC301", structure="add") is not None
    assert found(thrice(cells, values), "RC301", order=2) is None
    assert found(thrice(cells, values), "RC301") is None  # pairs are found to interact


def test_a_small_factorial_is_judged_by_its_replicates(found):
    cells = every_cell((2, 3))
    message = found(thrice(cells, np.array([0.0, 1.0, 0.0, 1.0, 0.0, 1.0])), "RC301").message
    assert message.startswith("at order 1 the replicates show interaction (lack of fit: F(2, 12) = ")


@pytest.mark.parametrize("seed", range(8))
def test_noise_alone_is_never_a_problem(found, seed):
    values = np.random.default_rng(seed).standard_normal(6)[CELLS[:, 0]]
    assert found(thrice(CELLS, values, noise=2.0, seed=seed), "RC301") is None
