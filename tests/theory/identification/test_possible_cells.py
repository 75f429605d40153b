"""Verdicts, counts, deficit, certificates and leverage over the cells that can exist, against brute force."""

from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.cells.conjunctions import Conjunctions, every_cell
from recombine.cells.possible import Combinations, Possible
from recombine.design.nesting import nested_product
from recombine.theory.identification.certificate import cube_terms
from recombine.theory.identification.identify import Identification, identify
from recombine.theory.identification.nullspace import possible_rank
from recombine.theory.identification.signed_sums import balances
from recombine.verdicts import Verdict

Cells = npt.NDArray[np.int64]


@st.composite
def designs(draw: st.DrawFn) -> tuple[Possible, Cells, Cells]:
    """A child (0) inside parents (1, perhaps 2), perhaps a second child (4) of parent 1, a crossed factor (3)."""
    children, others = draw(st.integers(2, 5)), draw(st.integers(2, 4))
    sizes = [children, 2, 3, others]
    table = [[draw(st.integers(0, 1)), draw(st.integers(0, 2))] for _ in range(children)]
    pairs = draw(st.sampled_from([[(0, 1)], [(0, 1), (0, 2)]]))
    rows = [[child, *table[child], 0] for child in range(children)]
    if draw(st.booleans()):
        second = draw(st.integers(2, 4))
        sizes.append(second)
        inside = [draw(st.sampled_from(sorted({row[0] for row in table}))) for _ in range(second)]
        # Where no child lives in a parent, its cells cannot exist either.
        hosts = {parent: next(row for row in rows if row[1] == parent) for parent in inside}
        rows = [[*row, inside.index(row[1]) if row[1] in inside else 0] for row in rows if row[1] in inside]
        rows += [[*hosts[parent][:4], place] for place, parent in enumerate(inside)]
        pairs = [*pairs, (4, 1)]
    used = np.array(rows)
    kept = [np.unique(used[:, 0])]
    relabel = np.full(children, -1)
    relabel[kept[0]] = np.arange(len(kept[0]))
    used[:, 0] = relabel[used[:, 0]]
    sizes[0] = len(kept[0])
    possible = nested_product(sizes, (), pairs, used)
    cells = every_cell(sizes)
    parents = {(child, parent, int(row[child])): int(row[parent]) for row in used for child, parent in pairs}
    exists = [all(parents.get((c, p, int(cell[c]))) == cell[p] for c, p in pairs) for cell in cells]
    everything = cells[np.array(exists)]
    seen = draw(st.lists(st.sampled_from(range(len(everything))), min_size=1, unique=True))
    return possible, everything, everything[sorted(seen)]


def brute_force(sizes: tuple[int, ...], order: int, cells: Cells, seen: Cells) -> tuple[Cells, int]:
    """Verdicts by ranks of the model of all factors, none absorbed; and how many cells it takes to tell all known."""
    features = Conjunctions(sizes, order)
    rows = features.incidence(seen).toarray()
    rank = np.linalg.matrix_rank(rows)
    known = np.array([all(level in seen[:, place] for place, level in enumerate(cell)) for cell in cells])
    codes = []
    for cell, present in zip(cells, known, strict=True):
        grown = np.linalg.matrix_rank(np.vstack([rows, features.incidence(cell[None]).toarray()]))
        code = Verdict.DETERMINED if grown == rank else Verdict.DISCONNECTED
        code = code if present else Verdict.UNSEEN_LEVEL
        codes.append(Verdict.SEEN if cell.tolist() in seen.tolist() else code)
    full = np.linalg.matrix_rank(features.incidence(cells[known]).toarray())
    return np.array(codes), int(full - rank)


@pytest.mark.slow
@pytest.mark.parametrize("order", [1, 2, 3])
@given(case=designs())
def test_nested_designs_agree_with_brute_force(case: tuple[Possible, Cells, Cells], order: int) -> None:
    possible, cells, seen = case
    np.testing.assert_array_equal(possible.cells(), cells)
    found = identify(seen, order=order, sizes=possible.sizes, possible=possible)
    codes, deficit = brute_force(possible.sizes, order, cells, seen)
    np.testing.assert_array_equal(found.verdicts_of(cells), codes)
    assert found.deficit == deficit
    counts = found.count_verdicts()
    assert counts.exact
    assert [counts[verdict] for verdict in Verdict] == np.bincount(codes, minlength=len(Verdict)).tolist()
    full = np.linalg.matrix_rank(Conjunctions(possible.sizes, order).incidence(cells).toarray())
    assert possible_rank(found.features, possible) == full


@pytest.mark.parametrize("order", [1, 2])
@given(case=designs(), seed=st.integers(0, 99))
def test_the_rank_of_some_levels_is_that_of_their_rows(
    case: tuple[Possible, Cells, Cells], order: int, seed: int
) -> None:
    """Levels may leave no possible cell at all: a child without its parent. No rows have rank 0."""
    possible, cells, _ = case
    rng = np.random.default_rng(seed)
    masks = [rng.random(size) < 0.5 for size in possible.sizes]
    rows = cells[np.all([mask[cells[:, factor]] for factor, mask in enumerate(masks)], axis=0)]
    features = Conjunctions(possible.sizes, order)
    rank = np.linalg.matrix_rank(features.incidence(rows).toarray()) if len(rows) else 0
    assert possible_rank(features, possible.known(masks)) == rank


@pytest.mark.parametrize("order", [1, 2])
@given(case=designs())
def test_certificates_and_leverage_hold_in_the_model_of_all_factors(
    case: tuple[Possible, Cells, Cells], order: int
) -> None:
    possible, cells, seen = case
    found = identify(seen, order=order, sizes=possible.sizes, possible=possible)
    features = Conjunctions(possible.sizes, order)
    inverse = np.linalg.pinv(features.incidence(found.seen.cells).toarray())
    for cell in cells[found.verdicts_of(cells) == Verdict.DETERMINED][:8]:
        proof = found.certificate_of(tuple(cell.tolist()))
        assert proof.verified
        assert (possible.holds(proof.cells)).all()
        assert all(row in seen.tolist() for row in proof.cells.tolist())
        # Sums of functions of all factors: the certificate must give every one of them, not only the absorbed model's.
        weights = np.array([float(weight) for weight in proof.weights])
        table = np.random.default_rng(0).normal(size=features.columns)
        assert features.values(table, cell[None])[0] == pytest.approx(weights @ features.values(table, proof.cells))
        row = features.incidence(cell[None]).toarray()[0]
        assert found.leverage_of(cell[None])[0] == pytest.approx(float(np.sum((row @ inverse) ** 2)))


@given(case=designs())
def test_cubes_are_found_by_the_free_factors_and_given_in_full(case: tuple[Possible, Cells, Cells]) -> None:
    possible, cells, seen = case
    answer = identify(seen, sizes=possible.sizes, possible=possible)
    for cell in cells[answer.verdicts_of(cells) == Verdict.DETERMINED][:8]:
        terms = cube_terms(answer.features, answer.seen, cell)
        proof = answer.certificate_of(tuple(cell.tolist()))
        if terms:
            assert {row in seen.tolist() for row in map(list, terms)} == {True}
            assert balances(Conjunctions(possible.sizes), cell, terms)
            assert len(terms) == len(proof) == 3


@given(st.data(), st.integers(1, 2))
def test_lists_of_cells_agree_with_brute_force(data: st.DataObject, order: int) -> None:
    sizes = (3, 3, 2)
    chosen = data.draw(st.lists(st.sampled_from(range(18)), min_size=1, unique=True))
    cells = every_cell(sizes)[sorted(chosen)]
    count = data.draw(st.integers(1, len(cells)))
    possible = Possible(sizes, (), (Combinations((0, 1, 2), cells),))
    found = identify(cells[:count], order=order, sizes=sizes, possible=possible)
    codes, deficit = brute_force(sizes, order, cells, cells[:count])
    np.testing.assert_array_equal(found.verdicts_of(cells), codes)
    assert found.deficit == deficit
    counts = found.count_verdicts()
    assert [counts[verdict] for verdict in Verdict] == np.bincount(codes, minlength=len(Verdict)).tolist()


def test_counts_are_exact_for_products_of_any_size() -> None:
    # 3,000 pupils in 30 schools, 1,000 questions, 40 days: two halves that share no question and no day, each a star.
    seen = []
    for half in range(2):
        hub = [1500 * half, 15 * half, 500 * half, 20 * half]
        seen += [[pupil, pupil // 100, *hub[2:]] for pupil in range(1500 * half, 1500 * (half + 1))]
        seen += [[*hub[:2], question, hub[3]] for question in range(500 * half + 1, 500 * (half + 1))]
        seen += [[*hub[:3], day] for day in range(20 * half + 1, 20 * (half + 1))]
    sizes = (3000, 30, 1000, 40)
    possible = nested_product(sizes, (), [(0, 1)], np.array(seen))
    found = identify(seen, sizes=sizes, possible=possible)
    counts = found.count_verdicts()
    assert (possible.count, counts.total, counts.exact) == (120_000_000, 120_000_000, True)
    assert counts[Verdict.DETERMINED] == 2 * 1500 * 500 * 20 - len(seen)
    assert counts[Verdict.DISCONNECTED] == 90_000_000
    assert found.deficit == 2


def test_a_child_and_one_more_factor_are_a_graph() -> None:
    seen = np.array([[0, 0, 0], [1, 0, 0], [1, 0, 1], [2, 1, 1]])
    possible = nested_product((3, 2, 2), (), [(0, 1)], seen)
    found = identify(seen, sizes=(3, 2, 2), possible=possible)
    assert (found.route, found.rank, found.deficit) == ("graph", 4, 0)
    assert str(found.certificate_of((0, 0, 1))) == "y(0,0,1) = y(0,0,0) + y(1,0,1) - y(1,0,0)"


def test_sampled_counts_stay_among_the_possible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[Identification.__module__], "MAX_GRID_CELLS", 10)
    generator = np.random.default_rng(0)
    pupils = np.repeat(np.arange(20), 4)
    seen = np.column_stack([pupils, pupils // 5, generator.integers(0, 6, 80), generator.integers(0, 4, 80)])
    possible = nested_product((20, 4, 6, 4), (), [(0, 1)], seen)
    counts = identify(seen, order=2, sizes=(20, 4, 6, 4), possible=possible).count_verdicts()
    assert not counts.exact
    assert counts.total == 480 == sum(counts.by_verdict.values())
