"""Largest margins under each norm: known values, certificates, an outside conic solver, infeasible problems."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import LinearSVC

from recombine.errors import InputError, SolverError
from recombine.lab.worlds.gated_problems import gated_problem
from recombine.theory.gated.conic import largest_margin_by_cones
from recombine.theory.gated.contexts import HalfSpaces
from recombine.theory.gated.features import context_indicators
from recombine.theory.gated.machine import NotSeparableError, UndecidedError, inseparability_certificate, machine_for
from recombine.theory.gated.margin import largest_margin

KNOWN = {
    ("toy", "group"): 7.665719,
    ("toy", "published group"): 7.710847,
    ("toy", "zeta"): 30.268285,
    ("toy", "one-layer"): 58.053628,
    ("toy", "frozen"): 12.920444,
    ("G1", "group"): 11.792589,
    ("G1", "published group"): 12.096077,
    ("G1", "zeta"): 52.657818,
    ("G1", "one-layer"): 134.023775,
    ("G1", "frozen"): 17.874491,
}


def solved(name, norm, route=largest_margin, **options):
    given = gated_problem(name)
    return route(given.X, given.y, given.gates if norm == "frozen" else given.ids, contexts=2, norm=norm, **options)


@pytest.mark.parametrize(("name", "norm"), KNOWN)
def test_known_values(name, norm):
    found = solved(name, norm)
    assert found.value == pytest.approx(KNOWN[name, norm], abs=1e-6)
    assert abs(found.gap) < 1e-8


@pytest.mark.parametrize(("name", "value"), [("toy", 73.273028), ("G1", 317.385546)])
def test_the_effective_norm_is_the_mean_over_joint_contexts(name, value):
    found, given = solved(name, "effective"), gated_problem(name)
    contexts = 2 ** given.ids.shape[1]
    assert found.value * contexts == pytest.approx(value, abs=1e-6)
    # Weights by unit and context represent the same function, at the same cost by the closed form.
    assert found.gating.transform is not None
    zeta = (found.gating.transform @ found.zeta).reshape(-1, 2, given.X.shape[1])
    units, contexts, _ = zeta.shape
    within = contexts * ((zeta - zeta.mean(axis=1, keepdims=True)) ** 2).sum()
    squares = contexts ** (units - 2.0) * (within + (zeta.sum(axis=(0, 1)) ** 2).sum())
    assert squares == pytest.approx(value, abs=1e-5)
    by_unit = np.einsum("nr,nr->n", context_indicators(given.ids, 2), given.X @ zeta.reshape(-1, given.X.shape[1]).T)
    assert found.decision(given.X, given.ids) == pytest.approx(by_unit)


def test_weights_of_the_toy():
    found = solved("toy", "group")
    expected = [
        [-1.591132, 0.541979, -0.656164],
        [2.086881, -0.414612, -1.306388],
        [0.016329, -2.746703, -1.272970],
        [0.721567, 2.936282, -1.648184],
    ]
    assert found.zeta == pytest.approx(np.array(expected), abs=2e-6)
    assert found.group_norms == pytest.approx([3.080523, 4.585196], abs=1e-6)
    assert found.support.tolist() == [3, 5, 6, 7, 8, 11, 13, 14, 15]
    assert found.dual.sum() == pytest.approx(7.665719, abs=1e-6)


def test_effective_weights_of_the_toy():
    found = solved("toy", "effective")
    corners = {(0, 0): (-1.574803, -2.204724, -1.929134), (0, 1): (-0.869565, 3.478261, -2.304348)}
    corners |= {(1, 0): (2.103211, -3.161316, -2.579358), (1, 1): (2.808449, 2.521670, -2.954572)}
    for corner, weights in corners.items():
        assert found.decision(np.eye(3), np.tile(corner, (3, 1))) == pytest.approx(weights, abs=2e-6)


def test_separate_machines_of_the_toy():
    found = solved("toy", "one-layer")
    expected = [
        (-2.028576, -1.792203, -1.830129),
        (-0.869565, 3.478261, -2.304348),
        (3.067520, -1.554133, -2.386496),
        (1.538462, 2.307692, -2.0),
    ]
    assert found.zeta == pytest.approx(np.array(expected), abs=2e-6)
    given = gated_problem("toy")
    for unit, value in ((0, 577.947070), (1, 84.018851)):
        one = largest_margin(given.X, given.y, given.ids[:, [unit]], contexts=2, norm="one-layer")
        assert one.value == pytest.approx(value, abs=1e-5)


def test_g1_switches_a_unit_off():
    found = solved("G1", "group", tolerance=1e-12)
    assert found.group_norms[0] == 0
    assert found.tight.tolist() == [False, True, True]
    assert found.pressure[0] == pytest.approx(0.893566, abs=1e-5)
    assert found.group_norms == pytest.approx([0, 9.872977, 1.919612], abs=2e-6)
    assert found.support.tolist() == [1, 3, 4, 6, 8]
    expected = [
        [6.874327, 3.516989, -5.740663],
        [0.775438, 0.413518, 2.030434],
        [1.626534, 0.248707, -0.825502],
        [-0.139191, 0.515512, 0.104127],
    ]
    assert found.zeta[2:] == pytest.approx(np.array(expected), abs=2e-5)


def test_the_published_grouping_solves_another_problem():
    for name, true_norm in (("toy", 7.756487), ("G1", 12.755238)):
        found = solved(name, "published group")
        # Rows are ordered unit by unit; read in column-major order, a group holds contexts of different units.
        squares = (found.zeta**2).sum(axis=1)
        right, published = (squares.reshape((gated_problem(name).ids.shape[1], -1), order=order) for order in "CF")
        assert np.sqrt(published.sum(axis=1)).sum() == pytest.approx(found.value)
        # The minimiser is hardly unique, so its true norm is known less well than its value.
        assert np.sqrt(right.sum(axis=1)).sum() == pytest.approx(true_norm, abs=5e-4)


@pytest.mark.parametrize("name", ["toy", "G1"])
@pytest.mark.parametrize("norm", ["group", "published group", "effective", "zeta", "one-layer", "frozen"])
def test_the_conic_solver_agrees(name, norm):
    ours, theirs = solved(name, norm), solved(name, norm, largest_margin_by_cones)
    assert ours.norm == pytest.approx(theirs.norm, rel=1e-7)
    given = gated_problem(name)
    ids = given.gates if norm == "frozen" else given.ids
    if norm not in ("frozen", "published group"):
        assert ours.decision(given.X, ids) == pytest.approx(theirs.decision(given.X, ids), abs=2e-3)


def largest_violation(found, X, y, ids):
    """Largest violation of the optimality conditions: constraints, margins, stationarity, slackness."""
    features = found.gating.features(ids)
    u = (features * (found.dual * y)[:, None]).T @ X
    norms = np.bincount(found.gating.group, (u**2).sum(axis=1)) ** 0.5
    margins = y * found.decision(X, ids)
    aligned = found.zeta - found.group_norms[found.gating.group, None] * u
    slack = found.dual * (margins - 1) / found.dual.max()
    return max(norms.max() - 1, 1 - margins.min(), np.abs(aligned).max() / found.norm, np.abs(slack).max())


@given(seed=st.integers(0, 10_000), units=st.integers(1, 6), bits=st.integers(1, 2), extra=st.integers(0, 4))
def test_random_problems_come_with_a_certificate(seed, units, bits, extra):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(8 + extra, 6))
    y = np.where(rng.random(len(X)) < 0.5, -1.0, 1.0)
    contexts = HalfSpaces.balanced(units, bits, X, seed)
    ids = contexts.ids(X)
    try:
        found = largest_margin(X, y, ids, contexts=contexts.contexts)
    except NotSeparableError:
        with pytest.raises(NotSeparableError):
            largest_margin_by_cones(X, y, ids, contexts=contexts.contexts)
        return
    assert abs(found.gap) <= 1e-6
    assert largest_violation(found, X, y, ids) < 1e-4
    assert found.bounds[0] <= found.dual.sum() + 1e-9


def test_a_finite_price_is_a_squared_hinge():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 4)), np.where(rng.random(60) < 0.5, -1.0, 1.0)
    found = largest_margin(X, y, np.zeros((60, 1), int), contexts=1, norm="zeta", C=3.0)
    # One group: the norm itself is penalised here and its square there, so prices differ by the norm.
    machine = LinearSVC(C=3.0 / 2 * found.norm, fit_intercept=False, loss="squared_hinge", tol=1e-10, max_iter=100_000)
    assert found.zeta[0] == pytest.approx(machine.fit(X, y).coef_[0], abs=1e-5)
    assert abs(found.gap) < 1e-6


def test_problems_without_a_hard_margin_say_so():
    given = gated_problem("toy")
    for route in (largest_margin, largest_margin_by_cones):
        with pytest.raises(NotSeparableError, match="no hard margin"):
            route(given.X, given.y, np.zeros((16, 1), int), contexts=2)
    with pytest.raises(UndecidedError):
        machine_for(np.zeros((3, 3)))
    soft = largest_margin(given.X, given.y, np.zeros((16, 1), int), contexts=2, C=10.0)
    assert abs(soft.gap) < 1e-6


def product_labels(samples=60):
    """Signs of x1 x2, which twenty units separate, and the contexts of those units on inputs as they are."""
    X = np.random.default_rng(0).normal(size=(samples, 3))
    biased = np.column_stack([X, np.ones(samples)])
    return biased, np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0), HalfSpaces.balanced(20, 1, biased, 0).ids(biased)


#: Linear maps of the inputs: none of them changes what can be separated.
SCALES = {
    "offset": np.eye(4) + 1e5 * np.eye(4)[3][:, None] * [1, 1, 1, 0],
    "far offset": np.eye(4) + 1e7 * np.eye(4)[3][:, None] * [1, 1, 1, 0],
    "tiny": np.diag([1e-8, 1e-8, 1e-8, 1.0]),
    "one huge": np.diag([1.0, 1.0, 1e6, 1.0]),
}


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("norm", ["group", "effective", "one-layer"])
def test_not_separable_is_said_of_inseparable_samples_only(scale, norm):
    X, y, ids = product_labels()
    assert largest_margin(X, y, ids, contexts=2, norm=norm).gap < 1e-4
    moved = X @ SCALES[scale]
    with pytest.raises(UndecidedError, match="centre and scale"):
        largest_margin(moved, y, ids, contexts=2, norm=norm)
    # One sample with the other label once more: nothing separates the two, whatever the scale.
    with pytest.raises(NotSeparableError):
        largest_margin(np.vstack([moved, moved[:1]]), [*y, -y[0]], np.vstack([ids, ids[:1]]), contexts=2, norm=norm)


def test_inputs_that_rounding_has_nearly_lost_are_not_called_inseparable():
    X, y, ids = product_labels()
    with pytest.raises(UndecidedError, match="centre and scale"):
        largest_margin(X + np.array([1e13, 1e13, 0.0, 0.0]), y, ids, contexts=2)


def test_a_certificate_against_a_margin():
    given = gated_problem("toy")
    signed = given.X * given.y[:, None]
    shares = inseparability_certificate(signed @ signed.T)
    assert shares.min() >= 0
    assert shares.sum() == pytest.approx(1)
    # The origin is a mean of the signed inputs, so no direction has all of them in front.
    assert np.abs(shares @ signed).max() < 1e-12


def test_samples_that_no_gate_lets_through_have_no_margin():
    with pytest.raises(NotSeparableError):
        largest_margin([[1.0], [2.0]], [1, 1], [[1], [0]], contexts=2, norm="frozen")
    with pytest.raises(NotSeparableError):
        largest_margin(np.zeros((2, 1)), [1, -1], [[0], [0]], contexts=2)
    soft = largest_margin(np.zeros((2, 1)), [1, -1], [[0], [0]], contexts=2, C=4.0)
    assert soft.norm == 0
    assert soft.bounds[1] == pytest.approx(4.0)


def test_an_optimum_at_the_first_step_is_enough():
    X = np.array([[1.0, 1.0], [-1.0, 1.0]])
    assert largest_margin(X, [1, -1], [[0], [0]], contexts=1, max_steps=1).norm == pytest.approx(1)
    with pytest.raises(SolverError, match="after 1 steps"):
        solved("G1", "group", max_steps=1)


@pytest.mark.slow
def test_units_with_very_many_contexts():
    X, y, _ = product_labels()
    contexts = HalfSpaces.balanced(3, 14, X, 0)
    assert abs(largest_margin(X, y, contexts.ids(X), contexts=contexts.contexts).gap) < 1e-8


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"y": [0.0] * 16}, "labels are -1 and +1"),
        ({"ids": np.full((16, 2), 3)}, "not from 0 to 1"),
        ({"ids": np.zeros((16, 2))}, "give integers"),
        ({"ids": np.zeros((4, 2), int)}, "as many of each"),
        ({"X": np.full((16, 3), np.nan)}, "not finite"),
        ({"norm": "gropu"}, "did you mean 'group'"),
        ({"norm": "frozen", "contexts": 4}, "0 or 1"),
        ({"C": 0.0}, "C is 0.0; give a number above 0"),
        ({"C": "1"}, "C is '1'"),
        ({"C": 1e-300}, "give inf for the hard margin, or from 3e-101"),
        ({"C": 1e300}, "give inf for the hard margin"),
        ({"y": ["a"] * 16}, "labels are not real numbers"),
        ({"y": np.ones((4, 4))}, "labels have shape (4, 4)"),
        ({"ids": [[0], [0, 1]]}, "differ in length"),
        ({"ids": np.full((16, 2), -1)}, "context -1 of unit 0 is not from 0 to 1"),
        ({"contexts": 2.0}, "contexts is 2.0; give a whole number"),
        ({"tolerance": "a"}, "tolerance is 'a'"),
        ({"tolerance": np.nan}, "tolerance is nan"),
        ({"max_steps": 0}, "max_steps is 0"),
        ({"X": np.full((16, 3), 1e160)}, "scale the inputs"),
        ({"X": np.full((16, 3), 1e-160)}, "scale the inputs"),
        ({"ids": np.zeros((16, 2), int), "contexts": 2**30}, "GiB"),
        ({"ids": np.zeros((16, 8), int), "contexts": 2**14, "norm": "effective"}, "GiB"),
    ],
)
def test_bad_input_is_named(change, words):
    given = gated_problem("toy")
    settings = {"X": given.X, "y": given.y, "ids": given.ids, "contexts": 2} | change
    with pytest.raises(InputError) as caught:
        largest_margin(settings.pop("X"), settings.pop("y"), settings.pop("ids"), **settings)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [({"norm": "forzen"}, "did you mean 'frozen'"), ({"ids": np.full((16, 2), 2)}, "context 2 of unit 0")],
)
def test_a_typo_in_norm_or_gates_is_not_hidden_by_labels(change, words):
    given = gated_problem("toy")
    settings = {"ids": given.ids, "norm": "frozen"} | change
    with pytest.raises(InputError, match=words):
        largest_margin(given.X, [7] * 16, settings["ids"], contexts=2, norm=settings["norm"])


@pytest.mark.parametrize("kind", [bool, int, float])
def test_labels_can_be_false_and_true(kind):
    given = gated_problem("toy")
    signs, truth = (
        largest_margin(given.X, y, given.ids, contexts=2) for y in (given.y, (np.asarray(given.y) > 0).astype(kind))
    )
    assert truth.norm == signs.norm
    assert np.array_equal(truth.zeta, signs.zeta)
