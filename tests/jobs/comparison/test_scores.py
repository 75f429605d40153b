"""Two scores: which changes lie outside the ranges, models that come and go, the mirror image, and real models."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recombine as rc
from recombine.jobs.comparison import AmountChange
from recombine.jobs.comparison.documents import AmountRecord
from recombine.jobs.comparison.scores import ERRORS
from recombine.jobs.findings import FailOn
from recombine.report.score import score_json

ends = st.floats(-5, 5)


@st.composite
def amounts(draw):
    low, value, high = sorted(draw(st.tuples(ends, ends, ends)))
    return AmountRecord(value, low, high)


@given(amounts(), amounts())
def test_a_change_is_outside_where_no_number_lies_in_both_ranges(one, two):
    change, back = AmountChange("error", one, two), AmountChange("error", two, one)
    # The oracle: a number that lies in both ranges, sought among their ends.
    shared = any(one.low <= end <= one.high and two.low <= end <= two.high for end in (one.low, two.low))
    assert change.outside is not shared
    assert back.outside is change.outside
    if change.outside:
        assert change.rises is not back.rises


def test_without_a_range_nothing_is_said():
    assert AmountChange("error", AmountRecord(1.0), AmountRecord(9.0, 8.0, 10.0)).outside is None
    assert AmountChange("error", None, AmountRecord(9.0, 8.0, 10.0)).outside is None


def scored(models, seed=0, held_out=0.5) -> rc.Score:
    rng = np.random.default_rng(seed)
    cells = np.indices((8, 6, 4)).reshape(3, -1).T
    train = rng.random(len(cells)) > held_out
    values = cells @ [1.0, 0.5, 0.3] + 0.2 * rng.normal(size=len(cells))
    design = rc.Design.from_cells(cells, values, train=train, names=["site", "dose", "line"])
    middle = design.held_out - [3.5, 2.5, 1.5]
    told = {name: middle @ [slope, 0.5, 0.3] + 5.2 for name, slope in models.items()}
    return rc.score(design, told, structure="add")


@pytest.fixture(scope="module")
def before() -> rc.Score:
    return scored({"net": 1.0, "old": 1.0, "same": 0.9})


@pytest.fixture(scope="module")
def after() -> rc.Score:
    return scored({"net": 0.4, "new": 1.0, "same": 0.9})


def test_a_model_that_leaks_more_is_worse_and_the_slope_says_why(before, after):
    found = rc.compare(before, after)
    assert (found.worse, found.better) == (("net",), ())
    assert (found.models.new, found.models.gone, found.models.stay) == (("new",), ("old",), ("net", "same"))
    outside = {one.what for one in found.outside["net"]}
    assert {*ERRORS, "cause: leak", "slope: site"} <= outside
    assert not any(one.changed for one in found.changes["same"])
    assert found.same_cells
    by_hand = {model.name: model for model in after.models}["net"].attribution.per_factor["leak"].coefficients["site"]
    slope = next(one for one in found.changes["net"] if one.what == "slope: site")
    assert (slope.after.value, slope.after.low, slope.after.high) == (by_hand.value, by_hand.low, by_hand.high)
    assert repr(found) == "ScoreComparison(2 models in both; 0 better, 1 worse)"


def test_the_other_way_round_is_the_mirror_image(before, after):
    there, back = rc.compare(before, after), rc.compare(after, before)
    assert (there.worse, there.better) == (back.better, back.worse)
    assert (there.models.new, there.models.gone) == (back.models.gone, back.models.new)
    assert {name: {(one.what, one.outside) for one in found} for name, found in there.changes.items()} == {
        name: {(one.what, one.outside) for one in found} for name, found in back.changes.items()
    }


def test_nothing_changes_between_a_score_and_itself(before):
    found = rc.compare(before, json.loads(score_json(before)))
    assert not found.changed
    assert "Nothing changed." in str(found)
    assert "Nothing changed." in found.markdown


def test_other_held_out_cells_are_said_to_be_others(before):
    found = rc.compare(before, scored({"net": 1.0}, seed=1))
    assert not found.same_cells
    assert "Not the same cells were held out" in str(found)
    assert "Not the same cells were held out" in found.markdown


@pytest.mark.parametrize(
    ("models", "words"),
    [
        (
            {"renamed": 1.0},
            r"'renamed' is not in the score before, which has 'net', 'old', 'same'; name models as they",
        ),
        (
            {"net": 1.0, "fresh": 0.9, "other": 0.8},
            r"'fresh', 'other' are not in the score before, .* or write that score",
        ),
    ],
)
def test_a_model_that_was_not_scored_before_does_not_pass_for_one_that_is_no_worse(before, models, words):
    found = rc.compare(before, scored(models))
    with pytest.raises(rc.InputError, match=f"--fail-on worse cannot be told: {words}"):
        FailOn.named(["worse"]).changes(found)
    assert FailOn.named(["gone-models"]).changes(found)


def test_models_that_are_gone_do_not_keep_the_others_from_being_told(before):
    assert FailOn.named(["worse"]).changes(rc.compare(before, scored({"net": 1.0}))) == []


def test_errors_of_another_outcome_are_not_worse(before, after):
    other = json.loads(score_json(after)) | {"outcome": "mass"}
    found = rc.compare(before, other)
    assert "Numbers before and after are of different things: the outcome was" in " ".join(str(found).split())
    with pytest.raises(rc.InputError, match=r"--fail-on worse cannot be told: the outcome was .* 'mass' after"):
        FailOn.named(["worse"]).changes(found)


@cache
def written() -> str:
    return score_json(scored({"net": 0.9}))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
WHERE = ["outcome", "factors", "structure", "seen cells", "held-out digest", "models", "measure", "seed"]


@given(
    st.sampled_from([*WHERE, "name", "causes", "by verdict", "slope by factor", "gain over adding"]), JSON, st.data()
)
def test_any_field_may_hold_anything(field, value, data):
    document = json.loads(written())
    place = document if field in WHERE else document["models"][0]
    if isinstance(place.get(field), dict) and data.draw(st.booleans()):
        value = data.draw(st.floats())
        place[field] = {name: {"value": value, "low": -1e308, "high": 1e308} for name in place[field]}
    else:
        place[field] = value
    for other in (json.loads(written()), document):
        try:
            found = rc.compare(document, other)
            said = "" if str(found) and found.markdown else "\n"
        except rc.InputError as error:
            said = str(error)
        assert "\n" not in said


def test_scores_without_causes_compare_too():
    one, two = (scored({"net": slope}, held_out=0.04) for slope in (1.0, 0.2))
    found = rc.compare(one, two)
    assert one.models[0].attribution is None
    assert not any(change.what.startswith("cause") for change in found.changes["net"])
    assert {change.what for change in found.changes["net"]} >= {ERRORS[0]}
