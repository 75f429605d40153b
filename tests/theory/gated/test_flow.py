"""A flow on samples that nothing separates says so, and says nothing where a margin may still come."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from recombine.theory.gated import NotSeparableError, NotSeparableWarning, flow, largest_margin

POINTS = np.array([[1.0, 1.0], [0.5, 1.0], [-0.5, 1.0], [-1.0, 1.0]])


def test_a_flow_on_samples_that_no_gates_separate_warns() -> None:
    signs = [1, -1, 1, -1]
    with pytest.warns(NotSeparableWarning, match="separates the samples.*ratio is not a number; add units") as caught:
        path = flow(POINTS, signs, np.zeros((4, 1), dtype=int), contexts=1, seed=0, times=(1.0, 100.0))
    assert caught[0].filename == __file__
    assert (path.margin < 0).all()
    assert np.isnan(path.ratio).all()
    with pytest.raises(NotSeparableError):
        largest_margin(POINTS, signs, np.zeros((4, 1), dtype=int), contexts=1)


def test_a_flow_that_is_only_not_yet_on_the_right_side_does_not_warn() -> None:
    gates = (POINTS[:, :1] > 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for signs in ([1, 1, -1, -1], [1, -1, 1, -1]):
            start = flow(POINTS, signs, gates, contexts=2, start=(-np.ones((1, 2, 2)) * signs[0], [0.1]), times=(0.0,))
            assert start.margin[0] < 0
