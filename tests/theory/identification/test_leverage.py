"""Leverage against the pseudo-inverse, in closed forms, and between the dense and the single-cell route."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.cells.conjunctions import Conjunctions, every_cell
from recombine.errors import InputError, SolverError
from recombine.theory.identification.identify import identify
from recombine.theory.identification.leverage import Leverage
from recombine.verdicts import Verdict


def by_pseudo_inverse(features, seen, cells, weights=None):
    rows = features.incidence(seen).toarray()
    weighted = rows * (1 if weights is None else weights[:, None])
    inverse = np.linalg.pinv(rows.T @ weighted, rcond=1e-10, hermitian=True)
    targets = features.incidence(cells).toarray()
    return np.einsum("ij,jk,ik->i", targets, inverse, targets)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "order", "symmetric", "density"),
    [
        ((6, 7), 1, (), 0.4),
        ((4, 5, 3), 1, (), 0.2),
        ((5, 5, 5), 2, (), 0.5),
        ((3, 3, 3, 3), 2, (), 0.6),
        ((3, 3, 3, 3), 3, (), 0.8),
        ((6, 6), 1, ((0, 1),), 0.3),
        ((4, 4, 3), 2, ((0, 1),), 0.6),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_the_pseudo_inverse_on_every_route(sizes, order, symmetric, density, weighted, monkeypatch):
    generator = np.random.default_rng(sum(sizes) + order)
    cells = every_cell(sizes)
    seen = cells[generator.random(len(cells)) < density]
    answer = identify(seen, order=order, sizes=sizes, symmetric=symmetric)
    usable = cells[answer.verdicts <= Verdict.DETERMINED]
    known = answer.seen.cells
    weights = generator.integers(1, 9, len(known)).astype(float) if weighted else None
    expected = by_pseudo_inverse(answer.features, known, usable, weights)
    for rank in (answer.rank, None):
        assert np.allclose(Leverage(answer.features, known, weights, rank).of(usable), expected, rtol=1e-8, atol=0)
    module = "recombine.theory.identification.leverage"
    monkeypatch.setattr(f"{module}.MIN_COLUMNS_TO_ELIMINATE", 0)
    for entries in (20_000_000, 2 * len(known)):  # the eliminated block at once, and a few rows at a time
        monkeypatch.setattr(f"{module}.MAX_BLOCK_ENTRIES", entries)
        for rank in (answer.rank, None):
            by_block = Leverage(answer.features, known, weights, rank)
            assert np.allclose(by_block.of(usable), expected, rtol=1e-8, atol=0)
            assert not by_block.solved_singly
    monkeypatch.setattr(f"{module}.MAX_INVERTED_COLUMNS", 0)
    some = usable[:: max(len(usable) // 10, 1)]
    single = Leverage(answer.features, known, weights).of(some)
    assert np.allclose(single, by_pseudo_inverse(answer.features, known, some, weights), rtol=1e-8, atol=0)


def test_columns_that_are_not_tabled_are_looked_up(monkeypatch):
    """Without a table of the model's columns leverage, least squares and refusals are the same."""
    cells = every_cell((5, 4, 3))
    generator = np.random.default_rng(3)
    seen = cells[generator.random(60) < 0.5]
    values = generator.normal(size=len(seen))
    features = Conjunctions((6, 4, 3), 2)  # level 5 of the first factor is never seen
    tabled = Leverage(features, seen)
    expected, table = tabled.of(seen), tabled.solve(values)
    monkeypatch.setattr("recombine.theory.identification.leverage.MAX_TABLED_COLUMNS", 0)
    looked_up = Leverage(features, seen)
    np.testing.assert_allclose(looked_up.of(seen), expected)
    np.testing.assert_allclose(looked_up.solve(values), table)
    with pytest.raises(InputError, match="never seen"):
        looked_up.of(np.array([[5, 3, 2]]))
    monkeypatch.setattr("recombine.theory.identification.leverage.MAX_NULL_BASIS_ENTRIES", 0)
    with pytest.raises(SolverError, match="too many functions vanish"):
        Leverage(features, seen).solve(values)


def test_leverages_of_seen_cells_add_up_to_the_rank():
    cells = every_cell((5, 6, 4))
    seen = cells[np.random.default_rng(2).random(len(cells)) < 0.4]
    answer = identify(seen, seen, order=2)
    assert answer.leverage.sum() == pytest.approx(answer.rank, rel=1e-9)
    assert answer.leverage.max() <= 1 + 1e-9


def test_a_full_two_way_table_has_the_textbook_leverage():
    rows, columns = 7, 4
    answer = identify(every_cell((rows, columns)))
    assert np.allclose(answer.leverage, 1 / rows + 1 / columns - 1 / (rows * columns))


def test_a_staircase_grows_by_one_per_seen_cell_on_the_path():
    # Without cycles there is one certificate, so leverage is its number of cells.
    stairs = np.array([[i, i + up] for i in range(8) for up in (0, 1)])
    answer = identify(stairs, [[0, 8], [7, 0], [3, 3]])
    assert answer.leverage == pytest.approx([len(answer.certificate_of(i)) for i in range(3)])


@pytest.mark.parametrize(("sizes", "left"), [((320, 4, 3), 7), ((20, 4, 3), 27)])
def test_the_cost_is_that_of_the_columns_beside_an_eliminated_block_and_of_every_pair_of_a_cell(sizes, left):
    seen = every_cell(sizes)
    assert Leverage(Conjunctions(sizes), seen).cost == left**3 + 10 * len(seen) * 3 * 3


def test_undetermined_cells_have_none():
    answer = identify([[0, 0], [1, 1]], [[0, 1], [0, 0]], sizes=(3, 3))
    assert np.isnan(answer.leverage[0])
    assert answer.leverage[1] == pytest.approx(1)


def test_misuse_is_named(monkeypatch):
    features = Conjunctions((3, 3))
    seen = np.array([[0, 0], [0, 1], [1, 0]])
    with pytest.raises(InputError, match="never seen"):
        Leverage(features, seen).of(np.array([[2, 2]]))
    with pytest.raises(InputError, match="3 positive numbers"):
        Leverage(features, seen, np.array([1.0, 0.0, 2.0])).of(seen)
    with pytest.raises(SolverError, match="rank 4 but floating point sees 3"):
        Leverage(features, seen, rank=4).of(seen)
    monkeypatch.setattr("recombine.theory.identification.leverage.MAX_INVERTED_COLUMNS", 0)
    with pytest.raises(InputError, match=r"leverage of 2001 cells .* at most 2000 at a time"):
        Leverage(features, seen).of(np.zeros((2001, 2), dtype=int))
    monkeypatch.setattr("recombine.theory.identification.leverage.MAX_CELLS_SOLVED_SINGLY", 2)
    with pytest.raises(InputError, match="at most 2 at a time"):
        Leverage(features, seen).of(seen)
    with pytest.raises(SolverError, match="leverage of every seen cell"):
        _ = Leverage(features, seen).of_seen
    with pytest.raises(SolverError, match="to invert their normal matrix"):
        Leverage(features, seen).solve(np.ones(3))
    with pytest.raises(SolverError, match="may not be determined"):
        Leverage(features, np.array([[0, 0], [1, 1]])).of(np.array([[0, 1]]))
