"""Descriptors by factor, and what each moves values by."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from recombine.errors import InputError
from recombine.jobs.values.level_features import MIN_FEATURE_SHARE, feature_shares, read_all_features
from recombine.theory.components import fit_components

TABLE = pd.DataFrame({"drug": ["a", "b"], "mass": [1.0, 2.0]})


@pytest.mark.parametrize("seed", range(3))
def test_useless_descriptors_move_nothing_and_an_interaction_counts(seed):
    rng = np.random.default_rng(seed)
    codes, table = np.indices((24, 6)).reshape(2, -1).T, rng.normal(size=(24, 6))
    slopes = rng.normal(size=6)
    y = table[codes[:, 0], 0] + slopes[codes[:, 1]] * table[codes[:, 0], 1] + 0.1 * rng.normal(size=144)
    shares = feature_shares(fit_components(codes, y, features={0: table}), 0, table)
    assert (shares[:2] > 0.1).all()
    assert (shares[2:] < MIN_FEATURE_SHARE).all()


def test_levels_without_descriptors_are_not_asked():
    rng = np.random.default_rng(0)
    codes, table = np.indices((12, 4)).reshape(2, -1).T, rng.normal(size=(12, 2))
    table[3] = np.nan
    fit = fit_components(codes, np.nan_to_num(table)[codes[:, 0], 0] + 0.1 * rng.normal(size=48), features={0: table})
    assert np.isfinite(feature_shares(fit, 0, table)).all()


@pytest.mark.parametrize("case", ["no descriptors in the fit", "an outcome that is the same everywhere", "all missing"])
def test_where_descriptors_can_move_nothing_each_has_a_share_of_zero(case):
    codes, table = np.indices((5, 4)).reshape(2, -1).T, np.random.default_rng(0).normal(size=(5, 2))
    y = np.ones(20) if case.startswith("an outcome") else codes.sum(axis=1) + 0.0
    fit = fit_components(codes, y, features=None if case.startswith("no descriptors") else {0: table})
    asked = np.full_like(table, np.nan) if case == "all missing" else table
    np.testing.assert_array_equal(feature_shares(fit, 0, asked), [0.0, 0.0])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"Drug": TABLE}, "features are of 'Drug', which is no factor; did you mean 'drug'"),
        ({7: TABLE}, "features are of column 7 and there are 2"),
        (TABLE, "features are a DataFrame; give tables by factor"),
        ({"drug": 3}, "a int is not a table"),
    ],
)
def test_wrong_features_are_named(given, message):
    with pytest.raises(InputError, match=message):
        read_all_features(given, ["drug", "dose"])
