"""The finite-grid criterion: the fixed table, refitting as an oracle, and the graph verdict for addition."""

from __future__ import annotations

import numpy as np
import pytest

import recombine as rc
from recombine.cells.arrays import FloatArray, IntArray
from recombine.errors import InputError
from recombine.theory.compositions import Composition, add, bilinear, occlude, product
from recombine.theory.identification.identify import identify
from recombine.theory.sufficiency.finite import finite_identifiability
from recombine.theory.sufficiency.peeling import peel
from recombine.theory.sufficiency.refit import refit
from recombine.verdicts import Verdict


def cross(rows: set[int], columns: set[int], size: int = 5) -> list[tuple[int, int]]:
    return [(i, j) for i in range(size) for j in range(size) if i in rows or j in columns]


def instance(unknowns: int, outputs: int) -> tuple[Composition, list[FloatArray]]:
    level, m, n = np.arange(5)[:, None], np.arange(unknowns), np.arange(outputs)[:, None]
    both = 0.5 * np.cos(n[:, :, None] + m[:, None] * m)
    return bilinear(np.cos(n + 2 * m), np.sin(2 * n + m), both), [
        np.sin(1 + level + 2 * m),
        np.cos(0.5 + 1.3 * level + m),
    ]


@pytest.mark.parametrize(
    ("unknowns", "outputs", "columns", "free", "with_start"),
    [
        (3, 2, {0}, (18, 30), (16, 24)),
        (3, 2, {0, 2}, (24, 30), (21, 24)),
        (3, 3, {0}, (23, 30), (20, 24)),
        (3, 3, {0, 2}, (29, 30), (24, 24)),
        (3, 4, {0, 2}, (30, 30), (24, 24)),
        (2, 3, {0}, (20, 20), (16, 16)),
    ],
)
def test_ranks_of_the_fixed_instance(
    unknowns: int, outputs: int, columns: set[int], free: tuple[int, int], with_start: tuple[int, int]
) -> None:
    rule, parts = instance(unknowns, outputs)
    found = finite_identifiability(cross({0}, columns), rule, parts)
    assert (found.rank, found.full_rank) == free
    started = finite_identifiability(cross({0}, columns), rule, parts, known_cell=(0, 0))
    assert (started.rank, started.full_rank) == with_start
    assert started.deficit == with_start[1] - with_start[0]


@pytest.mark.parametrize(
    ("cells", "rank"),
    [
        (cross({0}, {0}), 9),
        ([(i, i) for i in range(5)], 5),
        ([(i, j) for i in range(5) for j in range(5) if abs(i - j) < 2], 9),
        (cross(set(range(5)), set()), 9),
    ],
)
def test_ranks_of_addition(cells: list[tuple[int, int]], rank: int) -> None:
    assert finite_identifiability(cells, add(), [np.ones((5, 1))] * 2).rank == rank


def random_case(seed: int) -> tuple[IntArray, Composition, list[FloatArray]]:
    rng = np.random.default_rng(seed)
    unknowns, outputs = ((3, 3), (2, 3), (3, 2), (4, 2))[seed % 4]
    parts = [rng.standard_normal((6, unknowns)) for _ in range(2)]
    shapes = (outputs, unknowns), (outputs, unknowns), (outputs, unknowns, unknowns)
    rule = bilinear(*(rng.standard_normal(shape) for shape in shapes)) if seed % 4 else add()
    mask = rng.random((6, 6)) < rng.uniform(0.15, 0.95)
    mask[0, 0] = True
    return np.argwhere(mask), rule, parts


@pytest.mark.slow
def test_refitting_agrees_with_the_criterion() -> None:
    agree, both = 0, set()
    for seed in range(60):
        cells, rule, parts = random_case(seed)
        found, fitted = finite_identifiability(cells, rule, parts), refit(cells, rule, parts, move=0.02, seed=seed)
        assert fitted.converged
        agree += found.identifiable == fitted.generalises
        both.add(found.identifiable)
        # A grid is identifiable exactly if each of its cells is.
        assert found.identifiable == bool((found.verdicts <= Verdict.DETERMINED).all())
    assert both == {True, False}
    assert agree >= 59


def test_addition_gives_the_graph_verdict_of_every_cell() -> None:
    for seed in range(0, 200, 4):
        cells, rule, parts = random_case(seed)
        found = finite_identifiability(cells, rule, parts)
        assert np.array_equal(found.verdicts_on_grid(), identify(cells, sizes=(6, 6)).verdicts_on_grid())
        assert found.identifiable == (identify(cells, sizes=(6, 6)).rank == 11)


def test_three_slots_follow_identify_too() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        cells = np.argwhere(rng.random((3, 4, 3)) < 0.3)
        found = finite_identifiability(cells, add(), [rng.standard_normal((n, 2)) for n in (3, 4, 3)])
        assert np.array_equal(found.verdicts_on_grid(), identify(cells, sizes=(3, 4, 3)).verdicts_on_grid())


def test_peeling_implies_identifiability_but_not_the_reverse() -> None:
    complete, missed = 0, 0
    for seed in range(80):
        cells, rule, parts = random_case(seed)
        found = finite_identifiability(cells, rule, parts, known_cell=cells[0])
        peeled = peel(cells, rule, parts, cells[0])
        assert found.identifiable or not peeled.complete
        complete += peeled.complete
        if rule.name == "bilinear" and seed % 4 > 1:
            missed += found.identifiable
            assert not peeled.complete or len(cells) > 20
    assert complete > 20
    assert missed > 0


def test_peeling_of_addition_is_a_walk_through_the_graph() -> None:
    one = [np.ones((3, 1))] * 2
    walk = peel([[0, 0], [0, 1], [1, 1], [1, 2]], add(), one, (0, 0))
    assert walk.order == ((0, 0), (1, 0), (1, 1), (0, 1), (1, 2))
    assert walk.missing == ((0, 2),)
    assert str(walk) == "undecided: 5/6 levels, without (0, 2)"


def test_blocks_are_judged_together() -> None:
    rng = np.random.default_rng(0)
    parts = [rng.uniform(0.1, 1, (4, 6, 3)) * (rng.random((4, 6, 1)) < 0.5) for _ in range(2)]
    cells = cross({0}, {0, 1}, 4)
    found = finite_identifiability(cells, occlude(), parts)
    single = [finite_identifiability(cells, occlude(), [part[:, pixel] for part in parts]) for pixel in range(6)]
    assert found.rank == sum(one.rank for one in single)
    assert found.full_rank == sum(one.full_rank for one in single)
    assert np.array_equal(found.verdicts, np.max([one.verdicts for one in single], axis=0))
    assert refit(cells, occlude("soft"), parts, move=0.01).converged


def test_unseen_levels_are_told_apart() -> None:
    found = finite_identifiability([[0, 0], [0, 1], [1, 0]], product(), [np.ones((3, 1))] * 2)
    assert found.verdicts_on_grid().tolist() == [[0, 0, 3], [0, 1, 3], [3, 3, 3]]
    assert found.verdict is Verdict.UNSEEN_LEVEL
    assert str(found) == "unseen level: rank 3/5; unseen: 1 determined, 5 unseen level"
    # Levels of a known cell are no longer unseen, but nothing ties them to the others' scale.
    known = finite_identifiability([[0, 0], [0, 1], [1, 0]], product(), [np.ones((3, 1))] * 2, known_cell=(2, 2))
    assert known.verdicts_on_grid().tolist() == [[0, 0, 2], [0, 1, 2], [2, 2, 1]]


def test_levels_may_have_names() -> None:
    """The same answers as by number, in any order of the mapping's levels."""
    rng = np.random.default_rng(2)
    doses, heats = ("none", "low", "high"), ("cold", "warm", "room")
    parts = [rng.standard_normal((3, 2)) for _ in range(2)]
    named = [dict(zip(names, part, strict=True)) for names, part in zip((doses, heats), parts, strict=True)]
    for seed in range(30):
        cells = np.unique(np.random.default_rng(seed).integers(0, 3, (5, 2)), axis=0)
        words = [(doses[i], heats[j]) for i, j in cells]
        plain, found = (finite_identifiability(c, add(), p) for c, p in ((cells, parts), (words, named)))
        assert np.array_equal(plain.verdicts, found.verdicts)
        assert {word.item() for word in found.words.ravel()} == {Verdict(code).word for code in plain.verdicts}
        rows = [(row["slot 0"], row["slot 1"]) for row in found.table().rows()]
        assert [rows[i * 3 + j] for i, j in cells] == words
        start = peel(words, add(), named, words[0]), peel(cells, add(), parts, cells[0])
        assert str(start[0]) == str(start[1])
    known = finite_identifiability([("low", "cold")], add(), named, known_cell=("none", "room"))
    assert "cell ('none', 'room') known" in str(known)
    with pytest.raises(
        InputError, match=r"seen\[1\] has level 'hot' of slot 1, whose component has 'cold', 'warm', 'room'"
    ):
        finite_identifiability([("low", "cold"), ("low", "hot")], add(), named)
    with pytest.raises(InputError, match="give the component as a mapping of level to row"):
        finite_identifiability([("low", "cold")], add(), parts)
    with pytest.raises(InputError, match=r"seen\[0\] is 'low'; give one level of each of the 2 slots"):
        finite_identifiability(["low"], add(), named)


@pytest.mark.parametrize(
    ("seen", "parts", "words"),
    [
        ([[0, 5]], [np.ones((2, 1))] * 2, r"seen\[0\] has level 5 of slot 1, whose component has 2 levels"),
        ([[0, 0, 0]], [np.ones((2, 1))] * 2, "3 columns"),
        (np.zeros((0, 2), dtype=int), [np.ones((2, 1))] * 2, "seen: no cells were given"),
        ([[0, 0]], [np.ones((2, 1)), np.ones(2)], r"component 1 has shape \(2,\)"),
        ([[0, 0]], [np.ones((2, 1)), np.ones((2, 3))], "slot 0, levels 0 to 1: slot 1 of add has a part of shape"),
        ([[0, 0]], [np.ones((4000, 9))] * 2, "too many"),
    ],
)
def test_errors_name_slot_and_level(seen: object, parts: list[FloatArray], words: str) -> None:
    with pytest.raises(InputError, match=words):
        finite_identifiability(seen, add(), parts)  # type: ignore[arg-type]


def test_the_package_hands_them_out() -> None:
    assert rc.theory.sufficiency.finite_identifiability is finite_identifiability
    assert (rc.theory.sufficiency.peel, rc.theory.sufficiency.refit) == (peel, refit)
