"""Shares of variance by sets of factors."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.cells.arrays import FloatArray, IntArray
from recombine.theory.components import SCALES, fit_components, variance_shares

SIZES = (9, 8)


def _grid(*sizes: int) -> IntArray:
    return np.indices(sizes).reshape(len(sizes), -1).T


def _planted(rng: np.random.Generator, variances: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return outcomes of a grid with given variances of both factors and noise, and their true shares."""
    cells = _grid(*SIZES)
    effects = [np.sqrt(variance) * rng.normal(size=size) for variance, size in zip(variances, SIZES, strict=False)]
    outcome = sum(effect[cells[:, factor]] for factor, effect in enumerate(effects))
    true = variances * [1 - 1 / SIZES[0], 1 - 1 / SIZES[1], 1]
    return outcome + np.sqrt(variances[2]) * rng.normal(size=len(cells)), true / true.sum()


def test_ranges_hold_the_planted_shares() -> None:
    rng, hits = np.random.default_rng(0), []
    for _ in range(30):
        outcome, true = _planted(rng, np.exp(rng.normal(size=3)))
        shares = variance_shares(fit_components(_grid(*SIZES), outcome, scales=SCALES[:1]))
        planted = {(0,): true[0], (1,): true[1], (): true[2]}
        hits += [
            low <= planted[chosen] <= high
            for chosen, low, high in zip(shares.sets, shares.low, shares.high, strict=True)
        ]
    assert 0.8 <= np.mean(hits) <= 0.98  # 90 % is asked of 90 shares, three of a table


def test_shares_add_up_in_order_with_the_noise_at_the_end() -> None:
    rng = np.random.default_rng(1)
    outcome, _ = _planted(rng, np.array([1.0, 4.0, 0.5]))
    shares = variance_shares(fit_components(_grid(*SIZES), outcome))
    assert shares.share.sum() == pytest.approx(1)
    assert shares.sets[-1] == ()
    assert list(shares.share[:-1]) == sorted(shares.share[:-1], reverse=True)
    assert (shares.low <= shares.share).all()
    assert (shares.share <= shares.high).all()
    assert not shares.noise_is_alone


def test_rows_that_repeat_tell_whole_combinations_from_noise() -> None:
    rng, cells = np.random.default_rng(2), _grid(7, 6)
    means = cells[:, 0] + 2.0 * rng.normal(size=(7, 6))[cells[:, 0], cells[:, 1]]
    rows = means + 0.1 * rng.normal(size=(4, len(cells)))
    squares = ((rows - rows.mean(axis=0)) ** 2).sum(axis=0)
    replicates = squares, np.full(len(cells), 3.0)
    shares = variance_shares(fit_components(cells, rows.mean(axis=0), np.full(len(cells), 4.0), replicates=replicates))
    assert shares.noise_is_alone
    assert shares.share[shares.sets.index((0, 1))] > 0.25
    assert shares.share[-1] < 0.01
