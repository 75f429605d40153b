"""Outcomes without noise: values of determined cells are the sums, however few cells there are."""

from __future__ import annotations

import numpy as np
import pytest

import recombine as rc


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(2, 3), (3, 3), (4, 4), (3, 3, 3), (8, 8)])
def test_values_are_what_is_certified_where_nothing_is_noise(shape: tuple[int, ...]) -> None:
    for seed in range(6):
        rng = np.random.default_rng(seed)
        cells = np.indices(shape).reshape(len(shape), -1).T
        outcome = np.sum([rng.normal(size=size)[cells[:, factor]] for factor, size in enumerate(shape)], axis=0)
        seen = rng.random(len(cells)) < 0.75
        if len(np.unique(cells[seen], axis=0)) < 3:
            continue
        table = rc.audit(rc.Design.from_cells(cells[seen], outcome[seen], sizes=shape)).values.table
        determined = table["verdict"] == "determined"
        np.testing.assert_allclose(table["predicted"][determined], table["certified"][determined], atol=1e-6)


def test_counts_are_never_below_nought() -> None:
    rng = np.random.default_rng(0)
    cells = np.indices((8, 7)).reshape(2, -1).T
    counts = rng.poisson(np.exp(rng.normal(size=8)[cells[:, 0]] + 0.5)).astype(float)
    seen = rng.random(len(cells)) < 0.7
    table = rc.audit(rc.Design.from_cells(cells[seen], counts[seen], sizes=(8, 7))).values.table
    assert (table["low"] >= 0).all()
    assert (table["predicted"] >= 0).all()
