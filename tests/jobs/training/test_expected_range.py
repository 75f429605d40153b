"""Ranges of the next model: kinds of tables, and what the record has."""

from __future__ import annotations

import numpy as np
import pytest

import recombine as rc
from recombine.cells.conjunctions import every_cell
from recombine.data import hit_rates
from recombine.jobs.training.expected_range import TableKind, Way, expected_range, fourth_moment


@pytest.mark.parametrize(
    ("outcome", "cells", "judged", "kind"),
    [
        (lambda cells: cells.sum(axis=1), (8, 8), 64, TableKind.USUAL),
        (lambda cells: cells.sum(axis=1), (8, 8), 24, TableKind.FEW),
        (lambda cells: cells.sum(axis=1), (40, 2), 64, TableKind.THIN),
        (lambda cells: 1e150 * 10.0 ** (30 * (cells.sum(axis=1) == 14)), (8, 8), 64, TableKind.HEAVY),
    ],
)
def test_kinds(outcome, cells, judged, kind) -> None:
    every = every_cell(cells)
    assert TableKind.of(rc.Design.from_cells(every, outcome(every)), judged) is kind


def test_the_fourth_moment_is_that_of_scipy_and_of_no_spread_none() -> None:
    from scipy.stats import kurtosis

    values = np.random.default_rng(0).standard_t(5, size=200)
    assert fourth_moment(values) == pytest.approx(kurtosis(values, fisher=False))
    assert fourth_moment(np.full(5, 3.0)) == 0.0


def test_ranges_scale_with_what_was_said_and_shares_stay_shares() -> None:
    one, ten = (expected_range(said, "network", Way.TRAINED, TableKind.USUAL) for said in (1.0, 10.0))
    assert (ten.low, ten.high) == pytest.approx((10 * one.low, 10 * one.high))
    right = expected_range(0.999, "network", Way.TRAINED, TableKind.USUAL, accuracy=True)
    assert right.low < 0.999 <= right.high <= 1.0
    assert expected_range(1.0, "network", Way.THEORY, TableKind.USUAL, accuracy=True) is None


def test_the_record_judges_every_way_on_tables_that_were_kept_back() -> None:
    ranges = hit_rates()["ranges"]
    for way in Way:
        every = ranges[f"network: {way}"]["all"]
        assert every["trials"] > every["trials, kept back"] > 0
        assert every["held"] <= every["trials"]
        assert every["low"] < every["middle"] < every["high"]
