"""Representability: the published table of verdicts, a second route for each decision, and its invariances."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.lab import tasks
from recombine.lab.tasks import Task
from recombine.theory.kernels.representability import (
    PassingShare,
    Representability,
    passing_share,
    representability,
    seen_incidence,
)

EXACT = [
    tasks.symbolic_addition(anchors=[4]),
    tasks.symbolic_addition(anchors=[0]),
    tasks.symbolic_addition(anchors=[0, 8]),
    tasks.symbolic_addition(anchors=[2, 6]),
    tasks.dispersed_addition(seed=1),
    tasks.dispersed_addition(seed=2),
    tasks.context_dependence(2),
    tasks.context_dependence(3),
    tasks.stimulus_composition(contexts=4),
]
ANYTHING = [
    tasks.context_dependence(1),
    tasks.stimulus_composition(),
    tasks.invariance(),
    tasks.partial_exposure(),
]
NEITHER = [
    tasks.transitive_equivalence([2, 2], [1, 1]),
    tasks.transitive_equivalence([5, 5], [1, 1]),
    tasks.transitive_equivalence([5, 5], [4, 4]),
    tasks.six_item_equivalence(),
    tasks.context_substitution(),
]


def judge(task: Task, family: list[tuple[int, ...]] | None = None) -> Representability:
    return representability(task.cells, task.train, task.target, family)


@pytest.mark.parametrize("task", EXACT, ids=repr)
def test_exactly_additive_tasks(task: Task) -> None:
    verdict = judge(task)
    assert verdict.kind == "exact"
    assert verdict.residual < 1e-12
    assert verdict.sign
    assert verdict.worst is None


@pytest.mark.parametrize("task", ANYTHING, ids=repr)
def test_tasks_that_any_answers_would_pass(task: Task) -> None:
    generator = np.random.default_rng(0)
    assert judge(task).kind == "anything"
    assert passing_share(task.cells, task.train) == PassingShare(1.0, exact=True)
    for _ in range(20):
        target = task.target.copy()
        target[task.test] = generator.normal(size=task.test.sum())
        assert representability(task.cells, task.train, target).exact


@pytest.mark.parametrize("task", [*EXACT, *NEITHER, tasks.transitive_ordering(7)], ids=repr)
def test_other_kinds_could_have_failed(task: Task) -> None:
    # What no sum can say: labels whose signs are those of weights that cancel every sum on the unseen cells.
    verdict = judge(task)
    assert verdict.rank is not None
    assert verdict.rank < verdict.judged == task.test.sum()
    features = seen_incidence(task.cells, task.train).toarray()[task.test]
    cancels = np.linalg.svd(features.T, full_matrices=True)[2][-1]
    assert np.abs(cancels @ features).max() < 1e-10
    target = task.target.copy()
    target[task.test] = np.where(np.abs(cancels) < 1e-9, 0.0, np.sign(cancels))
    adversary = representability(task.cells, task.train, target)
    assert adversary.kind == "neither"
    assert adversary.margin == 0.0


@pytest.mark.slow
@given(st.integers(0, 10**6))
def test_anything_means_that_no_labels_fail_and_the_share_is_that_of_all_labels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cells = np.array(list(itertools.product(range(3), range(3), range(2))))
    unseen = rng.choice(len(cells), size=rng.integers(1, 6), replace=False)
    train = ~np.isin(np.arange(len(cells)), unseen)
    # The oracle: every labelling of the unseen cells, one by one.
    exact, sign = [], []
    for labels in itertools.product((-1.0, 1.0), repeat=len(unseen)):
        target = np.ones(len(cells))
        target[~train] = labels
        verdict = representability(cells, train, target)
        exact.append(verdict.exact)
        sign.append(verdict.sign)
    assert (verdict.kind == "anything") == all(exact)
    assert passing_share(cells, train) == PassingShare(pytest.approx(np.mean(exact)), exact=True)
    assert passing_share(cells, train, sign=True) == PassingShare(pytest.approx(np.mean(sign)), exact=True)


def test_cd3_is_exact_where_hardly_any_labels_would_be() -> None:
    task = tasks.context_dependence(3)
    share = passing_share(task.cells, task.train)
    # Both contexts hold an unseen 3 x 3 block, and only sums of a row and a column are seen: 2 + 2 + 2 (2^3 - 2) - 2
    # blocks of -1 and +1 are such sums, those whose rows or whose columns are all alike.
    sums = sum(
        np.ptp(block, axis=0).max() == 0 or np.ptp(block, axis=1).max() == 0
        for block in (np.reshape(labels, (3, 3)) for labels in itertools.product((-1, 1), repeat=9))
    )
    assert sums == 14
    alone = sums**2 / 2**18
    generator = np.random.default_rng(1)
    coins = [
        representability(
            task.cells, task.train, np.where(task.test, generator.choice([-1.0, 1.0], 72), task.target)
        ).exact
        for _ in range(20)
    ]
    assert not any(coins)
    assert share.exact
    # The conjunction of both features, seen in neither context, couples nothing.
    assert share.value == pytest.approx(alone)


def test_shares_of_many_cells_are_drawn_from_a_seed() -> None:
    task = tasks.transitive_ordering(7)
    few = [passing_share(task.cells, task.train, sign=True, draws=20, seed=seed) for seed in (0, 0)]
    assert few[0] == few[1]
    assert not few[0].exact
    with pytest.raises(InputError, match="at least one"):
        passing_share(task.cells, task.train, draws=0)


@pytest.mark.parametrize("task", NEITHER, ids=repr)
def test_tasks_no_sum_can_express(task: Task) -> None:
    verdict = judge(task)
    assert verdict.kind == "neither"
    assert verdict.residual == pytest.approx(1.0, abs=1e-9)
    assert verdict.margin == 0.0
    assert verdict.worst is not None
    assert task.test[verdict.worst]


def test_ordering_is_additive_in_sign_only() -> None:
    verdict = judge(tasks.transitive_ordering(7))
    assert verdict.kind == "sign only"
    assert verdict.margin == pytest.approx(2 / 3, abs=1e-9)
    assert verdict.residual == pytest.approx(0.547, abs=5e-4)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_context_dependence_follows_one_rule(k: int) -> None:
    task = tasks.context_dependence(k)
    rule = judge(task, [(0, 1), (2, 0)])
    assert rule.kind == "exact"
    assert rule.family == ((0, 1), (0, 2))
    assert judge(task, [(0,), (1,), (2,)]).kind == "neither"
    assert not judge(task, [(1, 2)]).sign


def test_addition_is_one_rule_of_single_items() -> None:
    assert judge(tasks.symbolic_addition(anchors=[0]), [(0,), (1,)]).exact
    assert not judge(tasks.symbolic_addition(anchors=[0]), [(0,)]).exact


def test_held_out_parity_can_only_be_memorized() -> None:
    cells = np.array(list(itertools.product((0, 1), repeat=3)))
    target = 1.0 - 2.0 * (cells.sum(axis=1) % 2)
    train = np.arange(8) != 7
    assert representability(cells, train, target).exact
    pairs = representability(cells, train, target, [(0, 1), (0, 2), (1, 2)])
    assert pairs.kind == "neither"
    overlap = (cells[:, None] == cells[None]).sum(axis=2)
    kernel = np.array([0.0, 0.2, 0.6, 1.5])[overlap]  # weights .2, .2, .3 of orders 1, 2, 3
    output = kernel[7, train] @ np.linalg.solve(kernel[np.ix_(train, train)], target[train])
    assert output * target[7] < 0


def test_unseen_conjunctions_are_not_features() -> None:
    # No level of the last two cells occurs in a seen cell: only the constant reaches them, with one value for both.
    cells = np.array([[0, 0], [0, 1], [1, 0], [2, 2], [3, 3]])
    train = np.array([True, True, True, False, False])
    assert seen_incidence(cells, train).toarray()[3:].tolist() == [[1.0] + [0.0] * 7] * 2
    assert representability(cells, train, [0, 1, 1, 4, 4], [(0,), (1,)]).exact
    assert representability(cells, train, [0, 1, 1, 4, 2], [(0,), (1,)]).kind == "sign only"
    assert representability(cells, train, [0, 1, 1, 4, -4], [(0,), (1,)]).kind == "neither"


@pytest.mark.slow
@given(st.integers(0, 10**6))
def test_sums_of_seen_conjunctions_are_exact_and_survive_relabelling(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cells = np.array(list(itertools.product(range(3), range(3), range(2))))
    train = rng.random(len(cells)) < 0.6
    train[0], train[-1] = True, False
    features = seen_incidence(cells, train)
    additive = features @ rng.normal(size=features.shape[1])
    assert representability(cells, train, additive).exact
    target = rng.choice([-1.0, 1.0], size=len(cells))
    before = representability(cells, train, target)
    shuffle = rng.permutation(3)
    renamed = cells[:, [2, 1, 0]].copy()
    renamed[:, 1] = shuffle[renamed[:, 1]]
    after = representability(renamed, train, target)
    assert after.residual == pytest.approx(before.residual, abs=1e-9)
    assert after.margin == pytest.approx(before.margin, abs=1e-9)
    assert before.sign or not before.exact


@given(st.lists(st.sampled_from([-1.0, 1.0]), min_size=4, max_size=4))
def test_two_by_two_blocks_fail_exactly_when_they_are_xor(block: list[float]) -> None:
    # Four unseen cells of one block obey f(a,c) + f(b,d) = f(a,d) + f(b,c); two factors leave no other constraint.
    task = tasks.transitive_equivalence([2, 2], [1, 1])
    target = task.target.copy()
    target[task.test] = block
    verdict = representability(task.cells, task.train, target)
    assert verdict.exact == (block[0] + block[3] == block[1] + block[2])
    assert verdict.sign == (block not in ([1, -1, -1, 1], [-1, 1, 1, -1]))


def test_margin_agrees_with_its_dual() -> None:
    # Strong duality: best t = min over weights q on the simplex of |sum_i q_i y_i phi_i|_1 (or 1).
    from scipy.optimize import linprog

    task = tasks.transitive_ordering(7)
    signed = (seen_incidence(task.cells, task.train).toarray() * task.target[:, None])[task.test]
    rows, columns = signed.shape
    cost = np.concatenate([np.zeros(rows), np.ones(columns)])
    both = np.block([[signed.T, -np.eye(columns)], [-signed.T, -np.eye(columns)]])
    simplex = np.concatenate([np.ones(rows), np.zeros(columns)])[None]
    dual = linprog(cost, A_ub=both, b_ub=np.zeros(2 * columns), A_eq=simplex, b_eq=[1.0])
    assert judge(task).margin == pytest.approx(min(dual.fun, 1.0), abs=1e-8)


def test_iterative_least_squares_agrees_with_dense(monkeypatch: pytest.MonkeyPatch) -> None:
    task = tasks.transitive_ordering(7)
    dense = judge(task)
    monkeypatch.setattr(sys.modules["recombine.theory.kernels.representability"], "MAX_DENSE_LSTSQ_ENTRIES", 0)
    sparse = judge(task)
    assert sparse.residual == pytest.approx(dense.residual, abs=1e-10)
    assert judge(tasks.context_dependence(3)).exact


def test_nothing_unseen_is_trivially_exact() -> None:
    verdict = representability([[0], [1]], [True, True], [1.0, -1.0])
    assert (verdict.exact, verdict.sign, verdict.residual, verdict.margin) == (True, True, 0.0, 1.0)
    assert (verdict.kind, verdict.judged, verdict.rank) == ("anything", 0, 0)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (([[0, 1]], [1], [0.0]), "True/False"),
        (([[0, 1]], [True, False], [0.0]), "seen must be 1"),
        (([[0, 1]], [True], [np.nan]), "finite"),
        (([[0, 1]], [True], [0.0, 1.0]), "target must be 1"),
        (([[0, 1]], [True], [0.0], [(0, 2)]), "factors are numbered 0 to 1"),
    ],
)
def test_bad_arguments_are_named(arguments: tuple[object, ...], said: str) -> None:
    with pytest.raises(InputError, match=said):
        representability(*arguments)  # type: ignore[arg-type]
