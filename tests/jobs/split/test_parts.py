"""Parts of a split against ranks in rational numbers: every test cell is to training what its part says."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from recombine.cells import Conjunctions, canonical, distinct
from recombine.errors import InputError
from recombine.jobs.split import parts
from recombine.jobs.split.mix import TRAIN, UNUSED, hidden_place, read_mix
from recombine.jobs.split.rows import split_rows
from recombine.jobs.split.spanning import spanning_cells
from recombine.verdicts import Verdict

Cell = tuple[int, ...]


def split_cells(cells, rows, mix, *, sizes, order=1, symmetric=(), hidden=None, seed=0) -> np.ndarray:
    features = Conjunctions(sizes, order, tuple(map(tuple, symmetric)))
    return parts.split_cells(parts.CellTable(features, cells, rows, hidden=hidden), mix, seed)


def columns_of(cell: Cell, order: int, symmetric: Sequence[Sequence[int]]) -> dict[object, int]:
    """The conjunctions of a cell and how often it has each; symmetric factors go by the name of their group."""
    name = {place: min(group) for group in symmetric for place in group}
    row: dict[object, int] = {}
    for places in itertools.combinations(range(len(cell)), order):
        key = tuple(sorted((name.get(place, place), cell[place]) for place in places))
        row[key] = row.get(key, 0) + 1
    return row


def rank(cells: Sequence[Cell], order: int, symmetric: Sequence[Sequence[int]] = ()) -> int:
    """Rank over the rational numbers, by elimination of one row after another."""
    pivots: list[tuple[object, dict[object, Fraction]]] = []
    for cell in cells:
        row = {key: Fraction(value) for key, value in columns_of(cell, order, symmetric).items()}
        for pivot, other in pivots:
            factor = row.get(pivot, Fraction(0))
            if factor:
                for key, value in other.items():
                    row[key] = row.get(key, Fraction(0)) - factor * value
        left = {key: value for key, value in row.items() if value}
        if left:
            pivot = next(iter(left))
            pivots.append((pivot, {key: value / left[pivot] for key, value in left.items()}))
    return len(pivots)


def verdict_of(cell: Cell, train: Sequence[Cell], order: int, symmetric: Sequence[Sequence[int]]) -> Verdict:
    twins = {place: group for group in symmetric for place in group}
    for place, level in enumerate(cell):
        if level not in {other[twin] for other in train for twin in twins.get(place, (place,))}:
            return Verdict.UNSEEN_LEVEL
    if cell in train:
        return Verdict.SEEN
    more = rank([*train, cell], order, symmetric) > rank(train, order, symmetric)
    return Verdict.DISCONNECTED if more else Verdict.DETERMINED


def random_table(
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, tuple[int, ...], int, tuple[tuple[int, ...], ...]]:
    factors = int(rng.integers(2, 4))
    sizes = tuple(int(size) for size in rng.integers(4, 7, size=factors))
    symmetric: tuple[tuple[int, ...], ...] = ()
    if rng.random() < 0.3:
        sizes, symmetric = (sizes[0], sizes[0], *sizes[2:]), ((0, 1),)
    codes = np.stack([rng.integers(size, size=90) for size in sizes], axis=1)
    cells, where = distinct(canonical(codes, symmetric))
    return cells, np.bincount(where), sizes, int(rng.integers(1, factors)), symmetric


MIXES = [
    "determined:0.15",
    pytest.param("disconnected:0.15", marks=pytest.mark.slow),
    "unseen level:0.15",
    pytest.param("determined:0.1,disconnected:0.1", marks=pytest.mark.slow),
    "determined:0.1,disconnected:0.1,unseen level:0.1",
]


@pytest.mark.slow
@pytest.mark.parametrize("text", MIXES)
def test_every_test_cell_is_to_training_what_its_part_says(text: str) -> None:
    rng = np.random.default_rng(0)
    made, off = 0, []
    for seed in range(10):
        cells, rows, sizes, order, symmetric = random_table(rng)
        mix = read_mix(text)
        try:
            part = split_cells(cells, rows, mix, sizes=sizes, order=order, symmetric=symmetric, seed=seed)
        except InputError:
            continue
        made += 1
        train = [tuple(cell) for cell in cells[part == TRAIN].tolist()]
        for cell, code in zip(cells.tolist(), part.tolist(), strict=True):
            if code >= 0:
                assert verdict_of(tuple(cell), train, order, symmetric) == code
        for verdict, share in mix.items():
            mine = rows[part == verdict]
            assert len(mine)
            assert abs(int(mine.sum()) - share * rows.sum()) <= rows.max() + 0.5
            off.append(abs(int(mine.sum()) - share * rows.sum()))
    assert made >= 8
    assert np.mean(off) < 1.0


def test_nothing_is_unused_where_only_determined_cells_are_asked_for() -> None:
    cells = np.indices((6, 7)).reshape(2, -1).T
    part = split_cells(cells, np.full(42, 5), read_mix("determined:0.5"), sizes=(6, 7))
    assert set(part.tolist()) == {TRAIN, Verdict.DETERMINED}
    assert (part == Verdict.DETERMINED).sum() == 21


def most_determined(cells: Sequence[Cell], rows: Sequence[int], order: int) -> int:
    """The most rows of cells that all others determine, over every subset of the cells."""
    full = rank(cells, order)
    best = 0
    for flags in itertools.product([False, True], repeat=len(cells)):
        held = sum(count for count, flag in zip(rows, flags, strict=True) if flag)
        if held > best and rank([cell for cell, flag in zip(cells, flags, strict=True) if not flag], order) == full:
            best = held
    return best


@pytest.mark.parametrize("seed", range(6))
def test_the_most_that_is_named_is_the_most_there_is(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cells = distinct(np.stack([rng.integers(3, size=14), rng.integers(3, size=14)], axis=1))[0]
    rows = rng.integers(1, 9, size=len(cells))
    most = most_determined([tuple(cell) for cell in cells.tolist()], rows.tolist(), 1)
    with pytest.raises(
        InputError, match=rf"at most {most:,} \(.*\) can be had: training has to keep a cell for each of"
    ):
        split_cells(cells, rows, read_mix("determined:0.98"), sizes=(3, 3))
    if most:
        part = split_cells(cells, rows, {Verdict.DETERMINED: most / rows.sum()}, sizes=(3, 3))
        assert rows[part == Verdict.DETERMINED].sum() == most


@pytest.mark.parametrize("seed", range(30))
def test_a_basis_is_what_taking_cells_in_order_leaves(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cells, _, sizes, order, symmetric = random_table(rng)
    cells = cells[:24]
    first = rng.permutation(len(cells))
    kept: list[int] = []
    listed = [tuple(cell) for cell in cells.tolist()]
    for place in first.tolist():
        if rank([listed[one] for one in [*kept, place]], order, symmetric) > len(kept):
            kept.append(place)
    found = spanning_cells(Conjunctions(sizes, order, symmetric), cells, first, seed)
    assert found is not None
    assert found.tolist() == sorted(kept)


def test_a_square_has_one_cut_and_wastes_nothing() -> None:
    square = np.indices((2, 2)).reshape(2, -1).T
    part = split_cells(square, np.ones(4, dtype=int), read_mix("disconnected:0.5"), sizes=(2, 2))
    assert sorted(part.tolist()) == [TRAIN, TRAIN, Verdict.DISCONNECTED, Verdict.DISCONNECTED]


def test_what_a_cut_takes_beyond_the_aim_is_in_neither_part() -> None:
    """In a full table with equal cells no cut is smaller than one row and one column less the cell they share."""
    cells = np.indices((5, 5)).reshape(2, -1).T
    part = split_cells(cells, np.ones(25, dtype=int), read_mix("disconnected:0.08"), sizes=(5, 5))
    assert (part == Verdict.DISCONNECTED).sum() == 2
    assert (part == UNUSED).sum() == 6


def test_seeds_fix_splits_and_differ() -> None:
    cells = np.indices((6, 6)).reshape(2, -1).T
    mix = read_mix("determined:0.2,disconnected:0.2")
    found = [split_cells(cells, np.ones(36, dtype=int), mix, sizes=(6, 6), seed=seed).tolist() for seed in (1, 1, 2)]
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("determined:2", "share 2.0; give a number between 0 and 1"),
        ("determined:0.5,disconnected:0.5", "nothing is left to train on"),
        ("determined:0.1,determined:0.1", "named twice"),
        ("determined", "test part 'determined' has no share of the rows; write it as 'determined:0.2'"),
        ("determined:", "test part 'determined' has no share of the rows; write it as 'determined:0.2'"),
        ("unseen level of dose", "has no share of the rows; write it as 'unseen level of dose:0.2'"),
        ("determined:much", "test part 'determined' has the share 'much'; give a number between 0 and 1"),
        ("unseen level of drug:0.1,new-level of dose:0.1", "named twice"),
        ("seen of drug:0.1", "test part 'seen of drug' is unknown"),
        ("determnd:0.1", "did you mean 'determined'?"),
        (" , ", "the test has no part"),
    ],
)
def test_a_mix_that_cannot_be_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message.replace("?", r"\?")):
        read_mix(text)


@pytest.mark.parametrize("text", ["unseen level of a:b,c", "New-Levels of a:b,c", "new_level_of  a:b,c"])
def test_the_factor_whose_levels_are_hidden_may_be_named_as_it_likes(text: str) -> None:
    for test in (f'"{text}:0.2", determined:0.1', {text: 0.2, "determined": 0.1}):
        assert read_mix(test) == {Verdict.DETERMINED: 0.1, Verdict.UNSEEN_LEVEL: 0.2}
        assert hidden_place(test, ["x", "a:b,c"]) == 1
    assert hidden_place("unseen level:0.2", ["x", "y"]) is None


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("hidden", range(3))
def test_only_levels_of_the_named_factor_are_hidden(hidden: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    cells = np.indices((9, 7, 8)).reshape(3, -1).T
    rows = rng.integers(1, 5, size=len(cells))
    mix = read_mix("unseen level:0.2,determined:0.1")
    part = split_cells(cells, rows, mix, sizes=(9, 7, 8), hidden=hidden, seed=seed)
    train, test = cells[part == TRAIN], cells[part == Verdict.UNSEEN_LEVEL]
    for place in range(3):
        # The oracle: sets of levels. The table is full, so that other factors keep all of theirs.
        fresh = [level not in set(train[:, place].tolist()) for level in test[:, place].tolist()]
        assert all(fresh) if place == hidden else not any(fresh)
    assert rows[part == Verdict.UNSEEN_LEVEL].sum() / rows.sum() == pytest.approx(0.2, abs=0.01)


def test_of_symmetric_factors_a_level_is_hidden_in_all() -> None:
    cells = np.array([(one, two, side) for one in range(8) for two in range(one, 8) for side in range(3)])
    mix, rows = read_mix("unseen level:0.2"), np.ones(len(cells), dtype=int)
    for hidden in (0, 1):
        part = split_cells(cells, rows, mix, sizes=(8, 8, 3), symmetric=[(0, 1)], hidden=hidden)
        known = set(cells[part == TRAIN][:, :2].ravel().tolist())
        assert all(not set(pair) <= known for pair in cells[part == Verdict.UNSEEN_LEVEL][:, :2].tolist())


def test_too_little_says_how_much_can_be_had() -> None:
    tree = np.array([[0, 0], [0, 1], [1, 1], [1, 2]])
    with pytest.raises(InputError, match=r"at most 0 .* keep a cell for each of 4 independent effects"):
        split_cells(tree, np.ones(4, dtype=int), read_mix("determined:0.3"), sizes=(2, 3))
    huge = np.indices((3, 3)).reshape(2, -1).T
    with pytest.raises(InputError, match="the smallest cell for it has 100 rows"):
        split_cells(huge, np.full(9, 100), read_mix("determined:0.02"), sizes=(3, 3))


def test_why_no_level_of_two_can_be_hidden_is_said() -> None:
    cells = np.indices((2, 2, 2)).reshape(3, -1).T
    with pytest.raises(InputError, match=r"0 .* can be had: at least two levels .* no factor has more here"):
        split_rows(cells, {Verdict.UNSEEN_LEVEL: 0.2}, Conjunctions((2, 2, 2)))
