"""Values of audits: the sum where there is no noise, whatever the table is like, and what they rest on."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.jobs.values.sources import ValueSource, rests_on
from recombine.verdicts import Verdict


def grid(*sizes):
    return np.indices(sizes).reshape(len(sizes), -1).T


def planted(kind, seed=0, sizes=(6, 5, 4)):
    """Cells of a grid, outcomes of one structure without noise, and which are seen."""
    rng = np.random.default_rng(seed)
    cells = grid(*sizes)
    effects = [rng.normal(size=size)[column] for size, column in zip(sizes, cells.T, strict=True)]
    total = sum(effects)
    if kind == "pairs":
        total = total + rng.normal(size=sizes[:2])[cells[:, 0], cells[:, 1]]
    outcome = {"log": np.exp(total), "product": np.prod(effects, axis=0), "curve": np.tanh(total / 2)}.get(kind, total)
    return cells, outcome, rng.random(len(cells)) < 0.75


@pytest.mark.parametrize("kind", ["add", "pairs", "log", "product", "curve"])
def test_without_noise_values_are_what_is_certified(kind):
    cells, outcome, seen = planted(kind)
    audit = rc.audit(rc.Design.from_cells(cells[seen], outcome=outcome[seen], sizes=(6, 5, 4)))
    table = audit.verdicts
    certified = np.isfinite(table["certified"])
    assert certified.sum() > 10
    assert np.abs(table["predicted"] - table["certified"])[certified].max() < 1e-6
    # An independent oracle: what was planted at those cells.
    unseen = {tuple(cell): value for cell, value in zip(cells[~seen].tolist(), outcome[~seen], strict=True)}
    truth = np.array([unseen[tuple(cell)] for cell in audit.decided.listing.cells.tolist()])
    if kind != "curve":
        assert np.abs(table["predicted"] - truth)[certified].max() < 1e-5
    own = audit.values.source is ValueSource.STRUCTURE
    assert own == (kind in ("product", "curve"))


def test_open_cells_have_wider_ranges_and_say_what_they_rest_on():
    cells, outcome, seen = planted("add", 1)
    outcome = outcome + 0.3 * np.random.default_rng(1).normal(size=len(outcome))
    apart = (cells[:, 0] == 5) | (cells[:, 1] == 4)
    seen = (seen & ~apart) | (cells == [5, 4, 0]).all(axis=1)
    audit = rc.audit(rc.Design.from_cells(cells[seen], outcome=outcome[seen], sizes=(6, 5, 5)))
    table, codes = audit.verdicts, audit.decided.codes
    width = table["high"] - table["low"]
    settled, left_open = codes == Verdict.DETERMINED, codes == Verdict.DISCONNECTED
    assert np.isfinite(table["predicted"]).all()
    assert width[left_open].min() > width[settled].max()
    assert set(table["rests on"][left_open]) == {"prior"}
    assert set(table["rests on"][codes == Verdict.UNSEEN_LEVEL]) == {"new level"}
    assert table["rests on"].tolist() == rests_on(codes)
    # A cell with a new level keeps the effects of the other factors.
    pairs = grid(5, 4)
    at_levels = [audit.values.ranges_of(np.column_stack([pairs, np.full(20, level)])).predicted for level in range(5)]
    assert np.corrcoef(at_levels[4], np.mean(at_levels[:4], axis=0))[0, 1] > 0.95
    assert "rests on how much levels usually differ" in audit.explain(int(np.flatnonzero(left_open)[0]))


def test_where_nothing_beats_the_mean_the_answer_says_so():
    cells = grid(6, 5, 4)
    rng = np.random.default_rng(0)
    seen = rng.random(len(cells)) < 0.7
    outcome = rng.normal(size=len(cells))
    audit = rc.audit(rc.Design.from_cells(cells[seen], outcome=outcome[seen], sizes=(6, 5, 4)))
    assert audit.values.source is ValueSource.MEAN
    assert audit.verdicts["predicted"] == pytest.approx(outcome[seen].mean())
    assert "No value is better than the mean" in " ".join(audit.summary.split())


def test_interchangeable_factors_give_twins_one_value():
    rng = np.random.default_rng(4)
    cells = np.array([[left, right] for left in range(9) for right in range(left, 9)])
    effects = rng.normal(size=9)
    outcome = effects[cells[:, 0]] + effects[cells[:, 1]]
    seen = rng.random(len(cells)) < 0.7
    design = rc.Design.from_cells(cells[seen], outcome=outcome[seen], sizes=(9, 9), symmetric=[(0, 1)])
    values = rc.audit(design).values
    one_way, other_way = values.ranges_of(cells[~seen]), values.ranges_of(cells[~seen][:, ::-1])
    assert np.array_equal(one_way.predicted, other_way.predicted)
    assert np.array_equal(one_way.low, other_way.low)
    assert np.abs(one_way.predicted - outcome[~seen]).max() < 1e-6


def test_a_child_has_its_effect_within_its_parent():
    rng = np.random.default_rng(5)
    plants = pd.DataFrame({"plant": [f"p{i}" for i in range(12)], "soil": np.repeat(list("abc"), 4)})
    table = plants.merge(pd.DataFrame({"day": range(8)}), how="cross")
    effect = dict(zip(plants["plant"], rng.normal(size=12), strict=True))
    table["y"] = table["plant"].map(effect) + table["soil"].map({"a": 0.0, "b": 3.0, "c": 6.0}) + 0.5 * table["day"]
    seen = rng.random(len(table)) < 0.7
    design = rc.Design.from_frame(table[seen], factors=["plant", "soil", "day"], outcome="y", nested=["plant/soil"])
    audit = rc.audit(design)
    told = {(row["plant"], str(row["day"])): row["predicted"] for row in audit.verdicts.rows()}
    truth = {(row.plant, str(row.day)): row.y for row in table[~seen].itertuples()}
    assert set(told) == set(truth)
    assert max(abs(told[key] - truth[key]) for key in truth) < 1e-6


def test_weights_count_as_measurements():
    rng = np.random.default_rng(6)
    cells = grid(8, 7)
    outcome = cells.sum(axis=1) + rng.normal(size=len(cells))
    counts = rng.integers(1, 5, len(cells))
    frame = pd.DataFrame({"a": cells[:, 0], "b": cells[:, 1], "y": outcome, "n": counts})[rng.random(56) < 0.8]
    weighted = rc.audit(rc.Design.from_frame(frame, factors=["a", "b"], outcome="y", weight="n", counts=True))
    repeated = frame.loc[frame.index.repeat(frame["n"])]
    plain = rc.audit(rc.Design.from_frame(repeated, factors=["a", "b"], outcome="y"))
    assert weighted.verdicts["predicted"] == pytest.approx(plain.verdicts["predicted"], abs=1e-6)
    assert weighted.verdicts["high"] == pytest.approx(plain.verdicts["high"], abs=1e-6)


def test_values_of_two_valued_outcomes_stay_between_them():
    rng = np.random.default_rng(7)
    cells = np.repeat(grid(7, 6)[rng.random(42) < 0.7], 5, axis=0)
    outcome = (rng.random(len(cells)) < 1 / (1 + np.exp(6 - cells.sum(axis=1)))).astype(float)
    table = rc.audit(rc.Design.from_cells(cells, outcome=outcome, sizes=(7, 6))).verdicts
    for name in ("predicted", "low", "high"):
        assert table[name].min() >= 0
        assert table[name].max() <= 1
