"""Verdicts against rational elimination, against R's estimability, and between our own routes."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.conjunctions import Conjunctions, canonical, every_cell
from recombine.errors import InputError
from recombine.theory import elimination, nullspace
from recombine.theory.identify import identify
from recombine.theory.nullspace import null_vectors
from recombine.verdicts import Verdict

DATA = Path(__file__).parent / "data"


def reduce_row(row, basis):
    """Take the pivots of ``basis`` (pivot -> monic row) off ``row``."""
    row = list(row)
    for pivot, other in basis.items():
        if row[pivot]:
            factor = row[pivot]
            row = [a - factor * b for a, b in zip(row, other, strict=True)]
    return row


def rational_verdicts(features, seen, cells):
    """The oracle: Gaussian elimination in rational numbers; True where a cell lies in the span of the seen rows."""
    basis: dict[int, list[Fraction]] = {}
    for row in features.incidence(seen).toarray().astype(int).tolist():
        left = reduce_row([Fraction(value) for value in row], basis)
        pivot = next((place for place, value in enumerate(left) if value), None)
        if pivot is not None:
            basis[pivot] = [value / left[pivot] for value in left]
    rows = features.incidence(cells).toarray().astype(int).tolist()
    spanned = [not any(reduce_row([Fraction(value) for value in row], basis)) for row in rows]
    return np.array(spanned), len(basis)


@st.composite
def designs(draw):
    factors = draw(st.integers(2, 4))
    symmetric = draw(st.sampled_from([(), ((0, 1),)]))
    sizes = [draw(st.integers(1, {2: 5, 3: 3, 4: 3}[factors])) for _ in range(factors)]
    if symmetric:
        sizes[1] = sizes[0]
    order = draw(st.integers(1, factors - 1))
    mask = draw(st.lists(st.booleans(), min_size=int(np.prod(sizes)), max_size=int(np.prod(sizes))))
    cells = every_cell(sizes)
    seen = cells[np.array(mask)] if any(mask) else cells[:1]
    return tuple(sizes), order, symmetric, seen


@settings(max_examples=60, deadline=None)
@given(designs())
def test_every_route_agrees_with_rational_elimination(design):
    sizes, order, symmetric, seen = design
    features = Conjunctions(sizes, order, symmetric)
    cells = every_cell(sizes)
    spanned, rank = rational_verdicts(features, canonical(seen, symmetric), cells)
    full = rational_verdicts(features, cells, cells[:1])[1]
    for route in (None, "exact", "projection"):
        answer = identify(seen, order=order, sizes=sizes, symmetric=symmetric, route=route)
        assert np.array_equal(answer.verdicts <= Verdict.DETERMINED, spanned)
        assert not np.any(answer.verdicts == Verdict.UNDECIDED)
        assert answer.rank == rank
        if all(mask.all() for mask in nullspace.present_levels(features, seen)):
            assert answer.deficit == full - rank
        assert np.array_equal(answer.of(cells), answer.verdicts)


@settings(max_examples=40, deadline=None)
@given(designs())
def test_counts_equal_the_counted_grid(design):
    sizes, order, symmetric, seen = design
    answer = identify(seen, order=order, sizes=sizes, symmetric=symmetric)
    cells = every_cell(sizes)
    codes = answer.of(np.unique(canonical(cells, symmetric), axis=0))
    counts = answer.counts()
    assert counts.exact
    assert counts.by_verdict == {verdict: int((codes == verdict).sum()) for verdict in Verdict}
    assert counts.total == len(codes)


def stored_designs():
    return json.loads((DATA / "estimability_designs.json").read_text())


def mask_of(text):
    return np.array(list(text)) == "1"


def test_agrees_with_the_stored_answers_of_r_on_500_designs():
    stored = stored_designs()
    assert len(stored) == 500
    unseen = determined = 0
    for design in stored:
        cells, seen, estimable = every_cell(design["sizes"]), mask_of(design["seen"]), mask_of(design["estimable"])
        verdicts = identify(cells[seen], sizes=design["sizes"], order=design["order"]).verdicts
        assert np.array_equal(verdicts <= Verdict.DETERMINED, estimable), design
        assert np.array_equal(verdicts == Verdict.SEEN, seen)
        unseen, determined = unseen + int((~seen).sum()), determined + int((estimable & ~seen).sum())
    # Both answers are common, so agreement means something.
    assert 0.2 < determined / unseen < 0.8


def test_projection_agrees_with_the_stored_answers_of_r():
    for design in stored_designs()[::3]:
        cells, seen = every_cell(design["sizes"]), mask_of(design["seen"])
        answer = identify(cells[seen], sizes=design["sizes"], order=design["order"], route="projection")
        assert np.array_equal(answer.verdicts <= Verdict.DETERMINED, mask_of(design["estimable"])), design
        assert answer.gap.trusted


def has_estimability():
    if not shutil.which("Rscript"):
        return False
    command = ["Rscript", "-e", "quit(status = !requireNamespace('estimability', quietly = TRUE))"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not shutil.which("Rscript"), reason="Rscript is not installed")
def test_r_still_gives_the_stored_answers():
    if not has_estimability():
        pytest.skip("R's estimability package is not installed")
    spec = importlib.util.spec_from_file_location("estimability_designs", DATA / "estimability_designs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    subset = stored_designs()[::10]
    assert module.ask_r(subset) == [design["estimable"] for design in subset]
    fresh = [module.random_design(np.random.default_rng(seed)) for seed in range(40)]
    for design, estimable in zip(fresh, module.ask_r(fresh), strict=True):
        cells = every_cell(design["sizes"])
        verdicts = identify(cells[mask_of(design["seen"])], sizes=design["sizes"], order=design["order"]).verdicts
        assert np.array_equal(verdicts <= Verdict.DETERMINED, mask_of(estimable))


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
    monkeypatch.setattr("recombine.theory.projection.DENSE_COLUMNS", dense_columns)
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
    monkeypatch.setattr("recombine.theory.projection.DENSE_COLUMNS", dense_columns)
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
    monkeypatch.setattr("recombine.theory.projection.DENSE_COLUMNS", 0)
    monkeypatch.setattr("recombine.theory.projection.LONGEST_RUN", 2)
    seen = band(12, 3, 1)
    answer = identify(seen, order=1, route="projection")
    assert not answer.gap.trusted
    assert answer.gap.error > 1e-6
    assert set(np.unique(answer.verdicts)) <= {Verdict.SEEN, Verdict.UNDECIDED}


def test_rows_left_out_of_the_projection_are_checked(monkeypatch):
    monkeypatch.setattr("recombine.theory.projection.DENSE_COLUMNS", 0)
    monkeypatch.setattr("recombine.theory.projection.ROWS_PER_COLUMN", 1)
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


# --- graph route --------------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 8), st.integers(2, 8), st.booleans(), st.integers(0, 10**6))
def test_graph_equals_exact(first, second, symmetric, seed):
    generator = np.random.default_rng(seed)
    sizes = (first, first if symmetric else second)
    groups = ((0, 1),) if symmetric else ()
    seen = np.stack([generator.integers(0, size, generator.integers(1, 14)) for size in sizes[:1]] * 2, axis=1)
    seen[:, 1] = generator.integers(0, sizes[1], len(seen))
    graph = identify(seen, sizes=sizes, symmetric=groups)
    exact = identify(seen, sizes=sizes, symmetric=groups, route="exact")
    assert (graph.route, exact.route) == ("graph", "exact")
    assert np.array_equal(graph.grid(), exact.grid())
    assert (graph.rank, graph.deficit) == (exact.rank, exact.deficit)


def test_gene_pairs_an_odd_cycle_determines_everything_an_even_one_does_not():
    square = [[0, 1], [1, 2], [2, 3], [0, 3]]
    answer = identify(square, [[0, 2], [1, 3], [0, 0]], symmetric=[(0, 1)])
    assert answer.verdicts.tolist() == [Verdict.DISCONNECTED] * 3
    triangle = [[0, 1], [1, 2], [0, 2], [3, 4], [4, 5], [3, 5]]
    answer = identify(triangle, [[0, 3], [5, 1], [2, 2]], symmetric=[(0, 1)])
    assert answer.verdicts.tolist() == [Verdict.DETERMINED] * 3
    assert identify(triangle, [[1, 0]], symmetric=[(0, 1)]).verdicts.tolist() == [Verdict.SEEN]


def test_transitive_ordering_determines_odd_distances_only():
    # Kernel-theory dossier 2.3: adjacent pairs of 7 items determine 12 of the 30 other ordered pairs.
    pairs = every_cell((7, 7))
    distance = np.abs(pairs[:, 0] - pairs[:, 1])
    answer = identify(pairs[distance == 1], pairs[distance > 1])
    assert answer.verdicts.tolist() == [
        Verdict.DETERMINED if gap % 2 else Verdict.DISCONNECTED for gap in distance[distance > 1]
    ]
    assert int((answer.verdicts == Verdict.DETERMINED).sum()) == 12


# --- counts of products that cannot be listed ---------------------------------------------------------------------


def test_counts_of_a_product_of_1e30_cells():
    factors, size = 10, 1000
    levels = np.arange(size)
    base = np.zeros((size, factors), dtype=np.int64)
    seen = np.vstack([np.where(np.arange(factors) == factor, levels[:, None], base) for factor in range(factors)])
    counts = identify(seen).counts()
    assert counts.exact
    assert counts[Verdict.SEEN] == factors * (size - 1) + 1
    assert counts[Verdict.DETERMINED] == 10**30 - counts[Verdict.SEEN]


def test_counts_of_two_blocks_of_a_huge_product():
    # Levels below 50 only meet levels below 50, so of 100**6 cells those all on one side are determined: at order 1
    # a mixed cell is off by the number of factors on the far side times one unknown... for every pattern of sides.
    factors, half = 6, 50
    one = np.vstack([np.where(np.arange(factors) == f, np.arange(half)[:, None], 0) for f in range(factors)])
    seen = np.vstack([one, one + half])
    answer = identify(seen)
    assert answer.deficit == factors - 1
    counts = answer.counts()
    assert counts.exact
    assert counts.total == 100**6
    assert counts[Verdict.SEEN] + counts[Verdict.DETERMINED] == 2 * half**factors


def test_sampled_counts_cover_the_truth_and_say_so(monkeypatch):
    seen = sparse(10, 3, 0.24, 1)
    answer = identify(seen, order=2)
    truth = answer.counts()
    monkeypatch.setattr("recombine.theory.identify.GRID_CELLS", 10)
    sampled = answer.counts(seed=3)
    assert truth.exact
    assert not sampled.exact
    assert sampled.sampled > 100_000
    assert sampled.total == truth.total == sum(sampled.by_verdict.values())
    for verdict in Verdict:
        assert sampled.low[verdict] <= truth[verdict] <= sampled.high[verdict]
    with pytest.raises(InputError, match="too many to list"):
        answer.grid()


def test_sampled_counts_of_interchangeable_factors(monkeypatch):
    seen = canonical(sparse(9, 3, 0.2, 4), [(0, 1, 2)])
    answer = identify(seen, order=2, symmetric=[(0, 1, 2)])
    truth = answer.counts()
    assert truth.total == 165
    monkeypatch.setattr("recombine.theory.identify.GRID_CELLS", 10)
    sampled = answer.counts()
    if not sampled.exact:
        assert all(sampled.low[verdict] <= truth[verdict] <= sampled.high[verdict] for verdict in Verdict)


def test_huge_level_counts_are_looked_up_not_tabled(monkeypatch):
    seen, order = MASKS["sparse order 2"]
    cells = every_cell(seen.max(axis=0) + 1)
    expected = {route: identify(seen, cells, order, route=route).verdicts for route in ("exact", "projection")}
    monkeypatch.setattr(nullspace, "TABLED_COLUMNS", 10)
    for route, verdicts in expected.items():
        assert np.array_equal(identify(seen, cells, order, route=route).verdicts, verdicts)


def test_ten_million_levels_at_order_2_need_no_table():
    seen = np.array([[0, 0, 0], [0, 0, 10**7], [0, 10**7, 0], [10**7, 0, 0]])
    answer = identify(seen, [[10**7, 10**7, 10**7], [5, 0, 0]], order=2)
    assert answer.verdicts.tolist() == [Verdict.DISCONNECTED, Verdict.UNSEEN_LEVEL]
    assert answer.counts().total == (10**7 + 1) ** 3


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
    seen = sparse(10, 3, 0.5, 1)
    answer = identify(seen, order=2)
    assert answer.route == "projection"
    assert np.array_equal(answer.verdicts, identify(seen, order=2, route="exact").verdicts)


def test_the_same_seed_gives_the_same_vectors_and_repeats_do_no_harm():
    seen, order = MASKS["sparse order 2"]
    first, second = (identify(seen, order=order, seed=7).null.table for _ in range(2))
    assert np.array_equal(first, second)
    repeated = identify(np.vstack([seen, seen[::-1]]), order=order)
    assert np.array_equal(repeated.verdicts, identify(seen, order=order).verdicts)


def test_the_saturated_model_determines_only_what_was_seen():
    answer = identify([[0, 0, 1], [1, 1, 0]], order=3)
    assert set(answer.verdicts.tolist()) == {Verdict.SEEN, Verdict.DISCONNECTED}
    assert answer.counts()[Verdict.DISCONNECTED] == 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seen": np.zeros((0, 2), int)}, "no cells were seen"),
        ({"seen": [[0, 0]], "targets": [[0, 0, 0]]}, "3 columns but the design has 2"),
        ({"seen": [[0, 3]], "sizes": (2, 2)}, "level 3 but factor 1 has 2 levels"),
        ({"seen": [[0, 0]], "route": "magic"}, "'magic' is not one of graph, exact, projection"),
        ({"seen": [[0, 0, 0]], "route": "graph"}, "needs two factors at order 1"),
        ({"seen": [[0, 0]], "order": 3}, "order 3 does not fit 2 factors"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(InputError, match=message):
        identify(**arguments)


def test_a_product_too_large_to_list_says_what_to_do():
    answer = identify([[0, 0], [5000, 5000]])
    with pytest.raises(InputError, match=r"give targets, ask \.of\(cells\), or use \.counts\(\)"):
        _ = answer.verdicts
