"""Small cases of `recombine.cells.arrays`, each as a reader would try it."""

from __future__ import annotations

import re

import numpy as np
import pytest

from recombine.cells.arrays import affordable, refuse_masked
from recombine.errors import InputError


def test_refuse_masked_by_example() -> None:
    message = "inputs are masked at [0, 1]; replace or leave out what is missing"
    with pytest.raises(InputError, match=re.escape(message)):
        refuse_masked(np.ma.masked_equal([[1.0, -9.0]], -9.0), "inputs")


def test_affordable_by_example() -> None:
    message = (
        "the kernel of the samples would take 18.6 GiB (50000 x 50000 numbers); the most is 4 GiB, so "
        "take fewer samples, units or bits"
    )
    with pytest.raises(InputError, match=re.escape(message)):
        affordable("the kernel of the samples", 50_000, 50_000)
