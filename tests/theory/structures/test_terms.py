"""Sparse terms against dense one-hot columns, and shrunken least squares against outside solvers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.special import comb
from sklearn.linear_model import BayesianRidge, Ridge

from recombine.errors import InputError
from recombine.theory.structures import Terms, fit_terms, terms_of
from recombine.theory.structures import normal_equations as normal_equations_module  # type: ignore[attr-defined]
from recombine.theory.structures import terms as terms_module  # type: ignore[attr-defined]


def by_hand(cells: np.ndarray, reference: np.ndarray, order: int) -> np.ndarray:
    """Dense columns of every conjunction of departures that occurs, one after another."""
    columns = []
    for size in range(1, order + 1):
        for factors in itertools.combinations(range(cells.shape[1]), size):
            for levels in itertools.product(*(range(cells[:, factor].max() + 1) for factor in factors)):
                if any(level == reference[factor] for factor, level in zip(factors, levels, strict=True)):
                    continue
                columns.append((cells[:, factors] == levels).all(axis=1).astype(float))
    dense = np.array(columns).T
    return dense[:, dense.any(axis=0)]


def covered(terms: Terms, cells: np.ndarray) -> np.ndarray:
    """Whether each cell has an entry for every conjunction of its departures."""
    departing = (cells != terms.reference).sum(axis=1)
    return terms.matrix(cells).sum(axis=1) == sum(comb(departing, size) for size in range(1, terms.order + 1))


def drawn(seed: int, rows: int = 60, sizes: tuple[int, ...] = (3, 2, 4)) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(0, size, rows) for size in sizes], axis=1)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("reference", [[0, 1, 2], [-1, 0, -1], [-1, -1, -1]])
def test_columns_are_those_of_conjunctions_of_departures(
    order: int, reference: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = drawn(order)
    monkeypatch.setattr(terms_module, "_commonest", lambda *_: np.array(reference))
    terms = terms_of(cells, order)
    expected = by_hand(cells, np.array(reference), order)
    found = terms.matrix(cells).toarray()
    assert sorted(map(tuple, found.T)) == sorted(map(tuple, expected.T))
    assert np.array_equal(np.bincount(terms.size)[1:], [np.sum(terms.size == one + 1) for one in range(order)])


def test_symmetric_factors_share_their_columns() -> None:
    cells = np.array([[0, 1], [1, 2], [2, 2], [0, 2], [3, 0]])
    terms = terms_of(cells, symmetric=[(0, 1)])
    expected = np.stack([(cells == level).sum(axis=1) for level in range(4)], axis=1)
    assert np.array_equal(terms.matrix(cells).toarray(), expected)
    turned = terms_of(cells, 2, symmetric=[(0, 1)])
    assert np.array_equal(turned.matrix(cells).toarray(), turned.matrix(cells[:, ::-1]).toarray())


def test_a_wide_table_has_entries_for_its_departures_only() -> None:
    rng = np.random.default_rng(1)
    cells = np.zeros((500, 200), dtype=int)
    for row in cells:
        row[rng.choice(200, 3, replace=False)] = rng.integers(1, 20, 3)
    terms = terms_of(cells, 3)
    assert terms.matrix(cells).nnz == 500 * (3 + 3 + 1)
    assert not terms.reference.any()
    assert covered(terms, cells).all()
    stranger = cells[:1].copy()
    stranger[0, np.flatnonzero(stranger[0])[0]] = 25
    assert covered(terms, stranger).tolist() == [False]


@pytest.mark.parametrize("order", [1, 2])
def test_a_given_ridge_is_that_of_scikit_learn(order: int) -> None:
    cells, rng = drawn(3, 200), np.random.default_rng(4)
    y, weights = rng.normal(size=200), rng.uniform(0.5, 2.0, 200)
    weights /= weights.mean()
    terms = terms_of(cells, order)
    fit = fit_terms(cells, y, order, weights=weights, ridge=0.7)
    peer = Ridge(alpha=0.7).fit(terms.matrix(cells).toarray(), y, sample_weight=weights)
    assert np.allclose(fit.effects, peer.coef_, atol=1e-6)
    assert fit.constant == pytest.approx(peer.intercept_, abs=1e-6)


def test_the_ridge_of_one_order_is_that_of_the_largest_evidence() -> None:
    cells, rng = drawn(5, 120, (12, 10)), np.random.default_rng(6)
    y = rng.normal(size=12)[cells[:, 0]] + rng.normal(size=10)[cells[:, 1]] + rng.normal(size=120)
    fit = fit_terms(cells, y)
    design = fit.terms.matrix(cells).toarray()
    tiny = {"alpha_1": 1e-12, "alpha_2": 1e-12, "lambda_1": 1e-12, "lambda_2": 1e-12}
    peer = BayesianRidge(max_iter=2000, tol=1e-10, **tiny).fit(design, y)
    assert fit.ridge[0] == pytest.approx(peer.lambda_ / peer.alpha_, rel=0.1)
    assert np.allclose(fit.predict(cells), peer.predict(design), atol=0.03)


def test_pairs_that_explain_nothing_are_shrunk_away() -> None:
    cells, rng = drawn(7, 3000, (6, 6, 6)), np.random.default_rng(8)
    y = cells.sum(axis=1) + rng.normal(size=3000)
    plain, pairs = fit_terms(cells, y), fit_terms(cells, y, 2)
    assert pairs.ridge[1] > 30 * pairs.ridge[0]
    truth = cells.sum(axis=1)
    assert np.mean((pairs.predict(cells) - truth) ** 2) < 3 * np.mean((plain.predict(cells) - truth) ** 2)


def test_factoring_and_conjugate_gradients_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    cells, rng = drawn(9, 400, (8, 8, 8)), np.random.default_rng(10)
    y, weights = rng.normal(size=400) + cells[:, 0], rng.uniform(0.5, 2, 400)
    direct = fit_terms(cells, y, 2, weights=weights, ridge=0.5)
    monkeypatch.setattr(normal_equations_module, "DENSE_COLUMNS", 10)
    iterated = fit_terms(cells, y, 2, weights=weights, ridge=0.5)
    assert np.allclose(direct.effects, iterated.effects, atol=1e-6)
    assert direct.noise == pytest.approx(iterated.noise, rel=0.1)  # the number of effects is estimated by random signs
    chosen = fit_terms(cells, y, weights=weights)
    monkeypatch.undo()
    assert chosen.ridge[0] == pytest.approx(fit_terms(cells, y, weights=weights).ridge[0], rel=0.3)


def test_what_cannot_be_used_is_named() -> None:
    with pytest.raises(InputError, match="no seen cells"):
        terms_of(np.zeros((0, 2), dtype=int))
    with pytest.raises(InputError, match="order is 3"):
        terms_of([[0, 1]], 3)
    with pytest.raises(InputError, match="y has shape"):
        fit_terms([[0, 1]], [1.0, 2.0])


def test_a_level_beyond_the_known_ones_is_no_other_factors_level() -> None:
    terms = terms_of([[0, 0], [1, 1], [2, 2]], order=2)
    assert covered(terms, np.array([[3, 0], [0, 3], [1, 1]])).tolist() == [False, False, True]
    known, unknown = (terms.matrix([cell]).toarray() for cell in ([0, 1], [3, 1]))
    reference = terms.reference.tolist()
    assert (unknown <= terms.matrix([[reference[0], 1]]).toarray()).all()
    assert known.shape == unknown.shape
