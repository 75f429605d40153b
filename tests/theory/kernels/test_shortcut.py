"""Shortcut bias: closed forms against a dense non-negative least-squares solver, its regimes and its borders."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls

from known_tasks import KnownTask, context_dependence
from recombine.errors import InputError
from recombine.theory.kernels.overlap import OverlapKernel
from recombine.theory.kernels.shortcut import context_dependence_margin, crossed_out
from recombine.theory.kernels.solvers import Quotient, solve_kernels

Floats = npt.NDArray[np.float64]


def dense_gram(task: KnownTask, weights: tuple[float, ...]) -> Floats:
    """All cells by seen cells: each order-k conjunction two cells share adds weights[k - 1]."""
    agree = task.cells[:, None] == task.cells[None, task.train]
    return sum(
        weights[order - 1] * agree[..., list(subset)].all(axis=2)
        for order in (1, 2, 3)
        for subset in itertools.combinations(range(3), order)
    )


def dense_margins(task: KnownTask, weights: tuple[float, ...], loss: str) -> tuple[Floats, Floats]:
    """Margins of all cells and the dual weights of seen ones, with every matrix written out."""
    gram, answer = dense_gram(task, weights), task.target[task.train]
    if loss == "squared":
        dual = np.linalg.solve(gram[task.train], answer)
        return gram @ dual * task.target, dual * answer
    factor = np.linalg.cholesky(gram[task.train] * np.outer(answer, answer))
    dual, _ = nnls(factor.T, np.linalg.solve(factor, np.ones(len(answer))), maxiter=10_000)
    return gram @ (dual * answer) * task.target, dual


weight = st.floats(0.0, 1.0)


@given(
    s1=weight, s2=weight, s3=st.floats(0.01, 1.0), items=st.integers(1, 4), loss=st.sampled_from(["hinge", "squared"])
)
def test_closed_form_is_the_solver_solution(s1: float, s2: float, s3: float, items: int, loss: str) -> None:
    task = context_dependence(items, items=items)
    margins, _ = dense_margins(task, (s1, s2, s3), loss)
    closed = context_dependence_margin(s1, s2, s3, items=items, loss=loss)  # type: ignore[arg-type]
    np.testing.assert_allclose(margins[task.test], closed.value, atol=1e-9)
    if abs(closed.value) > 1e-12:
        assert closed.correct == (closed.value > 0)


@pytest.mark.parametrize("weights", [(0.05, 0.02, 0.79), (0.20350064, 0.09423825, 0.1067833)])
def test_the_regime_says_which_cells_support(weights: tuple[float, float, float]) -> None:
    task = context_dependence(3)
    _, dual = dense_margins(task, weights, "hinge")
    context, f1, f2 = task.cells[task.train].T
    answer = task.target[task.train]
    easy = ((f1 >= 3) == (f2 >= 3)) & (answer == np.where(context == 0, 1, -1))
    if context_dependence_margin(*weights).all_support:
        assert (dual > 1e-9).all()
    else:
        assert np.array_equal(dual > 1e-9, ~easy)


def test_both_regimes_meet_at_their_border() -> None:
    # Walk from memorizing to additive kernels; the margin must not jump where easy cells drop out.
    path = np.linspace(0.001, 0.33, 20_001)
    found = context_dependence_margin(path, 0.0 * path)
    assert found.all_support[0] != found.all_support[-1]
    assert np.abs(np.diff(found.value)).max() < 1e-3


def test_phase_diagram_agrees_with_the_solver_everywhere_on_a_grid() -> None:
    task = context_dependence(3)
    for s1, s2 in itertools.product(np.linspace(0, 1 / 3, 9), repeat=2):
        s3 = 1 - 3 * s1 - 3 * s2
        if s3 > 1e-9:
            margins, _ = dense_margins(task, (s1, s2, s3), "hinge")
            closed = context_dependence_margin(s1, s2)
            assert margins[task.test] == pytest.approx(float(closed.value), abs=1e-9)
            if s2 > 0 or s1 > 0:
                assert bool(closed.correct) == bool(margins[task.test].min() > 1e-12)


class Orbits:
    """CD-k with three items, reduced to one dual weight per orbit: a third route, small enough for fine maps.

    Items within a class are interchangeable as long as both or neither are left out; swapping contexts together with
    features and answers is the last symmetry.
    """

    def __init__(self, k: int) -> None:
        task = context_dependence(k)
        context, f1, f2 = task.cells.T
        kind1 = np.where(f1 < k, 0, np.where(f1 < 3, 1, 2))
        kind2 = np.where(f2 < 3, 2, np.where(f2 < 3 + k, 0, 1))
        label = np.minimum(9 * context + 3 * kind1 + kind2, 9 * (1 - context) + 3 * kind2 + kind1)
        member = label[task.train] == np.unique(label[task.train])[:, None]
        self.counts = member.sum(axis=1).astype(float)
        overlap = (task.cells[:, None] == task.cells[None, task.train]).sum(axis=2)
        signed = np.outer(task.target, task.target[task.train]) * (overlap == np.arange(4)[:, None, None])
        self.gram = member @ signed[:, task.train] @ member.T
        self.unseen = signed[:, np.flatnonzero(task.test)[0]] @ member.T

    def margin(self, s1: float, s2: float, loss: str) -> float:
        kappa = np.array([0.0, s1, 2 * s1 + s2, 1.0])
        gram = np.tensordot(kappa, self.gram, 1)
        if loss == "squared":
            dual = np.linalg.solve(gram, self.counts)
        else:
            factor = np.linalg.cholesky(gram)
            dual, _ = nnls(factor.T, np.linalg.solve(factor, self.counts))
        return float(kappa @ self.unseen @ dual)


def spread_over_simplex(count: int) -> Floats:
    """An even cover of s1, s2 >= 0, s1 + s2 <= 1/3, shape (count, 2): a lattice folded at the diagonal."""
    ratio = 1.32471795724474602596
    square = (0.5 + np.arange(1, count + 1)[:, None] * np.array([1 / ratio, 1 / ratio**2])) % 1
    return np.where(square.sum(axis=1, keepdims=True) > 1, 1 - square, square) / 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("loss", "shares"), [("hinge", (0.518, 0.389, 0.078, 0.015)), ("squared", (0.730, 0.185, 0.071, 0.015))]
)
def test_shares_of_the_simplex_that_solve_each_task(loss: str, shares: tuple[float, ...]) -> None:
    points, orbits = spread_over_simplex(2500), [Orbits(k) for k in (3, 2, 1)]
    right = np.array([[reduced.margin(*point, loss) > 0 for reduced in orbits] for point in points])
    assert np.array_equal(right[:, 0], context_dependence_margin(*points.T, loss=loss).correct)  # type: ignore[arg-type]
    assert (right[:, :-1] <= right[:, 1:]).all(), "solving CD-k implies solving every easier one"
    found = np.bincount(3 - right.sum(axis=1), minlength=4) / len(points)
    # Expected: 60,000 points. Usually quoted as about .52/.38/.08/.02 and .73/.18/.07/.02; .389 and .015 are closer.
    np.testing.assert_allclose(found, shares, atol=0.004)


@pytest.mark.parametrize("loss", ["hinge", "squared"])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_orbits_lose_nothing(k: int, loss: str) -> None:
    task = context_dependence(k)
    for s1, s2 in spread_over_simplex(6):
        full, _ = dense_margins(task, (s1, s2, 1 - 3 * s1 - 3 * s2), loss)
        np.testing.assert_allclose(full[task.test], Orbits(k).margin(s1, s2, loss), atol=1e-9)


@given(s1=weight, s2=weight, s3=st.floats(0.001, 1.0), scale=st.floats(0.1, 10), items=st.integers(1, 4))
def test_margins_ignore_the_scale_of_the_kernel(s1: float, s2: float, s3: float, scale: float, items: int) -> None:
    for loss in ("hinge", "squared"):
        one = context_dependence_margin(s1, s2, s3, items=items, loss=loss)  # type: ignore[arg-type]
        other = context_dependence_margin(scale * s1, scale * s2, scale * s3, items=items, loss=loss)  # type: ignore[arg-type]
        assert one.value == pytest.approx(other.value, abs=1e-9)


def test_three_item_inequality_is_the_published_one() -> None:
    rng = np.random.default_rng(0)
    s = rng.dirichlet([1, 1, 1], size=500) / [3, 3, 1]
    found = context_dependence_margin(*s.T)
    dropped = ~found.all_support
    published = s[:, 1] + 12 * s[:, 0] * s[:, 1] + 6 * s[:, 1] ** 2 > 18 * s[:, 0] ** 2
    assert dropped.sum() > 50
    assert np.array_equal(found.correct[dropped], published[dropped])


def test_without_pair_weights_nothing_generalizes() -> None:
    s1 = np.linspace(0, 1 / 3, 50)
    for loss in ("hinge", "squared"):
        found = context_dependence_margin(s1, 0.0, loss=loss)  # type: ignore[arg-type]
        assert not found.correct.any()
        assert (found.value <= 0).all()


def test_single_levels_alone_fall_for_the_shortcut_completely() -> None:
    # Hard margin: context, feature 1 and feature 2 at equal weight fit all seen cells and invert the unseen ones.
    assert context_dependence_margin(1 / 3, 0.0).value == pytest.approx(-1.0)
    task = context_dependence(3)
    gram = dense_gram(task, (1 / 3, 0.0, 0.0))
    fitted = gram @ np.linalg.pinv(gram[task.train]) @ task.target[task.train] * task.target
    closed = context_dependence_margin(1 / 3, 0.0, loss="squared").value
    assert fitted[task.test] == pytest.approx(float(closed))


def test_pure_memory_says_nothing() -> None:
    for loss in ("hinge", "squared"):
        found = context_dependence_margin(0.0, 0.0, loss=loss)  # type: ignore[arg-type]
        assert (float(found.value), bool(found.correct)) == (0.0, False)


def test_what_is_no_kernel_has_no_margin() -> None:
    found = context_dependence_margin([0.3, 0.0, 0.1], [0.3, 0.0, 0.1], [-0.8, 0.0, 0.4])
    assert np.isnan(found.value).tolist() == [True, True, False]
    assert found.correct.tolist() == [False, False, True]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: context_dependence_margin(0.1, 0.1, items=0), "items is 0"),
        (lambda: context_dependence_margin(0.1, 0.1, loss="hinges"), "did you mean 'hinge'"),
    ],
)
def test_bad_arguments_are_named(call: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        call()  # type: ignore[operator]


@pytest.mark.parametrize("loss", ["hinge", "squared"])
@pytest.mark.parametrize("levels", [1, 4])
def test_a_factor_that_never_matters_is_crossed_out(loss: str, levels: int) -> None:
    base = context_dependence(3)
    cells = np.array([[*cell, level] for cell in base.cells.tolist() for level in range(levels)])
    quotient = Quotient.of(cells, np.repeat(base.target, levels), np.repeat(base.train, levels))
    kernels = [OverlapKernel.relu(depth, 4) for depth in (1, 3, 10)]
    exact = solve_kernels(quotient, [kernel.values for kernel in kernels], loss)  # type: ignore[arg-type]
    weights = crossed_out([kernel.salience for kernel in kernels], levels)
    closed = context_dependence_margin(*weights.T, loss=loss)  # type: ignore[arg-type]
    np.testing.assert_allclose(closed.value, exact.margin, atol=1e-9)


def test_what_cannot_be_crossed_out_is_refused() -> None:
    with pytest.raises(InputError, match="orders 1 to C"):
        crossed_out([1.0], 3)
    with pytest.raises(InputError, match="levels is 0"):
        crossed_out([0.5, 0.5], 0)
