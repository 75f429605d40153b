"""Plans against brute force: every stated gain is recounted, every set is shown to suffice and to be the smallest."""

from __future__ import annotations

import itertools
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.cells.conjunctions import Conjunctions, canonical, every_cell
from recombine.design.design import Design
from recombine.errors import InputError
from recombine.jobs.advice.plan import Plan, plan
from recombine.jobs.limits import PLAN_LIMITS
from recombine.theory.identification.identify import identify
from recombine.verdicts import Verdict
from recombine.words.plan import gain_text, plan_sentence

#: (sizes, order, symmetric, share of cells seen): sparse enough that something is left to connect.
DESIGNS = [
    ((5, 6), 1, (), 0.2),
    ((8, 8), 1, (), 0.1),
    ((4, 3, 4), 1, (), 0.1),
    ((3, 3, 2, 3), 1, (), 0.1),
    ((3, 4, 3), 2, (), 0.4),
    ((2, 3, 2, 2), 2, (), 0.4),
    ((6, 6), 1, ((0, 1),), 0.15),
    ((4, 4, 3), 1, ((0, 1),), 0.1),
    ((3, 3, 3), 2, ((0, 2),), 0.3),
]


def random_design(sizes, order, symmetric, share, seed) -> Design:
    generator = np.random.default_rng(seed)
    cells = every_cell(sizes)
    kept = cells[generator.random(len(cells)) < share]
    kept = kept if len(kept) else cells[:1]
    return Design.from_cells(kept, sizes=sizes, symmetric=symmetric)


def codes_after(design: Design, order: int, extra) -> np.ndarray:
    """Verdicts of all distinct cells once ``extra`` are collected, by a fresh identification."""
    seen = np.vstack([design.seen, np.array(extra, dtype=np.int64).reshape(-1, len(design.sizes))])
    cells = every_cell(design.sizes)
    cells = cells[(canonical(cells, design.symmetric) == cells).all(axis=1)]
    return identify(seen, cells, order, sizes=design.sizes, symmetric=design.symmetric).verdicts


def rank(design: Design, order: int, cells) -> int:
    features = Conjunctions(design.sizes, order, design.symmetric)
    return int(np.linalg.matrix_rank(features.incidence(np.asarray(cells)).toarray()))


def known(codes: np.ndarray) -> int:
    return int((codes <= Verdict.DETERMINED).sum())


@pytest.mark.parametrize(("sizes", "order", "symmetric", "share"), DESIGNS)
@pytest.mark.parametrize("seed", [0, 1])
def test_every_pick_brings_what_it_says_and_all_picks_determine_everything(sizes, order, symmetric, share, seed):
    design = random_design(sizes, order, symmetric, share, seed)
    found = plan(design, order, None, self_pairs=True)
    before = known(codes_after(design, order, []))
    for number, pick in enumerate(found.picks, start=1):
        after = known(codes_after(design, order, [other.cell for other in found.picks[:number]]))
        assert pick.reason == "connect"
        # The pick itself becomes seen; its gain counts the others.
        assert after - before - 1 == pick.gain
        before = after
    assert (codes_after(design, order, [pick.cell for pick in found.picks]) <= Verdict.DETERMINED).all()


@pytest.mark.parametrize(("sizes", "order", "symmetric", "share"), DESIGNS)
def test_the_number_needed_is_the_rank_deficit_so_no_smaller_set_can_do(sizes, order, symmetric, share):
    design = random_design(sizes, order, symmetric, share, seed=2)
    found = plan(design, order, None, self_pairs=True)
    # One further cell raises the rank by one at most, and everything determined means full rank.
    assert found.needed == rank(design, order, every_cell(sizes)) - rank(design, order, design.seen)
    assert len(found.picks) == found.needed


@given(st.integers(2, 7), st.integers(2, 7), st.integers(0, 2**32 - 1))
def test_two_factors_need_one_cell_less_than_there_are_components(rows, columns, seed):
    design = random_design((rows, columns), 1, (), 0.25, seed)
    parent = list(range(rows + columns))

    def root(node: int) -> int:
        while parent[node] != node:
            node = parent[node]
        return node

    for left, right in design.seen.tolist():
        parent[root(left)] = root(rows + right)
    components = len({root(node) for node in range(rows + columns)})
    assert plan(design, 1, None).needed == components - 1


def test_greedy_takes_the_largest_gain_first():
    design = random_design((6, 7), 1, (), 0.2, seed=5)
    first = plan(design, 1, 1).picks[0]
    before = known(codes_after(design, 1, []))
    best = max(known(codes_after(design, 1, [cell])) - before - 1 for cell in unseen_open_cells(design))
    assert first.gain == best


def unseen_open_cells(design: Design):
    cells = every_cell(design.sizes)
    codes = codes_after(design, 1, [])
    return [tuple(cell) for cell, code in zip(cells.tolist(), codes, strict=True) if code > Verdict.DETERMINED]


def test_forbidden_cells_are_never_picked():
    design = random_design((5, 5), 1, (), 0.15, seed=3)
    free = plan(design, 1, None)
    blocked = [pick.cell for pick in free.picks[:2]]
    found = plan(design, 1, None, forbidden=blocked)
    assert not {pick.cell for pick in found.picks} & set(blocked)
    assert found.needed == free.needed
    assert found.beyond == 0


def test_what_forbidden_cells_put_out_of_reach_is_counted_and_said():
    design = Design.from_cells([[0, 0], [0, 1], [1, 0], [2, 2]], names=["colour", "shape"])
    rules = [{"colour": 2}, {"shape": 2}]
    found = plan(design, forbidden=rules, k=None)
    # Nothing that touches level 2 of either factor may be collected: its four unseen cells stay open.
    assert (found.needed, found.picks, found.beyond) == (0, (), 4)
    assert plan_sentence(found) == (
        "4 unseen cells stay open whatever is collected, because the cells that would tell are forbidden."
    )


@pytest.mark.parametrize("seed", range(4))
def test_the_reachable_part_is_still_reached_in_the_fewest_cells(seed):
    design = random_design((4, 3, 3), 1, (), 0.08, seed)
    rules = [{"factor 1": 3}, {"factor 2": 0, "factor 3": 1}]
    found = plan(design, 1, None, forbidden=rules)
    cells = every_cell(design.sizes)
    allowed = cells[~((cells[:, 0] == 3) | ((cells[:, 1] == 0) & (cells[:, 2] == 1)))]
    reachable = np.vstack([design.seen, allowed])
    assert len(found.picks) == found.needed == rank(design, 1, reachable) - rank(design, 1, design.seen)
    after = codes_after(design, 1, [pick.cell for pick in found.picks])
    assert int((after > Verdict.DETERMINED).sum()) == found.beyond
    assert ("stay" in plan_sentence(found)) == (found.beyond > 0)


def test_forbidding_a_symmetric_pair_forbids_only_that_pair():
    design = Design.from_cells([[0, 1], [2, 3]], names=["a", "b"], symmetric=[(0, 1)], sizes=(4, 4))
    assert plan(design, forbidden=[{"a": 0, "b": 0}], self_pairs=True).blocked == 1
    assert plan(design, forbidden=[{"a": 3, "b": 0}], self_pairs=True).blocked == 1
    assert plan(design, forbidden=[[3, 0], [0, 3]], self_pairs=True).blocked == 1
    # One level named: every pair that holds it, in either place; (0, 1) is seen, so three are left.
    assert plan(design, forbidden=[{"b": 0}], self_pairs=True).blocked == 3


def test_a_cheaper_cell_is_preferred_when_gains_tie():
    design = Design.from_cells([[0, 0], [1, 1]])
    assert plan(design, k=1).picks[0].gain == 1
    for cheap in ([0, 1], [1, 0]):
        found = plan(design, k=1, cost={tuple(cheap): 0.5})
        assert found.picks[0].cell == tuple(cheap)
        assert found.picks[0].cost == 0.5


def test_gain_is_weighed_against_cost_when_not_all_can_be_had():
    # Components of 3x3, 2x2 and 1x1 levels: joining the first two determines 12 cells, the first and last 6.
    blocks = [range(3), range(3, 5), range(5, 6)]
    design = Design.from_cells([[i, j] for block in blocks for i in block for j in block])
    assert plan(design, k=1).picks[0].gain == 11

    def price(row: dict[str, str]) -> float:
        return 3.0 if {row["factor 1"], row["factor 2"]} & {"3", "4"} else 1.0

    found = plan(design, k=1, cost=price)
    assert (found.picks[0].gain, found.picks[0].cost) == (5, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_the_set_that_determines_everything_is_a_cheapest_one(seed):
    design = random_design((3, 3, 2), 1, (), 0.15, seed)
    unseen = [tuple(cell) for cell in every_cell(design.sizes).tolist() if cell not in design.seen.tolist()]
    generator = np.random.default_rng(seed)
    prices = dict(zip(unseen, generator.integers(1, 9, len(unseen)).tolist(), strict=True))
    found = plan(design, 1, None, cost=prices)
    full = rank(design, 1, every_cell(design.sizes))
    cheapest = min(
        sum(prices[cell] for cell in chosen)
        for chosen in itertools.combinations(unseen, found.needed)
        if rank(design, 1, np.vstack([design.seen, np.array(chosen)])) == full
    )
    assert sum(pick.cost for pick in found.picks) == cheapest
    assert [pick.cell for pick in plan(design, 1, found.needed, cost=prices).picks] == [p.cell for p in found.picks]


def test_levels_that_were_only_declared_are_reached_too():
    design = Design.from_cells([[0, 0], [0, 1], [1, 0]], sizes=(3, 4))
    found = plan(design, k=None)
    assert found.needed == 3
    assert (codes_after(design, 1, [pick.cell for pick in found.picks]) <= Verdict.DETERMINED).all()


def test_what_is_left_of_k_sharpens():
    design = Design.from_cells([[0, 0], [0, 1], [1, 0], [2, 2]])
    found = plan(design, k=4)
    assert [pick.reason for pick in found.picks] == ["connect", "sharpen", "sharpen", "sharpen"]
    assert len({pick.cell for pick in found.picks}) == 4


@pytest.mark.parametrize("order", [1, 2])
def test_stated_sharpening_equals_the_fall_of_the_mean_leverage(order):
    design = random_design((3, 4, 3), order, (), 0.75, seed=8)
    found = plan(design, order, 3)
    assert [pick.reason for pick in found.picks] == ["sharpen"] * 3
    targets = every_cell(design.sizes)
    targets = targets[codes_after(design, order, []) == Verdict.DETERMINED]

    def mean_leverage(count: int) -> float:
        seen = np.vstack([design.seen, *[[pick.cell] for pick in found.picks[:count]]])
        return float(np.mean(identify(seen, targets, order, sizes=design.sizes).leverage))

    for number, pick in enumerate(found.picks):
        assert pick.gain == pytest.approx(1 - mean_leverage(number + 1) / mean_leverage(number), abs=1e-9)


def test_nothing_is_left_to_collect_once_everything_is_seen():
    found = plan(Design.from_cells(every_cell((2, 3))), k=5)
    assert (found.picks, found.needed, len(found.table)) == ((), 0, 0)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_plan():
    design = random_design((30, 40, 50), 1, (), 0.0005, seed=0)
    assert plan(design, 1, 10, seed=4).picks == plan(design, 1, 10, seed=4).picks


@pytest.mark.slow
def test_a_large_product_is_searched_by_sample_and_still_reached():
    generator = np.random.default_rng(0)
    design = Design.from_cells(generator.integers(0, 120, size=(90, 3)), sizes=(120, 120, 120))
    found = plan(design, 1, None)
    assert found.sampled
    assert len(found.picks) == found.needed
    seen = np.vstack([design.seen, np.array([pick.cell for pick in found.picks])])
    answer = identify(seen, None, sizes=design.sizes)
    assert answer.deficit == 0
    assert answer.count_verdicts()[Verdict.UNSEEN_LEVEL] == 0


@pytest.mark.slow
def test_sampled_gains_are_close_to_the_counts_and_say_about():
    blocks = [range(400), range(400, 700)]
    generator = np.random.default_rng(1)
    seen = [[int(generator.choice(block)), int(generator.choice(block))] for block in blocks for _ in range(5000)]
    design = Design.from_cells(seen)
    found = plan(design, 1, 1)
    before, after = (
        identify(np.vstack([design.seen, *extra]), None, sizes=design.sizes).count_verdicts()
        for extra in ([], [[list(found.picks[0].cell)]])
    )
    gain = after[Verdict.DETERMINED] - before[Verdict.DETERMINED]
    assert abs(found.picks[0].gain - gain) < 0.05 * gain
    assert gain_text(found, found.picks[0]).startswith("about ")


@pytest.mark.slow
def test_hundreds_of_cells_are_planned_in_seconds():
    levels = np.arange(200)
    pairs = every_cell((200, 200))
    chain = Design.from_cells(pairs[levels[pairs[:, 0]] % 150 == levels[pairs[:, 1]] % 150])
    start = time.process_time()
    assert len(plan(chain, 1, None).picks) == 149
    diagonal = Design.from_cells(np.repeat(np.arange(30)[:, None], 3, axis=1))
    assert len(plan(diagonal, 1, None).picks) == 58
    assert time.process_time() - start < 15


def test_floating_point_finds_the_same_groups(monkeypatch):
    design = random_design((6, 6, 6), 1, (), 0.03, seed=4)
    exact = plan(design, 1, None)
    monkeypatch.setattr("recombine.theory.identification.nullspace.MAX_EXACT_COLUMNS", -1)
    monkeypatch.setattr("recombine.theory.identification.nullspace.MAX_COLUMNS_WITHOUT_FLINT", -1)
    floating = plan(design, 1, None)
    assert identify(design.seen, None, sizes=design.sizes).route == "projection"
    assert [pick.gain for pick in floating.picks] == [pick.gain for pick in exact.picks]
    assert (codes_after(design, 1, [pick.cell for pick in floating.picks]) <= Verdict.DETERMINED).all()


def test_gains_read_as_sentences():
    design = Design.from_cells([[0, 0], [1, 1], [2, 1]])
    found = plan(design, k=1)
    assert gain_text(found, found.picks[0]) == "2 other unseen cells become determined"
    assert plan_sentence(found) == "1 well-chosen cell would determine everything."
    saturated = plan(design, order=2, k=1)
    assert gain_text(saturated, saturated.picks[0]) == "determines itself only"
    assert plan_sentence(saturated) == "3 well-chosen cells would determine everything."


def test_a_factor_named_like_a_column_of_the_plan_stays_visible():
    design = Design.from_cells([[0, 0], [1, 1]], names=["cost", "shape"])
    table = plan(design, k=1).table
    assert table.columns == ["cost (factor)", "shape", "reason", "gain", "cost"]
    assert isinstance(plan(design, k=1), Plan)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"k": 0}, "asks for no cell"),
        ({"criterion": "A"}, "neither 'V'"),
        ({"cost": {("0", "1"): -1.0}}, "the cost of 0 · 1 is -1"),
        ({"cost": lambda row: float("nan")}, "is nan"),
        ({"cost": {("0", "7"): 1.0}}, "'7' is not a level"),
        ({"forbidden": [{"factor 3": 0}]}, "'factor 3' is not a factor; did you mean"),
        ({"forbidden": [{}]}, "names no factor"),
        ({"forbidden": [[0, 9]]}, "9 is not a level"),
    ],
)
def test_bad_requests_say_what_is_wrong(options, words):
    with pytest.raises(InputError, match=words):
        plan(Design.from_cells([[0, 0], [1, 1]]), **options)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("more", [[], [[0, 0]]], ids=["none seen", "one seen"])
def test_a_level_is_paired_with_itself_only_where_that_is_asked(order, more):
    pairs = [[0, 1], [1, 2], [0, 2], [2, 3], [3, 4], *more]
    design = Design.from_cells(pairs, symmetric=[(0, 1)], names=["gene_a", "gene_b"])
    without = plan(design, order, k=12)
    assert without.picks
    assert all(pick.cell[0] != pick.cell[1] for pick in without.picks)
    with_twins = plan(design, order, k=12, self_pairs=True)
    assert any(pick.cell[0] == pick.cell[1] for pick in with_twins.picks)


@given(st.integers(3, 6), st.integers(0, 2**32 - 1), st.integers(1, 2))
def test_without_self_pairs_what_is_needed_and_what_stays_open_is_right(levels, seed, order):
    design = random_design((levels, levels), order, ((0, 1),), 0.2, seed)
    found = plan(design, order, None)
    after = codes_after(design, order, [pick.cell for pick in found.picks])
    assert len(found.picks) == found.needed
    assert int((after > Verdict.DETERMINED).sum()) == found.beyond
    cells = every_cell(design.sizes)
    collectable = np.vstack([design.seen, cells[cells[:, 0] != cells[:, 1]]])
    assert found.needed == rank(design, order, collectable) - rank(design, order, design.seen)


def test_cells_that_would_hardly_help_are_not_proposed(monkeypatch):
    cells = every_cell((90, 90))
    design = Design.from_cells(cells[np.random.default_rng(0).random(len(cells)) < 0.7])
    nothing = plan(design, k=3)
    assert (nothing.picks, nothing.enough) == ((), True)
    assert plan_sentence(nothing).startswith(
        "You have enough: every unseen cell is determined, and the next measurements"
    )
    free = replace(PLAN_LIMITS, min_gain=0.0, min_total_gain=0.0)
    monkeypatch.setattr(sys.modules["recombine.jobs.advice.plan"], "PLAN_LIMITS", free)
    offered = plan(design, k=3).picks
    assert len(offered) == 3
    assert all(0 < pick.gain < 5e-4 for pick in offered)


@pytest.mark.slow
@given(st.integers(2, 6), st.integers(2, 4), st.integers(0, 2**32 - 1), st.sampled_from([1, 2]), st.booleans())
def test_nothing_impossible_is_ever_proposed(children, others, seed, order, large):
    generator = np.random.default_rng(seed)
    parents = generator.integers(0, 3, size=children)
    pairs = np.column_stack([np.arange(children), parents])
    rows = [[*pair, generator.integers(others)] for pair in pairs.tolist() for _ in range(generator.integers(1, 3))]
    design = Design.from_cells(rows, names=["child", "parent", "other"], nested=["child/parent"])
    with pytest.MonkeyPatch.context() as patch:
        if large:
            sampled = replace(PLAN_LIMITS, max_product=1)
            patch.setattr(sys.modules["recombine.jobs.advice.candidates"], "PLAN_LIMITS", sampled)
        found = plan(design, order, None)
        more = plan(design, order, 5)
    assert all(parents[pick.cell[0]] == pick.cell[1] for pick in (*found.picks, *more.picks))
    possible = design.possible.cells()
    seen = np.vstack([design.seen, np.array([pick.cell for pick in found.picks], dtype=np.int64).reshape(-1, 3)])
    after = identify(seen, possible, order, **design.shape).verdicts
    assert (after <= Verdict.DETERMINED).all()
    assert len(found.picks) == found.needed == rank(design, order, possible) - rank(design, order, design.seen)


def test_enough_is_said_of_cells_that_could_still_be_collected():
    cells = every_cell((12, 12))
    missing = Design.from_cells(np.delete(cells, [5, 17, 40], axis=0))
    assert plan(missing, k=3).gain > 0.01
    assert not plan(missing, k=3).enough
    whole = plan(Design.from_cells(cells))
    assert (whole.enough, plan_sentence(whole)) == (True, "You have enough combinations: every one was seen.")
    # An open cell is never enough.
    assert not plan(Design.from_cells([[0, 0], [1, 1]]), forbidden=[[0, 1], [1, 0]]).enough
