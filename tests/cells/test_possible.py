"""Possible cells as a product of parts, against the product written out."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.cells.conjunctions import Conjunctions, canonical, distinct, every_cell
from recombine.cells.possible import Combinations, Possible

Cells = npt.NDArray[np.int64]


@st.composite
def restricted(draw: st.DrawFn) -> tuple[Possible, Cells]:
    """Parts over two to five factors, twins among them, and the same cells found by trying all of the product."""
    count = draw(st.integers(2, 5))
    sizes = [draw(st.integers(1, 4)) for _ in range(count)]
    places = draw(st.permutations(range(count)))
    parts, symmetric = [], []
    while places:
        many = draw(st.integers(1, min(3, len(places))))
        chosen, places = tuple(sorted(places[:many])), places[many:]
        if many > 1 and draw(st.booleans()):
            for place in chosen:
                sizes[place] = sizes[chosen[0]]
            symmetric.append(chosen)
            parts.append(Combinations(chosen, np.arange(sizes[chosen[0]])[:, None], twins=True))
        else:
            rows = every_cell([sizes[place] for place in chosen])
            kept = draw(st.lists(st.sampled_from(range(len(rows))), min_size=1, unique=True))
            parts.append(Combinations(chosen, rows[sorted(kept)]))
    possible = Possible(tuple(sizes), tuple(symmetric), tuple(parts))
    return possible, np.array([cell for cell in every_cell(sizes) if _exists(possible, cell)]).reshape(-1, count)


def _exists(possible: Possible, cell: Cells) -> bool:
    if (canonical(cell[None], possible.symmetric)[0] != cell).any():
        return False
    return all(part.twins or cell[list(part.places)].tolist() in part.table.tolist() for part in possible.parts)


@given(restricted())
def test_cells_are_listed_counted_and_known(pair: tuple[Possible, Cells]) -> None:
    possible, cells = pair
    np.testing.assert_array_equal(possible.cells(), cells)
    assert possible.count == len(cells) <= possible.span
    every = every_cell(possible.sizes)
    every = every[(canonical(every, possible.symmetric) == every).all(axis=1)]
    assert possible.whole == (len(cells) == len(every)) or not possible.whole
    np.testing.assert_array_equal(every[possible.holds(every)], cells)


@given(restricted(), st.integers(1, 3))
def test_ways_are_the_combinations_that_occur(pair: tuple[Possible, Cells], t: int) -> None:
    possible, cells = pair
    for subset in itertools.combinations(range(len(possible.sizes)), min(t, len(possible.sizes))):
        groups = [tuple(subset.index(place) for place in group if place in subset) for group in possible.symmetric]
        levels = canonical(cells[:, list(subset)], [group for group in groups if len(group) > 1])
        # A pair of levels of three interchangeable factors may stand at any two of them.
        if all(set(group) <= set(subset) or not set(group) & set(subset) for group in possible.symmetric):
            assert possible.ways(subset) == len(distinct(levels)[0])


@given(restricted(), st.data())
def test_cells_behind_a_pair_of_levels(pair: tuple[Possible, Cells], data: st.DataObject) -> None:
    possible, cells = pair
    first, second = data.draw(st.permutations(range(len(possible.sizes))))[:2]
    orders = [itertools.permutations(group) for group in possible.symmetric]
    arranged = {tuple(cell) for cell in cells.tolist()}
    for choice in itertools.product(*orders):
        for cell in cells:
            moved = cell.copy()
            for group, order in zip(possible.symmetric, choice, strict=True):
                moved[list(group)] = cell[list(order)]
            arranged.add(tuple(moved.tolist()))
    expected = np.zeros((possible.sizes[first], possible.sizes[second]))
    for cell in arranged:
        expected[cell[first], cell[second]] += 1
    np.testing.assert_allclose(possible.behind(first, second), expected)


@given(restricted(), st.integers(0, 2**32 - 1))
def test_draws_are_possible(pair: tuple[Possible, Cells], seed: int) -> None:
    possible, _ = pair
    assert possible.holds(possible.draw(20, np.random.default_rng(seed))).all()


def test_draws_are_uniform() -> None:
    plants = Combinations((0, 2), np.array([[0, 0], [1, 0], [2, 1]]))
    possible = Possible((3, 2, 2), (), (plants, Combinations((1,), np.arange(2)[:, None])))
    _, where = distinct(possible.draw(60_000, np.random.default_rng(0)))
    assert np.abs(np.bincount(where) / 10_000 - 1).max() < 0.05


@given(restricted())
def test_what_follows_is_a_function_of_a_factor_that_does_not(pair: tuple[Possible, Cells]) -> None:
    possible, cells = pair
    free = [place for place in range(len(possible.sizes)) if place not in possible.following]
    assert free
    for place in possible.following:
        functions = [len(distinct(cells[:, [other, place]])[0]) == len(np.unique(cells[:, other])) for other in free]
        assert any(functions)


@pytest.mark.parametrize("order", [1, 2, 3])
@given(pair=restricted())
def test_factors_that_follow_add_nothing_to_the_model(pair: tuple[Possible, Cells], order: int) -> None:
    possible, cells = pair
    order = min(order, len(possible.sizes))
    full = Conjunctions(possible.sizes, order, possible.symmetric).incidence(cells).toarray()
    free = Conjunctions(possible.sizes, order, possible.symmetric, possible.following).incidence(cells).toarray()
    rank = np.linalg.matrix_rank(free)
    assert rank == np.linalg.matrix_rank(full) == np.linalg.matrix_rank(np.hstack([full, free]))
