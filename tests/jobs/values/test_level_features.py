"""Descriptors by factor, and what each moves values by."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from recombine.design import Design
from recombine.errors import InputError
from recombine.jobs.values.cell_values import fit_affordable
from recombine.jobs.values.level_features import (
    MIN_FEATURE_SHARE,
    DescribedFactor,
    described_factors,
    feature_shares,
    read_all_features,
)
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
        ({2: TABLE}, "features are of column 2 and there are 2; count from 0"),
        ({-1: TABLE}, "features are of column -1 and there are 2"),
        ({True: TABLE}, "features are of True, which is no factor"),
        (TABLE, "features are a DataFrame; give tables by factor"),
        ({"drug": 3}, "a int is not a table"),
    ],
)
def test_wrong_features_are_named(given, message):
    with pytest.raises(InputError, match=message):
        read_all_features(given, ["drug", "dose"])


def test_factors_are_named_or_counted_from_0():
    for key in (0, "drug"):
        assert list(read_all_features({key: TABLE}, ["drug", "dose"])) == [0]
    assert list(read_all_features({1: TABLE}, ["dose", "drug"])) == [1]
    assert read_all_features(None, ["drug"]) == {}


def test_descriptors_count_from_a_hundredth_on_and_those_that_move_most_come_first():
    factor = DescribedFactor("drug", ("a", "b", "c", "d"), (0.01, 0.5, 0.0099, 0.01))
    assert factor.carriers == ("b", "a", "d")


def test_shares_of_a_design_are_those_of_the_descriptors_of_its_levels():
    rng, cells = np.random.default_rng(0), np.indices((4, 10)).reshape(2, -1).T
    drugs = pd.DataFrame({"drug": list("abcdefghij")[::-1], "mass": rng.normal(size=10), "rings": rng.normal(size=10)})
    frame = pd.DataFrame({"line": cells[:, 0].astype(str), "drug": np.array(list("abcdefghij"))[cells[:, 1]]})
    frame["y"] = 3 * frame["drug"].map(dict(zip(drugs["drug"], drugs["mass"], strict=True))) + 0.1 * rng.normal(size=40)
    design = Design.from_frame(frame, factors=["line", "drug"], outcome="y", features={"drug": drugs})
    fit = fit_affordable(design)
    (found,) = described_factors(design, fit)
    assert (found.factor, found.names, found.carriers) == ("drug", ("mass", "rings"), ("mass",))
    table = drugs[["mass", "rings"]].to_numpy()[::-1]  # in the order of levels
    assert found.shares == pytest.approx(feature_shares(fit, 1, table).tolist())
    # Every value moves by 3 (mass - mean): all of the variance but for the noise.
    assert found.shares[0] == pytest.approx(9 * table[:, 0].var() / frame["y"].var(ddof=0), abs=0.02)
