"""Experiments: keys depend on the content alone, seeds on the key, and bad settings are named."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.lab.runs.experiment import Experiment, Unit, derive_seeds, grid, plain_setting

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
SETTINGS = st.dictionaries(st.text(min_size=1, max_size=4).filter(lambda name: name != "seeds"), VALUES, max_size=4)


@pytest.mark.slow
@given(SETTINGS)
def test_the_key_forgets_the_order_and_nothing_else(setting: dict[str, object]) -> None:
    unit = Unit("e", 1, setting)
    assert Unit("e", 1, dict(reversed(setting.items())), device="cuda").key == unit.key
    others = [Unit("f", 1, setting), Unit("e", 2, setting), Unit("e", 1, {**setting, "another": 0})]
    assert len({unit.key, *(other.key for other in others)}) == 4


def test_numpy_values_have_the_keys_of_plain_ones() -> None:
    fancy = {"a": np.int64(3), "b": np.float64(0.5), "c": np.array([1, 2]), "d": (1, 2), "e": np.bool_(True)}
    plain = {"a": 3, "b": 0.5, "c": [1, 2], "d": [1, 2], "e": True}
    assert plain_setting(fancy) == plain
    assert Unit("e", 1, fancy).key == Unit("e", 1, plain).key


def test_the_key_of_a_known_spec_stays_what_it_is() -> None:
    # Stores on disk outlive versions of this package: a change here orphans them all.
    assert Unit("addition", 1, {"distance": 3}).key == "771a58af00904257aae74cab06afbf0c"


@dataclass(frozen=True)
class Widths:
    width: int
    scale: float = 1.0


def test_a_dataclass_setting_is_handed_over_as_itself_with_its_defaults_in_the_key() -> None:
    experiment = Experiment(
        "e", lambda unit: [], quick=[Widths(3), {"width": 4, "scale": 2}], full=[], setting_type=Widths
    )
    first, second = experiment.units("quick")
    assert first.setting == {"width": 3, "scale": 1.0}
    assert experiment.ready(second).setting == Widths(4, 2.0)
    assert experiment.ready(first).seeds == first.seeds
    assert second.key == Unit("e", 1, Widths(4, 2.0)).key


def test_a_setting_of_the_wrong_type_is_named() -> None:
    experiment = Experiment("e", lambda unit: [], quick=[{"width": "wide"}], full=[], setting_type=Widths)
    with pytest.raises(InputError, match=r"is no Widths.*width"):
        experiment.units("quick")


def test_a_setting_that_comes_twice_is_one_unit() -> None:
    experiment = Experiment("e", lambda unit: [], quick=[{"x": 1}, {"x": 2}, {"x": np.int64(1)}], full=[])
    assert [unit.setting["x"] for unit in experiment.units("quick")] == [1, 2]


def test_seeds_are_named_counted_or_derived() -> None:
    assert Unit("e", 1, {"seeds": [5, 6]}).seeds == (5, 6)
    assert len(Unit("e", 1, {"seeds": 4}).seeds) == 4
    assert len(Unit("e", 1, {}, count=3).seeds) == 3
    many = derive_seeds("ab", 1000)
    assert len(set(many)) == 1000
    assert max(many) < 2**32


@pytest.mark.parametrize("seeds", [0, -1, [], [1.5], "many", [True], {"a": 1}])
def test_seeds_that_are_none_are_refused(seeds: object) -> None:
    experiment = Experiment("e", lambda unit: [], quick=[{"seeds": seeds}], full=[])
    with pytest.raises(InputError, match="seeds"):
        experiment.units("quick")


@pytest.mark.parametrize("setting", [{"a": float("nan")}, {"a": np.inf}, {"a": object()}, {1: 2}, [1], {"a": [np.nan]}])
def test_a_setting_without_a_key_is_refused(setting: object) -> None:
    with pytest.raises(InputError):
        plain_setting(setting)


def test_a_wrong_scale_is_corrected() -> None:
    with pytest.raises(InputError, match="did you mean 'quick'"):
        Experiment("e", lambda unit: [], quick=[], full=[]).units("quik")


def test_a_grid_is_the_product_of_its_axes() -> None:
    settings = grid(a=[1, 2], b=("x", "y", "z"), c=0.5, d="word")
    assert len(settings) == 6
    assert settings[0] == {"a": 1, "b": "x", "c": 0.5, "d": "word"}
    assert grid() == [{}]
