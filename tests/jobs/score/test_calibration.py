"""Calibration: slopes are those of logistic regression, planted over-confidence is a cause and the leak is none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, softmax

import recombine as rc
from recombine.cells.arrays import FloatArray
from recombine.jobs.score import Calibration
from recombine.jobs.score.calibration import calibrate
from recombine.jobs.score.held_out import HeldOutCells

SIZES = (8, 6, 5)


def world(seed: int = 0, base: float = 0.0) -> tuple[HeldOutCells, FloatArray]:
    """Return held-out cells of two classes, and their true log odds (H,)."""
    rng = np.random.default_rng(seed)
    cells = np.indices(SIZES).reshape(3, -1).T
    effects = [spread * rng.normal(size=size) for size, spread in zip(SIZES, (1.2, 0.8, 0.6), strict=True)]
    odds = base + np.sum([levels[cells[:, at]] for at, levels in enumerate(effects)], axis=0)
    row = np.repeat(np.arange(len(cells)), rng.integers(4, 15, len(cells)))
    y = (rng.random(len(row)) < expit(odds[row])).astype(float)
    train = (rng.random(len(cells)) < 0.6)[row]
    audit = rc.audit(rc.Design.from_cells(cells[row], y, train=train, names=list("abc"), sizes=SIZES), structure="add")
    held = HeldOutCells((audit,), audit.decided.verdicts_of(audit.design.held_out), None, None)
    return held, odds[np.ravel_multi_index(tuple(audit.design.held_out.T), SIZES)]


def told(held: HeldOutCells, chances: FloatArray) -> Calibration:
    fit = calibrate(held, chances[:, None])
    assert fit is not None
    return fit[0]


def test_slope_and_intercept_are_those_of_logistic_regression() -> None:
    from sklearn.linear_model import LogisticRegression

    held, odds = world()
    calibration = told(held, expit(1.7 * odds + 0.4))
    rows = held.design.precision[~held.design.train]
    share = held.observed[:, 0]
    x = np.repeat(1.7 * odds + 0.4, 2)[:, None]
    y = np.tile([1, 0], len(odds))
    oracle = LogisticRegression(C=1e12, tol=1e-10, max_iter=1000)
    oracle.fit(x, y, sample_weight=np.stack([rows * share, rows * (1 - share)], axis=1).ravel())
    assert calibration.slope.value == pytest.approx(oracle.coef_[0, 0], rel=1e-4)
    assert calibration.intercept is not None
    assert calibration.intercept.value == pytest.approx(oracle.intercept_[0], abs=1e-4)


@pytest.mark.parametrize("base", [0.0, -1.0])
def test_stretching_log_odds_stretches_the_slope_and_nothing_else(base: float) -> None:
    held, odds = world(1, base)
    one, two = told(held, expit(odds)), told(held, expit(2 * odds))
    assert two.slope.value == pytest.approx(one.slope.value / 2, rel=1e-5)
    assert one.intercept is not None
    assert two.intercept is not None
    assert two.intercept.value == pytest.approx(one.intercept.value, abs=1e-5)


@pytest.mark.slow
def test_what_is_named_is_what_was_planted() -> None:
    named = {"over": 0, "under": 0, "high": 0, "low": 0, "right": 0}
    for seed in range(8):
        held, odds = world(seed + 10)
        named["over"] += told(held, expit(2 * odds)).over_confident
        named["under"] += told(held, expit(odds / 2)).under_confident
        named["high"] += told(held, expit(odds + 1)).too_high
        named["low"] += told(held, expit(odds - 1)).too_low
        right = told(held, expit(odds))
        named["right"] += right.over_confident or right.under_confident or right.too_high or right.too_low
    assert named["over"] == named["under"] == 8
    assert min(named["high"], named["low"]) >= 7
    assert named["right"] <= 1


def test_over_confidence_is_a_cause_and_amounts_add_up() -> None:
    held, odds = world(2)
    scored = rc.score(held.audit, {"right": expit(odds), "sharp": expit(2 * odds)})
    right, sharp = scored.models
    assert "over-confidence" not in right.causes
    for model in (right, sharp):
        assert model.attribution is not None
        amounts = sum(amount.value for amount in model.causes.values())
        assert amounts == pytest.approx(model.attribution.error.value, rel=1e-9)
    amount = sharp.causes["over-confidence"]
    beyond, error = expit(2 * odds) - expit(odds), expit(2 * odds) - held.observed[:, 0]
    assert amount.low <= np.mean(beyond * error) <= amount.high
    removed = sharp.removals["over-confidence"]
    assert removed.low <= np.mean(error**2 - (error - beyond) ** 2) <= removed.high
    own = {name: sharp.causes[name].value for name in sharp.removals}
    assert max(own, key=lambda name: own[name]) == "over-confidence"
    assert abs(own["leak"]) < amount.value / 4


def test_chances_of_0_and_1_are_clipped_and_counted() -> None:
    held, odds = world(4)
    chances = expit(odds)
    chances[:3] = [0.0, 1.0, 0.0]
    calibration = told(held, chances)
    assert calibration.clipped == 3
    assert np.isfinite([calibration.slope.value, calibration.slope.low, calibration.slope.high]).all()
    nearest = min(1e-3, float(np.minimum(chances, 1 - chances)[3:].min()))
    chances[:3] = [nearest, 1 - nearest, nearest]
    assert told(held, chances).slope.value == pytest.approx(calibration.slope.value, rel=1e-6)


def test_predictions_that_are_no_chances_are_not_calibrated() -> None:
    held, odds = world(5)
    assert calibrate(held, (odds > 0).astype(float)[:, None]) is None
    assert calibrate(held, 3 * odds[:, None]) is None
    assert calibrate(held, np.full((len(odds), 1), 0.5)) is None
    design = held.design
    y = np.random.default_rng(0).normal(size=len(design.cells))
    numbers = rc.audit(rc.Design.from_cells(design.cells, y, train=design.train), structure="add")
    assert calibrate(HeldOutCells((numbers,), held.codes, None, None), expit(odds)[:, None]) is None


@pytest.mark.slow
def test_several_classes_share_one_slope() -> None:
    import pandas as pd

    from recombine.jobs.score import class_designs

    rng = np.random.default_rng(0)
    cells = np.indices(SIZES).reshape(3, -1).T
    effects = [spread * rng.normal(size=(size, 3)) for size, spread in zip(SIZES, (1.2, 0.8, 0.6), strict=True)]
    odds = np.sum([levels[cells[:, at]] for at, levels in enumerate(effects)], axis=0)
    row = np.repeat(np.arange(len(cells)), 9)
    drawn = (rng.random(len(row))[:, None] > softmax(odds, axis=1).cumsum(axis=1)[row]).sum(axis=1)
    frame = pd.DataFrame(cells[row], columns=list("abc")).assign(y=np.array(["p", "q", "r"])[drawn])
    frame["part"] = np.where(rng.random(len(cells)) < 0.6, "train", "test")[row]
    for factor, name in ((1.0, "right"), (2.0, "sharp")):
        for at, label in enumerate("pqr"):
            frame[f"{name}:{label}"] = softmax(factor * odds, axis=1)[row, at]
    designs = class_designs(frame, factors=list("abc"), outcome="y", split="part=train", as_levels=list("abc"))
    right, sharp = rc.score(designs, frame, ["right", "sharp"], "part=train").models
    assert right.calibration is not None
    assert sharp.calibration is not None
    assert right.calibration.slope.low <= 1 <= right.calibration.slope.high
    assert sharp.calibration.slope.value == pytest.approx(right.calibration.slope.value / 2, rel=1e-4)
    assert sharp.calibration.over_confident
    assert sharp.calibration.intercept is None
    assert sharp.attribution is not None
    assert sum(amount.value for amount in sharp.causes.values()) == pytest.approx(sharp.attribution.error.value)
    assert sharp.causes["over-confidence"].low > 0
