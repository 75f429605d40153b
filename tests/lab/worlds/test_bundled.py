"""Inputs of bundled sets: standardised, without columns that say nothing new."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.datasets import load_wine

from recombine.errors import InputError
from recombine.lab.worlds.bundled import SETS, bundled_inputs


@pytest.mark.parametrize("name", SETS)
def test_columns_are_standardised_and_none_comes_twice(name: str) -> None:
    inputs = bundled_inputs(name)
    assert inputs.mean(axis=0) == pytest.approx(0, abs=1e-10)
    assert (inputs**2).mean(axis=0) == pytest.approx(1, abs=1e-10)
    alike = np.triu(np.abs(inputs.T @ inputs) / len(inputs), 1)
    assert alike.max() < 1 - 1e-8
    assert not inputs.flags.writeable


def test_products_stand_beside_the_columns_they_are_made_of() -> None:
    raw = load_wine().data
    raw = (raw - raw.mean(axis=0)) / raw.std(axis=0)
    product = raw[:, 2] * raw[:, 7]
    product = (product - product.mean()) / product.std()
    inputs = bundled_inputs("products of wine")
    assert np.abs(inputs.T @ product / len(product)).max() == pytest.approx(1)
    assert np.abs(inputs.T @ raw[:, 0] / len(product)).max() == pytest.approx(1)


def test_an_unknown_set_is_named() -> None:
    with pytest.raises(InputError, match=re.escape("did you mean 'digits'")):
        bundled_inputs("digit")
