"""Batched sweeps over kernels: equal to one exact fit per kernel, and to the closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from recombine.errors import InputError
from recombine.lab import tasks
from recombine.lab.papers.kernel_theory.experiments.context import kappa, simplex
from recombine.lab.tasks import Task
from recombine.theory.kernels.shortcut import context_dependence_margin
from recombine.theory.kernels.solvers.orbits import Quotient, solve_kernels

TASKS = [
    *(tasks.context_dependence(left_out) for left_out in (1, 2, 3)),
    tasks.context_substitution(),
    tasks.stimulus_composition(),
    tasks.stimulus_composition(contexts=4),
]


def merged(task: Task) -> Quotient:
    return Quotient.of(task.cells, task.target, task.train)


def dense_margins(task: Task, values: np.ndarray, loss: str) -> np.ndarray:
    """Margins on unseen cells from the full Gram matrix, without merging anything."""
    overlap = (task.cells[:, None] == task.cells[None, task.train]).sum(axis=2)
    signed = values[overlap] * np.outer(task.target, task.target[task.train])
    inner = signed[task.train]
    if loss == "squared":
        return signed[task.test] @ np.linalg.lstsq(inner, np.ones(len(inner)), rcond=1e-11)[0]
    lower = np.linalg.cholesky(inner)
    return signed[task.test] @ nnls(lower.T, np.linalg.solve(lower, np.ones(len(inner))), maxiter=10_000)[0]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: f"{task.name} {len(task.cells)}")
@pytest.mark.parametrize("loss", ["hinge", "squared"])
@given(weights=st.tuples(*[st.floats(0.02, 1.0)] * 3))
@settings(max_examples=6, deadline=None)
def test_merged_fits_equal_full_ones(task: Task, loss: str, weights: tuple[float, float, float]) -> None:
    values = kappa(np.array([weights]))
    quotient = merged(task)
    found = solve_kernels(quotient, values, loss)  # type: ignore[arg-type]
    groups = quotient.groups[task.test] - len(quotient.sizes)
    np.testing.assert_allclose(found.unseen[0][groups], dense_margins(task, values[0], loss), atol=1e-8)


@pytest.mark.parametrize("loss", ["hinge", "squared"])
def test_the_whole_lattice_agrees_with_the_closed_form(loss: str) -> None:
    points = simplex(30)
    found = solve_kernels(merged(tasks.context_dependence(3)), kappa(points), loss).margin  # type: ignore[arg-type]
    closed = context_dependence_margin(*points.T, loss=loss).value  # type: ignore[arg-type]
    inner = points[:, 2] > 0
    np.testing.assert_allclose(found[inner], closed[inner], atol=1e-11)
    np.testing.assert_allclose(found[~inner], closed[~inner], atol=1e-7)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: f"{task.name} {len(task.cells)}")
def test_groups_cover_the_task_and_respect_what_was_seen(task: Task) -> None:
    quotient = merged(task)
    assert quotient.counts.sum() == len(task.cells)
    assert quotient.sizes.sum() == task.train.sum()
    assert ((quotient.groups < len(quotient.sizes)) == task.train).all()


def test_context_dependence_is_three_groups_whatever_its_size() -> None:
    for items in (2, 3, 5):
        assert len(merged(tasks.context_dependence(items, items=items)).sizes) == 3


def test_seen_margins_are_kept_and_support_is_told_apart() -> None:
    points = simplex(20)[simplex(20)[:, 2] > 0]
    found = solve_kernels(merged(tasks.context_dependence(2)), kappa(points))
    assert found.seen.min() > 1 - 1e-9
    assert np.abs(found.seen[found.support] - 1).max() < 1e-8
    assert not found.support.all()


def test_what_cannot_be_separated_is_not_a_number() -> None:
    # Single levels alone cannot answer by context; CD-2 keeps cells that need the pairs.
    single = solve_kernels(merged(tasks.context_dependence(2)), kappa(np.array([[1 / 3, 0.0, 0.0]])))
    assert np.isnan(single.margin).all()
    assert np.isnan(single.accuracy).all()


def test_ties_count_one_half() -> None:
    memorized = solve_kernels(merged(tasks.context_dependence(3)), kappa(np.array([[0.0, 0.0, 1.0]])))
    assert memorized.accuracy.tolist() == [0.5]


def test_other_targets_and_shapes_are_refused() -> None:
    with pytest.raises(InputError, match="values other than -1 and"):
        merged(tasks.symbolic_addition())
    with pytest.raises(InputError, match="one for each overlap"):
        solve_kernels(merged(tasks.context_dependence()), [[0.0, 1.0]])
    with pytest.raises(InputError, match="loss is 'logistic'"):
        solve_kernels(merged(tasks.context_dependence()), [[0.0, 0.1, 0.4, 1.0]], "logistic")  # type: ignore[arg-type]
