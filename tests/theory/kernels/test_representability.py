"""What a verdict of representability says when printed, how many random labels would pass, and targets refused."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.cells import every_cell
from recombine.errors import InputError
from recombine.theory.kernels import passing_share, representability

GRID = every_cell((4, 4))


def test_a_verdict_prints_its_kind_first_and_then_how_many_random_labels_would_pass() -> None:
    inner = (GRID > 0).all(axis=1)
    everything = representability(GRID, np.arange(16) != 5, np.ones(16))
    assert str(everything) == "anything: any labels of 1 unseen cell would pass (rank 1)"
    exact = representability(GRID, ~inner, np.ones(16))
    assert f"{exact}" == (
        "exact: a sum of seen conjunctions is right on 9 unseen cells (rank 5), as one would be for 2.7 % of random "
        "labels"
    )
    signs = representability(GRID, ~inner, GRID.sum(axis=1) - 3.5)
    assert str(signs).startswith("exact: ")
    signs = representability(GRID, ~inner, np.sign(GRID.sum(axis=1) - 3.5))
    assert str(signs).startswith("sign only: a sum of seen conjunctions has the right signs on 9 unseen cells (rank 5)")
    assert "passing_share(..., sign=True)" in str(signs)
    neither = representability(GRID, ~inner, 1 - 2 * (GRID.sum(axis=1) % 2))
    assert str(neither).startswith(
        "neither: no sum of seen conjunctions has the right signs on 9 unseen cells (rank 5)"
    )
    ruled = representability(GRID, ~inner, np.ones(16), [(0,)])
    assert str(ruled).startswith("exact: a sum of seen conjunctions is right on 16 cells (rank 4)")
    assert "\n" not in "".join(map(str, (everything, exact, signs, neither, ruled)))


def test_the_share_in_a_verdict_is_that_of_all_labels_or_points_to_where_it_is_drawn() -> None:
    generator = np.random.default_rng(0)
    for _ in range(30):
        seen = generator.random(16) < generator.uniform(0.4, 0.8)
        verdict = representability(GRID, seen, generator.choice([-1.0, 1.0], 16))
        assert verdict.share == passing_share(GRID, seen).value
    cells = every_cell((12, 12))
    large = representability(cells, (cells == 0).any(axis=1), np.ones(144))
    assert (large.kind, large.rank, large.share) == ("exact", 21, None)
    assert str(large).endswith("passing_share says for how many random labels one would be")


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (["win", "tie"] * 8, "target holds the text 'win'; code two answers as -1 and 1"),
        (np.array(["win", 1.0] * 8, dtype=object), "the text 'win'"),
        (np.where(np.arange(16) == 3, np.nan, 1.0), r"\[3\] is nan"),
        (np.ma.masked_array(np.ones(16), np.arange(16) == 3), r"masked at \[3\]"),
        (np.ones(15), "target must be 16 finite numbers"),
    ],
)
def test_targets_that_are_no_numbers_are_named(target: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        representability(GRID, np.arange(16) != 5, target)  # type: ignore[arg-type]
