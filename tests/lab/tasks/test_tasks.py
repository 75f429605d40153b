"""Known-truth designs: sizes and sets as published, answers recomputed from the rule, bad arguments named."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.lab import tasks
from recombine.lab.tasks import Task

SIZES = [
    (tasks.symbolic_addition(anchors=[4]), 17, 64),
    (tasks.symbolic_addition(anchors=[0]), 17, 64),
    (tasks.symbolic_addition(anchors=[0, 8]), 32, 49),
    (tasks.symbolic_addition(anchors=[2, 6]), 32, 49),
    (tasks.dispersed_addition(), 18, 63),
    (tasks.context_dependence(left_out=3), 54, 18),
    (tasks.context_dependence(left_out=2), 64, 8),
    (tasks.context_dependence(left_out=1), 70, 2),
    (tasks.stimulus_composition(), 6, 2),
    (tasks.stimulus_composition(contexts=4), 48, 16),
    (tasks.context_substitution(), 104, 40),
    (tasks.transitive_equivalence([2, 2], [1, 1]), 12, 4),
    (tasks.transitive_equivalence([5, 5], [1, 1]), 36, 64),
    (tasks.transitive_equivalence([5, 5], [4, 4]), 96, 4),
    (tasks.six_item_equivalence(), 28, 8),
    (tasks.transitive_ordering(7), 12, 30),
    (tasks.invariance(), 2, 2),
    (tasks.partial_exposure(), 3, 1),
]


@pytest.mark.parametrize(("task", "seen", "unseen"), SIZES, ids=lambda part: repr(part)[:40])
def test_published_sizes(task: Task, seen: int, unseen: int) -> None:
    assert (int(task.train.sum()), int(task.test.sum())) == (seen, unseen)
    assert len(np.unique(task.cells, axis=0)) == len(task.cells)
    assert task.cells.shape[1] == len(task.factors) == len(task.sizes)


@pytest.mark.parametrize("task", [task for task, *_ in SIZES], ids=repr)
def test_cells_come_in_product_order(task: Task) -> None:
    order = [tuple(cell) for cell in task.cells.tolist()]
    assert order == sorted(order)
    if task.name != "transitive ordering":
        assert order == list(itertools.product(*map(range, task.sizes)))


def test_a_tensor_is_indexed_without_a_warning() -> None:
    torch = pytest.importorskip("torch")
    task = tasks.invariance()
    assert len(torch.arange(len(task.cells))[task.train]) == task.train.sum()
    assert torch.from_numpy(task.cells).shape == task.cells.shape


def test_a_task_owns_its_arrays() -> None:
    cells, target = np.array([[0, 0], [0, 1]]), np.array([0.0, 1.0])
    task = Task("copy", cells, [True, False], target, ("left", "right"))
    task.target[0] = 5.0
    task.cells[0] = 7
    assert target.tolist() == [0.0, 1.0]
    assert cells.tolist() == [[0, 0], [0, 1]]


def test_a_task_keeps_its_name() -> None:
    task = tasks.invariance()
    with pytest.raises(AttributeError):
        task.name = "other"  # type: ignore[misc]


def test_a_task_does_not_alias_its_inputs() -> None:
    train = np.array([True, False])
    task = Task("pair", np.array([[0], [1]]), train, np.zeros(2), ("only",))
    train[:] = False
    assert task.train.tolist() == [True, False]


@given(st.lists(st.integers(-9, 9), min_size=2, max_size=6), st.data())
def test_addition_follows_its_rule(values: list[int], data: st.DataObject) -> None:
    item = st.integers(0, len(values) - 1)
    first, second = (data.draw(st.lists(item, min_size=1, max_size=3)) for _ in range(2))
    task = tasks.symbolic_addition(values=values, anchors=first, anchors2=second)
    for (i, j), seen, target in zip(task.cells.tolist(), task.train, task.target, strict=True):
        assert seen == (i in first or j in second)
        assert target == values[i] + values[j]


def test_addition_slots_may_differ() -> None:
    task = tasks.symbolic_addition(values=[0, 1, 2], anchors=[0], values2=[10, 20], anchors2=[1])
    assert task.sizes == (3, 2)
    assert task.target.tolist() == [10, 20, 11, 21, 12, 22]
    assert task.train.tolist() == [True, True, False, True, False, True]


def test_dispersed_set_of_seed_one_is_the_published_one() -> None:
    task = tasks.dispersed_addition(seed=1)
    rows = [sorted(task.cells[task.train & (task.cells[:, 0] == i), 1].tolist()) for i in range(9)]
    assert rows == [[7, 8], [0, 1], [1, 2], [4, 5], [2, 3], [5, 6], [0, 8], [6, 7], [3, 4]]


@pytest.mark.parametrize("seed", [0, 1, 50])
@pytest.mark.parametrize("per_row", [1, 2, 4])
def test_dispersed_sets_are_regular(seed: int, per_row: int) -> None:
    seen = tasks.dispersed_addition(n=7, per_row=per_row, seed=seed).train.reshape(7, 7)
    assert (seen.sum(axis=0) == per_row).all()
    assert (seen.sum(axis=1) == per_row).all()


@pytest.mark.parametrize("k", [1, 2, 3])
def test_context_dependence_follows_its_rule(k: int) -> None:
    task = tasks.context_dependence(left_out=k)
    for (context, f1, f2), seen, target in zip(task.cells.tolist(), task.train, task.target, strict=True):
        assert target == (1 if (f1 if context == 0 else f2) >= 3 else -1)
        assert seen == (not (f1 in range(k) and f2 in range(3, 3 + k)))


def test_context_is_a_shortcut_on_the_full_block() -> None:
    task = tasks.context_dependence(left_out=3)
    shortcut = np.where(task.cells[:, 0] == 0, 1, -1)
    right = shortcut == task.target
    assert right[task.train].mean() == pytest.approx(2 / 3)
    assert not right[task.test].any()


def test_context_substitution_leaves_its_partner_contexts_complete() -> None:
    task = tasks.context_substitution()
    unseen = task.cells[task.test]
    assert set(unseen[:, 0].tolist()) == {0, 2}
    assert np.isin(unseen[:, 1:], (0, 3)).any(axis=1).all()
    answers = task.target.reshape(4, 6, 6)
    assert (answers[0] == answers[1]).all()
    assert (answers[2] == answers[3]).all()


def test_equivalence_is_an_equivalence_and_anchors_are_seen() -> None:
    task = tasks.transitive_equivalence([3, 2, 2], [1, 1, 2])
    same = task.target.reshape(7, 7) > 0
    assert (same == same.T).all()
    assert same.diagonal().all()
    assert same.sum() == 9 + 4 + 4
    seen = task.train.reshape(7, 7)
    assert np.flatnonzero(seen.all(axis=1)).tolist() == [0, 3, 5, 6]


def test_six_item_pairs_are_the_drawn_ones() -> None:
    task = tasks.six_item_equivalence()
    names = {"ABCDEF"[i] + "ABCDEF"[j] for i, j in task.cells[task.test]}
    assert names == {"AC", "CA", "CD", "DC", "AF", "FA", "DF", "FD"}


@pytest.mark.parametrize("distances", [(1,), (1, 3), (6,)])
def test_ordering_is_antisymmetric_and_sees_the_asked_distances(distances: tuple[int, ...]) -> None:
    task = tasks.transitive_ordering(7, distances)
    lookup = {tuple(cell): target for cell, target in zip(task.cells.tolist(), task.target, strict=True)}
    assert all(lookup[i, j] == -lookup[j, i] == (1 if i < j else -1) for i, j in lookup)
    gaps = np.abs(task.cells[:, 0] - task.cells[:, 1])
    assert set(gaps[task.train].tolist()) == set(distances)
    assert not np.isin(gaps[task.test], distances).any()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: tasks.symbolic_addition(n=1), "n is 1"),
        (lambda: tasks.symbolic_addition(n=2.5), "n is 2.5"),
        (lambda: tasks.symbolic_addition(anchors=[9]), "anchors names item 9; items are numbered 0 to 8"),
        (lambda: tasks.symbolic_addition(anchors=[]), "anchors is"),
        (lambda: tasks.symbolic_addition(anchors=[0.5]), "anchors is"),
        (lambda: tasks.symbolic_addition(anchors=[0], anchors2=[-1]), "anchors2 names item -1"),
        (lambda: tasks.symbolic_addition(n=3, values=[1, 2], anchors=[0]), "values has 2 entries but n is 3"),
        (lambda: tasks.symbolic_addition(values=[1, np.nan], anchors=[0]), "finite"),
        (lambda: tasks.symbolic_addition(values=[[1, 2]], anchors=[0]), "values must be a list"),
        (lambda: tasks.dispersed_addition(per_row=10), "per_row is 10; give a whole number from 1 to 9"),
        (lambda: tasks.dispersed_addition(seed=-1), "seed is -1"),
        (lambda: tasks.context_dependence(left_out=4), "left_out is 4; give a whole number from 1 to 3"),
        (lambda: tasks.context_dependence(left_out=True), "left_out is True"),
        (lambda: tasks.context_dependence(items=0), "items is 0"),
        (lambda: tasks.context_dependence(rules=(0, 2)), "rules is"),
        (lambda: tasks.context_dependence(rules=()), "rules is"),
        (lambda: tasks.stimulus_composition(contexts=3), "contexts is 3"),
        (lambda: tasks.transitive_equivalence([2, 2], [1]), "do not match"),
        (lambda: tasks.transitive_equivalence([4], [1]), "do not match"),
        (lambda: tasks.transitive_equivalence([2, 2], [1, 3]), r"anchors\[1\] is 3"),
        (lambda: tasks.transitive_equivalence([2, 0], [1, 0]), r"classes\[1\] is 0"),
        (lambda: tasks.transitive_ordering(7, []), "distances is empty"),
        (lambda: tasks.transitive_ordering(7, [7]), r"distances\[0\] is 7; give a whole number from 1 to 6"),
        (lambda: Task("short", [[0], [1]], [True], [0, 1], ("only",)), "train has shape"),
        (lambda: Task("names", [[0, 1]], [True], [0], ("only",)), "2 columns"),
    ],
)
def test_bad_arguments_are_named(call: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        call()  # type: ignore[operator]
