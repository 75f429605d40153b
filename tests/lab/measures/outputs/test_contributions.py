"""Contributions of conjunctions against ridge, of items against the leak law, of kinds against what was put in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from recombine.errors import InputError
from recombine.lab import tasks
from recombine.lab.tasks import Task
from recombine.measures.outputs.contributions import (
    KINDS,
    Contributions,
    by_kind,
    conjunction_values,
    item_values,
    kind_of,
)
from recombine.theory.kernels.estimators import KernelRegressor
from recombine.theory.kernels.leak import slope
from recombine.theory.kernels.overlap import OverlapKernel

TASKS = [tasks.symbolic_addition(n=6, anchors=[0, 5]), tasks.context_dependence(1), tasks.context_dependence(3)]


def indicators(task: Task, values: Contributions) -> Any:
    """One column for each conjunction in the order of ``values``, the constant left out."""
    columns = [
        (task.cells[:, list(subset)] == row).all(axis=1)
        for subset, (levels, _) in values.items()
        if subset
        for row in levels
    ]
    return np.stack(columns, axis=1).astype(float)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_values_are_the_limit_of_ridge(task: Task) -> None:
    outputs = np.random.default_rng(0).normal(size=(2, len(task.cells)))
    values = conjunction_values(task.cells, task.train, outputs)
    weights = np.concatenate([found for subset, (_, found) in values.items() if subset], axis=-1)
    features = indicators(task, values)
    assert (features[task.train].sum(axis=0) > 0).all()
    # At 1e-10 the ridge itself carries rounding of 1e-5; two larger penalties extrapolated to none are cleaner.
    small, double = (Ridge(alpha=alpha, solver="svd").fit(features, outputs.T) for alpha in (1e-6, 2e-6))
    np.testing.assert_allclose(weights, 2 * small.coef_ - double.coef_, atol=2e-8)
    np.testing.assert_allclose(values[()][1][:, 0], 2 * small.intercept_ - double.intercept_, atol=2e-8)
    published = Ridge(alpha=1e-10).fit(features, outputs.T)
    np.testing.assert_allclose(weights, published.coef_, atol=1e-4)


def test_every_seen_conjunction_is_named_once() -> None:
    task = tasks.context_dependence(3)
    values = conjunction_values(task.cells, task.train, task.target)
    assert list(values) == [(), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]
    seen = {subset: {tuple(row) for row in task.cells[task.train][:, list(subset)].tolist()} for subset in values}
    for subset, (levels, found) in values.items():
        rows = [tuple(row) for row in levels.tolist()]
        assert set(rows) == seen[subset]
        assert len(rows) == len(set(rows)) == found.shape[-1]


def test_values_average_as_outputs_do() -> None:
    task = TASKS[1]
    outputs = np.random.default_rng(1).normal(size=(3, len(task.cells)))
    each = conjunction_values(task.cells, task.train, outputs)
    mean = conjunction_values(task.cells, task.train, outputs.mean(axis=0))
    for subset, (_, found) in each.items():
        np.testing.assert_allclose(found.mean(axis=0), mean[subset][1], atol=1e-12)


def test_a_smaller_order_has_no_larger_conjunctions() -> None:
    task = TASKS[1]
    values = conjunction_values(task.cells, task.train, task.target, order=2)
    assert max(map(len, values)) == 2
    assert "memorized" not in by_kind(values)


@pytest.mark.parametrize(("anchors", "count"), [([4], 1), ([0, 8], 2), ([2, 6], 2)])
def test_items_of_a_kernel_model_are_shrunk_as_the_leak_law_says(anchors: list[int], count: int) -> None:
    task = tasks.symbolic_addition(anchors=anchors)
    kernel = OverlapKernel.relu(depth=1, factors=2)
    model = KernelRegressor(kernel).fit(task.cells[task.train], task.target[task.train])
    expected = float(slope(kernel.salience[0], count))
    for curve in item_values(task.cells, task.train, model.predict(task.cells)):
        assert set(curve.levels) == set(range(9)) - set(anchors)
        np.testing.assert_allclose(curve.values, expected * (curve.levels - 4), atol=1e-9)
        assert curve.increases


def test_items_add_up_to_additive_outputs_whatever_the_offset() -> None:
    task = tasks.symbolic_addition(n=6, anchors=[1])
    generator = np.random.default_rng(2)
    one, two = generator.normal(size=(2, 6))
    outputs = 3 + one[task.cells[:, 0]] + two[task.cells[:, 1]] + np.where(task.train, 9.0, 0.0)
    first, second = item_values(task.cells, task.train, np.stack([outputs, -outputs]))
    total = first.values[..., :, None] + second.values[..., None, :]
    expected = outputs[task.test].reshape(5, 5)
    np.testing.assert_allclose(total, np.stack([expected, -expected]), atol=1e-9)


def test_whether_a_curve_increases_is_said_for_each_model() -> None:
    task = tasks.symbolic_addition(n=6, anchors=[1])
    bent = task.target - 10 * (task.cells[:, 1] == 3)
    first, second = item_values(task.cells, task.train, np.stack([task.target, bent]))
    assert first.increases.tolist() == [True, True]
    assert second.increases.tolist() == [True, False]


def test_items_need_two_factors() -> None:
    task = TASKS[1]
    with pytest.raises(InputError, match="two factors, not 3"):
        item_values(task.cells, task.train, task.target)


def test_kinds_are_means_over_named_conjunctions() -> None:
    task = tasks.context_dependence(2)
    values = conjunction_values(task.cells, task.train, np.random.default_rng(3).normal(size=(2, len(task.cells))))
    sizes = by_kind(values)
    assert tuple(sizes) == KINDS
    table = {(subset, *row): found[..., place] for subset, (levels, found) in values.items()
             for place, row in enumerate(levels.tolist())}  # fmt: skip
    right = [table[(0, 1), 0, item] for item in range(6)] + [table[(0, 2), 1, item] for item in range(6)]
    wrong = [table[(0, 1), 1, item] for item in range(6)] + [table[(0, 2), 0, item] for item in range(6)]
    context = [table[(0,), 0], table[(0,), 1]]
    sensory = [found for (subset, *_), found in table.items() if subset in ((1,), (2,), (1, 2))]
    memorized = [found for (subset, *_), found in table.items() if subset == (0, 1, 2)]
    expected = {"right": right, "wrong": wrong, "context": context, "sensory": sensory, "memorized": memorized}
    for kind, found in expected.items():
        np.testing.assert_allclose(sizes[kind], np.abs(found).mean(axis=0), atol=1e-12)


@pytest.mark.parametrize(
    ("left_out", "flipped", "bars"),
    [
        (3, True, {"memorized": 0.67, "context": 0.51, "wrong": 0.31, "sensory": 0.13, "right": 0.08}),
        (3, False, {"right": 0.62, "wrong": 0.33, "context": 0.04}),
        (2, False, {"right": 0.60, "wrong": 0.31, "context": 0.02}),
    ],
)
def test_published_bars_are_those_of_predicted_labels(left_out: int, flipped: bool, bars: dict[str, float]) -> None:
    task = tasks.context_dependence(left_out)
    labels = np.where(task.test & flipped, -task.target, task.target)
    sizes = by_kind(conjunction_values(task.cells, task.train, labels))
    assert {kind: float(sizes[kind]) for kind in bars} == pytest.approx(bars, abs=0.006)


def test_swapped_rules_swap_right_and_wrong() -> None:
    task = tasks.context_dependence(2)
    values = conjunction_values(task.cells, task.train, task.target)
    straight, swapped = by_kind(values), by_kind(values, rules=(1, 0))
    assert straight["right"] == pytest.approx(swapped["wrong"])
    assert straight["right"] > straight["wrong"]
    assert [kind_of((0, 2), context, (0, 0, 1, 1)) for context in range(4)] == ["wrong", "wrong", "right", "right"]


def test_kinds_are_those_of_three_factors() -> None:
    cells, seen = [[0, 0, 0, 0], [1, 1, 1, 1]], [True, False]
    with pytest.raises(InputError, match="fourth factor"):
        by_kind(conjunction_values(cells, seen, [0.0, 1.0]))
    for two in (tasks.symbolic_addition(n=5, anchors=[2]), tasks.symbolic_addition(n=2, anchors=[0])):
        with pytest.raises(InputError, match="a context and two features"):
            by_kind(conjunction_values(two.cells, two.train, two.target))
    task = tasks.context_dependence(2)
    with pytest.raises(InputError, match=r"context 1 has no rule in \(0,\)"):
        by_kind(conjunction_values(task.cells, task.train, task.target), rules=(0,))


def test_a_tensor_has_the_values_of_its_array() -> None:
    torch = pytest.importorskip("torch")
    task = tasks.context_dependence(1)
    tensor = torch.from_numpy(task.target.astype(float)).requires_grad_()
    found, expected = (conjunction_values(task.cells, task.train, outputs) for outputs in (tensor, task.target))
    for subset, (_, values) in expected.items():
        np.testing.assert_array_equal(found[subset][1], values)
