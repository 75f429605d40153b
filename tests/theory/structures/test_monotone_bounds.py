"""Bounds whatever the curve, against random curves and effects, and against the dual program."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from recombine.cells.conjunctions import Conjunctions
from recombine.errors import InputError
from recombine.theory.structures import monotone_bounds

GRID = np.indices((4, 4)).reshape(2, -1).T


def planted(seed: int, seen: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    latent = rng.normal(size=4)[GRID[:, 0]] + rng.normal(size=4)[GRID[:, 1]]
    y = np.exp(latent) if seed % 2 else np.tanh(latent)
    place = rng.permutation(16)
    return y, place[:seen], place[seen:]


@pytest.mark.parametrize("seed", range(20))
def test_the_outcome_lies_in_its_bounds(seed: int) -> None:
    y, seen, unseen = planted(seed, 12)
    bounds = monotone_bounds(GRID[seen], y[seen], GRID[unseen])
    assert all(bound.contradiction is None for bound in bounds)
    assert all(bound.low <= value <= bound.high for bound, value in zip(bounds, y[unseen], strict=True))
    assert any(np.isfinite(bound.low) or np.isfinite(bound.high) for bound in bounds)


@pytest.mark.parametrize("seed", range(6))
def test_no_narrower_bound_exists(seed: int) -> None:
    """The dual program: for each seen cell that is no bound there are effects in the seen order on its far side."""
    y, seen, unseen = planted(seed, 11)
    rows = Conjunctions((4, 4)).incidence(GRID).toarray()
    chain = seen[np.argsort(y[seen])]
    ordered = rows[chain[:-1]] - rows[chain[1:]]  # @ effects <= -1
    for bound, cell in zip(monotone_bounds(GRID[seen], y[seen], GRID[unseen]), unseen, strict=True):
        for other in seen:
            for sign, proven in ((1, y[other] >= bound.high), (-1, y[other] <= bound.low)):
                far = np.vstack([ordered, sign * (rows[other] - rows[cell])])
                possible = linprog(np.zeros(8), far, -np.ones(len(far)), bounds=(None, None)).status == 0
                assert possible == (not proven)


@pytest.mark.parametrize("seed", range(6))
def test_certificates_add_up_in_fractions(seed: int) -> None:
    y, seen, unseen = planted(seed, 12)
    value = {tuple(cell): outcome for cell, outcome in zip(GRID.tolist(), y, strict=True)}
    rows = Conjunctions((4, 4)).incidence(GRID).toarray().astype(int)
    row = {tuple(cell): one for cell, one in zip(GRID.tolist(), rows, strict=True)}
    for bound in monotone_bounds(GRID[seen], y[seen], GRID[unseen]):
        for proof in filter(None, (bound.below, bound.above)):
            total = [Fraction(0)] * 8
            for (first, second), weight in zip(proof.pairs, proof.weights, strict=True):
                assert weight > 0
                assert value[first] < value[second]
                total = [old + weight * int(step) for old, step in zip(total, row[second] - row[first], strict=True)]
            assert total == [Fraction(int(step)) for step in row[proof.upper] - row[proof.lower]]


def test_double_cancellation_is_found() -> None:
    # a-x below b-y and b-z below c-x demand a-z below c-y in a table of three by three; here it is above.
    cells = [[0, 0], [1, 1], [1, 2], [2, 0], [0, 2], [2, 1]]
    y = [1.0, 2.0, 1.0, 2.0, 9.0, 3.0]
    [bound] = monotone_bounds(cells, y, [[0, 1]])
    assert bound.contradiction is not None
    assert len(bound.contradiction.pairs) == 3
    assert "no increasing curve" in str(bound)
    [fine] = monotone_bounds(cells, [1.0, 2.0, 1.0, 2.0, 3.0, 9.0], [[0, 1]])
    assert fine.contradiction is None


def test_a_margin_orders_fewer_cells() -> None:
    cells, y = [[0, 0], [0, 1], [1, 0]], [1.0, 1.1, 5.0]
    assert monotone_bounds(cells, y, [[1, 1]])[0].low == 5.0
    [wide] = monotone_bounds(cells, y, [[1, 1]], margin=0.5)
    assert (wide.low, wide.high) == (1.1, np.inf)
    assert "1.1 = y(0,1) <= y(1,1)" in str(wide)
    assert str(monotone_bounds([[0, 0], [1, 1]], [0.0, 1.0], [[0, 1]])[0]) == "-inf <= y(0,1) <= inf"


def test_margins_keep_all_ordered_pairs() -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=16)
    latent = GRID @ [1.0, 0.1]
    shaken = latent + 0.04 * np.tanh(y)
    bounds = monotone_bounds(GRID[:-3], shaken[:-3], GRID[-3:], margin=0.08)
    for bound, value in zip(bounds, latent[-3:], strict=True):
        assert bound.low - 0.04 <= value <= bound.high + 0.04


def test_too_many_cells_are_refused() -> None:
    with pytest.raises(InputError, match="too many"):
        monotone_bounds(np.indices((50, 50)).reshape(2, -1).T, np.arange(2500), [[0, 0]])
