"""The estimators: scikit-learn's contract, published numbers, conjunction-wise additivity, outside solvers."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR
from sklearn.utils.estimator_checks import parametrize_with_checks

from recombine.cells.conjunctions import every_cell
from recombine.errors import InputError, SolverError
from recombine.theory.kernels.estimators import KernelClassifier, KernelRegressor
from recombine.theory.kernels.given_kernels import kernel_of_salience, kernel_of_values
from recombine.theory.kernels.overlap import OverlapKernel


@parametrize_with_checks(
    [
        KernelRegressor(),
        KernelRegressor(ridge=0.1, intercept=True),
        KernelClassifier(),
        KernelClassifier(handle_unknown="ignore"),
        KernelClassifier(C=1.0, handle_unknown="ignore"),
        KernelClassifier(loss="squared", C=10.0, intercept=True, handle_unknown="ignore"),
        KernelClassifier(loss="logistic", C=10.0, handle_unknown="ignore"),
    ],
    expected_failed_checks=lambda model: (
        {"check_fit_idempotent": "asks about numbers that are levels never seen"}
        if getattr(model, "handle_unknown", "ignore") == "error"
        else {}
    ),
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def addition(anchors, items=9):
    cells = every_cell((items, items))
    train = np.isin(cells, anchors).any(axis=1)
    return cells, train, (cells - 4).sum(axis=1).astype(float)


def context_dependence(left_out):
    cells = every_cell((2, 6, 6))
    test = (cells[:, 1] < left_out) & (cells[:, 2] >= 3) & (cells[:, 2] < 3 + left_out)
    relevant = np.where(cells[:, 0] == 0, cells[:, 1], cells[:, 2])
    return cells, ~test, np.where(relevant < 3, -1.0, 1.0)


def random_design(rng, sizes):
    """Random outcomes on a random half of the product, always with at least one seen cell."""
    cells = every_cell(sizes)
    train = rng.random(len(cells)) < 0.5
    train[rng.integers(len(cells))] = True
    return cells, train, rng.standard_normal(len(cells))


class TestPublishedNumbers:
    @pytest.mark.parametrize(
        ("kernel", "options", "where", "expected"),
        [
            (kernel_of_salience([0.4, 0.2]), {}, [[1, 1], [8, 8], [1, 8]], [-4.860215, 4.473118, -0.193548]),
            (kernel_of_salience([0.4, 0.2]), {"intercept": True}, [[1, 1], [8, 8]], [-5.980952, 3.352381]),
            (OverlapKernel.relu(1, 2), {}, [[1, 1], [8, 8]], [-5.868462, 4.539741]),
        ],
        ids=["R8", "R9", "R10"],
    )
    def test_asymmetric_addition(self, kernel, options, where, expected):
        cells, train, target = addition([0])
        model = KernelRegressor(kernel, **options).fit(cells[train], target[train])
        assert_allclose(model.predict(where), expected, atol=1e-6)

    def test_ridge_slope(self):
        cells, train, target = addition([4])
        model = KernelRegressor(kernel_of_salience([0.3, 0.4]), ridge=0.1).fit(cells[train], target[train])
        assert_allclose(model.predict(cells[~train]), 0.375 * target[~train], atol=1e-12)

    @pytest.mark.parametrize(
        ("salience", "loss", "expected"),
        [
            ([0.20350064, 0.09423825], "hinge", [-0.216690, 0.595683, 0.785018]),
            ([0.20350064, 0.09423825], "squared", [0.522309, 0.692402, 0.785018]),
            ([0.10100758, 0.13911539], "hinge", [0.187542]),
            ([0.10100758, 0.13911539], "squared", [0.353220]),
            ([0.05, 0.02], "hinge", [-0.151592, -0.007935, 0.079732]),
        ],
    )
    def test_context_dependence(self, salience, loss, expected):
        kernel = kernel_of_salience(salience, factors=3)
        for left_out, margin in zip((3, 2, 1), expected, strict=False):
            cells, train, target = context_dependence(left_out)
            model = KernelClassifier(kernel, loss=loss).fit(cells[train], target[train])
            margins = model.decision_function(cells[~train]) * target[~train]
            assert_allclose(margins, margin, atol=1e-6)

    @pytest.mark.parametrize(
        ("options", "average", "tolerance"),
        [({}, 5.063567, 1e-5), ({"epsilon": 0.1}, 5.2075, 2e-3)],
        ids=["exact", "tube"],
    )
    def test_dispersed_addition(self, options, average, tolerance):
        errors = []
        for seed in range(1, 51):
            matrix = np.zeros((9, 9), dtype=int)
            matrix[np.arange(9)[:, None], np.add.outer(np.arange(9), np.arange(2)) % 9] = 1
            np.random.default_rng(seed).shuffle(matrix)
            cells, train = every_cell((9, 9)), matrix.reshape(-1) == 1
            target = (cells - 4).sum(axis=1).astype(float)
            model = KernelRegressor(kernel_of_salience([0.3, 0.4]), **options).fit(cells[train], target[train])
            errors.append(np.mean((model.predict(cells[~train]) - target[~train]) ** 2))
        assert np.mean(errors) == pytest.approx(average, abs=tolerance)
        if not options:
            assert errors[0] == pytest.approx(3.792571, abs=1e-6)


class TestConjunctionWiseAdditivity:
    @given(st.integers(0, 2**32 - 1), st.sampled_from(["min-norm", "ridge", "intercept", "hinge", "soft"]))
    def test_unseen_quadruples_of_two_factors_are_additive(self, seed, kind):
        rng = np.random.default_rng(seed)
        kernel = kernel_of_salience(rng.uniform(0.05, 1, 2), constant=rng.random())
        cells, train, outcome = random_design(rng, (5, 5))
        model = {
            "min-norm": KernelRegressor(kernel),
            "ridge": KernelRegressor(kernel, ridge=0.3),
            "intercept": KernelRegressor(kernel, intercept=True),
            "hinge": KernelClassifier(kernel, handle_unknown="ignore"),
            "soft": KernelClassifier(kernel, C=2.0, handle_unknown="ignore"),
        }[kind]
        if isinstance(model, KernelClassifier):
            outcome = np.sign(outcome)
            if len(np.unique(outcome[train])) < 2:
                return
            values = model.fit(cells[train], outcome[train]).decision_function(cells).reshape(5, 5)
        else:
            values = model.fit(cells[train], outcome[train]).predict(cells).reshape(5, 5)
        unseen = ~train.reshape(5, 5)
        for (a, b), (c, d) in itertools.product(itertools.combinations(range(5), 2), repeat=2):
            if unseen[np.ix_([a, b], [c, d])].all():
                assert abs(values[a, c] + values[b, d] - values[a, d] - values[b, c]) < 1e-9

    @pytest.mark.parametrize("intercept", [False, True])
    def test_conjunction_values_add_up_to_every_prediction(self, intercept):
        rng = np.random.default_rng(0)
        kernel = OverlapKernel.relu(1, 3)
        cells, train, outcome = random_design(rng, (3, 4, 2))
        model = KernelRegressor(kernel, intercept=intercept).fit(cells[train], outcome[train])
        total = np.full(len(cells), model.intercept_)
        for order in range(4):
            for subset, (levels, values) in model.conjunction_values(order).items():
                table = {tuple(level): value for level, value in zip(levels.tolist(), values, strict=True)}
                total += [table.get(tuple(cell), 0.0) for cell in cells[:, list(subset)].tolist()]
        assert_allclose(total, model.predict(cells), atol=1e-10)
        assert_allclose(total[train], outcome[train], atol=1e-9)

    def test_a_level_never_seen_contributes_nothing(self):
        kernel = kernel_of_salience([0.4, 0.2])
        model = KernelRegressor(kernel).fit([[0, 0], [1, 0]], [1.0, 2.0])
        (_, values) = model.conjunction_values(1)[(1,)]
        assert_allclose(model.predict([[77, 0]]), values)
        assert model.predict([[77, 77]]).tolist() == [0.0]
        with pytest.raises(InputError, match="order 3"):
            model.conjunction_values(3)


class TestRegressor:
    def test_is_kernel_ridge(self):
        rng = np.random.default_rng(0)
        kernel = OverlapKernel.relu(2, 3)
        cells, train, outcome = random_design(rng, (4, 4, 4))
        gram = kernel(cells[train], cells[train])
        outside = KernelRidge(alpha=0.3, kernel="precomputed").fit(gram, outcome[train])
        model = KernelRegressor(kernel, ridge=0.3).fit(cells[train], outcome[train])
        assert_allclose(model.predict(cells), outside.predict(kernel(cells, cells[train])), atol=1e-10)
        assert_allclose(model.dual_coef_, outside.dual_coef_, atol=1e-10)

    def test_a_value_between_two_levels_is_neither(self):
        model = KernelRegressor().fit([[0, 0], [1, 1]], [1.0, 2.0])
        assert_allclose(model.predict([[0.5, 0.5]]), model.predict([[9, 9]]))

    @pytest.mark.parametrize("kind", ["float", "negative", "gaps"])
    def test_levels_are_whatever_values_occur(self, kind):
        rng = np.random.default_rng(1)
        cells, train, outcome = random_design(rng, (4, 5))
        names = {
            "float": np.sort(rng.standard_normal(5)),
            "negative": np.array([-9, -3, 0, 1, 8]),
            "gaps": np.array([0, 2, 4, 40, 400]),
        }[kind]
        plain = KernelRegressor().fit(cells[train], outcome[train]).predict(cells)
        named = KernelRegressor().fit(names[cells[train]], outcome[train]).predict(names[cells])
        assert_allclose(named, plain)

    def test_repeated_rows_are_averaged(self):
        cells, outcome = [[0, 0], [0, 1], [0, 1], [1, 0]], [1.0, 2.0, 4.0, 3.0]
        repeated = KernelRegressor().fit(cells, outcome)
        merged = KernelRegressor().fit([[0, 0], [0, 1], [1, 0]], [1.0, 3.0, 3.0])
        assert_allclose(repeated.predict([[0, 1], [1, 1]]), merged.predict([[0, 1], [1, 1]]))
        assert repeated.dual_coef_[1] == pytest.approx(repeated.dual_coef_[2])

    def test_several_outcomes_at_once(self):
        rng = np.random.default_rng(2)
        cells = every_cell((3, 3))[:6]
        outcomes = rng.standard_normal((6, 4))
        together = KernelRegressor(intercept=True).fit(cells, outcomes)
        apart = [
            KernelRegressor(intercept=True).fit(cells, column).predict(every_cell((3, 3))) for column in outcomes.T
        ]
        assert_allclose(together.predict(every_cell((3, 3))), np.stack(apart, axis=1), atol=1e-12)
        assert together.conjunction_values(1)[(0,)][1].shape == (2, 4)

    def test_tube_is_support_vector_regression(self):
        cells, train, target = addition([4])
        kernel = kernel_of_salience([0.3, 0.4])
        gram = kernel(cells[train], cells[train])
        outside = SVR(kernel="precomputed", C=1e10, epsilon=0.1).fit(gram, target[train])
        model = KernelRegressor(kernel, epsilon=0.1).fit(cells[train], target[train])
        assert_allclose(model.predict(cells), outside.predict(kernel(cells, cells[train])), atol=1e-9)
        assert np.abs(model.predict(cells[train]) - target[train]).max() <= 0.1 + 1e-3

    def test_large_designs_go_through_the_structured_solver(self):
        rng = np.random.default_rng(3)
        cells, train, outcome = random_design(rng, (20, 20, 20))
        model = KernelRegressor().fit(cells[train], outcome[train])
        assert model.route_ == "iterative"
        assert model.residual_ <= 1e-10
        assert_allclose(model.predict(cells[train]), outcome[train], atol=1e-8)

    def test_kernel_of_another_number_of_factors(self):
        with pytest.raises(InputError, match="kernel is on 2 factors"):
            KernelRegressor(OverlapKernel.relu(1, 2)).fit([[0, 1, 2]], [1.0])

    def test_the_kernel_survives_cloning(self):
        model = KernelRegressor(OverlapKernel.relu(1, 2), ridge=0.5)
        assert clone(model).get_params() == model.get_params()


class TestClassifier:
    @pytest.mark.parametrize("left_out", [1, 2, 3])
    def test_hard_margin_is_the_limit_of_outside_machines(self, left_out):
        cells, train, target = context_dependence(left_out)
        kernel = OverlapKernel.relu(2, 3)
        gram = kernel(cells[train], cells[train])
        outside = SVC(kernel="precomputed", C=1e10, tol=1e-9).fit(gram, target[train])
        expected = outside.decision_function(kernel(cells, cells[train]))
        for intercept in (False, True):
            model = KernelClassifier(kernel, intercept=intercept).fit(cells[train], target[train])
            assert_allclose(model.decision_function(cells), expected, atol=1e-5)
            assert model.residual_ < 1e-6

    @given(st.integers(0, 2**32 - 1), st.sampled_from([0.3, 2.0, math.inf]), st.booleans())
    def test_optimality_conditions_hold(self, seed, C, intercept):
        rng = np.random.default_rng(seed)
        kernel = OverlapKernel.relu(1, 3)
        grid, train, outcome = random_design(rng, (3, 4, 3))
        cells, labels = grid[train], np.where(outcome > 0, 1, -1)[train]
        if len(np.unique(labels)) < 2:
            return
        if not math.isinf(C):  # a soft margin may meet one cell with both labels
            cells, labels = np.concatenate([cells, cells[:4]]), np.concatenate([labels, -labels[:2], labels[2:4]])
        model = KernelClassifier(kernel, C=C, intercept=intercept).fit(cells, labels)
        weights, margins = model.dual_coef_ * labels, model.decision_function(cells) * labels
        assert weights.min() >= 0
        assert weights.max() <= C * (1 + 1e-9)
        assert np.all(margins[weights < 1e-9] >= 1 - 1e-5)
        inside = (weights > 1e-9) & (weights < 0.999 * C)
        assert_allclose(margins[inside], 1, atol=1e-5)
        if intercept:
            assert model.dual_coef_.sum() == pytest.approx(0, abs=1e-6)

    def test_soft_margin_is_that_of_outside_machines(self):
        rng = np.random.default_rng(5)
        kernel = OverlapKernel.relu(1, 3)
        cells, train, outcome = random_design(rng, (4, 4, 3))
        labels = np.where(outcome > 0, "yes", "no")
        outside = SVC(kernel="precomputed", C=1.5, tol=1e-10).fit(kernel(cells[train], cells[train]), labels[train])
        model = KernelClassifier(kernel, C=1.5, intercept=True).fit(cells[train], labels[train])
        expected = outside.decision_function(kernel(cells, cells[train]))
        assert_allclose(model.decision_function(cells), expected, atol=1e-6)
        assert np.array_equal(model.predict(cells), outside.predict(kernel(cells, cells[train])))

    def test_repeated_rows_cost_their_number(self):
        kernel = kernel_of_salience([0.4, 0.2])
        cells = [[0, 0], [0, 1], [1, 0], [0, 0], [0, 0]]
        labels = [1, -1, -1, 1, -1]
        model = KernelClassifier(kernel, C=0.7, intercept=True).fit(cells, labels)
        outside = SVC(kernel="precomputed", C=0.7, tol=1e-10).fit(kernel(cells, cells), labels)
        assert_allclose(
            model.decision_function([[1, 1], [0, 0]]),
            outside.decision_function(kernel([[1, 1], [0, 0]], cells)),
            atol=1e-6,
        )

    def test_squared_loss_is_regression_on_signs(self):
        cells, train, target = context_dependence(2)
        classifier = KernelClassifier(loss="squared", C=4.0, intercept=True).fit(cells[train], target[train])
        regressor = KernelRegressor(ridge=0.25, intercept=True).fit(cells[train], target[train])
        assert_allclose(classifier.decision_function(cells), regressor.predict(cells))

    def test_additive_kernel_separates_what_is_additive_and_says_so_where_it_is_not(self):
        additive = kernel_of_salience([1.0, 0.0])
        cells = every_cell((2, 2))
        model = KernelClassifier(additive).fit(cells, [-1, -1, 1, 1])
        assert_allclose(model.decision_function(cells), [-1, -1, 1, 1], atol=1e-6)
        for intercept in (False, True):
            with pytest.raises(SolverError, match="cannot be separated"):
                KernelClassifier(additive, intercept=intercept).fit(cells, [-1, 1, 1, -1])
        with pytest.raises(SolverError, match="cannot be separated"):
            KernelClassifier().fit([[0, 0], [0, 0], [1, 1]], [-1, 1, 1])

    @pytest.mark.parametrize(
        ("options", "message"), [({"loss": "log"}, "loss 'log'"), ({"C": 0.0}, "C is 0.0"), ({"C": -1}, "C is -1")]
    )
    def test_bad_parameters(self, options, message):
        with pytest.raises(InputError, match=message):
            KernelClassifier(**options).fit([[0, 0], [1, 1]], [0, 1])

    @pytest.mark.parametrize(("label", "words"), [("a", "one class only, 'a';"), (1.0, r"one class only, 1\.0;")])
    def test_the_only_class_is_named_plainly(self, label, words):
        with pytest.raises(InputError, match=words):
            KernelClassifier().fit([[0, 0], [1, 1]], [label, label])

    def test_the_hinge_stops_where_the_gram_matrix_does(self):
        cells = every_cell((50, 50))
        with pytest.raises(InputError, match="hinge loss needs the Gram matrix"):
            KernelClassifier().fit(cells, cells[:, 0] % 2)


class TestMoreThanTwoClasses:
    @pytest.mark.parametrize("options", [{}, {"loss": "squared"}, {"loss": "logistic", "C": 5.0, "intercept": True}])
    def test_each_class_has_the_machine_of_that_class_against_all_others(self, options):
        cells, train, target = addition([2], items=5)
        labels = np.where(target < -4, "low", np.where(target > -4, "high", "middle"))
        kernel = OverlapKernel.relu(1, 2)
        together = KernelClassifier(kernel, **options).fit(cells[train], labels[train])
        assert together.classes_.tolist() == ["high", "low", "middle"]
        for place, word in enumerate(together.classes_):
            single = KernelClassifier(kernel, **options).fit(cells[train], labels[train] == word)
            assert_allclose(together.decision_function(cells)[:, place], single.decision_function(cells), atol=1e-8)
        assert (together.predict(cells[train]) == labels[train]).mean() > 0.8
        assert together.conjunction_values(1)[(0,)][1].shape == (5, 3)

    def test_a_tie_goes_to_the_class_that_is_sorted_first(self):
        kernel = kernel_of_values([0.0, 0.5, 1.0])
        loose = {"loss": "squared", "handle_unknown": "ignore"}
        model = KernelClassifier(kernel, **loose).fit([[0, 0], [1, 1], [2, 2]], ["c", "b", "a"])
        assert model.predict([[3, 3]]).tolist() == ["a"]
        two = KernelClassifier(kernel, loss="squared").fit([[0, 0], [1, 1]], ["b", "a"])
        assert two.decision_function([[0, 1]]).tolist() == [0.0]
        assert two.predict([[0, 1]]).tolist() == ["a"]


class TestLevels:
    @pytest.mark.parametrize("options", [{}, {"loss": "squared"}, {"loss": "logistic", "C": 5.0}])
    def test_texts_are_levels_whatever_they_are_called(self, options):
        cells, train, target = context_dependence(2)
        names = np.array(["k", "a", "z", "m", "b", "y"])  # in another order than their numbers
        frame = pd.DataFrame({"context": np.array(["left", "right"])[cells[:, 0]], "first": names[cells[:, 1]]})
        frame["second"] = cells[:, 2] * 10  # a column of numbers beside columns of texts
        numbered = KernelClassifier(OverlapKernel.relu(2, 3), **options).fit(cells[train], target[train])
        named = KernelClassifier(OverlapKernel.relu(2, 3), **options).fit(frame[train], target[train])
        assert_allclose(named.decision_function(frame), numbered.decision_function(cells), atol=1e-9)
        shown = named.conjunction_values(1)[(1,)][0][:, 0]
        assert set(shown.tolist()) == set(names.tolist())
        regressor = KernelRegressor(OverlapKernel.relu(2, 3)).fit(frame[train], target[train])
        plain = KernelRegressor(OverlapKernel.relu(2, 3)).fit(cells[train], target[train])
        assert_allclose(regressor.predict(frame), plain.predict(cells), atol=1e-9)

    @given(st.integers(0, 10**6))
    def test_a_level_never_seen_is_refused_and_no_other(self, seed):
        rng = np.random.default_rng(seed)
        seen = rng.integers(0, 3, size=(6, 2)) * 2
        seen[0], seen[1] = (0, 0), (2, 2)
        labels = np.where(np.arange(6) % 2, 1, -1)
        labels = np.where((seen == seen[0]).all(axis=1), -1, np.where((seen == seen[1]).all(axis=1), 1, labels))
        model = KernelClassifier(loss="squared", C=2.0).fit(seen, labels)
        asked = rng.integers(0, 6, size=(1, 2))
        known = [asked[0, factor] in seen[:, factor] for factor in (0, 1)]
        if all(known):
            assert np.isfinite(model.decision_function(asked)).all()
            return
        factor = known.index(False)
        said = (
            rf"level {asked[0, factor]} of column {factor} was never seen; fit with a cell that has it, leave out the 1"
        )
        for call in (model.decision_function, model.predict):
            with pytest.raises(InputError, match=said):
                call(asked)
        # Left to the theory, its unseen conjunctions add nothing: only what its other level says is left.
        loose = KernelClassifier(loss="squared", C=2.0, handle_unknown="ignore").fit(seen, labels)
        shares = [loose.conjunction_values(order) for order in (0, 1)]
        rest = shares[0][()][1].sum()
        for place in (0, 1):
            if known[place]:
                levels, values = shares[1][(place,)]
                rest += values[levels[:, 0] == asked[0, place]].sum()
        assert_allclose(loose.decision_function(asked), [rest], atol=1e-9)

    def test_a_column_of_texts_and_numbers_is_explained(self):
        mixed = np.array([["a", 0], [1, 1]], dtype=object)
        with pytest.raises(InputError, match="several types"):
            KernelClassifier().fit(mixed, [0, 1])
        with pytest.raises(InputError, match="level 1 of column 0 was never seen"):
            KernelClassifier().fit(np.array([["a", "c"], ["b", "d"]]), [0, 1]).predict([[1, 2]])
        with pytest.raises(InputError, match="'error' or 'ignore'"):
            KernelClassifier(handle_unknown="guess").fit([[0, 0], [1, 1]], [0, 1])


def test_hard_margin_of_a_block_that_leaves_items_over_agrees_with_least_squares():
    # CD-2 with four items of each class: no closed form, so non-negative least squares is the second route.
    from scipy.optimize import nnls

    cells = every_cell((2, 8, 8))
    unseen = (cells[:, 1] < 2) & (cells[:, 2] >= 4) & (cells[:, 2] < 6)
    target = np.where(np.where(cells[:, 0] == 0, cells[:, 1], cells[:, 2]) < 4, -1.0, 1.0)
    for depth in (1, 3):
        kernel = OverlapKernel.relu(depth, 3)
        model = KernelClassifier(kernel).fit(cells[~unseen], target[~unseen])
        signed = target[~unseen]
        triangle = np.linalg.cholesky(kernel(cells[~unseen], cells[~unseen]) * np.outer(signed, signed))
        weights = nnls(triangle.T, np.linalg.solve(triangle, np.ones(len(signed))), maxiter=20_000)[0]
        expected = kernel(cells[unseen], cells[~unseen]) @ (weights * signed)
        assert_allclose(model.decision_function(cells[unseen]), expected, atol=1e-6)
        assert np.ptp(expected * target[unseen]) < 1e-6
