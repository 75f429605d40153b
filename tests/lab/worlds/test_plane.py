"""The 2-D problem: what X_2 says about the label, exactly, and what both readings draw."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.lab.worlds.plane import (
    READINGS,
    SEEN,
    Redraw,
    draw_held_out,
    draw_training,
    square_centres,
    stack_samples,
)
from recombine.measures.dependence.columns import mutual_information

SEEDS = st.integers(0, 10_000)
BOTH = pytest.mark.parametrize("reading", list(READINGS))


def exact_covariance(component: int) -> Fraction:
    """Cov(L, X_k) of the text, where X_k has mean Y_k - 1/2 in every cell."""
    labels = [Fraction(2 * cell[0] - 1) for cell in SEEN]
    means = [Fraction(cell[component]) - Fraction(1, 2) for cell in SEEN]
    product = sum(label * mean for label, mean in zip(labels, means, strict=True))
    return product / len(SEEN) - sum(labels) * sum(means) / len(SEEN) ** 2


def test_the_sign_of_x2_tells_a_quarter_of_a_bit() -> None:
    first, second = np.array(SEEN).T
    exact = mutual_information(first, second, corrected=False)
    assert exact == pytest.approx(math.log2(3) - 4 / 3, abs=1e-12)
    assert round(exact, 4) == 0.2516
    drawn = draw_training("text", seed=0, count=200_000)
    signs = (drawn.points[:, 1] > 0).astype(int)
    assert mutual_information(drawn.labels.astype(int), signs, corrected=False) == pytest.approx(exact, abs=0.005)


def test_a_first_linear_step_tilts_by_half() -> None:
    exact = [exact_covariance(component) for component in (0, 1)]
    assert exact == [Fraction(4, 9), Fraction(-2, 9)]
    drawn = draw_training("text", seed=1, count=200_000)
    for component, covariance in enumerate(exact):
        assert np.cov(drawn.labels, drawn.points[:, component])[0, 1] == pytest.approx(float(covariance), abs=0.005)


@given(seed=SEEDS, reading=st.sampled_from(list(READINGS)))
def test_training_stays_out_of_the_held_out_quadrant(seed: int, reading: str) -> None:
    kind, samples = READINGS[reading], draw_training(reading, seed)
    first, second = samples.points.T
    assert not ((first > 0) & (second > 0)).any()
    assert ((first > 0) == (samples.labels == 1)).all()
    assert set(np.unique(samples.labels)) == {-1.0, 1.0}
    assert np.abs(samples.points).max() <= kind.edge
    assert np.abs(samples.points).min() >= kind.gap


def test_half_of_three_quarters_of_the_draws_train_in_the_code() -> None:
    counts = [len(draw_training("code", seed).labels) for seed in range(200)]
    # Binomial(500, 3/4) has a standard deviation of 9.7; half of it, rounded down, 4.8.
    assert np.mean(counts) == pytest.approx(187.25, abs=4 * 4.8 / math.sqrt(200))
    assert 3 < np.std(counts) < 7


@BOTH
def test_the_three_quadrants_are_equally_likely(reading: str) -> None:
    points = draw_training(reading, seed=3, count=90_000).points
    shares = [((points > 0) == np.array(cell, dtype=bool)).all(axis=1).mean() for cell in SEEN]
    assert shares == pytest.approx([1 / 3] * 3, abs=0.01)


@BOTH
def test_redrawing_leaves_nothing_to_learn_from_x2(reading: str) -> None:
    samples = stack_samples([draw_training(reading, seed=4, count=40_000)])
    points = Redraw(reading, samples, seeds=[4])()
    assert (points[..., 0] == samples.points[..., 0]).all()
    second, label = points[0, :, 1], samples.labels[0]
    assert abs(np.corrcoef(second, label)[0, 1]) < 0.03
    assert (second > 0).mean() == pytest.approx(0.5, abs=0.02)
    assert np.abs(second).max() == pytest.approx(READINGS[reading].edge, abs=0.01)
    assert np.abs(second).min() >= READINGS[reading].gap


def test_a_network_meets_the_same_draws_alone_and_in_a_stack() -> None:
    several = [draw_training("code", seed) for seed in (5, 6, 7)]
    together, alone = (
        Redraw("code", stack_samples(several), [5, 6, 7]),
        Redraw("code", stack_samples(several[1:2]), [6]),
    )
    size = len(several[1].labels)
    for _ in range(3):
        assert (together()[1, :size] == alone()[0, :size]).all()
    assert (together()[stack_samples(several).labels == 0] == 0).all()


@BOTH
def test_held_out_points_fill_their_quadrant(reading: str) -> None:
    kind, points = READINGS[reading], draw_held_out(reading, count=20_000)
    assert points.min() > 0
    assert points.min() >= kind.gap
    assert points.mean(axis=0) == pytest.approx([kind.gap + kind.reach / 2] * 2, rel=0.02)
    assert (draw_held_out(reading) == draw_held_out(reading)).all()
    assert not np.isin(draw_held_out(reading, seed=1), draw_held_out(reading)).any()


@BOTH
def test_the_grid_is_symmetric_and_runs_along_x1(reading: str) -> None:
    points, edge = square_centres(reading, side=8), READINGS[reading].edge
    assert points == pytest.approx(-points[::-1])
    assert (np.diff(points[:8, 0]) > 0).all()
    assert np.ptp(points[:8, 1]) == 0
    assert points.max() == pytest.approx(edge * 7 / 8)


def test_bad_input_says_what_to_do() -> None:
    with pytest.raises(InputError, match="did you mean 'text'"):
        draw_training("texts", seed=0)
    with pytest.raises(InputError, match="at least one network"):
        stack_samples([])
    with pytest.raises(InputError, match="seed is -1"):
        draw_training("text", seed=-1)
    with pytest.raises(InputError, match="one network per seed"):
        Redraw("text", stack_samples([draw_training("text", 0)]), seeds=[0, 1])
