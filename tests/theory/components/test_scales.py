"""Scales go there and back, and are tried where they are defined."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.theory.components import SCALES

OUTCOMES = {
    "identity": np.array([-3.0, 0.0, 5.0]),
    "log": np.array([0.01, 1.0, 900.0]),
    "log of counts": np.array([0.0, 1.0, 40.0]),
    "log odds": np.array([0.0, 0.2, 0.9, 1.0]),
}


@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: scale.name)
def test_there_and_back(scale):
    y = OUTCOMES[scale.name]
    assert scale.fits(y)
    assert np.allclose(scale.back(scale.forward(y)), y)
    assert np.all(np.diff(scale.forward(y)) > 0)
    assert np.isfinite(scale.back(np.array([-1e6, 1e6]))).all()


@pytest.mark.parametrize("scale", SCALES[1:], ids=lambda scale: scale.name)
def test_outcomes_below_zero_stay_as_they_are(scale):
    assert not scale.fits(np.array([-1.0, 0.5, 0.7]))
