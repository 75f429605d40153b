"""Swapped levels: the share of predictions that change, on models whose use of a factor is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import binomtest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import recombine as rc
from recombine.errors import InputError
from recombine.jobs.probe import AskedModel, ColumnSwaps

COLOURS = np.array(["red", "green", "blue", "white"])


def painted(images: Any, colours: Any) -> Any:
    """Return digits (N, 64), each in the channel of its colour, (N, 256)."""
    channels = np.zeros((len(images), 4, 64))
    channels[np.arange(len(images)), colours] = images
    return channels.reshape(len(images), -1)


def recoloured(inputs: Any, factor: str, levels: Any) -> Any:
    assert factor == "colour"
    return painted(inputs.reshape(len(inputs), 4, 64).sum(axis=1), [COLOURS.tolist().index(level) for level in levels])


@pytest.mark.parametrize(("goes_along", "low", "high"), [(True, 0.6, 1.0), (False, 0.0, 0.1)])
def test_a_model_that_uses_the_colour_of_digits_changes_its_mind(goes_along: bool, low: float, high: float) -> None:
    digits, rng = load_digits(), np.random.default_rng(0)
    images, kinds = digits.data / 16, digits.target
    colours = rng.integers(4, size=len(kinds))
    trained = np.where(rng.random(len(kinds)) < 0.8, kinds % 4, colours) if goes_along else colours
    model = LogisticRegression(C=0.05).fit(painted(images, trained), kinds)
    frame = pd.DataFrame({"digit": kinds, "colour": COLOURS[colours]})
    asked = AskedModel(model, painted(images, colours), recoloured)
    probe = rc.probe(frame, asked, outcome="digit", factors=["colour"])
    (swap,) = probe.swaps
    assert low <= swap.change.value <= high, swap
    # By hand: every digit in every other colour.
    in_colour = np.array([model.predict(painted(images, np.full(len(kinds), colour))) for colour in range(4)])
    own = in_colour[colours, np.arange(len(kinds))]
    assert swap.change.value == pytest.approx((in_colour != own).sum() / (3 * len(kinds)))
    assert "If only colour is swapped" in str(probe)


def test_the_columns_of_a_table_are_swapped_whatever_library_holds_it() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.choice(list("xyz"), 300), "b": rng.integers(4, size=300)}, index=np.arange(300) * 2)
    frame["a"] = frame["a"].astype("category")

    def model(rows: Any) -> Any:
        return rows["b"].to_numpy() + 0.5 * (rows["a"].to_numpy() == "x")

    told = [rc.probe(table, model, factor="b", factors=["a"]).swaps[0] for table in (frame, pl.from_pandas(frame))]
    is_x = (frame["a"] == "x").mean()
    # An x always loses a half; of the others one swap in two gains it.
    assert [swap.change.value for swap in told] == pytest.approx([0.5 * is_x + 0.25 * (1 - is_x)] * 2)
    assert not told[0].classes
    assert told[0].spread == pytest.approx(model(frame).std())


def test_what_was_predicted_after_a_swap_is_compared_row_by_row() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"digit": rng.integers(4, size=400), "colour": rng.choice(["r", "g"], 400)})
    frame["guess"], changed = frame["digit"].astype(str), rng.random(400) < 0.1
    frame["guess2"] = np.where(changed, "none", frame["guess"])
    probe = rc.probe(frame, ColumnSwaps("guess", {"colour": "guess2"}), outcome="digit", factors=["colour"])
    change, exact = probe.swaps[0].change, binomtest(int(changed.sum()), 400).proportion_ci()
    assert (change.value, change.low, change.high) == pytest.approx((changed.mean(), exact.low, exact.high))
    with pytest.raises(InputError, match="did you mean 'colour'"):
        rc.probe(frame, ColumnSwaps("guess", {"color": "guess2"}), outcome="digit", factors=["colour"])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (3, "the model stops with TypeError"),
        (lambda rows: 1 / 0, "the model stops with ZeroDivisionError"),
        (lambda rows: [1.0], "returned 1 predictions for 30 rows"),
        (lambda rows: np.full(30, np.nan), "no finite number"),
        (AskedModel(len, np.zeros((30, 2))), "give one per row, and swap"),
        (AskedModel(len, np.zeros((3, 2)), lambda inputs, factor, levels: inputs), "inputs of 3 rows"),
    ],
)
def test_models_that_cannot_be_asked_are_refused(model: Any, message: str) -> None:
    frame = pd.DataFrame({"digit": np.arange(30) % 3, "colour": np.arange(30) % 2})
    with pytest.raises(InputError, match=message):
        rc.probe(frame, model, outcome="digit", factors=["colour"])
