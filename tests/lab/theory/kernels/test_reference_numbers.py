"""Published and derived numbers of the kernel theory, each by two routes: the library and matrices written out here.

R1-R20 and the claim numbers are those of the reading notes on Lippl & Stachenfeld (ICLR 2025).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from recombine.lab import tasks
from recombine.lab.tasks import Task
from recombine.theory.kernels.activation_kernels import gaussian_kernel, quadratic_kernel
from recombine.theory.kernels.estimators import KernelClassifier, KernelRegressor
from recombine.theory.kernels.given_kernels import kernel_of_salience, kernel_of_values
from recombine.theory.kernels.leak import anchor_addition, slope
from recombine.theory.kernels.overlap import OverlapKernel
from recombine.theory.kernels.representability import representability
from recombine.theory.kernels.shortcut import context_dependence_margin
from recombine.theory.kernels.solvers.spectrum import Spectrum

Floats = npt.NDArray[np.float64]

#: ReLU depth 3 and rectified quadratic depth 3: the two kernels the paper marks in its phase diagram.
RELU_3 = (0.20350064, 0.09423825)
QUADRATIC_3 = (0.10100758, 0.13911539)


def digits(values: float | Sequence[float], places: int = 6) -> object:
    """Equal when rounding to this many places gives the number as printed."""
    return pytest.approx(values, abs=0.501 * 10.0**-places, rel=0)


def salient(*salience: float) -> OverlapKernel:
    return kernel_of_salience(salience, factors=len(salience) + 1)


def dense_gram(kernel: OverlapKernel, left: npt.NDArray[np.int64], right: npt.NDArray[np.int64]) -> Floats:
    """Sum over conjunctions of weight times agreement, from the salience and not from the kernel's own call."""
    agree = left[:, None] == right[None]
    gram = np.full(agree.shape[:2], kernel.constant)
    for order, weight in enumerate(kernel.salience, start=1):
        for subset in itertools.combinations(range(kernel.factors), order):
            gram += weight * agree[..., list(subset)].all(axis=2)
    return gram


def dense_fit(task: Task, kernel: OverlapKernel, ridge: float = 0.0, intercept: bool = False) -> Floats:
    """Regression of all cells by one linear solve, the intercept by bordering."""
    gram, target = dense_gram(kernel, task.cells, task.cells[task.train]), task.target[task.train]
    border = float(intercept) * np.ones((len(target), 1))
    system = np.block([[gram[task.train] + ridge * np.eye(len(target)), border], [border.T, np.zeros((1, 1))]])
    solution = np.linalg.lstsq(system, np.append(target, 0.0), rcond=1e-12)[0]
    fitted: Floats = gram @ solution[:-1] + intercept * solution[-1]
    return fitted


def dense_hard_margin(task: Task, kernel: OverlapKernel) -> Floats:
    """Hard-margin output on all cells by non-negative least squares on the Cholesky factor."""
    gram, label = dense_gram(kernel, task.cells, task.cells[task.train]), task.target[task.train]
    factor = np.linalg.cholesky(gram[task.train] * np.outer(label, label))
    dual, _ = nnls(factor.T, np.linalg.solve(factor, np.ones(len(label))), maxiter=10_000)
    output: Floats = gram @ (dual * label)
    return output


def regress(task: Task, kernel: OverlapKernel, ridge: float = 0.0, intercept: bool = False) -> Floats:
    """The library's regression of all cells, after checking it against the dense route."""
    model = KernelRegressor(kernel, ridge=ridge, intercept=intercept)
    output: Floats = model.fit(task.cells[task.train], task.target[task.train]).predict(task.cells)
    np.testing.assert_allclose(output, dense_fit(task, kernel, ridge / kernel.spread, intercept), atol=1e-8)
    return output


def margins(task: Task, kernel: OverlapKernel, loss: str) -> Floats:
    """Right answer times the library classifier's output on unseen cells, after checking it against the dense route."""
    model = KernelClassifier(kernel, loss=loss, handle_unknown="ignore").fit(
        task.cells[task.train], task.target[task.train]
    )
    output = model.decision_function(task.cells)
    dense = dense_hard_margin if loss == "hinge" else dense_fit
    np.testing.assert_allclose(output, dense(task, kernel), atol=1e-8)
    unseen: Floats = (output * task.target)[task.test]
    return unseen


def at(task: Task, output: Floats, *cell: int) -> float:
    return float(output[(task.cells == cell).all(axis=1)][0])


def test_r1_to_r6_salience() -> None:
    shallow = OverlapKernel.relu(1, 2)
    assert [shallow.constant, *shallow.salience] == digits([0.466942, 0.426422, 0.147155])
    assert OverlapKernel.relu(5, 2).salience == digits([0.282169, 0.435661])
    deep = OverlapKernel.relu(3, 3)
    assert [deep.constant, *deep.salience] == digits([1.530529, 0.203501, 0.094238, 0.106783])
    assert quadratic_kernel(2, 3).salience == digits([0.146891, 0.141077, 0.136094])
    assert gaussian_kernel(10, 4).salience == digits([0.014461, 0.039430, 0.058895, 0.469995])
    assert OverlapKernel.ntk(1, 2).salience == digits([0.371068, 0.257864])
    assert OverlapKernel.ntk(2, 3).salience == digits([0.171232, 0.091317, 0.212351])


def test_marked_kernels_are_the_ones_the_paper_names() -> None:
    assert OverlapKernel.relu(3, 3).salience[:2] == digits(RELU_3, places=8)
    assert quadratic_kernel(3, 3).salience[:2] == digits(QUADRATIC_3, places=8)


def fitted_line(task: Task, output: Floats) -> tuple[float, float, float]:
    """Slope, offset and largest departure from the line over unseen cells."""
    truth, found = task.target[task.test], output[task.test]
    rise, offset = np.polyfit(truth, found, 1)
    return float(rise), float(offset), float(np.abs(found - rise * truth - offset).max())


ZERO_MEAN_ANCHORS = {1: [4], 2: [0, 8], 3: [0, 4, 8], 4: [0, 2, 6, 8], 5: [0, 2, 4, 6, 8]}


@pytest.mark.parametrize(("p", "expected"), [(1, 0.743443), (2, 0.852845), (3, 0.896836), (4, 0.920579)])
def test_r7_leak_slopes_of_one_relu_layer(p: int, expected: float) -> None:
    kernel = OverlapKernel.relu(1, 2)
    assert float(slope(kernel.salience[0], p)) == digits(expected)
    task = tasks.symbolic_addition(anchors=ZERO_MEAN_ANCHORS[p])
    assert fitted_line(task, regress(task, kernel))[0] == digits(expected)


def test_r8_to_r11_uneven_anchors() -> None:
    task, values = tasks.symbolic_addition(anchors=[0]), np.arange(9) - 4.0
    output = regress(task, salient(0.4))
    assert [at(task, output, *cell) for cell in ((1, 1), (8, 8), (1, 8))] == digits([-4.860215, 4.473118, -0.193548])
    free = regress(task, salient(0.4), intercept=True)
    assert [at(task, free, 1, 1), at(task, free, 8, 8)] == digits([-5.980952, 3.352381])
    relu = OverlapKernel.relu(1, 2)
    network = regress(task, relu)
    assert [at(task, network, 1, 1), at(task, network, 8, 8)] == digits([-5.868462, 4.539741])
    closed = anchor_addition(values, [0], float(relu.salience[0]), constant=relu.constant)
    np.testing.assert_allclose(closed.predictions.reshape(-1), network, atol=1e-9)
    central = tasks.symbolic_addition(anchors=[4])
    assert fitted_line(central, regress(central, salient(0.3), ridge=0.1))[0] == digits(0.375)
    assert anchor_addition(values, [4], 0.3, ridge=0.1).slopes[0] == digits(0.375)


@given(salience=st.floats(0.02, 0.48), p=st.integers(1, 5), shift=st.floats(-3, 3), constant=st.floats(0, 2))
def test_claims_4_and_5_the_slope_is_the_law_whatever_the_means(
    salience: float, p: int, shift: float, constant: float
) -> None:
    kernel = kernel_of_salience([salience, 1 - 2 * salience], constant=constant)
    law = float(slope(salience, p))
    even = tasks.symbolic_addition(anchors=ZERO_MEAN_ANCHORS[p])
    assert fitted_line(even, regress(even, kernel)) == pytest.approx((law, 0.0, 0.0), abs=1e-8)
    uneven = tasks.symbolic_addition(values=np.arange(9) + shift, anchors=range(p))
    rise, _, bend = fitted_line(uneven, regress(uneven, kernel))
    assert (rise, bend) == pytest.approx((law, 0.0), abs=1e-8)


@settings(max_examples=15, deadline=None)
@given(salience=st.floats(0.0, 0.5), ridge=st.sampled_from([0.0, 0.1]), free=st.booleans(), anchor=st.integers(0, 8))
def test_closed_form_and_estimator_agree(salience: float, ridge: float, free: bool, anchor: int) -> None:
    task = tasks.symbolic_addition(anchors=[anchor, 3])
    closed = anchor_addition(np.arange(9) - 4, [anchor, 3], salience, ridge=ridge, intercept=free)
    output = regress(task, salient(salience), ridge, free)
    np.testing.assert_allclose(closed.predictions.reshape(-1), output, atol=1e-9)


@pytest.mark.parametrize("salience", [0.1, 0.25, 0.45])
def test_claim_6_interpolation_is_no_easier_than_extrapolation(salience: float) -> None:
    lines = []
    for anchors in ([0, 8], [3, 5], [2, 6]):
        task = tasks.symbolic_addition(anchors=anchors)
        lines.append(fitted_line(task, regress(task, salient(salience)))[0])
    assert lines == pytest.approx([lines[0]] * 3, abs=1e-8)


def dispersed_error(salience: float, seed: int, epsilon: float | None = None) -> float:
    task = tasks.dispersed_addition(seed=seed)
    model = KernelRegressor(salient(salience), epsilon=epsilon).fit(task.cells[task.train], task.target[task.train])
    miss = model.predict(task.cells[task.test]) - task.target[task.test]
    return float(np.mean(miss**2))


def test_r12_dispersed_addition() -> None:
    assert [dispersed_error(salience, seed=1) for salience in (0.3, 0.45)] == digits([3.792571, 1.081716])


@pytest.mark.parametrize(
    ("salience", "exact", "tube"),
    [
        (0.0, 13.227937, 13.2282),
        (0.1, 9.563902, 9.6361),
        (0.2, 7.052915, 7.1658),
        (0.3, 5.063567, 5.2075),
        (0.4, 3.079513, 3.2719),
        (0.45, 1.760275, 2.0231),
        (0.49, 0.243260, 0.5383),
        (0.5, 0.0, 0.1214),
    ],
)
def test_claim_17_dispersed_curve_exact_and_as_published(salience: float, exact: float, tube: float) -> None:
    seeds = range(1, 51)
    assert np.mean([dispersed_error(salience, seed) for seed in seeds]) == pytest.approx(exact, abs=1e-5)
    assert np.mean([dispersed_error(salience, seed, epsilon=0.1) for seed in seeds]) == pytest.approx(tube, abs=2e-3)


@pytest.mark.parametrize(
    ("salience", "loss", "expected"),
    [
        (RELU_3, "hinge", (-0.216690, 0.595683, 0.785018)),
        (RELU_3, "squared", (0.522309, 0.692402, 0.785018)),
        (QUADRATIC_3, "hinge", (0.187542,)),
        (QUADRATIC_3, "squared", (0.353220,)),
        ((0.05, 0.02), "hinge", (-0.151592, -0.007935, 0.079732)),
    ],
    ids=["R13", "R14", "R15-hinge", "R15-squared", "R16"],
)
def test_r13_to_r16_context_dependence(salience: tuple[float, float], loss: str, expected: tuple[float, ...]) -> None:
    for left_out, margin in zip((3, 2, 1), expected, strict=False):
        found = margins(tasks.context_dependence(left_out), salient(*salience), loss)
        assert found.tolist() == digits([margin] * len(found))
    closed = context_dependence_margin(*salience, loss=loss)  # type: ignore[arg-type]
    assert float(closed.value) == digits(expected[0])
    assert bool(closed.all_support) == (loss == "squared" or salience == (0.05, 0.02))


def test_r17_ordering() -> None:
    task = tasks.transitive_ordering(7)
    output = regress(task, salient(0.25))
    pairs = ((0, 2), (2, 4), (0, 3), (0, 6))
    assert [at(task, output, *pair) for pair in pairs] == digits([0.341463, 0.048780, 0.365854, 0.731707])


@pytest.mark.parametrize("salience", [0.01, 0.1, 0.25, 0.4, 0.49])
def test_claim_10_ordering_shows_a_symbolic_distance_effect(salience: float) -> None:
    task = tasks.transitive_ordering(7)
    unseen = margins(task, salient(salience), "squared")
    gap = np.abs(np.diff(task.cells[task.test], axis=1)[:, 0])
    by_distance = [unseen[gap == distance].mean() for distance in range(2, 7)]
    assert unseen.min() > 0
    assert (np.diff(by_distance) > 0).all()


@pytest.mark.parametrize("overlap", [0.1, 0.3, 0.45])
def test_r18_invariance_and_partial_exposure(overlap: float) -> None:
    kernel = kernel_of_values([0.0, overlap, 1.0])
    ratio = {"invariance": overlap / (1 - overlap), "partial exposure": 2 * overlap**2 / (1 - 2 * overlap**2)}
    for task in (tasks.invariance(), tasks.partial_exposure()):
        found = margins(task, kernel, "squared")
        assert found.tolist() == pytest.approx([ratio[task.name]] * len(found), abs=1e-9)
    if overlap == 0.3:
        assert list(ratio.values()) == digits([0.428571, 0.219512])


def test_r19_spectrum_of_the_full_grid() -> None:
    kernel, sizes = kernel_of_salience([0.2, 0.1, 0.1]), (2, 6, 6)
    spectrum = Spectrum.of(kernel, sizes)
    parts = [(), (0,), (1,), (0, 1), (1, 2), (0, 1, 2)]
    assert [spectrum[part] for part in parts] == pytest.approx([13.5, 8.5, 3.3, 0.7, 0.3, 0.1], abs=1e-9)
    cells = np.array(list(itertools.product(*map(range, sizes))))
    dense = np.linalg.eigvalsh(dense_gram(kernel, cells, cells)) * kernel.spread
    closed = np.repeat(spectrum.eigenvalues.reshape(-1), spectrum.multiplicities.reshape(-1).astype(int))
    np.testing.assert_allclose(np.sort(closed), dense, atol=1e-9)


EQUIVALENCE = [
    tasks.transitive_equivalence([2, 2], [1, 1]),
    tasks.transitive_equivalence([5, 5], [1, 1]),
    tasks.transitive_equivalence([5, 5], [4, 4]),
    tasks.six_item_equivalence(),
]


@pytest.mark.parametrize("task", EQUIVALENCE, ids=repr)
@pytest.mark.parametrize("loss", ["hinge", "squared"])
def test_r20_claim_9_kernels_know_nothing_about_unseen_equivalence(task: Task, loss: str) -> None:
    for kernel in (salient(0.1), salient(0.4), OverlapKernel.relu(2, 2), OverlapKernel.ntk(1, 2)):
        assert np.abs(margins(task, kernel, loss)).max() < 1e-9


@pytest.mark.parametrize(
    ("depth", "hinge", "squared"),
    [(1, -0.5589, 0.7951), (2, -0.3436, 0.6356), (3, -0.2167, 0.5223), (5, -0.0775, 0.3701), (10, 0.0478, 0.1759)],
)
def test_claim_12_networks_take_the_shortcut_under_hard_margin_only(depth: int, hinge: float, squared: float) -> None:
    task, kernel = tasks.context_dependence(3), OverlapKernel.relu(depth, 3)
    for loss, expected in (("hinge", hinge), ("squared", squared)):
        # The constant conjunction drops out: the design is balanced, so leaving S0 in must not matter.
        found = margins(task, kernel, loss)
        assert found.tolist() == digits([expected] * 18, places=4)
        closed = context_dependence_margin(*kernel.salience, loss=loss)  # type: ignore[arg-type]
        assert found == pytest.approx(float(closed.value), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["hinge", "squared"])
def test_claim_11_phase_diagram(loss: str) -> None:
    axis = (np.arange(10) + 1 / 3) / 30
    for s1, s2 in itertools.product(axis, repeat=2):
        if s1 + s2 >= 1 / 3:
            continue
        right = []
        for left_out in (3, 2, 1):
            accuracy = (margins(tasks.context_dependence(left_out), salient(s1, s2), loss) > 0).mean()
            assert accuracy in (0.0, 1.0)
            right.append(bool(accuracy))
        assert right == sorted(right), "solving CD-k implies solving every easier one"
        assert right[0] == context_dependence_margin(s1, s2, loss=loss).correct  # type: ignore[arg-type]


@pytest.mark.parametrize("loss", ["hinge", "squared"])
def test_claim_18_high_accuracy_is_no_evidence_of_representability(loss: str) -> None:
    task = tasks.context_substitution()
    assert representability(task.cells, task.train, task.target).kind == "neither"
    for kernel in (OverlapKernel.relu(1, 3), OverlapKernel.relu(3, 3), salient(*QUADRATIC_3)):
        found = margins(task, kernel, loss)
        _, f1, f2 = task.cells[task.test].T
        # Where neither feature was seen with the context and the two disagree, the kernel has nothing to go by.
        blind = np.isin(f1, (0, 3)) & np.isin(f2, (0, 3)) & (f1 != f2)
        assert blind.sum() == 4
        assert np.abs(found[blind]).max() < 1e-9
        assert found[~blind].min() > 0.1
