"""Work is counted before it is done, and the ladder keeps within what it may take."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.theory.structures.ladder import ladder
from recombine.theory.structures.work import TooMuchWorkError, counted_work, spend, work_left

SHAPES = {"pairs": (9, 8, 3), "many factors": (3,) * 6, "a large factor": (70, 4, 3), "two factors": (30, 20)}


def drawn(sizes, seed):
    rng = np.random.default_rng(seed)
    cells = np.unique(np.stack([rng.integers(0, size, 500) for size in sizes], axis=1), axis=0)
    y = sum(rng.normal(size=size)[cells[:, factor]] for factor, size in enumerate(sizes))
    return cells, np.tanh(y) + 0.1 * rng.normal(size=len(cells))


def test_a_block_counts_what_blocks_inside_it_spend():
    with counted_work(10) as around:
        spend(3)
        with counted_work(100) as inside:
            spend(20)
        assert work_left() == 0
    assert (around.spent, inside.spent, work_left()) == (23, 20, float("inf"))


def test_what_would_be_too_much_is_not_begun():
    with counted_work(10) as count:
        with pytest.raises(TooMuchWorkError):
            spend(11)
        spend(9)
    assert count.spent == 9


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_the_ladder_spends_no_more_than_it_may(name):
    cells, y = drawn(SHAPES[name], 1)
    with counted_work() as unlimited:
        everything = ladder(cells, y)
    assert not everything.too_long
    with counted_work(0) as floor:  # what has to be known first, and one fit of the simplest
        least = ladder(cells, y)
    assert floor.spent < 0.2 * unlimited.spent
    for share in (0.9, 0.5, 0.2, 0.05, 0.0):
        limit, rungs = share * unlimited.spent, least
        if share:
            with counted_work(limit) as count:
                rungs = ladder(cells, y)
            assert count.spent <= max(limit, floor.spent)
        assert rungs.too_long or rungs.chosen.cells < everything.chosen.cells
        assert rungs.rungs[0].name == "add"
        tried = {rung.name for rung in rungs.rungs}
        assert tried <= {rung.name for rung in everything.rungs} <= tried | set(rungs.too_long)
        assert not tried & set(rungs.too_long)


@pytest.mark.slow
def test_counting_changes_no_number():
    cells, y = drawn((9, 8, 3), 2)
    with counted_work(1e15):
        counted = ladder(cells, y)
    plain = ladder(cells, y)
    assert [rung.r2 for rung in counted.rungs] == [rung.r2 for rung in plain.rungs]


@pytest.mark.slow
def test_the_same_limit_gives_the_same_answer_twice():
    cells, y = drawn((9, 8, 3), 3)
    answers = []
    for _ in range(2):
        with counted_work(2e7):
            rungs = ladder(cells, y)
        answers.append((rungs.too_long, rungs.nothing_over, [rung.r2 for rung in rungs.rungs]))
    assert answers[0] == answers[1]


def test_a_structure_that_can_be_held_out_of_some_folds_only_is_scored_on_these():
    cells, y = drawn((30, 20), 4)
    with counted_work() as all_folds:
        everything = ladder(cells, y, structures=["add", "link"])
    with counted_work(1.2 * all_folds.spent):  # a structure may take half of it
        some = ladder(cells, y, structures=["add", "link"])
    assert [rung.name for rung in some.rungs] == ["add", "link"]
    assert not some.too_long
    assert some.chosen.cells < everything.chosen.cells
