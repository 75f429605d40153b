"""Slices: planted ones are found and ranged, models that err alike everywhere have none, numbers are what they say."""

from __future__ import annotations

import numpy as np
import pytest

import recombine as rc
from recombine.cells.arrays import FloatArray
from recombine.jobs.limits import SCORE_LIMITS
from recombine.jobs.score import Score, Slice
from recombine.jobs.score.determined import held_out_noise
from recombine.jobs.score.held_out import HeldOutCells
from recombine.jobs.score.slices import find_slices
from recombine.verdicts import Verdict

SIZES = (8, 6, 5)


def held_out_of(seed: int = 0, rows: int = 1, sizes: tuple[int, ...] = SIZES, **fields: object) -> HeldOutCells:
    """Return held-out cells whose effects add, with noise of 0.5."""
    rng = np.random.default_rng(seed)
    cells = np.repeat(np.indices(sizes).reshape(len(sizes), -1).T, rows, axis=0)
    train = np.repeat(rng.random(len(cells) // rows) < 0.5, rows)
    truth = cells @ np.linspace(1.0, 0.3, len(sizes))
    y = truth + 0.5 * rng.normal(size=len(cells))
    names = [f"f{position}" for position in range(len(sizes))]
    audit = rc.audit(rc.Design.from_cells(cells, y, train=train, names=names, sizes=sizes, **fields), structure="add")
    codes = audit.decided.verdicts_of(audit.design.held_out)
    rows_told = np.flatnonzero(~audit.design.train)[codes == Verdict.DETERMINED]
    return HeldOutCells((audit,), codes, None, held_out_noise((audit,), rows_told))


def truth_of(held_out: HeldOutCells) -> FloatArray:
    cells = held_out.design.held_out
    return np.asarray(cells @ np.linspace(1.0, 0.3, cells.shape[1]))


def slices(held_out: HeldOutCells, predicted: FloatArray, seed: int = 0) -> tuple[Slice, ...]:
    return find_slices(held_out, predicted[:, None], seed)


def test_a_level_that_is_off_is_told_with_its_numbers() -> None:
    held = held_out_of()
    here = held.design.held_out[:, 1] == 2
    predicted = truth_of(held) + 2.0 * here
    (worst,) = slices(held, predicted)
    squares = (predicted - held.observed[:, 0]) ** 2
    assert worst.levels == (("f1", "2"),)
    assert worst.name == "f1=2"
    assert worst.cells == here.sum()
    assert worst.share_of_cells == pytest.approx(here.mean())
    assert worst.share_of_error == pytest.approx(squares[here].sum() / squares.sum())
    assert worst.error.value == pytest.approx(squares[here].mean())
    assert worst.times.value == pytest.approx(squares[here].mean() / squares[~here].mean())
    assert worst.times.low <= (0.25 + 4) / 0.25 <= worst.times.high
    assert worst.miss is not None
    assert worst.miss.low <= 2.0 <= worst.miss.high
    assert worst.chance <= SCORE_LIMITS.chance_of_slice


def test_a_pair_of_levels_is_told_as_a_pair() -> None:
    held = held_out_of(sizes=(6, 5, 12))
    here = (held.design.held_out[:, :2] == [4, 1]).all(axis=1)
    assert here.sum() >= SCORE_LIMITS.min_cells_of_slice
    told = slices(held, truth_of(held) - 3.0 * here)
    assert [worst.name for worst in told] == ["f0=4 & f1=1"]
    assert told[0].miss is not None
    assert told[0].miss.high < 0


def test_at_most_three_are_told_each_beside_the_cells_of_none() -> None:
    held = held_out_of(sizes=(12, 6, 5))
    first = held.design.held_out[:, 0]
    predicted = truth_of(held) + np.select([first == level for level in (1, 4, 6, 9)], [6.0, 5.0, 4.0, 3.0])
    told = slices(held, predicted)
    assert [worst.name for worst in told] == ["f0=1", "f0=4", "f0=6"]
    squares, others = (predicted - held.observed[:, 0]) ** 2, ~np.isin(first, (1, 4, 6))
    for worst, level in zip(told, (1, 4, 6), strict=True):
        assert worst.times.value == pytest.approx(squares[first == level].mean() / squares[others].mean())


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 4])
def test_models_that_err_alike_everywhere_have_none(rows: int) -> None:
    told = 0
    for seed in range(20):
        held = held_out_of(seed, rows)
        rng = np.random.default_rng([seed, 1])
        told += bool(slices(held, truth_of(held) + rng.standard_t(3, size=len(held.codes)), seed))
    assert told <= 2


def test_cells_measured_once_are_no_slice_among_cells_measured_often() -> None:
    rng = np.random.default_rng(0)
    cells = np.indices((8, 8, 6)).reshape(3, -1).T
    row = np.repeat(np.arange(len(cells)), np.where(cells[:, 0] == 3, 1, 9))
    truth = cells @ [1.0, 0.6, 0.3]
    train = rng.random(len(cells)) < 0.4
    y = truth[row] + rng.normal(size=len(row))
    audit = rc.audit(rc.Design.from_cells(cells[row], y, train=train[row]), structure="add")
    design = audit.design
    held = HeldOutCells((audit,), audit.decided.verdicts_of(design.held_out), None, None)
    predicted = design.held_out @ [1.0, 0.6, 0.3]
    squares, here = (predicted - held.observed[:, 0]) ** 2, design.held_out[:, 0] == 3
    assert squares[here].mean() > 4 * squares[~here].mean()  # it would be one if noise were not reckoned with
    assert slices(held, predicted) == ()


def test_the_same_seed_tells_the_same() -> None:
    held = held_out_of()
    predicted = truth_of(held) + 2.0 * (held.design.held_out[:, 0] == 5)
    assert slices(held, predicted, 3) == slices(held, predicted, 3)


def test_predictions_without_error_and_tables_of_few_cells_have_none() -> None:
    held = held_out_of()
    assert slices(held, held.observed[:, 0]) == ()
    few = held_out_of(sizes=(3, 2, 2))
    assert len(few.codes) < SCORE_LIMITS.min_cells_for_causes
    assert slices(few, truth_of(few) + 9.0 * (few.design.held_out[:, 0] == 1)) == ()


def test_interchangeable_factors_are_one() -> None:
    held = held_out_of(sizes=(9, 9, 3), symmetric=[(0, 1)])
    here = (held.design.held_out[:, :2] == 4).any(axis=1)
    truth = held.observed[:, 0] + 0.1 * np.random.default_rng(0).normal(size=len(here))
    (worst,) = slices(held, truth + 2.0 * here)
    assert worst.levels == (("f0 and f1", "4"),)
    assert worst.cells == here[held.codes == Verdict.DETERMINED].sum()


def test_cells_of_no_importance_count_for_nothing() -> None:
    held = held_out_of()
    here = held.design.held_out[:, 1] == 2
    weighted = HeldOutCells(held.audits, held.codes, None, held.noise, weights=np.where(here, 0.0, 1.0))
    assert slices(weighted, truth_of(held) + 2.0 * here) == ()


def test_a_score_lists_slices_by_model() -> None:
    held = held_out_of()
    here = held.design.held_out[:, 1] == 2
    scored = rc.score(held.audit, {"good": truth_of(held), "lost": truth_of(held) + 3.0 * here})
    assert isinstance(scored, Score)
    assert [(row["model"], row["slice"]) for row in scored.slices.rows()] == [("lost", "f1=2")]
