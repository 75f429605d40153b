"""Values of audits: the sum where there is no noise, whatever the table is like, and what they rest on."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.design.targets import encode_targets
from recombine.jobs.audit.additivity import fit_order
from recombine.jobs.structure.held_out_ranges import chances_unseen
from recombine.jobs.values.cell_values import fit_affordable
from recombine.jobs.values.sources import (
    ValueSource,
    between_seen,
    carried_shares,
    choose_source,
    features_of,
    posterior_columns,
    posterior_ranges,
    rests_on,
)
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


@pytest.mark.slow
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


@pytest.mark.slow
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


def described(symmetric=(), **tables):
    """A design of drugs and lines (a, b seen, c and d not) of which some levels are described."""
    frame = pd.DataFrame({"drug": list("aabb"), "line": list("abab"), "y": [1.0, 2.0, 3.0, 5.0]})
    features = {
        name: pd.DataFrame({name: list(levels), "mass": np.arange(1.0, len(levels) + 1)})
        for name, levels in tables.items()
    }
    options = {"factors": ["drug", "line"], "outcome": "y", "symmetric": symmetric, "features": features or None}
    asked = pd.DataFrame({"drug": list("cd"), "line": list("cd")})
    return encode_targets(rc.Design.from_frame(frame, **options), asked, new_levels=True)[0]


@pytest.mark.parametrize(
    ("tables", "symmetric", "expected"),
    [
        ({}, (), {}),
        ({"drug": "abc"}, (), {"aa": "", "ca": "features of drug", "da": "", "ac": "", "cc": ""}),
        ({"line": "abc"}, (), {"ab": "", "ac": "features of line", "ad": "", "cc": ""}),
        (
            {"drug": "abc", "line": "abd"},
            (),
            {"cd": "features of drug and line", "cc": "", "dd": "", "ca": "features of drug"},
        ),
        (
            {"drug": "abc"},
            ("drug", "line"),
            {"ac": "features of line", "cc": "features of drug and line", "cd": "", "ab": ""},
        ),
    ],
)
def test_new_levels_are_known_by_features_where_each_of_them_is_described(tables, symmetric, expected):
    design = described(symmetric, **tables)
    cells = np.array([design.space.cell(list(text)) for text in expected or ["ca"]])
    assert features_of(design, cells) == list(expected.values())


def test_a_value_rests_on_features_before_its_verdict():
    codes = np.array([Verdict.SEEN, Verdict.UNSEEN_LEVEL, Verdict.UNSEEN_LEVEL, Verdict.BEYOND, Verdict.UNDECIDED])
    texts = ["", "features of drug", "", "", ""]
    assert rests_on(codes, texts) == ["data", "features of drug", "new level", "prior", "prior"]


def fitted(*, terms=1, misses=0.0, size=1, outcome=None):
    """Components of ``terms`` terms of ``size`` factors that miss every cell by ``misses`` where it is left out."""
    values = np.arange(8.0) if outcome is None else outcome
    return SimpleNamespace(
        terms=(SimpleNamespace(factors=tuple(range(size))),) * terms,
        y=values,
        leave_one_out=lambda: SimpleNamespace(mean=values + misses),
    )


def chosen(*, is_sum=True, order=1, asked=False, misses=None):
    places = np.arange(8) if misses is not None else np.arange(0)
    structure = SimpleNamespace(is_sum=is_sum)
    predicted = np.arange(8.0)[places] + (0.0 if misses is None else misses)
    return SimpleNamespace(structure=structure, order=order, asked=asked, places=places, predicted=predicted)


@pytest.mark.parametrize(
    ("components", "choice", "rank", "source"),
    [
        (None, chosen(), 3, ValueSource.SUMS),
        (fitted(), chosen(), 3, ValueSource.COMPONENTS),
        (fitted(terms=0), chosen(), 3, ValueSource.MEAN),
        (fitted(), chosen(), 8, ValueSource.STRUCTURE),  # as many effects as cells
        (fitted(), chosen(is_sum=False, asked=True), 3, ValueSource.STRUCTURE),
        (fitted(), chosen(asked=True), 3, ValueSource.COMPONENTS),
        (fitted(), chosen(is_sum=False), 3, ValueSource.COMPONENTS),  # nothing was held out
        (fitted(misses=1.0), chosen(is_sum=False, misses=0.5), 3, ValueSource.STRUCTURE),
        (fitted(misses=0.5), chosen(is_sum=False, misses=1.0), 3, ValueSource.COMPONENTS),
        (fitted(misses=1.0), chosen(order=1, misses=0.5), 3, ValueSource.COMPONENTS),  # a sum that they hold
        (fitted(misses=1.0), chosen(order=2, misses=0.5), 3, ValueSource.STRUCTURE),  # and one that they do not
        (fitted(misses=1.0, size=2), chosen(order=2, misses=0.5), 3, ValueSource.COMPONENTS),
        (fitted(misses=1.0, terms=0), chosen(order=1, misses=0.5), 3, ValueSource.MEAN),
        # Half of the cells are missed by more and half by less: no more than chance.
        (fitted(misses=np.tile([1.0, 0.5], 4)), chosen(is_sum=False, misses=np.tile([0.5, 1.0], 4)), 3, "components"),
        # One cell gains 8: a mean of 1, with a standard error of sqrt(7 / 8) = 0.94; of 0.91 with the same one.
        (fitted(misses=np.sqrt([8.0] + [0.0] * 7)), chosen(is_sum=False, misses=0.0), 3, ValueSource.STRUCTURE),
        (fitted(misses=np.sqrt([8.0] + [0.0] * 7)), chosen(is_sum=False, misses=0.3), 3, ValueSource.COMPONENTS),
    ],
)
def test_the_structure_gives_values_where_it_was_named_or_misses_less(components, choice, rank, source):
    design = rc.Design.from_cells(grid(4, 2), outcome=np.arange(8.0))
    assert choose_source(components, choice, design, SimpleNamespace(rank=rank)) == source


@pytest.mark.parametrize(("misses", "source"), [(1.0, ValueSource.STRUCTURE), (0.01, ValueSource.COMPONENTS)])
def test_along_a_scale_sums_give_values_where_they_miss_less(misses, source):
    frame = pd.DataFrame({"dose": np.arange(8) // 2, "line": np.arange(8) % 2})
    y = np.array([0.1, 0.9, 1.2, 1.8, 2.1, 3.2, 3.0, 3.9])
    design = rc.Design.from_frame(frame.assign(y=y), factors=["line"], numeric=["dose"], outcome="y")
    fit = fit_order(design, 1)
    components = fitted(misses=misses, outcome=design.outcome)
    first = SimpleNamespace(rank=3)
    assert choose_source(components, chosen(), design, first, fit) is source
    assert choose_source(components, chosen(), design, first) is ValueSource.COMPONENTS
    names = rc.Design.from_cells(grid(4, 2), outcome=np.arange(8.0))
    assert choose_source(components, chosen(), names, first, fit) is ValueSource.COMPONENTS


def test_levels_on_a_scale_may_lie_between_seen_ones():
    frame = pd.DataFrame({"dose": [1, 1, 3, 3], "line": list("abab"), "y": [1.0, 2.0, 3.0, 4.0]})
    asked = pd.DataFrame({"dose": [2, 1, 3], "line": ["a", "c", "b"]})
    design = rc.Design.from_frame(frame, factors=["line"], numeric=["dose"], outcome="y")
    design, cells = encode_targets(design, asked, new_levels=True)
    assert between_seen(design, cells).tolist() == [True, False, False]


def test_values_do_not_depend_on_how_many_are_computed_at_once(monkeypatch):
    cells, outcome, seen = planted("add", 2)
    outcome = outcome + 0.3 * np.random.default_rng(2).normal(size=len(outcome))
    design = rc.Design.from_cells(cells[seen], outcome=outcome[seen], sizes=(6, 5, 4))
    components = fit_affordable(design)
    together = posterior_columns(components, design, cells)
    monkeypatch.setattr("recombine.jobs.values.sources.BLOCK_CELLS", 7)
    np.testing.assert_allclose(posterior_columns(components, design, cells), together, rtol=1e-9, atol=1e-12)
    values = components.predict(cells, 1.0)
    np.testing.assert_allclose(together, [values.mean, values.error, values.low, values.high], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("repeats", "unseen"), [(1, True), (3, False)])
def test_two_values_have_ranges_where_a_cell_is_measured_twice(repeats, unseen):
    cells = np.repeat(grid(5, 4), repeats, axis=0)
    outcome = (np.random.default_rng(0).random(len(cells)) < 0.2 + 0.15 * cells[:, 0]).astype(float)
    design = rc.Design.from_cells(cells, outcome=outcome)
    assert chances_unseen(design) == unseen
    components = fit_affordable(design)
    assert np.isnan(posterior_columns(components, design, design.cells)[2:]).all() == unseen
    assert (posterior_ranges(components, design, None).obstacle is not None) == unseen
    assert not chances_unseen(rc.Design.from_cells(grid(5, 4), outcome=np.arange(20.0)))


def test_ranges_rest_on_cells_that_others_determine():
    lonely = np.array([[cell[0], cell[1]] for cell in grid(4, 4).tolist() if cell[0] < 3 or cell[1] == 0])
    design = rc.Design.from_cells(lonely, outcome=np.random.default_rng(0).normal(size=len(lonely)), sizes=(4, 4))
    fit = fit_order(design, 1)
    components = fitted(misses=np.arange(1.0, 14.0), outcome=design.outcome)
    others = design.seen[:, 0] < 3  # the fourth level of the first factor was seen once
    np.testing.assert_allclose(posterior_ranges(components, design, fit).misses, -np.arange(1.0, 14.0)[others])
    np.testing.assert_allclose(posterior_ranges(components, design, None).misses, -np.arange(1.0, 14.0))
    assert carried_shares(fitted(terms=0), design) is None
