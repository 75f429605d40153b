"""Errors of single cells: matched whatever the order, ranges that hold the truth, and documents that are damaged."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import recombine as rc
from recombine.jobs.comparison.paired_errors import cell_errors_record
from recombine.jobs.findings import FailOn
from recombine.jobs.score.amounts import mean_amount
from recombine.report.score import score_json

SIZES = (12, 9, 7)


def frame(seed: int = 0, **predictions) -> pd.DataFrame:
    """A table of all cells, each a noisy sum, half of them held out, with predictions that are off as they are told."""
    rng = np.random.default_rng(seed)
    cells = np.indices(SIZES).reshape(3, -1).T
    found = pd.DataFrame({name: [f"{name}{code}" for code in cells[:, place]] for place, name in enumerate("abc")})
    truth = cells @ [0.3, 0.2, 0.1]
    found["y"] = truth + 0.5 * rng.normal(size=len(cells))
    found["part"] = np.where(rng.random(len(cells)) < 0.5, "train", "test")
    for name, size in predictions.items():
        found[name] = truth + size * np.random.default_rng(7).normal(size=len(cells))
    return found


def scored(table: pd.DataFrame, factors: str = "abc", model: str = "net") -> rc.Score:
    design = rc.Design.from_frame(table, factors=list(factors), outcome="y", split="part=train", crossed=True)
    return rc.score(design, table.rename(columns={model: "model"}), ["model"], "part=train", structure="add")


def document(found: rc.Score) -> dict:
    return json.loads(score_json(found)) | {"cell errors": cell_errors_record(found)}


def change(found, what="error on unseen cells"):
    return next(one for one in found.changes["model"] if one.what == what)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return frame(net=0.3, worse=0.36)


@pytest.mark.slow
def test_the_rise_is_that_of_a_paired_test_whatever_the_order(table):
    shuffled = table.sample(frac=1, random_state=1)
    found = rc.compare(scored(table), document(scored(shuffled, "cab", "worse")))
    test = table[table.part == "test"]
    squares = [(test[name] - test.y) ** 2 for name in ("net", "worse")]
    low, high = stats.ttest_rel(squares[1], squares[0]).confidence_interval(0.95)
    rise = change(found).rise
    assert rise.value == pytest.approx((squares[1] - squares[0]).mean(), rel=1e-4)
    assert (rise.low, rise.high) == pytest.approx((low, high), rel=1e-4)
    assert change(found).outside
    assert change(found, "error on determined cells").rise == rise  # all of them are
    assert found.worse == ("model",)
    assert "yes: per cell" in found.summary
    back = rc.compare(scored(shuffled, "cab", "worse"), scored(table))
    assert back.better == ("model",)
    assert change(back).rise.value == pytest.approx(-rise.value)


@pytest.mark.slow
def test_ranges_that_overlap_do_not_hide_a_rise_on_the_same_cells(table):
    before, after = scored(table), scored(table, model="worse")
    unpaired = rc.compare(json.loads(score_json(before)) | {"cell errors": None}, after)
    assert change(unpaired).outside is False
    assert unpaired.worse == ()
    assert rc.compare(before, after).worse == ("model",)


@pytest.mark.slow
def test_the_same_predictions_are_no_change(table):
    found = rc.compare(scored(table), document(scored(table)))
    assert not found.changed
    assert change(found).outside is False


def resplit(table: pd.DataFrame, seed: int, share: float = 0.5) -> pd.DataFrame:
    """The same rows under another split."""
    test = np.random.default_rng(seed).random(len(table)) < share
    return table.assign(part=np.where(test, "test", "train"))


@pytest.mark.slow
def test_models_are_compared_on_the_cells_that_both_splits_held_out(table):
    other = resplit(table, 5)
    found = rc.compare(scored(table), document(scored(other.sample(frac=1, random_state=2), "bca", "worse")))
    both = (table.part == "test") & (other.part == "test")
    squares = [(table[name] - table.y)[both] ** 2 for name in ("net", "worse")]
    interval = stats.ttest_rel(squares[1], squares[0]).confidence_interval(0.95)
    rise = change(found).rise
    assert rise.value == pytest.approx((squares[1] - squares[0]).mean(), rel=1e-4)
    assert (rise.low, rise.high) == pytest.approx(interval, rel=1e-4)
    assert (found.common, found.worse) == (int(both.sum()), ("model",))
    assert f"Models are compared on the {both.sum()} cells held out both times." in " ".join(found.summary.split())
    assert FailOn.named(["worse"]).changes(found) == ["worse: 1 model worse (model)"]
    # What is not on the same cells is not compared.
    assert all(item.outside is None for item in found.changes["model"] if item.rise is None)


@pytest.mark.slow
def test_the_same_predictions_are_no_worse_under_another_split(table):
    found = rc.compare(scored(table), scored(resplit(table, 5)))
    assert (change(found).rise.value, found.worse, found.better) == (0.0, (), ())
    assert FailOn.named(["worse"]).changes(found) == []


@pytest.mark.slow
@pytest.mark.parametrize("kept", [True, False])
def test_worse_is_refused_where_too_few_cells_were_held_out_both_times(table, kept):
    test = table.part == "test"
    other = table.assign(part=np.where(test, "train", "test"))  # the other half
    after = document(scored(other)) if kept else document(scored(resplit(table, 5))) | {"cell errors": None}
    found = rc.compare(scored(table), after)
    assert (found.common, found.worse) == (0, ())
    with pytest.raises(rc.InputError, match="worse cannot be told: other cells were held out, and 0 cells both times"):
        FailOn.named(["worse"]).changes(found)


def test_ranges_hold_the_rise_over_all_cells_that_could_have_been_held_out():
    """Two models that differ by whole levels too: of random halves of the cells, 95 % ranges hold the mean over all."""
    rng = np.random.default_rng(0)
    cells = np.indices(SIZES).reshape(3, -1).T
    held = misses = 0
    for _ in range(20):
        noise = rng.normal(size=len(cells))
        off = [sum(0.3 * rng.normal(size=size)[cells[:, place]] for place, size in enumerate(SIZES)) for _ in range(2)]
        squares = [(one + 0.5 * noise) ** 2 for one in off]
        differences = squares[1] - squares[0]
        for _ in range(50):
            mine = rng.random(len(cells)) < 0.5
            amount = mean_amount(differences[mine])
            held += amount.low <= differences.mean() <= amount.high
            misses += 1
    assert held / misses >= 0.95  # half of all cells: what is drawn without putting back varies less


@pytest.mark.parametrize(
    ("kept", "words"),
    [
        ({"verdicts": "1d", "errors": {"model": "AAAA"}}, "bytes, not"),
        ({"verdicts": "zz", "errors": {"model": "AAAA"}}, "are not numbers and letters"),
        ({"verdicts": "1d", "errors": {"model": "ä"}}, "not base64"),
    ],
)
def test_damaged_documents_are_named_in_one_line(table, kept, words):
    whole = document(scored(table))
    with pytest.raises(rc.InputError, match=f"the cell errors of the table are damaged: .*{words}.*; write"):
        rc.compare(whole | {"cell errors": kept}, whole)
    with pytest.raises(rc.InputError, match="is no score as recombine writes it"):
        rc.compare(whole | {"cell errors": 3}, whole)
