"""Null vectors: the floating-point route against the exact one on masks made to be hard, and what planners rely on."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.cells.conjunctions import Conjunctions, every_cell
from recombine.errors import InputError
from recombine.theory.identification import elimination, nullspace
from recombine.theory.identification.identify import identify
from recombine.theory.identification.nullspace import null_vectors
from recombine.verdicts import Verdict

# --- exact against projection on masks made to be hard ---------------------------------------------------------------


def band(size, factors, width):
    cells = every_cell((size,) * factors)
    return cells[np.ptp(cells, axis=1) <= width]


def chain(length):
    """Three factors in which each step moves one factor by one level: connected by single cells only."""
    steps = np.arange(length)
    return np.stack([(steps + shift) // 3 for shift in range(3)], axis=1)


def blocks(size, factors, bridge):
    """Two dense blocks that share no level, and ``bridge`` cells across."""
    cells = every_cell((size,) * factors)
    low = cells < size // 2
    across = cells[low.any(axis=1) & ~low.all(axis=1)][:: max(len(cells) // max(bridge, 1), 1)][:bridge]
    return np.vstack([cells[low.all(axis=1) | ~low.any(axis=1)], across])


def one_at_a_time(size, factors):
    cells = every_cell((size,) * factors)
    return cells[(cells != 0).sum(axis=1) <= 1]


def sparse(size, factors, density, seed):
    cells = every_cell((size,) * factors)
    return cells[np.random.default_rng(seed).random(len(cells)) < density]


MASKS = {
    "band 3 factors": (band(8, 3, 1), 2),
    "band 3 factors order 1": (band(12, 3, 1), 1),
    "band 4 factors order 3": (band(5, 4, 2), 3),
    "band 4 factors order 2": (band(5, 4, 1), 2),
    "chain": (chain(90), 1),
    "chain order 2": (chain(60), 2),
    "blocks": (blocks(8, 3, 0), 1),
    "one bridge": (blocks(8, 3, 1), 1),
    "two bridges": (blocks(8, 3, 2), 1),
    "bridges order 2": (blocks(8, 3, 7), 2),
    "bridges order 3": (blocks(4, 4, 9), 3),
    "one at a time": (one_at_a_time(9, 3), 1),
    "one at a time order 2": (one_at_a_time(6, 4), 2),
    "sparse order 1": (sparse(40, 3, 0.0012, 0), 1),
    "sparse order 2": (sparse(10, 3, 0.24, 1), 2),
    "sparse order 3": (sparse(6, 4, 0.35, 2), 3),
}


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize("dense_columns", [0, 800])
def test_projection_never_disagrees_with_exact(name, dense_columns, monkeypatch):
    monkeypatch.setattr("recombine.theory.identification.projection.MAX_EIGH_COLUMNS", dense_columns)
    seen, order = MASKS[name]
    exact = identify(seen, order=order, route="exact")
    floating = identify(seen, order=order, route="projection")
    assert np.array_equal(exact.verdicts, floating.verdicts)  # nothing undecided either
    assert floating.gap.trusted
    assert floating.gap.zero < 1e-11
    assert floating.gap.nonzero > 1e-4


def doubling(length, pin):
    """Three factors, order 1: each step doubles a null value, so values span 2**length.

    ``pin`` is None (nothing determined along the chain), "start" (all determined, by weights up to 2**length) or "end".
    """
    seen = []
    for step in range(length):
        single, double, this, after = 2 * step + 1, 2 * step + 2, step + 1, step + 2
        seen += [(single, this, 0), (single, 0, this), (double, this, this), (double, after, 0)]
    seen += {None: [], "start": [(0, 0, 0), (0, 1, 0)], "end": [(0, 0, 0), (0, length + 1, 0)]}[pin]
    return np.array(seen)


@pytest.mark.parametrize("pin", [None, "start", "end"])
@pytest.mark.parametrize("length", [4, 12, 20, 30, 45, 58])
@pytest.mark.parametrize("dense_columns", [0, 800])
def test_values_that_fade_out_are_undecided_rather_than_wrong(length, pin, dense_columns, monkeypatch):
    monkeypatch.setattr("recombine.theory.identification.projection.MAX_EIGH_COLUMNS", dense_columns)
    seen = doubling(length, pin)
    generator = np.random.default_rng(length)
    targets = np.stack([generator.integers(0, size, 4000) for size in seen.max(axis=0) + 1], axis=1)
    exact = identify(seen, targets, route="exact").verdicts
    floating = identify(seen, targets, route="projection").verdicts
    decided = floating != Verdict.UNDECIDED
    assert np.array_equal(exact[decided], floating[decided])
    if length <= 12 or pin == "end":
        assert decided.all()
    if pin in ("start", "end"):
        assert not np.any(exact == Verdict.DISCONNECTED)


def test_a_projection_that_did_not_converge_decides_nothing(monkeypatch):
    monkeypatch.setattr("recombine.theory.identification.projection.MAX_EIGH_COLUMNS", 0)
    monkeypatch.setattr("recombine.theory.identification.projection.MAX_LSMR_STEPS", 2)
    seen = band(12, 3, 1)
    answer = identify(seen, order=1, route="projection")
    assert not answer.gap.trusted
    assert answer.gap.error > 1e-6
    assert set(np.unique(answer.verdicts)) <= {Verdict.SEEN, Verdict.UNDECIDED}


def test_rows_left_out_of_the_projection_are_checked(monkeypatch):
    monkeypatch.setattr("recombine.theory.identification.projection.MAX_EIGH_COLUMNS", 0)
    monkeypatch.setattr("recombine.theory.identification.projection.ROWS_PER_COLUMN", 1)
    seen = np.vstack([blocks(20, 3, 0), blocks(20, 3, 1)[-1:]])
    assert np.array_equal(
        identify(seen, route="projection").verdicts,
        identify(seen, route="exact").verdicts,
    )


def test_large_random_design_agrees_between_routes():
    seen = sparse(22, 3, 0.14, 5)
    exact, floating = (identify(seen, order=2, route=route) for route in ("exact", "projection"))
    assert np.array_equal(exact.verdicts, floating.verdicts)
    assert {Verdict.DETERMINED, Verdict.DISCONNECTED} <= set(np.unique(exact.verdicts).tolist())


def test_huge_level_counts_are_looked_up_not_tabled(monkeypatch):
    seen, order = MASKS["sparse order 2"]
    cells = every_cell(seen.max(axis=0) + 1)
    expected = {route: identify(seen, cells, order, route=route).verdicts for route in ("exact", "projection")}
    monkeypatch.setattr(nullspace, "MAX_TABLED_COLUMNS", 10)
    for route, verdicts in expected.items():
        assert np.array_equal(identify(seen, cells, order, route=route).verdicts, verdicts)


# --- null vectors, fallbacks, input ---------------------------------------------------------------------------------


@pytest.mark.parametrize("route", ["exact", "projection"])
def test_null_vectors_vanish_on_what_was_seen_and_nowhere_else(route):
    seen, order = MASKS["sparse order 2"]
    features = Conjunctions((10, 10, 10), order)
    found = null_vectors(features, seen, 4, route=route)
    assert found.values(seen).shape == (len(seen), 4)
    values = found.values(seen)
    assert not values.any() if found.modulus else np.abs(values).max() < 1e-12
    grid = features.grid_values(found.tables[:, 0], modulus=found.modulus)
    cells = every_cell(features.sizes)
    assert np.allclose(grid.reshape(-1).astype(float), found.values(cells)[:, 0].astype(float))


def test_floating_point_gives_no_full_set_of_null_vectors():
    with pytest.raises(InputError, match="6 seen conjunctions are too many for a full set"):
        null_vectors(Conjunctions((3, 3)), every_cell((3, 3)), "all", route="projection")


@pytest.mark.parametrize("name", ["chain", "blocks", "sparse order 2", "sparse order 3"])
def test_all_null_vectors_span_what_is_open(name):
    seen, order = MASKS[name]
    features = Conjunctions(tuple(seen.max(axis=0) + 1), order)
    found = null_vectors(features, seen, "all", seed=1)
    deficit = nullspace.full_rank(features, seen) - found.rank
    assert found.count == max(deficit, 1)
    values = found.values(every_cell(features.sizes))
    # Rank of the values modulo the prime: the functions are independent on the product.
    flint = pytest.importorskip("flint")
    levels = [np.flatnonzero(mask) for mask in nullspace.present_levels(features, seen)]
    values = values.reshape(*features.sizes, -1)[np.ix_(*levels)].reshape(-1, found.count)
    matrix = flint.nmod_mat(*values.shape, values.reshape(-1).tolist(), elimination.PRIME)
    assert matrix.rank() == deficit


@pytest.mark.parametrize("groups", [2, 4, 6])
def test_disconnected_groups_of_levels_leave_one_direction_less_than_there_are(groups):
    seen = np.array([[2 * group + row, group] for group in range(groups) for row in range(2)])
    features = Conjunctions((2 * groups, groups), 1)
    vectors = null_vectors(features, seen, "all", seed=1)
    assert vectors.route is nullspace.Route.GRAPH
    assert (vectors.count, vectors.rank) == (groups - 1, 2 * groups + 1 - 1)
    assert not vectors.values(seen).any()
    values = vectors.values(every_cell(features.sizes)).astype(float)
    assert np.linalg.matrix_rank(values / values.max()) == groups - 1
    assert null_vectors(features, seen, 5).values(seen).shape == (len(seen), 5)
    # One vector alone tells all groups apart.
    alone = null_vectors(features, seen).values(every_cell(features.sizes))[:, 0]
    together = every_cell(features.sizes)[:, 0] // 2 == every_cell(features.sizes)[:, 1]
    assert np.array_equal(alone == 0, together)


@pytest.mark.parametrize("name", ["band 3 factors", "sparse order 1", "sparse order 2", "two bridges"])
def test_without_flint_small_designs_stay_exact(name, monkeypatch):
    seen, order = MASKS[name]
    expected = identify(seen, order=order)
    monkeypatch.setattr(elimination, "has_flint", lambda: False)
    monkeypatch.setattr(nullspace, "has_flint", lambda: False)
    answer = identify(seen, order=order)
    assert np.array_equal(answer.verdicts, expected.verdicts)
    forced = identify(seen, order=order, route="exact")
    assert (forced.rank, forced.route) == (expected.rank, "exact")


def test_without_flint_a_large_core_goes_to_projection(monkeypatch):
    monkeypatch.setattr(nullspace, "has_flint", lambda: False)
    monkeypatch.setattr(nullspace, "MAX_COLUMNS_WITHOUT_FLINT", 150)
    seen = sparse(10, 3, 0.5, 1)
    answer = identify(seen, order=2)
    assert answer.route == "projection"
    assert np.array_equal(answer.verdicts, identify(seen, order=2, route="exact").verdicts)


@pytest.mark.parametrize("flint", [True, False])
@pytest.mark.parametrize("name", list(MASKS))
def test_solving_the_largest_block_first_changes_nothing(name, flint, monkeypatch):
    seen, order = MASKS[name]
    expected = identify(seen, order=order, route="exact")
    if not flint:
        monkeypatch.setattr(elimination, "has_flint", lambda: False)
    monkeypatch.setattr(nullspace, "MAX_EXACT_COLUMNS", -1)
    monkeypatch.setattr(nullspace, "MAX_COLUMNS_WITHOUT_FLINT", -1)
    answer = identify(seen, order=order, route="exact")
    assert (answer.rank, answer.route) == (expected.rank, "exact")
    assert np.array_equal(answer.verdicts, expected.verdicts)
    # All null vectors still vanish on everything seen.
    assert not null_vectors(answer.features, seen, 3, route="exact").values(seen).any()


def test_a_factor_of_thousands_of_levels_is_decided_exactly():
    """Two groups of levels that never meet, in a factor far beyond what elimination takes column by column."""
    generator = np.random.default_rng(0)
    first = np.stack([generator.integers(0, 3_000, 20_000), *generator.integers(0, 5, (3, 20_000))], axis=1)
    second = np.stack([generator.integers(3_000, 5_000, 9_000), *generator.integers(5, 9, (3, 9_000))], axis=1)
    answer = identify(np.vstack([first, second]))
    assert answer.route == "exact"
    levels = [len(np.unique(part[:, 0])) + 3 * width for part, width in ((first, 5), (second, 4))]
    assert answer.rank == sum(levels) - 2 * 3
    cells = np.stack([generator.integers(0, 5_000, 5_000), *generator.integers(0, 9, (3, 5_000))], axis=1)
    groups = (cells >= [3_000, 5, 5, 5]).sum(axis=1)
    known = np.isin(cells[:, 0], np.vstack([first, second])[:, 0])
    found = answer.verdicts_of(cells)
    assert np.array_equal((found <= Verdict.DETERMINED)[known], np.isin(groups, [0, 4])[known])


def test_a_row_with_two_columns_of_a_block_is_left_to_elimination(monkeypatch):
    """Interchangeable factors: pairs of one factor's levels, self-pairs among them."""
    generator = np.random.default_rng(1)
    pairs = np.sort(generator.integers(0, 12, (30, 2)), axis=1)
    seen = np.column_stack([pairs, generator.integers(0, 3, 30)])
    expected = identify(seen, symmetric=[(0, 1)], route="exact")
    monkeypatch.setattr(nullspace, "MAX_EXACT_COLUMNS", -1)
    answer = identify(seen, symmetric=[(0, 1)], route="exact")
    assert answer.rank == expected.rank
    assert np.array_equal(answer.verdicts, expected.verdicts)


def test_the_same_seed_gives_the_same_vectors_and_repeats_do_no_harm():
    seen, order = MASKS["sparse order 2"]
    first, second = (identify(seen, order=order, seed=7).null.table for _ in range(2))
    assert np.array_equal(first, second)
    repeated = identify(np.vstack([seen, seen[::-1]]), order=order)
    assert np.array_equal(repeated.verdicts, identify(seen, order=order).verdicts)
