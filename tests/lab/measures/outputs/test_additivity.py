"""Additivity against scikit-learn's ridge on features built by hand, and what must and must not move it."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

from recombine.errors import InputError
from recombine.lab import tasks
from recombine.lab.tasks import Task
from recombine.measures.outputs.additivity import additivity
from recombine.theory.kernels.estimators import KernelRegressor
from recombine.theory.kernels.overlap import OverlapKernel

TASKS = [
    tasks.symbolic_addition(n=5, anchors=[2]),
    tasks.symbolic_addition(n=6, anchors=[0, 5]),
    tasks.dispersed_addition(seed=1),
    tasks.context_dependence(3),
    tasks.context_dependence(2),
    tasks.transitive_equivalence([2, 2], [1, 1]),
]


def conjunctions_of(cell: Any, order: int) -> list[tuple[tuple[int, int], ...]]:
    named = list(enumerate(map(int, cell)))
    return [chosen for size in range(1, order + 1) for chosen in itertools.combinations(named, size)]


def indicators(cells: Any, seen: Any, order: int | None = None) -> Any:
    """Columns for every conjunction of a seen cell, by explicit lists."""
    highest = order or len(cells[0])
    columns = sorted({name for cell in cells[seen] for name in conjunctions_of(cell, highest)})
    return np.array([[float(name in conjunctions_of(cell, highest)) for name in columns] for cell in cells])


def image_rows(task: Task) -> tuple[Any, Any, Any]:
    """Rows as image worlds have them: seen cells in three splits, unseen cells in two."""
    rows = [
        (place, split)
        for split in ("train", "val_1", "val_2")
        for place in range(len(task.cells))
        if split != "train" or task.train[place]
    ]
    places = np.array([place for place, _ in rows])
    return task.cells[places], task.train[places], np.array([split for _, split in rows])


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_one_row_a_cell_agrees_with_the_published_ridge(task: Task) -> None:
    outputs = task.target + np.random.default_rng(0).normal(size=len(task.cells))
    features = indicators(task.cells, task.train)
    ridge = Ridge(alpha=1e-10).fit(features, outputs)
    shares = [ridge.score(features[rows], outputs[rows]) for rows in (task.train, task.test)]
    assert additivity(task.cells, task.train, outputs) == pytest.approx(shares[1], abs=1e-8)
    assert additivity(task.cells, task.train, outputs, published=True) == pytest.approx(np.mean(shares), abs=1e-8)


@pytest.mark.parametrize("task", TASKS[:4], ids=lambda task: task.name)
def test_the_published_measure_averages_five_groups_of_image_rows(task: Task) -> None:
    cells, seen, split = image_rows(task)
    outputs = np.random.default_rng(1).normal(size=len(cells))
    features = indicators(cells, seen)
    ridge = Ridge(alpha=1e-10).fit(features, outputs)
    groups = [
        (split == label) & (seen == side)
        for side, label in itertools.product((True, False), ("train", "val_1", "val_2"))
        if side or label != "train"
    ]
    expected = np.mean([ridge.score(features[rows], outputs[rows]) for rows in groups])
    assert len(groups) == 5
    assert additivity(cells, seen, outputs, split, published=True) == pytest.approx(expected, abs=1e-8)
    unseen = ridge.predict(features[~seen])
    rest = ((outputs[~seen] - unseen) ** 2).sum() / ((outputs[~seen] - outputs[~seen].mean()) ** 2).sum()
    assert additivity(cells, seen, outputs) == pytest.approx(1 - rest, abs=1e-8)


@pytest.mark.parametrize("anchors", [[4], [0, 8], [2, 6], [0]])
def test_on_a_block_of_pairs_it_is_what_row_and_column_means_explain(anchors: list[int]) -> None:
    task = tasks.symbolic_addition(anchors=anchors)
    outputs = np.random.default_rng(2).normal(size=len(task.cells)) + task.target
    size = 9 - len(anchors)
    grid = outputs[task.test].reshape(size, size)
    rest = grid - grid.mean(axis=0) - grid.mean(axis=1, keepdims=True) + grid.mean()
    expected = 1 - (rest**2).sum() / ((grid - grid.mean()) ** 2).sum()
    assert additivity(task.cells, task.train, outputs) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_seen_outputs_do_not_count_and_the_published_measure_is_half_one(task: Task) -> None:
    generator = np.random.default_rng(3)
    outputs = generator.normal(size=len(task.cells))
    other = np.where(task.train, 5 * generator.normal(size=len(task.cells)), outputs)
    share, again = additivity(task.cells, task.train, [outputs, other])
    assert again == pytest.approx(share, abs=1e-10)
    assert additivity(task.cells, task.train, outputs, published=True) == pytest.approx((1 + share) / 2, abs=1e-12)


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1), st.sampled_from(TASKS))
def test_many_models_at_once_are_the_models_one_by_one(seed: int, task: Task) -> None:
    generator = np.random.default_rng(seed)
    outputs = generator.normal(size=(2, 3, len(task.cells)))
    together = additivity(task.cells, task.train, outputs)
    alone = [[float(additivity(task.cells, task.train, one)) for one in block] for block in outputs]
    assert together.shape == (2, 3)
    np.testing.assert_allclose(together, alone, atol=1e-12)
    # Neither units nor the order of the rows are part of the question.
    shuffled = generator.permutation(len(task.cells))
    moved = additivity(task.cells[shuffled], task.train[shuffled], 3 * outputs[..., shuffled] - 7)
    np.testing.assert_allclose(moved, together, atol=1e-9)


@pytest.mark.parametrize("task", TASKS[:5], ids=lambda task: task.name)
def test_kernel_models_are_additive(task: Task) -> None:
    kernel = OverlapKernel.relu(depth=2, factors=task.cells.shape[1])
    model = KernelRegressor(kernel).fit(task.cells[task.train], task.target[task.train])
    assert additivity(task.cells, task.train, model.predict(task.cells)) == pytest.approx(1, abs=1e-9)


def test_equivalence_is_not_additive_at_all() -> None:
    pairs = tasks.transitive_equivalence([2, 2], [1, 1])
    assert additivity(pairs.cells, pairs.train, pairs.target) == pytest.approx(0, abs=1e-9)


def test_a_smaller_order_is_least_squares_over_all_rows() -> None:
    task = tasks.context_dependence(2)
    outputs = np.random.default_rng(4).normal(size=len(task.cells))
    for order in (1, 2):
        features = np.column_stack([np.ones(len(outputs)), indicators(task.cells, task.train, order)])
        fitted = features @ np.linalg.lstsq(features, outputs, rcond=1e-10)[0]
        rest, spread = outputs - fitted, outputs - outputs[task.test].mean()
        expected = 1 - (rest[task.test] ** 2).sum() / (spread[task.test] ** 2).sum()
        assert additivity(task.cells, task.train, outputs, order=order) == pytest.approx(expected, abs=1e-9)


def test_constant_outputs_leave_nothing_to_explain() -> None:
    task = tasks.transitive_equivalence([2, 2], [1, 1])
    nothing = np.where(task.train, task.target, 0.0)
    noise = np.where(task.train, task.target, 1e-15 * np.random.default_rng(0).normal(size=len(task.cells)))
    shares = additivity(task.cells, task.train, [nothing, noise, task.target])
    assert np.isnan(shares).tolist() == [True, True, False]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_model_that_diverged_leaves_the_others_alone(bad: float) -> None:
    task = tasks.symbolic_addition(n=5, anchors=[2])
    fine = np.random.default_rng(5).normal(size=len(task.cells))
    broken = np.where(np.arange(len(fine)) == 3, bad, fine)
    for published in (False, True):
        shares = additivity(task.cells, task.train, [broken, fine], published=published)
        assert np.isnan(shares[0])
        assert shares[1] == pytest.approx(additivity(task.cells, task.train, fine, published=published))


def test_tensors_and_arrays_are_judged_alike() -> None:
    torch = pytest.importorskip("torch")
    task = tasks.symbolic_addition(n=5, anchors=[2])
    outputs = torch.from_numpy(np.minimum(*task.cells.T).astype(float)).requires_grad_()
    expected = additivity(task.cells, task.train, outputs.tolist())
    for tensor in (outputs, outputs.bfloat16()):
        assert additivity(task.cells, task.train, tensor) == expected
    with pytest.raises(InputError, match="outputs are not real numbers"):
        additivity(task.cells, task.train, outputs.detach() * 1j)


def test_mistakes_are_named() -> None:
    cells, seen, outputs = [[0, 0], [0, 1], [1, 0], [1, 1]], [True, True, True, False], [0.0, 1.0, 2.0, 3.0]
    with pytest.raises(InputError, match=r"outputs have shape \(3,\).*4 rows"):
        additivity(cells, seen, outputs[:3])
    with pytest.raises(InputError, match="seen must be 4 True/False"):
        additivity(cells, [1, 1, 1, 0], outputs)
    with pytest.raises(InputError, match="every row is of a seen cell"):
        additivity(cells, [True] * 4, outputs)
    with pytest.raises(InputError, match="no row is of a seen cell"):
        additivity(cells, [False] * 4, outputs)
    with pytest.raises(InputError, match="order 3 does not fit 2 factors"):
        additivity(cells, seen, outputs, order=3)
    with pytest.raises(InputError, match=r"split has shape \(2,\)"):
        additivity(cells, seen, outputs, ["train", "val"], published=True)
    with pytest.raises(InputError, match=r"cell \(1, 1\) is marked seen in one row"):
        additivity([*cells, [1, 1]], [*seen, True], [*outputs, 3.0])
