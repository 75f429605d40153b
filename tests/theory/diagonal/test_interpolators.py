"""Interpolators of least penalty: published numbers, optimality conditions, limits, and gradient flow itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from recombine.errors import InputError, SolverError
from recombine.theory.diagonal.flow import Weights, decayed_limit, gradient_descent, gradient_flow
from recombine.theory.diagonal.generalization import predict
from recombine.theory.diagonal.interpolators import least_l1, least_potential, least_squares_from
from recombine.theory.diagonal.penalties import Potential, pretrained_weights

X = np.cos(np.outer(np.arange(1, 4), np.arange(1, 7)))

Y = np.array([1.0, -0.5, 0.25])

B = np.array([1.0, -0.7, 0.0, 0.0, 0.4, 0.0])

X1 = np.cos(np.outer(np.arange(1, 5), np.arange(1, 7)))

X2 = np.sin(np.outer(np.arange(1, 4), np.arange(1, 7)) + 1)

TASKS = [(X1, X1 @ B), (X2, Y)]

#: alpha -> coefficients, potential and l1 norm of a single task.
SINGLE = {
    1.0: ((0.174735, 0.014857, -0.535565, -0.144233, 0.162457, 0.251214), 0.10652071, 1.283061),
    0.1: ((0.168033, -0.047927, -0.596325, -0.167488, 0.073211, 0.175662), 2.9943735, 1.228645),
    0.01: ((0.172939, -0.018772, -0.608528, -0.236466, 0.013776, 0.143557), 8.4456367, 1.194037),
    0.001: ((0.145587, -0.006305, -0.614959, -0.287016, 0.002131, 0.126749), 13.912853, 1.182746),
}

#: (alpha, m, gamma, form) -> coefficients and potential after pretraining to B.
FINETUNED = {
    (1e-3, 1.0, 1e-3, "exact"): ((0.517844, 0.003394, -0.581270, -1.4758e-5, -0.135415, 0.192226), 9.5736563),
    (0.1, 1.0, 0.2, "exact"): ((0.276031, -0.040126, -0.549836, -0.018876, 0.119484, 0.253701), 1.5017329),
    (0.1, 0.3, 0.05, "exact"): ((0.292420, -0.074734, -0.585985, -0.024310, 0.052293, 0.208359), 4.1584977),
    (1e-3, 0.1, 1e-4, "exact"): ((0.369327, -0.050204, -0.578114, -1.4414e-5, 0.005654, 0.214147), 14.762427),
    (1e-3, 1.0, 1e-3, "symmetric"): ((0.799665, 0.133149, -0.564351, -6.929e-6, -0.371999, 0.177221), 9.8689291),
}


@pytest.mark.parametrize("alpha", SINGLE)
def test_single_task_has_its_reference_answer(alpha: float) -> None:
    beta, objective, l1 = SINGLE[alpha]
    found = least_potential(X, Y, Potential.single_task(6, alpha))
    assert found.value == pytest.approx(beta, abs=6e-7)
    assert found.objective == pytest.approx(objective, rel=1e-7)
    assert np.abs(found.value).sum() == pytest.approx(l1, abs=6e-7)
    assert found.residual < 1e-10


@pytest.mark.parametrize("setting", FINETUNED)
def test_finetuning_has_its_reference_answer(setting: tuple[float, float, float, str]) -> None:
    beta, objective = FINETUNED[setting]
    found = least_potential(X, Y, Potential.finetuned(B, *setting))
    assert found.value == pytest.approx(beta, abs=6e-7)
    assert found.objective == pytest.approx(objective, rel=1e-7)


def test_limits_have_their_reference_answers() -> None:
    sparse, short = least_l1(X, Y), least_squares_from(X, Y, np.zeros(6), np.ones(6))
    assert sparse.value == pytest.approx((0, 0, -0.647056, -0.453643, 0, 0.065508), abs=6e-7)
    assert sparse.objective == pytest.approx(1.166207, abs=6e-7)
    assert short.value == pytest.approx((0.175178, 0.016269, -0.534577, -0.144283, 0.163363, 0.252293), abs=6e-7)
    assert short.objective**0.5 == pytest.approx(0.654126, abs=6e-7)
    probe = predict(X, least_l1(X, Y).value, method="pt+ft probe", auxiliary=B)
    assert probe.beta == pytest.approx((7.563085, 3.440712, -4.0493e-4, -7.1405e-5, -5.835518, 3.7259e-4), rel=2e-5)


@pytest.mark.parametrize(("hidden", "readout"), [(1.0, 1.0), (0.5, 0.5), (0.1, 0.1), (0.1, 0.5)])
def test_single_task_flow_ends_where_the_solver_says(hidden: float, readout: float) -> None:
    start = Weights.alike(6, hidden, readout)
    end = gradient_flow([(X, Y)], start)
    found = least_potential(X, Y, Potential.single_task(6, hidden, readout))
    assert np.abs(end.beta[:, 0] - found.value).max() < 1e-8
    assert np.abs(end.conserved - start.conserved).max() < 1e-9


@pytest.mark.parametrize("setting", [setting for setting in FINETUNED if setting[3] == "exact"])
def test_finetuning_flow_ends_where_the_exact_form_says(setting: tuple[float, float, float, str]) -> None:
    alpha, m, gamma, _ = setting
    start = Weights(m * np.stack(pretrained_weights(B, alpha)), np.full((2, 6, 1), gamma))
    end = gradient_flow([(X, Y)], start)
    exact, symmetric = (
        least_potential(X, Y, Potential.finetuned(B, alpha, m, gamma, form)) for form in ("exact", "symmetric")
    )
    assert np.abs(end.beta[:, 0] - exact.value).max() < 1e-8
    if setting == (1e-3, 1.0, 1e-3, "exact"):
        assert np.abs(end.beta[:, 0] - symmetric.value).max() > 0.1


def test_pretraining_itself_ends_at_the_pretrained_weights() -> None:
    wide = np.vstack([X1, X2])[:, :6]
    end = gradient_flow([(wide, wide @ B)], Weights.alike(6, 0.1))
    assert end.hidden == pytest.approx(np.stack(pretrained_weights(B, 0.1)), abs=1e-8)
    assert end.readouts[:, :, 0] == pytest.approx(end.hidden, abs=1e-8)


def test_flow_from_two_equal_paths_ends_where_the_symmetric_form_says() -> None:
    root = np.sqrt(np.abs(B))
    end = gradient_flow([(X, Y)], Weights(np.stack([root, root]), np.full((2, 6, 1), 1e-3)))
    found = least_potential(X, Y, Potential.finetuned(B, 1e-3, 1.0, 1e-3, "symmetric"))
    assert np.abs(end.beta[:, 0] - found.value).max() < 1e-8


def potential_of_weights(
    w_plus: npt.ArrayLike, w_minus: npt.ArrayLike, v_plus: npt.ArrayLike, v_minus: npt.ArrayLike
) -> Potential:
    """The potential of a network from its weights (D,) at the start of training, whatever they are."""
    wp, wm, vp, vm = np.broadcast_arrays(*map(np.atleast_1d, (w_plus, w_minus, v_plus, v_minus)))
    grows, shrinks = ((wp + vp) ** 2 + (wm - vm) ** 2) / 4, ((wp - vp) ** 2 + (wm + vm) ** 2) / 4
    return Potential(2 * np.sqrt(grows * shrinks), wp * vp - wm * vm)


def test_flow_from_any_weights_ends_at_the_potential_of_those_weights() -> None:
    rng = np.random.default_rng(1)
    start = Weights(rng.standard_normal((2, 6)), rng.standard_normal((2, 6, 1)))
    end = gradient_flow([(X, Y)], start)
    potential = potential_of_weights(*start.hidden, *start.readouts[:, :, 0])
    assert np.abs(end.beta[:, 0] - least_potential(X, Y, potential).value).max() < 1e-8


def test_discrete_steps_drift_from_what_is_conserved_in_proportion_to_their_size() -> None:
    start = Weights.alike(6, 0.1, 0.5)
    drift = [
        np.abs(gradient_descent([(X, Y)], start, rate, round(40 / rate)).conserved - start.conserved).max()
        for rate in (0.02, 0.01, 0.005)
    ]
    assert drift[0] / drift[1] == pytest.approx(2, rel=0.1)
    assert drift[1] / drift[2] == pytest.approx(2, rel=0.1)


@pytest.mark.parametrize("seed", range(3))
def test_the_answer_meets_the_conditions_of_a_minimum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    inputs, truth = rng.standard_normal((20, 100)), rng.standard_normal(100)
    potential = Potential(10.0 ** rng.uniform(-8, 1, 100), rng.standard_normal(100))
    found = least_potential(inputs, inputs @ truth, potential)
    slope = np.arcsinh(found.value / potential.k) - potential.tilt
    # The slope of the potential must be a combination of the samples, or one could descend without leaving the fit.
    left = slope - inputs.T @ np.linalg.lstsq(inputs.T, slope, rcond=None)[0]
    assert np.abs(left).max() < 1e-8 * np.abs(slope).max()


def test_nothing_to_learn_leaves_a_network_where_it_starts() -> None:
    start = np.array([1.0, -1.0, 0.0])
    found = least_potential([[1.0, 1.0, 0.0]], [0.0], Potential(np.full(3, 0.1), start))
    assert found.value == pytest.approx(start)
    assert np.all(least_potential([[1.0, 1.0]], [0.0], Potential.single_task(2, 0.1)).value == 0)


@pytest.mark.slow
def test_the_relative_entropy_program_has_the_same_answer() -> None:
    cvxpy = pytest.importorskip("cvxpy")
    potential = Potential.finetuned(B, 0.1, 1.0, 0.2)
    up, down = cvxpy.Variable(6), cvxpy.Variable(6)
    cost = cvxpy.sum(cvxpy.kl_div(up, potential.k / 2) + cvxpy.kl_div(down, potential.k / 2)) - potential.tilt @ (
        up - down
    )
    problem = cvxpy.Problem(cvxpy.Minimize(cost), [X @ (up - down) == Y])
    problem.solve(solver="CLARABEL")
    found = least_potential(X, Y, potential)
    assert found.objective == pytest.approx(problem.value, abs=1e-6)
    assert found.value == pytest.approx(up.value - down.value, abs=1e-4)  # the cone solver's accuracy


def test_large_weights_give_the_shortest_answer_and_tiny_ones_nearly_the_sparsest() -> None:
    short, sparse = least_squares_from(X, Y, np.zeros(6), np.ones(6)), least_l1(X, Y)
    assert least_potential(X, Y, Potential.single_task(6, 1e3)).value == pytest.approx(short.value, abs=1e-8)
    gaps = [
        float(np.abs(least_potential(X, Y, Potential.single_task(6, alpha)).value).sum()) - sparse.objective
        for alpha in (1e-2, 1e-6, 1e-20, 1e-80)
    ]
    assert gaps == sorted(gaps, reverse=True)
    assert 0 < gaps[-1] < 0.005 * sparse.objective


def test_small_scaling_is_weighted_basis_pursuit() -> None:
    gaps = []
    for m in (1e-1, 1e-2, 1e-3, 1e-4):
        potential = Potential.finetuned(B, 1e-3, m, m * 1e-3)
        prices = np.log(1 / potential.k)
        cost = prices @ np.abs(least_potential(X, Y, potential).value)
        gaps.append(cost / least_l1(X, Y, prices).objective - 1)
    assert np.array(gaps) == pytest.approx([0.0063, 0.0028, 0.0013, 0.0006], abs=1e-4)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: least_potential(np.eye(3), np.ones(3), Potential.single_task(2, 1.0)), InputError, r"give \(n, 2\)"),
        (lambda: least_potential(np.ones((3, 2)), np.ones(3), Potential.single_task(2, 1.0)), InputError, "at most 2"),
        (
            lambda: least_potential([[np.nan, 1]], [1.0], Potential.single_task(2, 1.0)),
            InputError,
            "inputs are not all finite",
        ),
        (lambda: least_potential(np.ones((2, 3)), [1.0, 2.0], Potential.single_task(3, 1.0)), SolverError, "dependent"),
        (lambda: least_l1([[0.0, 0.0]], [1.0]), SolverError, "can be reached"),
        (lambda: gradient_flow([(X, Y)], Weights.alike(5, 0.1)), InputError, r"give \(n, 5\)"),
        (
            lambda: gradient_flow([(np.zeros((1, 2)), [1.0])], Weights.alike(2, 0.1)),
            InputError,
            "task 0 cannot be reached",
        ),
        (lambda: gradient_flow([(X.T, np.arange(6.0))], Weights.alike(3, 0.1)), InputError, "no coefficients of the 3"),
        (lambda: gradient_flow([(X, Y)], Weights.alike(6, 0.0)), InputError, "all weights are zero at the start"),
        (lambda: least_potential(X, Y, "P"), InputError, "potential is 'P'; give a Potential"),
        (lambda: least_l1(X, Y, np.ones(3)), InputError, "give 6 numbers"),
        (lambda: least_l1(X, Y, [1, 1, -2, 1, 1, 1]), InputError, r"^prices\[2\] is -2; give numbers above 0$"),
        (
            lambda: least_squares_from(X, Y, np.zeros(6), -np.eye(6)[1]),
            InputError,
            r"^weights\[1\] is -1; give numbers",
        ),
        (lambda: least_l1(X, Y, np.full(6, np.nan)), InputError, "prices are not all finite"),
        (lambda: least_l1(3.0, [1.0]), InputError, "inputs have shape"),
        (lambda: least_squares_from(X, Y, 0.0, 1.0), InputError, "start has shape"),
        (lambda: least_squares_from(X, Y, np.zeros(6), np.full(6, np.nan)), InputError, "weights are not all finite"),
        (lambda: least_squares_from(X, Y, np.zeros(6), np.eye(6)[0]), SolverError, "give more of them a size"),
        (lambda: gradient_flow([(np.full((1, 2), np.nan), [1.0])], Weights.alike(2, 0.1)), InputError, "of task 0"),
        (lambda: gradient_flow([(X, Y)], Weights(np.ones((2, 6)), np.ones((2, 5, 1)))), InputError, "readouts"),
        (lambda: gradient_descent([(10 * X, Y)], Weights.alike(6, 1.0), 10.0, 50), SolverError, "diverged"),
        (lambda: gradient_descent([(X, Y)], Weights.alike(6, 1.0), np.nan, 5), InputError, "rate is nan"),
        (lambda: gradient_descent([(X, Y)], Weights.alike(6, 1.0), 0.1, -5), InputError, "steps is -5"),
        (lambda: decayed_limit([]), InputError, "no task"),
        (lambda: decayed_limit(TASKS, smallest=0.0), InputError, "smallest is 0"),
        (lambda: decayed_limit(TASKS, smallest=1.0), InputError, "at most 0.01"),
    ],
)
def test_bad_input_is_named(call: Callable[[], object], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()
