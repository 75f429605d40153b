"""Several classes are scored as the sum over their chances."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.jobs.score import Score, class_designs

FACTORS = ["site", "dose"]
KINDS = ["cat", "dog", "owl"]


def chances(effects: np.ndarray, share: float = 1.0) -> np.ndarray:
    """Chances (N, 3) that add up the factors' effects (N, 3, 2), of which the dose's arrive in part."""
    return np.asarray(np.array([0.4, 0.35, 0.25]) + effects[:, :, 0] + share * effects[:, :, 1])


def frame(rows: int = 20, share: float = 1.0, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    sizes = (7, 6)
    levels = [rng.normal(size=(size, 3)) * 0.07 for size in sizes]
    levels = [found - found.mean(axis=0) for found in levels]
    levels = [found - found.mean(axis=1, keepdims=True) for found in levels]
    cells = np.repeat(np.indices(sizes).reshape(2, -1).T, rows, axis=0)
    effects = np.stack([levels[place][cells[:, place]] for place in (0, 1)], axis=2)
    truth, told = chances(effects), chances(effects, share)
    drawn = (rng.random(len(cells))[:, None] > truth.cumsum(axis=1)).sum(axis=1)
    held = np.repeat(rng.random(len(cells) // rows) < 0.4, rows)
    table = pd.DataFrame({"site": [f"s{one}" for one in cells[:, 0]], "dose": cells[:, 1]})
    table["kind"] = np.array(KINDS)[drawn]
    table["part"] = np.where(held, "test", "train")
    for place, name in enumerate(KINDS):
        table[f"net:{name}"] = told[:, place]
    table["hard"] = np.array(KINDS)[told.argmax(axis=1)]
    return table


def scored(table: pd.DataFrame, *models: str) -> Score:
    return rc.score(
        class_designs(table, factors=FACTORS, outcome="kind", split="part=train"), table, list(models), "part=train"
    )


def test_the_error_is_the_sum_over_classes() -> None:
    table = frame()
    found = scored(table, "net", "hard")
    test = table[table.part == "test"]
    means = (
        test.assign(**{name: test.kind == name for name in KINDS})
        .groupby(FACTORS)[[*KINDS, *(f"net:{name}" for name in KINDS)]]
        .mean()
    )
    expected = sum((means[f"net:{name}"] - means[name]) ** 2 for name in KINDS).mean()
    assert found.models[0].unseen_error.value == pytest.approx(expected)
    for model in found.models:
        assert model.attribution is not None
        assert sum(amount.value for amount in model.causes.values()) == pytest.approx(model.attribution.error.value)
    row = next(iter(found.models[0].by_verdict.rows()))
    assert row["accuracy"] == pytest.approx((test.kind == test.hard).groupby([test.site, test.dose]).mean().mean())
    loss = -sum(means[name] * np.log(means[f"net:{name}"]) for name in KINDS).mean()
    assert row["log loss"] == pytest.approx(loss)


def test_two_classes_are_twice_the_chance_of_one() -> None:
    table = frame()
    table["kind"] = table.kind.replace("owl", "dog")
    told = table.assign(**{"net:dog": 1 - table["net:cat"]})
    both = scored(told, "net").models[0]
    one = rc.score(
        rc.Design.from_frame(told, factors=FACTORS, outcome="kind=cat", split="part=train"),
        told.rename(columns={"net:cat": "one"}),
        ["one"],
        "part=train",
        structure="add",
    ).models[0]
    assert both.attribution is not None
    assert one.attribution is not None
    assert both.attribution.error.value == pytest.approx(2 * one.attribution.error.value)
    for cause, amount in one.causes.items():
        assert both.causes[cause].value == pytest.approx(2 * amount.value, abs=1e-3)
    assert both.attribution.per_factor["leak"].coefficients["dose"].value == pytest.approx(
        one.attribution.per_factor["leak"].coefficients["dose"].value, abs=1e-6
    )


@pytest.mark.slow
def test_a_leak_is_found_over_all_classes() -> None:
    slopes = []
    for seed in range(4):
        model = scored(frame(200, share=0.4, seed=seed), "net").models[0]
        assert model.attribution is not None
        slopes.append(model.attribution.per_factor["leak"].coefficients["dose"].value)
    assert np.mean(slopes) == pytest.approx(0.4, abs=0.08)


@pytest.mark.slow
def test_a_class_that_only_one_table_has(tmp_path: Path) -> None:
    table = frame()
    train, test = (table[table.part == part].drop(columns="part") for part in ("train", "test"))
    test = test[test.kind != "owl"]
    train.to_csv(tmp_path / "train.csv", index=False)
    test.to_csv(tmp_path / "test.csv", index=False)
    designs = class_designs(tmp_path / "train.csv", factors=FACTORS, outcome="kind", held_out=tmp_path / "test.csv")
    found = rc.score(designs, tmp_path / "test.csv", ["net"])
    assert found.observed[:, 2].max() == 0.0
    again = rc.score(class_designs(train, factors=FACTORS, outcome="kind", held_out=test), test, ["net"])
    assert again.models[0].unseen_error.value == pytest.approx(found.models[0].unseen_error.value)


@pytest.mark.slow
def test_bad_chances_get_one_clear_line() -> None:
    table = frame()
    cases = [
        (table.assign(**{"net:owl": 0.9}), "net", "chances that sum to"),
        (table.assign(**{"net:owl": table["net:owl"] + 1}), "net", "chances lie between 0 and 1"),
        (table.drop(columns="net:owl"), "net", "no column 'net:owl' in the table beside 'net:cat'"),
        (table, "nett", "'nett' is not a column of the table, nor are nett:cat"),
        (table.assign(hard="cow"), "hard", "holds cow; give numbers or one of cat, dog, owl"),
        (table, "kind", "column 'kind' is both a prediction and the outcome"),
    ]
    for changed, model, words in cases:
        with pytest.raises(rc.InputError, match=words):
            scored(changed, model)


def bayes(rows: int = 40) -> pd.DataFrame:
    """A table whose ``best`` is the likeliest class of every cell, and ``poor`` another one in a third of them."""
    table = frame(rows)
    names = [f"net:{name}" for name in KINDS]
    table["best"] = np.array(KINDS)[table[names].to_numpy().argmax(axis=1)]
    third = table.groupby(FACTORS).ngroup() % 3 == 0
    table["poor"] = np.where(third, np.array(KINDS)[table[names].to_numpy().argmin(axis=1)], table.best)
    return table


def test_the_best_classes_are_not_blamed() -> None:
    table = bayes()
    best, poor = scored(table, "best", "poor").models
    test = table[table.part == "test"]
    for model, name in ((best, "best"), (poor, "poor")):
        assert model.misses is not None
        assert model.misses.wrong == pytest.approx(np.mean(test[name] != test.kind))
        # The likeliest class is between what a cell's own measurements say of themselves and what the others say.
        assert model.misses.least <= np.mean(test.best != test.kind) + 1e-9
        assert model.misses.least <= model.misses.most <= model.misses.wrong
    assert best.misses is not None
    assert best.misses.most == pytest.approx(best.misses.wrong, abs=0.05)
    assert poor.misses is not None
    assert poor.misses.wrong - poor.misses.most > 0.05


def test_single_measurements_are_mostly_noise() -> None:
    table = bayes(200)
    model = scored(table, "net").models[0]
    assert model.of_rows is not None
    error, noise = model.of_rows
    test = table[table.part == "test"]
    squares = sum((test[f"net:{name}"] - (test.kind == name)) ** 2 for name in KINDS)
    assert error == pytest.approx(squares.mean())
    truth = test[[f"net:{name}" for name in KINDS]].to_numpy()
    assert noise == pytest.approx(np.mean(np.sum(truth * (1 - truth), axis=1)), rel=0.03)


def test_a_structure_can_be_named_for_classes() -> None:
    table = frame(60)
    designs = class_designs(table, factors=FACTORS, outcome="kind", split="part=train")
    found = rc.score(designs, table, ["net"], "part=train", structure="logit")
    assert found.audit.choice.name == "logit"
    assert sum(amount.value for amount in found.models[0].causes.values()) == pytest.approx(
        found.models[0].attribution.error.value  # type: ignore[union-attr]
    )
