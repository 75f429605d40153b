from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.cells.conjunctions import (
    Conjunctions,
    canonical,
    contains,
    distinct,
    every_cell,
    mixed_radix,
    subsets,
)
from recombine.errors import InputError


def one_hot(features: Conjunctions, cells: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Build the matrix from its definition: a column for each set of (kind of factor, level) pairs."""
    kind_of = {member: min(group) for group in features.symmetric for member in group}

    def name(cell: Sequence[int], subset: Sequence[int]) -> tuple[tuple[int, int], ...]:
        return tuple(sorted((kind_of.get(factor, factor), int(cell[factor])) for factor in subset))

    rows = [[name(cell, subset) for subset in features.subsets] for cell in cells]
    columns = sorted({column for row in rows for column in row})
    return np.array([[row.count(column) for column in columns] for row in rows], dtype=float)


@st.composite
def models(draw: st.DrawFn) -> Conjunctions:
    """Sizes, an order and perhaps groups of symmetric factors, in any position."""
    grouped = draw(st.sampled_from([(), (2,), (3,), (2, 2)]))
    free = draw(st.integers(0 if grouped else 1, 4 - sum(grouped)))
    places = draw(st.permutations(range(free + sum(grouped))))
    sizes = [draw(st.integers(1, 4)) for _ in places]
    symmetric = []
    for count in grouped:
        group, places = tuple(sorted(places[:count])), places[count:]
        for member in group:
            sizes[member] = sizes[group[0]]
        symmetric.append(group)
    return Conjunctions(tuple(sizes), draw(st.integers(1, len(sizes))), tuple(symmetric))


def by_column(matrix: npt.NDArray[np.float64]) -> list[bytes]:
    """The non-empty columns as a sorted list: two matrices with equal lists differ in column order only."""
    return sorted(column.tobytes() for column in matrix.T if column.any())


@given(models())
def test_incidence_is_the_one_hot_matrix_up_to_column_order(features: Conjunctions) -> None:
    cells = every_cell(features.sizes)
    matrix = features.incidence(cells).toarray()
    assert matrix.shape == (len(cells), features.columns)
    assert by_column(np.ascontiguousarray(matrix)) == by_column(one_hot(features, cells))


@given(models())
def test_closed_form_rank_is_the_rank_of_the_full_product(features: Conjunctions) -> None:
    matrix = features.incidence(every_cell(features.sizes)).toarray()
    assert features.rank == np.linalg.matrix_rank(matrix)


@given(models(), st.randoms(use_true_random=False))
def test_swapping_symmetric_levels_changes_no_row(features: Conjunctions, random: object) -> None:
    cells = every_cell(features.sizes)
    swapped = cells.copy()
    for group in features.symmetric:
        shuffled = list(group)
        random.shuffle(shuffled)  # type: ignore[attr-defined]
        swapped[:, list(group)] = cells[:, shuffled]
    first, second = features.incidence(cells).toarray(), features.incidence(swapped).toarray()
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(canonical(cells, features.symmetric), canonical(swapped, features.symmetric))


@given(models(), st.integers(0, 2**32 - 1))
def test_values_and_grid_values_are_products_with_the_matrix(features: Conjunctions, seed: int) -> None:
    generator = np.random.default_rng(seed)
    cells = every_cell(features.sizes)
    matrix = features.incidence(cells)
    table = generator.integers(-99, 100, size=(features.columns, 2)).astype(float)
    np.testing.assert_array_equal(features.values(table, cells), matrix @ table)
    np.testing.assert_array_equal(features.grid_values(table[:, 0]).reshape(-1), matrix @ table[:, 0])


@given(models())
def test_blocks_tile_the_columns_and_hold_their_ids(features: Conjunctions) -> None:
    columns = [column for block in features.blocks.values() for column in block]
    assert columns == list(range(features.columns))
    ids = features.ids(every_cell(features.sizes))
    for place, subset in enumerate(features.subsets):
        if subset in features.blocks:
            assert set(ids[:, place].tolist()) <= set(features.blocks[subset])


def test_grid_values_with_a_modulus_never_overflow() -> None:
    prime = 2**61 - 1
    features = Conjunctions((3, 4, 2, 2, 3), order=1)
    table = np.full(features.columns, prime - 1, dtype=np.int64)
    assert (features.grid_values(table, modulus=prime) == (5 * (prime - 1)) % prime).all()


@pytest.mark.parametrize("order", [0, 3, -1])
def test_order_outside_the_factors_is_refused(order: int) -> None:
    with pytest.raises(InputError, match=f"order {order} does not fit 2 factors; choose one from 1 to 2"):
        Conjunctions((2, 2), order=order)


@pytest.mark.parametrize(
    ("symmetric", "message"),
    [
        (((0, 1), (1, 2)), "overlap or have one member"),
        (((0,),), "overlap or have one member"),
        (((0, 3),), "must share their levels"),
    ],
)
def test_bad_symmetric_groups_are_refused(symmetric: tuple[tuple[int, ...], ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Conjunctions((3, 3, 3, 2), symmetric=symmetric)


def test_subsets_and_cells_against_plain_loops() -> None:
    assert subsets(4, 2) == [(a, b) for a in range(4) for b in range(a + 1, 4)]
    assert every_cell((2, 3, 2)).tolist() == [list(cell) for cell in itertools.product(range(2), range(3), range(2))]
    np.testing.assert_array_equal(mixed_radix(every_cell((2, 3, 2)), (2, 3, 2)), np.arange(12))


def test_numbering_past_int64_is_refused_not_wrapped() -> None:
    with pytest.raises(InputError, match="more than 2\\*\\*62 conjunctions"):
        mixed_radix(np.array([[0, 0]]), (2**31, 2**32))
    with pytest.raises(InputError, match="lower the order"):
        Conjunctions((10**7, 10**7, 10**7), order=3).ids(np.array([[0, 0, 0]]))


@given(
    st.lists(st.tuples(*[st.sampled_from([0, 1, 2**39, 2**39 + 1])] * 3), min_size=1, max_size=30),
    st.lists(st.tuples(*[st.sampled_from([0, 1, 2**39, 2**39 + 1])] * 3), min_size=1, max_size=10),
)
def test_distinct_and_contains_at_products_past_int64(
    pool: list[tuple[int, int, int]], asked: list[tuple[int, int, int]]
) -> None:
    cells = np.array(pool, dtype=np.int64)
    rows, where = distinct(cells)
    assert [tuple(row) for row in rows.tolist()] == sorted(set(pool))
    np.testing.assert_array_equal(rows[where], cells)
    assert contains(cells, np.array(asked, dtype=np.int64)).tolist() == [cell in set(pool) for cell in asked]


def test_nothing_contains_nothing() -> None:
    empty = np.zeros((0, 2), dtype=np.int64)
    assert contains(empty, np.array([[0, 1]])).tolist() == [False]
    assert contains(np.array([[0, 1]]), empty).tolist() == []
    assert distinct(empty)[0].shape == (0, 2)


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(0, 40), st.integers(0, 40))
def test_marking_and_sorting_tell_the_same_rows_apart(seed, factors, many, few):
    """Small products are marked, larger ones sorted; both against sets of tuples."""
    generator = np.random.default_rng(seed)
    sizes = generator.integers(1, 9, factors)
    pool, asked = (generator.integers(0, sizes, size=(count, factors)) for count in (many, few))
    held = set(map(tuple, pool.tolist()))
    assert contains(pool, asked).tolist() == [tuple(row) in held for row in asked.tolist()]
    rows, where = distinct(pool)
    assert list(map(tuple, rows.tolist())) == sorted(held)
    assert np.array_equal(rows[where], pool)


@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_occurring_columns_are_those_of_the_ids(seed, order):
    generator = np.random.default_rng(seed)
    features = Conjunctions((4, 3, 5), order)
    cells = generator.integers(0, features.sizes, size=(6, 3))
    assert features.occurring(cells).tolist() == np.unique(features.ids(cells)).tolist()
