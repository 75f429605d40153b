"""What components are fitted to: levels on a line, descriptors, weights, and no more than seconds allow."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.cells.conjunctions import every_cell
from recombine.jobs.values.cell_values import (
    design_features,
    fit_affordable,
    fit_values,
    level_coordinates,
    level_places,
    seconds_of,
    weighted_design,
)
from recombine.theory.components.scales import COUNTS, SCALES
from recombine.theory.components.screening import allowed_terms

MODULE = "recombine.jobs.values.cell_values"


def test_numbers_are_names_where_no_curve_is_asked_for():
    cells = every_cell((6, 4))
    design = rc.Design.from_cells(cells[:-5], np.sin(cells[:-5, 0]) + cells[:-5, 1] ** 2, sizes=(6, 4))
    numbers, names = [range(6), range(4)], ["abcdef", "wxyz"]
    curved, plain = fit_values(design, numbers), fit_values(design, numbers, curved=False)
    assert plain.terms == fit_values(design, names).terms != curved.terms
    np.testing.assert_array_equal(plain.predict(cells).mean, fit_values(design, names).predict(cells).mean)


def test_a_level_that_no_seen_cell_has_gets_its_value_from_its_descriptors():
    cells, table = every_cell((9, 3)), np.linspace(-1, 1, 9)[[4, 0, 8, 2, 6, 1, 7, 3, 5], None]
    y = 10 * table[cells[:, 0], 0] + cells[:, 1]
    design = rc.Design.from_cells(cells[:24], y[:24], sizes=(9, 3))
    fit = fit_values(design, ["abcdefghi", "xyz"], features={0: table})
    np.testing.assert_allclose(fit.predict(cells).mean, y, atol=0.05)


@pytest.mark.parametrize(
    ("levels", "numbers"),
    [
        (("0.5", 2, 3.0), [0.5, 2.0, 3.0]),
        (("1", True), None),
        (("1", "x"), None),
        (("1", "inf"), None),
        ((), None),
    ],
)
def test_levels_are_numbers_where_every_one_is(levels, numbers):
    found = level_coordinates(levels)
    assert (None if found is None else found.tolist()) == numbers


def test_rows_of_a_cell_weigh_as_they_are_worth_and_alike_by_default():
    rows, outcome = np.array([[0, 0], [1, 1], [0, 0], [0, 1]]), np.array([1.0, 2.0, 5.0, 7.0])
    plain, weighted = (weighted_design(rows, outcome, (2, 2), weights) for weights in (None, np.array([3.0, 1, 1, 2])))
    assert [plain.precision.tolist(), plain.outcome.tolist()] == [[2.0, 1.0, 1.0], [3.0, 7.0, 2.0]]
    assert [weighted.precision.tolist(), weighted.outcome.tolist()] == [[4.0, 2.0, 1.0], [2.0, 7.0, 2.0]]
    assert plain.sizes == weighted.sizes == (2, 2)


def test_the_noise_of_rows_that_repeat_is_that_within_cells():
    rng, cells = np.random.default_rng(0), np.repeat(every_cell((6, 5)), 4, axis=0)
    within = rng.normal(size=len(cells))
    design = rc.Design.from_cells(cells, 5.0 * cells[:, 0] + np.repeat(rng.normal(size=30), 4) + within)
    pooled = within.reshape(30, 4).var(axis=1, ddof=1).mean()
    assert fit_values(design, ["abcdef", "vwxyz"]).noise == pytest.approx(pooled, rel=0.1)


def test_interchangeable_factors_share_their_descriptors():
    frame = pd.DataFrame({"left": list("aab"), "right": list("bcc"), "y": [1.0, 2.0, 4.0]})
    table = pd.DataFrame({"left": list("abc"), "mass": [1.0, 2.0, 4.0]})
    options = {"factors": ["left", "right"], "outcome": "y", "symmetric": ["left", "right"]}
    design = rc.Design.from_frame(frame, **options, features={"left": table})
    found = design_features(design, [factor.levels for factor in design.factors])
    assert {factor: rows[:, 0].tolist() for factor, rows in found.items()} == {0: [1.0, 2.0, 4.0], 1: [1.0, 2.0, 4.0]}


def test_what_is_fitted_is_the_first_that_seconds_allow(monkeypatch):
    cells = every_cell((6, 5))
    frame = pd.DataFrame({"a": cells[:, 0], "b": cells[:, 1], "y": np.sin(cells[:, 0]) * cells[:, 1]})
    design = rc.Design.from_frame(frame, factors=["a"], ordered=["b"], outcome="y")
    asked = []

    def fitted(costs):
        seconds = iter(costs)
        monkeypatch.setattr(f"{MODULE}.seconds_of", lambda *given: asked.append(given[1:]) or next(seconds))
        return fit_affordable(design, 7)

    levels = level_places(design)
    for costs, options in (
        ([1.5], {}),
        ([1.6, 1.6, 1.5], {"curved": False}),
        ([1.6, 1.6, 1.6, 1.6, 1.5], {"order": 1, "curved": False}),
    ):
        expected = fit_values(design, levels, **options)
        np.testing.assert_array_equal(fitted(costs).predict(cells).mean, expected.predict(cells).mean)
    assert fitted([1.6] * 6) is None
    at_once = tuple(scale for scale in SCALES if scale is not COUNTS)
    ways = [(2, 7, True), (2, 7, False), (1, 7, False)]
    assert asked[-6:] == [(*way, scales) for way in ways for scales in (SCALES, at_once)]
    monkeypatch.undo()
    assert fit_affordable(rc.Design.from_cells([[0, 0]], outcome=[1.0], sizes=(2, 2))) is None
    assert fit_affordable(rc.Design.from_cells([[0, 0], [0, 1]], outcome=[1.0, 2.0])) is not None


def seconds_by_hand(design, **options):
    """Seconds of pairs without curves, unless ``options`` say otherwise: what is written beside them is by hand."""
    return seconds_of(design, **{"order": 2, "curved": False} | options)


def product(*sizes, shift=-1.0):
    cells = every_cell(sizes)
    return rc.Design.from_cells(cells, outcome=cells.sum(axis=1) + shift)


def test_seconds_of_few_cells_are_those_of_their_covariances():
    small = product(10, 6, 5)  # 3 single factors and 3 pairs
    fit = 6 * (2.5e-10 * 300**3 + 7e-9 * 300**2)
    assert seconds_by_hand(small) == pytest.approx(fit)
    assert seconds_by_hand(small, order=1) == pytest.approx(fit / 2)
    # A line and a curve of each of three factors, by itself and within both others.
    assert seconds_by_hand(small, curved=True) == pytest.approx(fit * (6 + 2 * 3 * 3) / 6)
    assert seconds_by_hand(small, listed=50) == pytest.approx(fit + 50 * 300 * (1.2e-10 * 300 + 6 * 7e-9))
    assert seconds_by_hand(product(10, 6, 5, shift=0.5)) == pytest.approx(2 * fit)  # logs too
    assert seconds_by_hand(product(10, 6, 5, shift=1.0)) == pytest.approx(7 * fit)  # and counts, in five rounds


def test_seconds_of_many_cells_are_those_of_their_columns():
    beside = 12 + 9 + 7 + 12 * 7 + 9 * 7  # all columns but those of the largest pair
    many = product(12, 9, 7)  # 756 cells
    assert seconds_by_hand(many) == pytest.approx(1e-9 * beside**3 + 1e-7 * 756 * beside)
    assert seconds_by_hand(many, order=1) == pytest.approx(1e-9 * (9 + 7) ** 3 + 1e-6 * 756 * 3)
    curves = sum((1 + size) * (1 + 28 - size) for size in (12, 9, 7))
    assert beside + curves > 756  # a covariance of cells is smaller than that many columns
    terms = min(6 + 2 * 3 * 3, allowed_terms(756))
    assert seconds_by_hand(many, curved=True) == pytest.approx(terms * (2.5e-10 * 756**3 + 7e-9 * 756**2))
    # A curve over many levels has 25 columns.
    wide, curves = product(40, 30, 2), 26 * (1 + 32) + 26 * (1 + 42) + 3 * (1 + 70)
    beside = 40 + 30 + 2 + 80 + 60
    assert seconds_by_hand(wide, curved=True) == pytest.approx(
        1e-9 * (beside + curves) ** 3 + 1e-7 * 2400 * (beside + curves)
    )


def test_seconds_of_very_many_columns_are_those_of_iterations():
    cells = np.unique(np.random.default_rng(0).integers(0, [70, 70, 70], (16_000, 3)), axis=0)
    large = rc.Design.from_cells(cells, outcome=-1.0 * cells.sum(axis=1), sizes=(70, 70, 70))
    beside = 3 * 70 + 2 * 70**2
    assert seconds_by_hand(large) == pytest.approx(2e-4 * (beside + len(cells)))


def test_seconds_of_interchangeable_factors_are_those_of_all_arrangements_and_beyond_so_many_cells_without_end():
    def of(count):
        cells = np.array([cell for cell in every_cell((count, count)).tolist() if cell[0] <= cell[1]])
        return rc.Design.from_cells(cells, outcome=-1.0 * cells.sum(axis=1), sizes=(count, count), symmetric=[(0, 1)])

    assert seconds_by_hand(of(20)) == pytest.approx(3 * (2.5e-10 * 210**3 + 4 * 7e-9 * 210**2))
    assert seconds_by_hand(of(20), listed=9) - seconds_by_hand(of(20)) == pytest.approx(
        9 * 210 * (1.2e-10 * 210 + 3 * 4 * 7e-9)
    )
    assert np.isfinite(seconds_by_hand(of(54)))  # 1,485 cells
    assert seconds_by_hand(of(55)) == np.inf  # 1,540
