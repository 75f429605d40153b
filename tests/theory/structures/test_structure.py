"""What holds of every registered structure: words, limits, scales there and back, verdicts left alone."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.theory.identification import identify
from recombine.theory.structures import STRUCTURES, Structure, StructureData, simplest_first, sum_of
from recombine.verdicts import Verdict

CELLS = np.indices((4, 4, 3)).reshape(3, -1).T
SEEN = np.random.default_rng(0).random(len(CELLS)) < 0.8
#: Shares, so that every structure can carry them.
SHARES = 1 / (1 + np.exp(1.5 - CELLS @ [0.6, 0.3, -0.4])) + 0.02 * np.random.default_rng(1).normal(size=len(CELLS))
DATA = StructureData(CELLS[SEEN], SHARES[SEEN], counts=np.full(SEEN.sum(), 20.0), sizes=(4, 4, 3))

EVERY = pytest.mark.parametrize("structure", list(STRUCTURES), ids=STRUCTURES.names)
FITTING = [structure for structure in STRUCTURES if not structure.obstacle(DATA)]
FITTED = pytest.mark.parametrize("structure", FITTING, ids=[structure.name for structure in FITTING])


def test_most_structures_fit_the_shares() -> None:
    assert {"add", "logit", "log", "multiplicative", "link", "pairs"} <= {structure.name for structure in FITTING}


@EVERY
def test_every_structure_says_what_it_assumes(structure: Structure) -> None:
    assert structure.assumption.startswith("effects ")
    assert structure.explains.startswith(f"{structure.assumption}; ")
    assert structure.help.endswith(".")
    assert structure.needs_outcome == (not structure.is_sum)
    assert structure.adds == (structure is sum_of(1))


def test_simplest_first_is_an_order() -> None:
    places = [structure.complexity for structure in simplest_first()]
    assert places == sorted(set(places))
    assert simplest_first()[0].adds


def test_sums_are_said_in_one_way() -> None:
    for order in range(2, 6):
        assert sum_of(order).assumption == f"effects add up to interactions of {order} factors"


@FITTED
def test_values_lie_where_outcomes_can_and_scales_lead_back(structure: Structure) -> None:
    fit = structure.fit(DATA)
    low, high = fit.outcome_bounds
    values = fit.predict(CELLS)
    assert np.all((values >= low) & (values <= high))
    assert np.abs(values - SHARES)[SEEN].max() < 0.3
    centre = fit.centre(CELLS[SEEN])
    np.testing.assert_allclose(fit.from_outcome(fit.to_outcome(centre)), centre, rtol=1e-12)


@FITTED
def test_only_determined_cells_are_opened_and_sums_outside_say_why(structure: Structure) -> None:
    fit = structure.fit(DATA)
    codes = identify(CELLS[SEEN], order=structure.order, sizes=(4, 4, 3)).verdicts_of(CELLS).astype(np.int64)
    judged = fit.judge(CELLS, codes)
    changed = np.flatnonzero(judged != codes)
    assert np.all(codes[changed] == Verdict.DETERMINED)
    assert fit.leaves_open or not len(changed)
    for cell, code in zip(CELLS, judged, strict=True):
        opened = fit.why_open(cell)
        if code == Verdict.BEYOND:
            assert opened is not None
            assert not opened.low <= opened.value <= opened.high


@FITTED
def test_a_fit_on_another_scale_is_that_of_the_outcomes_there(structure: Structure) -> None:
    fit = structure.rescaled(structure.fit(DATA), DATA, 2.0, 3.0)
    if fit.outcome_bounds == (2.0, 5.0):  # chances move with their two values
        np.testing.assert_allclose(fit.predict(CELLS), 2 + 3 * structure.fit(DATA).predict(CELLS))
    else:
        there = structure.fit(StructureData(DATA.cells, 2 + 3 * DATA.y, counts=DATA.counts))
        np.testing.assert_allclose(fit.predict(CELLS), there.predict(CELLS))


def test_outcomes_without_a_logarithm_are_named() -> None:
    with pytest.raises(InputError, match=r"y\[1\] is -2, which has no logarithm; give outcomes of at least 0"):
        STRUCTURES["log"].fit(StructureData(np.array([[0, 0], [0, 1], [1, 0]]), np.array([0.5, -2.0, 1.0])))
