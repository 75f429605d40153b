"""Plans where only some cells matter, against every set of cells gone through by brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.cells.conjunctions import canonical, contains, distinct, every_cell
from recombine.design import Design
from recombine.jobs import Importance
from recombine.jobs.advice import Plan, plan
from recombine.jobs.importance import ANY
from recombine.words.plan import gain_text, plan_sentence


def rows_of(cells: IntArray, sizes: tuple[int, ...], order: int) -> FloatArray:
    """One-hot rows of all conjunctions of an order, one unit per subset."""
    blocks = []
    for places in itertools.combinations(range(len(sizes)), order):
        ids = np.zeros(len(cells), dtype=int)
        for place in places:
            ids = ids * sizes[place] + cells[:, place]
        blocks.append(np.eye(int(np.prod([sizes[place] for place in places])))[ids])
    return np.hstack(blocks)


def determined(seen: IntArray, cells: IntArray, sizes: tuple[int, ...], order: int) -> BoolArray:
    """Say which cells lie in the row space of the seen ones."""
    known = rows_of(seen, sizes, order)
    rank = np.linalg.matrix_rank(known)
    rows = rows_of(cells, sizes, order)
    return np.array([np.linalg.matrix_rank(np.vstack([known, row])) == rank for row in rows], dtype=bool)


@st.composite
def designs(draw: st.DrawFn) -> tuple[Design, int]:
    sizes = draw(st.sampled_from([(3, 3), (2, 4), (4, 4), (2, 2, 2), (3, 2, 2)]))
    cells = every_cell(sizes)
    chosen = draw(st.lists(st.integers(0, len(cells) - 1), min_size=1, max_size=7, unique=True))
    order = draw(st.sampled_from([1, 1, 2])) if len(sizes) == 3 else 1
    return Design.from_cells(cells[chosen], sizes=sizes), order


@st.composite
def weights_of(draw: st.DrawFn, design: Design) -> Importance:
    cells = every_cell(design.sizes)
    values = draw(st.lists(st.sampled_from([0.0, 0.0, 0.0, 1.0, 2.5, 7.0]), min_size=len(cells), max_size=len(cells)))
    return Importance(cells, np.array(values))


def open_and_important(design: Design, order: int, weights: Importance) -> IntArray:
    cells = every_cell(design.sizes)
    unseen = cells[~contains(design.seen, cells)]
    opened = unseen[~determined(design.seen, unseen, design.sizes, order)] if len(unseen) else unseen
    return opened[weights.of(opened) > 0]


def cells_of(found: Plan) -> IntArray:
    return np.array([pick.cell for pick in found.picks if pick.reason == "connect"], dtype=int)


@pytest.mark.slow
@given(designs(), st.sampled_from([0.25, 1.0, 3.0]), st.sampled_from([None, 1, 2, 6]), st.booleans(), st.data())
def test_equal_weights_change_nothing(
    case: tuple[Design, int], value: float, k: int | None, listed: bool, data: st.DataObject
) -> None:
    """A weight on every cell, as one blank pattern or cell by cell, gives the plan that there is without weights."""
    design, order = case
    cells = every_cell(design.sizes)
    patterns = cells if listed else np.full((1, len(design.sizes)), ANY)
    weights = Importance(patterns, np.full(len(patterns), value))
    prices = data.draw(st.lists(st.sampled_from([1.0, 2.0]), min_size=len(cells), max_size=len(cells)))
    cost = {tuple(cell): price for cell, price in zip(cells.tolist(), prices, strict=True)}
    banned = [cells[place] for place in data.draw(st.lists(st.integers(0, len(cells) - 1), max_size=3))]
    plain = plan(design, order, k, cost=cost, forbidden=banned)
    found = plan(design, order, k, cost=cost, forbidden=banned, importance=weights)
    assert [(pick.cell, pick.reason, pick.gain, pick.cost) for pick in found.picks] == [
        (pick.cell, pick.reason, pick.gain, pick.cost) for pick in plain.picks
    ]
    numbers = ("needed", "beyond", "blocked", "sampled", "enough", "several")
    assert [getattr(found, name) for name in numbers] == [getattr(plain, name) for name in numbers]


@given(designs(), st.data())
def test_what_is_needed_is_the_fewest_cells_that_determine_what_matters(
    case: tuple[Design, int], data: st.DataObject
) -> None:
    design, order = case
    weights = data.draw(weights_of(design))
    wanted = open_and_important(design, order, weights)
    found = plan(design, order, None, importance=weights)
    cells = every_cell(design.sizes)
    unseen = cells[~contains(design.seen, cells)]
    assert found.needed is not None
    for number in range(found.needed):
        if number > 2:
            break
        for chosen in itertools.combinations(unseen, number):
            more = np.vstack([design.seen, *[cell[None] for cell in chosen]])
            assert not determined(more, wanted, design.sizes, order).all()
    if len(wanted):
        assert len(cells_of(found)) == found.needed
        assert determined(np.vstack([design.seen, cells_of(found)]), wanted, design.sizes, order).all()
    else:
        assert found.needed == 0
        assert not found.picks


@given(designs(), st.integers(1, 3), st.data())
def test_each_pick_says_what_it_settles_and_the_first_settles_most(
    case: tuple[Design, int], k: int, data: st.DataObject
) -> None:
    design, order = case
    weights = data.draw(weights_of(design))
    cells = every_cell(design.sizes)
    unseen = cells[~contains(design.seen, cells)]
    total = weights.of(unseen).sum()
    found = plan(design, order, k, importance=weights)
    assert found.weighted
    seen = design.seen

    def settled(before: IntArray, cell: IntArray) -> tuple[float, int]:
        opened = unseen[~determined(before, unseen, design.sizes, order)]
        new = opened[determined(np.vstack([before, cell[None]]), opened, design.sizes, order)]
        other = new[(new != cell).any(axis=1)]
        return float(weights.of(new).sum()), int((weights.of(other) > 0).sum())

    for place, pick in enumerate(pick for pick in found.picks if pick.reason == "connect"):
        cell = np.array(pick.cell)
        worth, others = settled(seen, cell)
        assert pick.importance == pytest.approx(worth / total, abs=1e-12)
        assert pick.gain == others
        if place == 0 and found.needed is not None and k < found.needed:
            assert worth == pytest.approx(max(settled(seen, other)[0] for other in unseen))
        seen = np.vstack([seen, cell])


@given(designs(), st.data())
def test_forbidden_cells_are_never_proposed_and_what_they_leave_open_is_counted(
    case: tuple[Design, int], data: st.DataObject
) -> None:
    design, order = case
    weights = data.draw(weights_of(design))
    cells = every_cell(design.sizes)
    banned = cells[data.draw(st.lists(st.integers(0, len(cells) - 1), min_size=1, max_size=9, unique=True))]
    found = plan(design, order, None, forbidden=list(banned), importance=weights)
    chosen = cells_of(found).reshape(-1, len(design.sizes))
    assert not contains(banned, chosen).any()
    wanted = open_and_important(design, order, weights)
    allowed = cells[~contains(np.vstack([design.seen, banned]), cells)]
    best = np.vstack([design.seen, allowed])
    reachable = wanted[determined(best, wanted, design.sizes, order)] if len(wanted) else wanted
    assert found.beyond == len(wanted) - len(reachable)
    got = determined(np.vstack([design.seen, chosen]), reachable, design.sizes, order)
    assert found.several == int((~got).sum())
    if found.needed is not None:
        assert got.all()
        assert len(chosen) == found.needed


def test_sharpening_is_weighted_by_importance() -> None:
    """The variance that falls is the weighted mean, worked out here by pseudo-inverse."""
    sizes = (4, 4)
    cells = every_cell(sizes)
    design = Design.from_cells(cells[(cells == 0).any(axis=1)], sizes=sizes)
    weights = Importance(np.array([[3, 3], [1, 2]]), np.array([5.0, 1.0]))
    found = plan(design, 1, 1, importance=weights)
    unseen = cells[(cells > 0).all(axis=1)]

    def variance(seen: IntArray) -> float:
        inverse = np.linalg.pinv(rows_of(seen, sizes, 1).T @ rows_of(seen, sizes, 1))
        rows = rows_of(unseen, sizes, 1)
        return float(np.average(((rows @ inverse) * rows).sum(axis=1), weights=weights.of(unseen)))

    before = variance(design.seen)
    drops = {tuple(cell): 1 - variance(np.vstack([design.seen, cell])) / before for cell in unseen.tolist()}
    assert found.picks[0].cell == max(drops, key=lambda cell: drops[cell]) == (3, 3)
    assert found.picks[0].gain == pytest.approx(drops[3, 3])
    assert "weighted by importance" in gain_text(found, found.picks[0])


def test_cells_that_matter_in_a_huge_product_are_planned_for_exactly() -> None:
    sizes = (60,) * 6
    generator = np.random.default_rng(5)
    seen = generator.integers(0, 60, size=(40, 6))
    wanted = distinct(generator.integers(0, 60, size=(7, 6)))[0]
    design = Design.from_cells(seen, sizes=sizes)
    found = plan(design, 1, None, importance=Importance(wanted, np.arange(1.0, 8.0)))
    assert not found.sampled
    base = rows_of(design.seen, sizes, 1)
    both = np.vstack([base, rows_of(wanted, sizes, 1)])
    assert found.needed == np.linalg.matrix_rank(both) - np.linalg.matrix_rank(base)
    assert len(found.picks) == found.needed
    chosen = cells_of(found)
    assert determined(np.vstack([design.seen, chosen]), wanted, sizes, 1).all()
    assert sum(pick.importance or 0 for pick in found.picks) == pytest.approx(1)


def test_among_cells_that_settle_as_much_the_important_one_is_collected() -> None:
    design = Design.from_cells([[0, 0], [0, 1], [1, 0], [2, 2], [3, 2]], sizes=(4, 4))
    found = plan(design, 1, 1, importance=Importance(np.array([[3, 1]]), np.ones(1)))
    assert found.picks[0].cell == (3, 1)
    assert gain_text(found, found.picks[0]) == "all that matters is settled, itself only"


@pytest.mark.slow
def test_gains_are_estimates_where_too_many_cells_matter() -> None:
    """All cells with one level matter; and with a weight on every cell the plan is the one without."""
    sizes = (50,) * 5
    generator = np.random.default_rng(2)
    halves = np.vstack([generator.integers(0, 25, size=(400, 5)), generator.integers(25, 50, size=(400, 5))])
    design = Design.from_cells(halves, sizes=sizes)
    rule = np.full((1, 5), ANY)
    rule[0, 0] = 3
    found = plan(design, 1, 2, importance=Importance(rule, np.ones(1)))
    assert found.sampled
    assert found.needed is None
    assert not found.enough
    assert all(pick.importance for pick in found.picks if pick.reason == "connect")
    assert "about" in gain_text(found, found.picks[0])
    everywhere = plan(design, 1, 2, importance=Importance(np.full((1, 5), ANY), np.ones(1)))
    plain = plan(design, 1, 2)
    assert [pick.cell for pick in everywhere.picks] == [pick.cell for pick in plain.picks]
    assert [pick.gain for pick in everywhere.picks] == [pick.gain for pick in plain.picks]
    assert everywhere.needed == plain.needed


def test_nothing_is_collected_where_all_that_matters_was_seen() -> None:
    design = Design.from_cells([[0, 0], [1, 1]])
    found = plan(design, importance=Importance(np.array([[1, 1]]), np.ones(1)))
    assert found.enough
    assert plan_sentence(found) == "You have enough: every cell that matters was seen."


def test_interchangeable_factors_are_weighted_as_one_cell() -> None:
    design = Design.from_cells([[0, 1], [2, 3]], sizes=(4, 4), symmetric=[(0, 1)])
    weights = Importance(canonical(np.array([[3, 0]]), design.symmetric), np.ones(1), design.symmetric)
    found = plan(design, 1, 1, importance=weights)
    assert found.picks[0].importance == 1
    assert gain_text(found, found.picks[0]).startswith("all that matters is settled")
