"""Verdicts against rational elimination, against R's estimability, and between our own routes."""

from __future__ import annotations

import importlib.util
import itertools
import json
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.cells.conjunctions import Conjunctions, canonical, every_cell
from recombine.errors import InputError
from recombine.theory.identification import nullspace
from recombine.theory.identification.identify import identify
from recombine.verdicts import Verdict

DATA = Path(__file__).parent


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


@pytest.mark.slow
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
        assert np.array_equal(answer.verdicts_of(cells), answer.verdicts)


@pytest.mark.slow
@given(designs())
def test_counts_equal_the_counted_grid(design):
    sizes, order, symmetric, seen = design
    answer = identify(seen, order=order, sizes=sizes, symmetric=symmetric)
    cells = every_cell(sizes)
    codes = answer.verdicts_of(np.unique(canonical(cells, symmetric), axis=0))
    counts = answer.count_verdicts()
    assert counts.exact
    assert counts.by_verdict == {verdict: int((codes == verdict).sum()) for verdict in Verdict}
    assert counts.total == len(codes)


def stored_designs():
    return json.loads((DATA / "estimability_designs.json").read_text())


def mask_of(text):
    return np.array(list(text)) == "1"


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


# --- graph route --------------------------------------------------------------------------------------------------


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
    assert np.array_equal(graph.verdicts_on_grid(), exact.verdicts_on_grid())
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
    # Adjacent pairs of 7 items determine 12 of the 30 other ordered pairs.
    pairs = every_cell((7, 7))
    distance = np.abs(pairs[:, 0] - pairs[:, 1])
    answer = identify(pairs[distance == 1], pairs[distance > 1])
    assert answer.verdicts.tolist() == [
        Verdict.DETERMINED if gap % 2 else Verdict.DISCONNECTED for gap in distance[distance > 1]
    ]
    assert int((answer.verdicts == Verdict.DETERMINED).sum()) == 12


# --- counts of products that cannot be listed ---------------------------------------------------------------------


def sparse(size, factors, density, seed):
    cells = every_cell((size,) * factors)
    return cells[np.random.default_rng(seed).random(len(cells)) < density]


def test_counts_of_a_product_of_1e30_cells():
    factors, size = 10, 1000
    levels = np.arange(size)
    base = np.zeros((size, factors), dtype=np.int64)
    seen = np.vstack([np.where(np.arange(factors) == factor, levels[:, None], base) for factor in range(factors)])
    counts = identify(seen).count_verdicts()
    assert counts.exact
    assert counts[Verdict.SEEN] == factors * (size - 1) + 1
    assert counts[Verdict.DETERMINED] == 10**30 - counts[Verdict.SEEN]


def test_counts_of_two_blocks_of_a_huge_product():
    # Each factor's two halves differ by an unknown; only the sum of the six unknowns is known. So a cell is determined
    # if all its levels are on one side and open in every mixture.
    factors, half = 6, 50
    one = np.vstack([np.where(np.arange(factors) == f, np.arange(half)[:, None], 0) for f in range(factors)])
    seen = np.vstack([one, one + half])
    answer = identify(seen)
    assert answer.deficit == factors - 1
    counts = answer.count_verdicts()
    assert counts.exact
    assert counts.total == 100**6
    assert counts[Verdict.SEEN] + counts[Verdict.DETERMINED] == 2 * half**factors


def test_sampled_counts_cover_the_truth_and_say_so(monkeypatch):
    seen = sparse(10, 3, 0.24, 1)
    answer = identify(seen, order=2)
    truth = answer.count_verdicts()
    module = sys.modules["recombine.theory.identification.identify"]
    monkeypatch.setattr(module, "MAX_GRID_CELLS", answer.possible.span)
    assert answer.count_verdicts() == truth  # as many as can be listed still are
    monkeypatch.setattr(module, "MAX_GRID_CELLS", answer.possible.span - 1)
    sampled = answer.count_verdicts(seed=3)
    assert truth.exact
    assert not sampled.exact
    assert sampled.sampled > 100_000
    assert sampled.total == truth.total == sum(sampled.by_verdict.values())
    for verdict in Verdict:
        assert sampled.low[verdict] <= truth[verdict] <= sampled.high[verdict]
    with pytest.raises(InputError, match="too many to list"):
        answer.verdicts_on_grid()


def test_sampled_counts_of_interchangeable_factors(monkeypatch):
    seen = canonical(sparse(9, 3, 0.2, 4), [(0, 1, 2)])
    answer = identify(seen, order=2, symmetric=[(0, 1, 2)])
    truth = answer.count_verdicts()
    assert truth.total == 165
    monkeypatch.setattr(sys.modules["recombine.theory.identification.identify"], "MAX_GRID_CELLS", 10)
    sampled = answer.count_verdicts()
    if not sampled.exact:
        assert all(sampled.low[verdict] <= truth[verdict] <= sampled.high[verdict] for verdict in Verdict)


@pytest.mark.slow
def test_ten_million_levels_at_order_2_need_no_table():
    seen = np.array([[0, 0, 0], [0, 0, 10**7], [0, 10**7, 0], [10**7, 0, 0]])
    answer = identify(seen, [[10**7, 10**7, 10**7], [5, 0, 0]], order=2)
    assert answer.verdicts.tolist() == [Verdict.DISCONNECTED, Verdict.UNSEEN_LEVEL]
    assert answer.count_verdicts().total == (10**7 + 1) ** 3


def test_the_saturated_model_determines_only_what_was_seen():
    answer = identify([[0, 0, 1], [1, 1, 0]], order=3)
    assert set(answer.verdicts.tolist()) == {Verdict.SEEN, Verdict.DISCONNECTED}
    assert answer.count_verdicts()[Verdict.DISCONNECTED] == 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seen": np.zeros((0, 2), int)}, "no cells were seen"),
        ({"seen": [[0, 0]], "targets": [[0, 0, 0]]}, "3 columns but the design has 2"),
        ({"seen": [[0, 3]], "sizes": (2, 2)}, "level 3 but factor 1 has 2 levels"),
        (
            {"seen": [[0, 1]], "targets": [[0, 1], [4, 0]], "sizes": (2, 2)},
            r"targets\[1, 0\] is level 4 but factor 0 has 2",
        ),
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
    with pytest.raises(InputError, match=r"give targets, ask \.verdicts_of\(cells\), or use \.count_verdicts\(\)"):
        _ = answer.verdicts


def test_a_symmetric_group_may_be_named_in_any_order() -> None:
    seen = [[0, 0, 1, 0], [0, 0, 1, 1], [0, 0, 1, 2], [1, 0, 0, 1], [1, 0, 1, 0], [1, 0, 1, 1]]
    seen += [[1, 0, 1, 2], [1, 1, 0, 1], [1, 1, 1, 0], [1, 1, 1, 1], [1, 1, 1, 2]]
    for group in itertools.permutations((0, 1, 2)):
        assert identify(seen, [[0, 0, 0, 0]], 2, symmetric=[group]).verdicts.tolist() == [Verdict.DETERMINED]
