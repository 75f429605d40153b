"""Levels that are copied are found, whatever was done to them; what adds or runs in parallel is none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.measures.dependence.copies import SideRows, likely_copies

SIZES = (12, 20)


def table(seed: int, noise: float = 1.0) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    rng = np.random.default_rng(seed)
    cells = np.indices(SIZES).reshape(2, -1).T
    effects = [rng.normal(size=size) for size in SIZES]
    return cells, effects[0][cells[:, 0]] + effects[1][cells[:, 1]] + noise * rng.normal(size=len(cells)), rng


def told(cells: np.ndarray, outcome: np.ndarray, factor: int = 0) -> list:
    test = cells[:, 0] < 4
    return likely_copies(*(SideRows(cells[side], outcome[side]) for side in (test, ~test)), factor)


CHANGES = {
    "exact": lambda y, rng: y,
    "affine": lambda y, rng: 2.54 * y + 1,
    "mirrored": lambda y, rng: 3 - y,
    "jittered": lambda y, rng: y + 1e-3 * rng.normal(size=len(y)),
    "rounded": lambda y, rng: y.round(2),
    "half": lambda y, rng: np.where(np.arange(len(y)) % 2, y, rng.normal(size=len(y))),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("seed", range(5))
def test_a_copy_is_found(change: str, seed: int) -> None:
    cells, outcome, rng = table(seed)
    outcome[cells[:, 0] == 1] = CHANGES[change](outcome[cells[:, 0] == 7], rng)
    (copy,) = told(cells, outcome)
    assert (copy.level, copy.original, copy.compared) == (1, 7, 20)
    if change in ("affine", "mirrored"):
        slope, offset = (2.54, 1.0) if change == "affine" else (-1.0, 3.0)
        assert (copy.slope, copy.offset) == pytest.approx((slope, offset))
    if change == "half":
        assert set(copy.rows.tolist()) <= set((20 + np.arange(1, 20, 2)).tolist())


def test_five_rows_under_a_new_level_are_found() -> None:
    cells, outcome, rng = table(3)
    rows = rng.choice(np.flatnonzero(cells[:, 0] == 9), 5, replace=False)
    keep = np.flatnonzero(cells[:, 0] != 2)
    cells, outcome = np.vstack([cells[keep], cells[rows]]), np.concatenate([outcome[keep], outcome[rows] + 1e-4])
    cells[-5:, 0] = 2
    assert [(copy.level, copy.original, copy.agree) for copy in told(cells, outcome)] == [(2, 9, 5)]


@given(st.integers(0, 10_000), st.sampled_from([0.0, 1e-6, 0.1, 1.0]), st.sampled_from([None, 0, 1]))
def test_effects_that_add_make_no_copies(seed: int, noise: float, digits: int | None) -> None:
    """Without noise every level is any other and a constant, and rounded outcomes are often equal."""
    cells, outcome, _ = table(seed, noise)
    outcome = outcome if digits is None else outcome.round(digits)
    assert told(cells, outcome) == told(cells, outcome, 1) == []


def test_rows_and_levels_in_another_order_and_another_scale_give_the_same() -> None:
    cells, outcome, rng = table(0)
    outcome[cells[:, 0] == 1] = outcome[cells[:, 0] == 7] + 1e-4
    order = rng.permutation(len(cells))
    first, again, scaled = told(cells, outcome), told(cells[order], outcome[order]), told(cells, 1e6 * outcome - 3)
    for other in (again, scaled):
        assert [(copy.level, copy.original, copy.agree) for copy in other] == [(1, 7, 20)]
        assert other[0].chance == pytest.approx(first[0].chance)


def test_nothing_to_compare_is_no_copy() -> None:
    cells = np.array([[0, 0], [1, 1], [2, 2]])
    sides = SideRows(cells[:1], np.array([1.0])), SideRows(cells[1:], np.array([1.0, 2.0]))
    assert likely_copies(*sides, 0) == []
    assert likely_copies(SideRows(cells[:0], np.zeros(0)), sides[1], 0) == []
