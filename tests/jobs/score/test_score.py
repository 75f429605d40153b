"""The whole score: verdicts split the error, baselines are those of the audit, several models in one call."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.jobs.score.predictions import class_designs
from recombine.theory.kernels import KernelRegressor, OverlapKernel
from recombine.verdicts import Verdict
from recombine.words import unclear_sentences


def design_of(seed: int = 0, noise: float = 0.3, repeats: int = 2, both: bool = False) -> rc.Design:
    rng = np.random.default_rng(seed)
    cells = np.indices((7, 6, 4)).reshape(3, -1).T
    train = rng.random(len(cells)) < 0.5
    train[cells[:, 0] == 6] = False  # a level that was never seen
    rows = np.repeat(np.arange(len(cells)), repeats)
    values = (cells @ [1.0, 0.5, 0.3])[rows] + noise * rng.normal(size=len(rows))
    flags = train[rows]
    if both:
        flags[np.flatnonzero(flags)[:20:2]] = False
    return rc.Design.from_cells(cells[rows], values, train=flags, names=["site", "dose", "line"])


def test_verdicts_split_the_error() -> None:
    design = design_of(both=True)
    rng = np.random.default_rng(1)
    predicted = design.outcome[~design.train] + rng.normal(size=len(design.held_out))
    found = rc.score(design, {"net": predicted}, structure="add")
    squares = (predicted - design.outcome[~design.train]) ** 2
    codes = found.audit.decided.verdicts_of(design.held_out)
    model = found.models[0]
    assert model.unseen_error.value == pytest.approx(squares[codes != Verdict.SEEN].mean())
    for row in model.by_verdict.rows():
        mine = codes == next(verdict for verdict in Verdict if verdict.word == row["verdict"])
        assert (row["cells"], row["squared error"]) == (mine.sum(), pytest.approx(squares[mine].mean()))
        about_seen_mean = design.outcome[~design.train][mine] - design.outcome[design.train].mean()
        assert row["plain mean"] == pytest.approx(np.mean(about_seen_mean**2))
    assert set(model.by_verdict["verdict"].tolist()) == {"seen", "determined", "unseen level"}
    assert np.nansum(model.by_verdict["share"]) == pytest.approx(1)
    assert any("were seen in training too" in sentence for sentence in unclear_sentences(found))


def test_what_stands_beside_is_what_the_audit_says() -> None:
    design = design_of()
    truth = design.held_out @ [1.0, 0.5, 0.3]
    found = rc.score(design, {"exact": truth, "half": truth / 2}, structure="add")
    audit = rc.audit(design, structure="add")
    known = found.codes == Verdict.DETERMINED
    observed = design.outcome[~design.train][known]
    errors = dict(zip(found.errors["predictions"].tolist(), found.errors["squared error"].tolist(), strict=True))
    assert errors["adding"] == pytest.approx(
        np.mean((audit.values.certified_of(design.held_out[known]) - observed) ** 2)
    )
    assert errors["exact"] == pytest.approx(np.mean((truth[known] - observed) ** 2))
    assert errors["plain mean"] == pytest.approx(np.mean((design.outcome[design.train].mean() - observed) ** 2))
    assert errors["forecast: wide network"] == pytest.approx(audit.forecast.error.ntk**2)
    assert errors["noise alone"] == pytest.approx(0.045, rel=0.25)
    exact, half = found.models
    assert exact.gain.value == pytest.approx(errors["adding"] - errors["exact"])
    assert half.attribution.per_factor["leak"].coefficients["site"].value == pytest.approx(0.5, abs=0.03)
    named = half.causes["leak"].value + half.causes["offset"].value
    assert named > 0.9 * half.attribution.error.value
    assert half.explained > 0.95


def test_each_model_is_scored_as_if_alone() -> None:
    design = design_of()
    rng = np.random.default_rng(2)
    told = {name: rng.normal(size=len(design.held_out)) for name in ("one", "two")}
    both = rc.score(design, told, structure="add")
    for model in both.models:
        alone = rc.score(both.audit, {model.name: told[model.name]}).models[0]
        assert alone.causes == model.causes
    assert len(both.causes) == sum(len(model.causes) for model in both.models)
    for model in both.models:
        rows = [row for row in both.causes.rows() if row["model"] == model.name]
        amounts = {row["cause"]: (row["amount"], row["low"], row["high"]) for row in rows}
        assert amounts == {name: (amount.value, amount.low, amount.high) for name, amount in model.causes.items()}
        assert sum(row["share"] for row in rows) == pytest.approx(1)
        assert all(row["share"] * row["amount"] >= 0 for row in rows)


def test_the_worst_cells_come_first_with_a_cause() -> None:
    design = design_of()
    found = rc.score(design, {"half": design.held_out @ [0.5, 0.5, 0.3]}, structure="add")
    worst = found.worst("half", 4)
    miss = np.abs(worst["observed"] - worst["predicted"])
    assert np.all(np.diff(miss) <= 0)
    assert {"leak", "offset", "structure"} >= set(worst["cause"].tolist())
    with pytest.raises(rc.InputError, match="no model is called 'whole'; models: half"):
        found.worst("whole")


def test_without_replicates_structure_holds_the_noise() -> None:
    design = design_of(repeats=1)
    found = rc.score(design, {"half": design.held_out @ [0.5, 0.5, 0.3]}, structure="add")
    assert "noise" not in found.models[0].causes
    assert any("Noise cannot be told from structure" in sentence for sentence in unclear_sentences(found))
    total = sum(amount.value for amount in found.models[0].causes.values())
    assert total == pytest.approx(found.models[0].attribution.error.value, rel=1e-12)


def test_few_cells_are_not_split_by_cause() -> None:
    cells = np.indices((3, 3)).reshape(2, -1).T
    design = rc.Design.from_cells(cells, cells.sum(axis=1), train=np.arange(9) < 6)
    found = rc.score(design, np.array([1.0, 2.0, 4.0]))
    assert found.models[0].causes == {}
    assert any("it takes 12 to tell causes apart" in sentence for sentence in unclear_sentences(found))
    assert "on held-out cells, by verdict" in found.summary


def test_chances_are_scored_by_their_square() -> None:
    rng = np.random.default_rng(3)
    cells = np.indices((8, 6)).reshape(2, -1).T
    chance = 0.1 + 0.8 * (cells / [7, 5]).mean(axis=1)
    rows = np.repeat(np.arange(48), 8)
    train = rng.random(48) < 0.6
    values = (rng.random(len(rows)) < chance[rows]).astype(float)
    design = rc.Design.from_cells(cells[rows], values, train=train[rows], names=["site", "dose"])
    found = rc.score(design, {"exact": chance[~train]}, structure="add")
    model = found.models[0]
    assert model.attribution.error.value == pytest.approx(
        np.mean((chance[~train] - design.outcome[~design.train]) ** 2)
    )
    noise = np.mean(chance[~train] * (1 - chance[~train]) / 8)
    assert model.causes["noise"].low < noise < model.causes["noise"].high


def test_what_cannot_be_scored_is_refused() -> None:
    whole = rc.Design.from_cells([[0, 0], [0, 1]], [1.0, 2.0])
    with pytest.raises(rc.InputError, match="no row is held out"):
        rc.score(whole, [1.0])
    with pytest.raises(rc.InputError, match="name the outcome's column"):
        rc.score(rc.Design.from_cells([[0, 0], [0, 1]], train=[True, False]), [1.0])
    with pytest.raises(rc.InputError, match="a list is not a table"):
        rc.score([1], [1.0])
    with pytest.raises(rc.InputError, match="leave out factors"):
        rc.score(whole, [1.0], factors=["a"])
    with pytest.raises(rc.InputError, match="no class is named"):
        rc.score({}, [1.0])
    some = design_of()
    for changed in (design_of(seed=1), rc.Design.from_cells(some.cells, some.outcome, train=~some.train)):
        with pytest.raises(rc.InputError, match="the designs of two classes have other cells"):
            rc.score({"yes": some, "no": changed}, np.zeros((len(some.held_out), 2)))


@pytest.mark.slow
def test_ranges_of_slopes_hold_the_noise_of_the_seen_cells() -> None:
    inside = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        effects = [rng.normal(size=size) * 1.5 for size in (10, 8, 6)]
        cells = np.repeat(np.indices((10, 8, 6)).reshape(3, -1).T, 2, axis=0)
        truth = np.sum([effect[cells[:, place]] for place, effect in enumerate(effects)], axis=0)
        train = np.repeat(rng.random(len(cells) // 2) < 0.35, 2)
        design = rc.Design.from_cells(cells, truth + 0.7 * rng.normal(size=len(cells)), train=train)
        held = design.held_out
        told = np.sum([effect[held[:, place]] for place, effect in enumerate(effects)], axis=0)
        found = rc.score(design, {"truth": told}, structure="add").models[0].attribution
        assert found is not None
        inside += [slope.low <= 1 <= slope.high for slope in found.per_factor["leak"].coefficients.values()]
        inside += [pull.low <= 0 <= pull.high for pull in found.per_factor["shortcut"].coefficients.values()]
    # 19 of 20 are promised; ranges over held-out cells alone would hold a quarter.
    assert np.mean(inside) > 0.8


def test_rows_of_seen_cells_test_nothing_and_are_said_so() -> None:
    rng = np.random.default_rng(0)
    cells = np.repeat(np.indices((4, 4)).reshape(2, -1).T, 4, axis=0)
    train = np.tile([True, True, False, False], 16)
    design = rc.Design.from_cells(cells, cells.sum(axis=1) + rng.normal(size=64), train=train)
    found = rc.score(design, {"net": design.held_out.sum(axis=1) + 0.1})
    text = " ".join(str(found).split())
    assert "Every held-out cell was seen in training" in text
    assert "hold out whole cells" in text
    assert "nan" not in text


def test_a_chance_of_many_percent_is_refused() -> None:
    rng = np.random.default_rng(0)
    cells = np.indices((6, 6)).reshape(2, -1).T
    design = rc.Design.from_cells(cells, rng.integers(0, 2, 36), train=cells.sum(axis=1) % 3 > 0)
    with pytest.raises(rc.InputError, match="turn logits or percentages into chances first"):
        rc.score(design, {"net": 100 * rng.random(12)})
    rc.score(design, {"net": rng.random(12) * 1.2 - 0.1})


def test_everything_that_stands_beside_is_over_the_same_cells() -> None:
    generator = np.random.default_rng(3)
    cells = np.indices((5, 5, 6)).reshape(3, -1).T
    outcome = 2 * (generator.normal(size=(5, 5))[cells[:, 0], cells[:, 1]] + generator.normal(size=6)[cells[:, 2]])
    design = rc.Design.from_cells(cells, outcome, train=generator.random(len(cells)) < 0.5)
    found = rc.score(design, {"net": generator.normal(size=len(design.held_out))}, structure="pairs")
    chosen = found.codes == Verdict.DETERMINED
    assert 0 < chosen.sum() < (found.codes != Verdict.SEEN).sum()
    model = KernelRegressor(OverlapKernel.ntk(1, 3), intercept=True).fit(design.seen, design.outcome[design.train])
    misses = model.predict(design.held_out[chosen]) - design.outcome[~design.train][chosen]
    errors = dict(zip(found.errors["predictions"].tolist(), found.errors["squared error"].tolist(), strict=True))
    assert errors["forecast: wide network"] == pytest.approx(np.mean(misses**2), rel=1e-3)
    readout = KernelRegressor(OverlapKernel.relu(1, 3), intercept=True).fit(design.seen, design.outcome[design.train])
    misses = readout.predict(design.held_out[chosen]) - design.outcome[~design.train][chosen]
    assert errors["forecast: wide network, readout"] == pytest.approx(np.mean(misses**2), rel=1e-3)


def test_of_errors_at_random_nothing_over_the_noise_is_explained() -> None:
    rng = np.random.default_rng(0)
    cells = np.indices((14, 12)).reshape(2, -1).T
    train = rng.random(len(cells)) < 0.5
    rows = np.repeat(np.arange(len(cells)), 4)
    outcome = cells[rows] @ [1.0, 0.5] + rng.normal(size=len(rows))
    design = rc.Design.from_cells(cells[rows], outcome, train=train[rows])
    audit = rc.audit(design, structure="add")
    at_random = audit.values.certified_of(design.held_out) + 0.6 * rng.normal(size=len(design.held_out))
    by_leak = design.held_out @ [0.8, 0.5]
    models = rc.score(audit, {"at random": at_random, "leak": by_leak}).models
    # As much of the error is noise of the outcomes as is the model's: it counts on neither side.
    assert models[0].causes["noise"].value > 0.3 * models[0].causes["rest"].value
    assert abs(models[0].explained) < 0.2
    assert models[1].explained > 0.8


def test_wrong_classes_are_counted_in_rows_by_what_is_determined() -> None:
    rng = np.random.default_rng(0)
    cells = np.indices((6, 6)).reshape(2, -1).T
    # Nothing is known of the last level of the first factor.
    train = ((rng.random(len(cells)) < 0.6) | (cells[:, 0] == 0)) & (cells[:, 0] < 5)
    rows = np.repeat(np.arange(len(cells)), rng.integers(1, 6, size=len(cells)))
    outcome = (rng.random(len(rows)) < 0.2 + 0.1 * cells[rows, 1]).astype(float)
    design = rc.Design.from_cells(cells[rows], outcome, train=train[rows])
    guess = dict(zip(map(tuple, cells), rng.integers(2, size=len(cells)), strict=True))
    told = np.array([float(guess[tuple(cell)]) for cell in design.held_out])
    score = rc.score(design, {"net": told}, structure="add")
    misses = score.models[0].misses
    assert misses is not None
    mine = ~train[rows]
    wrong = np.array([guess[tuple(cell)] for cell in cells[rows]]) != outcome
    undetermined = cells[rows, 0] == 5
    assert misses.wrong == pytest.approx(wrong[mine].mean())
    assert misses.undetermined == pytest.approx((wrong & undetermined)[mine].mean())
    # The commonest class of a cell is wrong as seldom as a class can be.
    least = sum(
        min(outcome[rows == cell].sum(), (1 - outcome[rows == cell]).sum())
        for cell in np.flatnonzero(~train & (cells[:, 0] < 5))
    )
    assert misses.least == pytest.approx(least / mine.sum())
    assert misses.least <= misses.most <= misses.wrong - misses.undetermined + 1e-12
    # By the other measurements of its cell, each is got wrong or right; where both classes are as common, by half.
    by_others = 0.0
    for cell in np.flatnonzero(~train & (cells[:, 0] < 5)):
        of_cell = outcome[rows == cell]
        for position, value in enumerate(of_cell):
            alike, unlike = np.sum(np.delete(of_cell, position) == value), np.sum(np.delete(of_cell, position) != value)
            by_others += 0.5 if alike == unlike else float(alike < unlike)
    missed = wrong[mine & ~undetermined].sum()
    assert misses.most == pytest.approx(min(by_others, missed) / mine.sum())


@pytest.mark.slow
@pytest.mark.parametrize("classes", [False, True])
def test_columns_of_one_table_are_scored_as_its_design_and_predictions_are(classes: bool) -> None:
    cells = np.indices((6, 6)).reshape(2, -1).T
    frame = pd.DataFrame(cells, columns=["a", "b"]).astype(str)
    frame["y"] = cells @ [1.0, 2.0]
    frame["net"] = cells @ [1.0, 1.0] + 2.5
    if classes:
        kinds = np.array(["cat", "dog", "owl"])
        frame["y"], frame["net"] = kinds[cells[:, 0] // 2], kinds[(cells[:, 0] + (cells[:, 1] > 4)) // 2 % 3]
    frame["part"] = np.where(cells.sum(axis=1) % 3 > 0, "train", "test")
    said = {"factors": ["a", "b"], "outcome": "y", "split": "part=train"}
    design = class_designs(frame, **said) if classes else rc.Design.from_frame(frame, **said)
    apart = rc.score(design, frame, ["net"], "part=train")
    for named in ("net", ["net"]):
        direct = rc.score(frame, named, **said)
        assert direct.classes == apart.classes
        assert str(direct.causes) == str(apart.causes)
    predicted = frame[frame.part == "test"].drop(columns="part")
    assert str(rc.score(frame, predicted, ["net"], **said).causes) == str(apart.causes)


def test_a_constant_is_scored_beside_models_that_vary() -> None:
    cells = np.indices((8, 8)).reshape(2, -1).T
    design = rc.Design.from_cells(cells, cells @ [1.0, 2.0], train=cells.sum(axis=1) % 3 > 0)
    score = rc.score(design, {"net": design.held_out @ [1.0, 1.9], "mean": np.full(len(design.held_out), 10.5)})
    constant = score.models[1]
    assert constant.attribution is not None
    slopes = constant.attribution.per_factor["leak"].coefficients
    assert [round(slope.value, 2) for slope in slopes.values()] == [0.0, 0.0]
    assert sum(amount.value for amount in constant.causes.values()) == pytest.approx(constant.attribution.error.value)
    assert "nan" not in score.summary


def test_a_model_equal_to_adding_up_to_rounding_is_no_worse() -> None:
    rng = np.random.default_rng(0)
    cells = np.indices((8, 8)).reshape(2, -1).T
    outcome = cells @ [1.0, 2.0] + 0.3 * rng.normal(size=64)
    design = rc.Design.from_cells(cells, outcome, train=cells.sum(axis=1) % 3 > 0)
    columns = np.hstack([cells[:, [factor]] == np.arange(8) for factor in (0, 1)]).astype(float)
    fit = np.linalg.lstsq(columns[design.train], outcome[design.train], rcond=None)[0]
    model = rc.score(design, {"net": columns[~design.train] @ fit}, structure="add").models[0]
    assert model.gain is not None
    assert (model.gain.low, model.gain.high) == (0.0, 0.0)
