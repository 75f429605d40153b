"""Certificates: exact sums, shortest where a bound is known, and true for every function of the model."""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from recombine.cells.conjunctions import Conjunctions, every_cell
from recombine.cells.seen import SeenCells
from recombine.errors import InputError, SolverError
from recombine.theory.identification.certificate import certificate, cube_terms
from recombine.theory.identification.identify import identify
from recombine.theory.identification.signed_sums import balances, signed_sum, solve_fractions
from recombine.verdicts import Verdict


def random_function(features, seed):
    """A function of the model's order with integer values, so that sums are exact."""
    table = np.random.default_rng(seed).integers(-1000, 1000, features.columns)
    return lambda cells: features.values(table, np.asarray(cells))


def assert_certifies(features, seen, found, seed=0):
    """The sum holds exactly for random functions, uses seen cells only, each once."""
    assert found.verified
    assert seen.holds(found.cells).all()
    assert len(np.unique(found.cells, axis=0)) == len(found) == len(found.weights)
    for number in range(3):
        function = random_function(features, seed + number)
        total = sum(weight * int(value) for weight, value in zip(found.weights, function(found.cells), strict=True))
        assert total == int(function([found.cell])[0])


@st.composite
def answered(draw):
    factors = draw(st.integers(2, 4))
    symmetric = draw(st.sampled_from([(), ((0, 1),)]))
    size = draw(st.integers(2, {2: 6, 3: 4, 4: 3}[factors]))
    order = draw(st.integers(1, factors - 1))
    density = draw(st.sampled_from([0.2, 0.35, 0.5, 0.7]))
    cells = every_cell((size,) * factors)
    seen = cells[np.random.default_rng(draw(st.integers(0, 10**6))).random(len(cells)) < density]
    return identify(seen if len(seen) else cells[:1], order=order, sizes=(size,) * factors, symmetric=symmetric)


@pytest.mark.slow
@given(answered())
def test_every_determined_cell_has_a_certificate_and_no_other_has(answer):
    cells = every_cell(answer.features.sizes)
    generator = np.random.default_rng(0)
    determined = cells[answer.verdicts == Verdict.DETERMINED]
    for cell in determined[generator.permutation(len(determined))[:6]]:
        assert_certifies(answer.features, answer.seen, answer.certificate_of(cell))
    open_cells = cells[answer.verdicts == Verdict.DISCONNECTED]
    for cell in open_cells[generator.permutation(len(open_cells))[:3]]:
        with pytest.raises(SolverError, match="no sum of seen cells"):
            certificate(answer.features, answer.seen, cell)
        with pytest.raises(InputError, match="is disconnected"):
            answer.certificate_of(cell)


@given(answered())
def test_the_squared_weights_are_never_below_the_leverage(answer):
    # Least squares has the smallest squared weights of all sums that give the cell.
    cells = every_cell(answer.features.sizes)
    for cell in cells[answer.verdicts == Verdict.DETERMINED][:4]:
        squares = float(sum(weight**2 for weight in answer.certificate_of(cell).weights))
        assert squares >= answer.leverage_of([cell])[0] - 1e-9


def test_two_factors_give_a_shortest_path():
    # A staircase: cell (i, j) is reached by walking the stairs, 2 |i - j| - 1 or 2 |i - j| + 1 seen cells long.
    stairs = np.array([[i, i + up] for i in range(10) for up in (0, 1)])
    answer = identify(stairs)
    for first, second in [(0, 9), (9, 0), (2, 6), (7, 3)]:
        found = answer.certificate_of((first, second))
        assert len(found) == (2 * (second - first) - 1 if second > first else 2 * (first - second) + 1)
        assert_certifies(answer.features, answer.seen, found)


@pytest.mark.parametrize(("factors", "order"), [(3, 1), (3, 2), (4, 2), (4, 3)])
def test_one_missing_cell_closes_one_cube(factors, order):
    cells = every_cell((3,) * factors)
    found = identify(cells[1:], order=order).certificate_of((0,) * factors)
    # No relation at order k has fewer than 2**(k+1) cells.
    assert len(found) == 2 ** (order + 1) - 1
    assert {abs(weight) for weight in found.weights} == {1}
    assert_certifies(
        Conjunctions((3,) * factors, order), SeenCells(Conjunctions((3,) * factors, order), cells[1:]), found
    )


def test_odd_cycles_give_halves():
    triangles = [[0, 1], [1, 2], [0, 2], [3, 4], [4, 5], [3, 5]]
    answer = identify(triangles, [[0, 3]], symmetric=[(0, 1)])
    found = answer.certificate_of(0)
    assert_certifies(answer.features, answer.seen, found)
    assert {abs(weight) for weight in found.weights} == {Fraction(1, 2)}
    assert len(found) == 6
    assert "+ 1/2 y(" in str(found)


def test_long_chains_are_certified():
    steps = np.arange(240)
    seen = np.stack([(steps + shift) // 3 for shift in range(3)], axis=1)
    answer = identify(seen)
    cell = (79, 0, 80)
    assert answer.verdicts_of([cell])[0] == Verdict.DETERMINED
    assert_certifies(answer.features, answer.seen, answer.certificate_of(cell))


@pytest.mark.parametrize("steps", [8, 11])  # the latter's weights are not found by rounding
def test_large_weights_are_solved_exactly(steps):
    # Each step doubles, so the certificate of the last level needs weights that no small denominator would round to.
    seen = [(0, 0, 0), (0, 1, 0)]
    for step in range(steps):
        single, double, this, after = 2 * step + 1, 2 * step + 2, step + 1, step + 2
        seen += [(single, this, 0), (single, 0, this), (double, this, this), (double, after, 0)]
    seen = [row for row in seen if row != (0, 1, 0)] + [(0, steps + 1, 0)]
    answer = identify(seen)
    found = answer.certificate_of((0, 1, 0))
    assert_certifies(answer.features, answer.seen, found)
    assert max(weight.denominator for weight in found.weights) == 2**steps


def test_a_design_too_large_for_the_program_gets_weights_that_say_so(monkeypatch):
    cells = every_cell((7, 7, 7))
    # The last level of every factor is seen in one cell of its own, so cells that mix it with others stay open.
    inner = cells[(cells < 6).all(axis=1)]
    seen = np.vstack([inner[np.random.default_rng(5).random(len(inner)) < 0.12], [[6, 6, 6]]])
    answer = identify(seen)
    cell = cells[answer.verdicts == Verdict.DETERMINED][0]
    monkeypatch.setattr("recombine.theory.identification.signed_sums.POOL_SIZES", (2,))
    monkeypatch.setattr(sys.modules["recombine.theory.identification.certificate"], "cube_terms", lambda *_: {})
    found = answer.certificate_of(cell)
    assert not found.verified
    function = random_function(answer.features, 1)
    assert found.value(function(found.cells)) == pytest.approx(function([cell])[0], abs=1e-5)
    # Least squares: the squared weights are the leverage.
    assert float(sum(weight**2 for weight in found.weights)) == pytest.approx(answer.leverage_of([cell])[0], rel=1e-7)
    with pytest.raises(SolverError, match="no sum of seen cells"):
        certificate(answer.features, answer.seen, cells[answer.verdicts == Verdict.DISCONNECTED][0])


def test_solve_fractions_reports_what_cannot_be_solved():
    assert solve_fractions([{0: 1, 1: 1}], {0: 1, 2: 1}) is None
    rows = [{0: 1, 2: 1}, {1: 1, 2: 1}, {1: 1, 3: 1}]
    assert solve_fractions(rows, {0: 1, 3: 1}) == [1, -1, 1]


def test_a_seen_cell_certifies_itself_and_names_are_used():
    answer = identify([[0, 0], [0, 1], [1, 0]], [[0, 1], [1, 1]])
    assert str(answer.certificate_of(0)) == "y(0,1) = y(0,1)"
    levels = [["a", "b"], [1, 2]]
    assert answer.certificate_of(1).text(levels) == "y(b,2) = y(b,1) + y(a,2) - y(a,1)"
    assert answer.certificate_of(1).value(np.array([5.0, 3.0, 1.0])) == 7.0


def test_numbering_needs_targets():
    with pytest.raises(InputError, match="give the cell itself"):
        identify([[0, 0], [1, 1]]).certificate_of(0)


@pytest.mark.parametrize("seed", range(6))
def test_three_cells_are_found_wherever_three_are_enough(seed):
    """Brute force over all triples y(a) + y(b) - y(c), where several factors may change together."""
    sizes = (3, 4, 3, 2)
    features, cells = Conjunctions(sizes), every_cell(sizes)
    chosen = np.random.default_rng(seed).random(len(cells)) < 0.2
    seen, rows = SeenCells(features, cells[chosen]), features.incidence(cells).toarray()
    sums = {}
    for a in np.flatnonzero(chosen):
        for b in np.flatnonzero(chosen):
            for total in rows[a] + rows[b] - rows[chosen]:
                sums.setdefault(total.tobytes(), True)
    enough = [cell for cell, row in zip(cells, rows, strict=True) if row.tobytes() in sums]
    several = 0
    for cell in enough:
        found = certificate(features, seen, cell)
        assert len(found) == (1 if seen.holds(cell[None])[0] else 3)
        several += len(found) == 3 and min((found.cells != cell).sum(axis=1)) > 1
        assert_certifies(features, seen, found, seed)
    assert len(enough) > chosen.sum()


def test_a_function_may_name_whole_cells():
    features = Conjunctions((2, 2))
    sums = certificate(features, SeenCells(features, np.array([[0, 0], [0, 1], [1, 0]])), np.array([1, 1]))
    named = sums.text(lambda cell: "-".join("ab"[level] for level in cell))
    assert named.startswith("y(b-b) = ")
    assert sorted(named.partition(" = ")[2].replace("- ", "-").replace("+ ", "").split()) == [
        "-y(a-a)",
        "y(a-b)",
        "y(b-a)",
    ]


def test_a_dearer_sum_of_fewer_cells_is_preferred():
    """The sum of least absolute weights takes 18 cells here, and 15 of the same cells are enough."""
    features, rng = Conjunctions((6, 6, 6, 6)), np.random.default_rng(278)
    count = int(features.rank * rng.uniform(1.1, 2.5))
    cells = every_cell((6, 6, 6, 6))
    seen = cells[np.sort(rng.choice(len(cells), count, replace=False))]
    target = np.array([0, 5, 3, 0])
    matrix = features.incidence(seen).toarray().T
    goal = features.incidence(target[None]).toarray()[0]
    cheapest = linprog(np.ones(2 * count), A_eq=np.hstack([matrix, -matrix]), b_eq=goal, method="highs-ipm")
    shorter = certificate(features, SeenCells(features, seen), target)
    assert len(shorter) < np.count_nonzero(np.abs(cheapest.x[:count] - cheapest.x[count:]) > 1e-6)
    assert sum(abs(weight) for weight in shorter.weights) > cheapest.fun
    assert_certifies(features, SeenCells(features, seen), shorter)


def test_the_search_for_cubes_ends_with_its_budget(monkeypatch):
    """Factors 0 and 1 change together: the second way to group three factors, each of which looks at three cells."""
    features = Conjunctions((2, 2, 2))
    seen = SeenCells(features, np.array([[1, 1, 0], [0, 0, 1], [1, 1, 1]]))
    module = sys.modules["recombine.theory.identification.certificate"]
    for budget, terms in ((5, 0), (6, 3)):
        monkeypatch.setattr(module, "MAX_CUBE_CELLS_SEARCHED", budget)
        assert len(cube_terms(features, seen, np.zeros(3, dtype=np.int64))) == terms
    # One factor to a group is tried without any.
    monkeypatch.setattr(module, "MAX_CUBE_CELLS_SEARCHED", 0)
    seen = SeenCells(features, np.array([[1, 0, 0], [0, 0, 1], [1, 0, 1]]))
    assert len(cube_terms(features, seen, np.zeros(3, dtype=np.int64))) == 3


@pytest.mark.parametrize("sizes", [(3,), (2, 3), (1, 2)])
def test_pools_grow_until_they_hold_a_sum(sizes, monkeypatch):
    """All three cells are needed: the pool of three has them, and smaller ones leave weights in floating point."""
    monkeypatch.setattr("recombine.theory.identification.signed_sums.POOL_SIZES", sizes)
    features, seen = Conjunctions((2, 2, 2)), np.array([[0, 0, 0], [0, 1, 0], [1, 0, 0]])
    terms = signed_sum(features, seen, np.array([1, 1, 0]))
    assert {cell: round(float(weight), 7) for cell, weight in terms.items()} == {
        (0, 0, 0): -1.0,
        (0, 1, 0): 1.0,
        (1, 0, 0): 1.0,
    }
    assert balances(features, np.array([1, 1, 0]), terms) or max(sizes) < len(seen)
