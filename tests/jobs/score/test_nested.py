"""A factor inside another: the parent's effect is the mean of its children's, and each has a slope of its own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.jobs.score import Score
from recombine.jobs.score.determined import nested_groups, regressors_of
from recombine.words.score import unclear_sentences

FACTORS = ("treatment", "plant", "time", "site")


def scored(seed: int, arrives: float, **fields: object) -> Score:
    """Score a model in which a share of each treatment's effect arrives, and all of its plants'."""
    rng = np.random.default_rng(seed)
    cells = [(p // 4, p, t, s) for p in range(20) for t in range(6) for s in range(4) if rng.random() < 0.6]
    codes = np.array(cells)
    effects = [spread * rng.normal(size=size) for size, spread in ((5, 2), (20, 1), (6, 1), (4, 1))]
    effects[1] -= np.repeat(effects[1].reshape(5, 4).mean(axis=1), 4)
    mean = sum(effect[codes[:, place]] for place, effect in enumerate(effects))
    frame = pd.DataFrame({name: [f"{name}{level}" for level in codes[:, at]] for at, name in enumerate(FACTORS)})
    frame["y"] = mean + 0.4 * rng.normal(size=len(codes))
    frame["part"] = np.where(rng.random(len(codes)) < 0.6, "train", "test")
    frame["model"] = mean - (1 - arrives) * (effects[0] - effects[0].mean())[codes[:, 0]]
    return rc.score(frame, "model", factors=list(FACTORS), outcome="y", split="part=train", structure="add", **fields)


@pytest.mark.parametrize("fields", [{}, {"crossed": True}, {"nested": ["plant/treatment"]}], ids=str)
def test_the_parents_fault_is_the_parents(fields: dict[str, object]) -> None:
    score = scored(3, 0.6, **fields)
    slopes = score.models[0].attribution.per_factor["leak"].coefficients
    assert slopes["treatment"].low <= 0.6 <= slopes["treatment"].high < 0.75
    assert slopes["plant"].low <= 1 <= slopes["plant"].high
    assert slopes["plant"].low > 0.8
    assert score.regressors.nested == (("plant", "treatment"),)
    said = " ".join(unclear_sentences(score))
    assert "plant lies inside treatment: the data know only the sum of their effects." in said


@pytest.mark.slow
def test_a_perfect_model_has_slopes_of_one() -> None:
    held = [
        [
            slope.low <= 1 <= slope.high
            for slope in scored(seed, 1.0).models[0].attribution.per_factor["leak"].coefficients.values()
        ]
        for seed in range(6)
    ]
    assert np.mean(held) > 0.85


def nested_design(nested: list[str]) -> rc.Design:
    """Classes in schools in districts, beside a year; a club lies in schools, too."""
    rng = np.random.default_rng(0)
    classes = np.repeat(np.arange(24), 3)
    school, club = classes // 3, rng.integers(2, size=72) + 2 * (classes // 3)
    cells = np.unique(np.column_stack([school // 4, school, classes, np.tile(np.arange(3), 24), club]), axis=0)
    y = rng.normal(size=len(cells))
    train = rng.random(len(cells)) < 0.8
    cells[:, 4] = np.unique(cells[:, 4], return_inverse=True)[1]
    names = ["district", "school", "class", "year", "club"]
    return rc.Design.from_cells(cells, y, train=train, names=names, nested=nested)


@pytest.mark.parametrize("nested", [[], ["class/school/district", "club/school"]], ids=["not said", "said"])
def test_chains_and_siblings_are_taken_apart_and_add_up(nested: list[str]) -> None:
    design = nested_design(nested)
    assert nested_groups(design) == [(2, 1), (4, 1), (1, 0)]
    audit = rc.audit(design, structure="add")
    cells = design.seen
    split = regressors_of([audit], cells)
    total = np.average(design.outcome[design.train], weights=design.precision[design.train]) + split.effects.sum(axis=1)
    assert total == pytest.approx(audit.values.fit.fitted)
    # Over the children that were seen, each counted once, nothing of the parent is left in the child's effect.
    for child, parent in ((2, 1), (4, 1), (1, 0)):
        table = pd.DataFrame({"child": cells[:, child], "parent": cells[:, parent], "effect": split.effects[:, child]})
        means = table.drop_duplicates("child").groupby("parent").effect.mean()
        assert means.to_numpy() == pytest.approx(np.full(len(means), means.mean()))
    # Marginals are plain means of rows: of the district those of its rows, of the school those beyond its district's.
    outcome = design.outcome[design.train]
    marginals = split.misleading + split.effects
    district = pd.Series(outcome).groupby(cells[:, 0]).transform("mean").to_numpy()
    assert np.ptp(marginals[:, 0] - district) == pytest.approx(0, abs=1e-12)
    school = pd.Series(outcome).groupby(cells[:, 1]).transform("mean").to_numpy()
    assert np.ptp(marginals[:, 1] - (school - district)) == pytest.approx(0, abs=1e-12)


def test_a_child_of_two_crossed_parents() -> None:
    rng = np.random.default_rng(1)
    child = np.repeat(np.arange(16), 5)
    cells = np.column_stack([child // 4, child % 4, child, np.tile(np.arange(5), 16)])
    design = rc.Design.from_cells(cells, rng.normal(size=80), train=rng.random(80) < 0.7)
    assert nested_groups(design) == [(2, 0), (2, 1)]
    split = regressors_of([rc.audit(design, structure="add")], design.seen)
    first = np.unique(design.seen[:, 2], return_index=True)[1]
    own, parents = split.effects[first, 2], design.seen[first][:, :2]
    for column in parents.T:
        means = np.bincount(column, own) / np.bincount(column)
        assert means == pytest.approx(np.full(4, means.mean()), abs=1e-9)


def test_crossed_factors_lie_in_none() -> None:
    cells = np.indices((4, 3)).reshape(2, -1).T
    assert nested_groups(rc.Design.from_cells(cells, np.arange(12.0), train=np.arange(12) % 3 > 0)) == []
