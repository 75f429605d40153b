"""Verdicts counted by value: sums as a dictionary would add them up, counts beyond machine integers."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.cells.conjunctions import Conjunctions
from recombine.cells.possible import Possible
from recombine.theory.identification.counts import _joined, count_vanishing
from recombine.theory.identification.nullspace import null_vectors
from recombine.theory.identification.residues import PRIME

#: Sums that meet often, and ways that a machine integer holds, alone or multiplied, or does not.
VALUES = st.one_of(st.integers(-3, 3).map(lambda value: value % PRIME), st.integers(0, PRIME - 1))
WAYS = st.sampled_from([1, 3, 2**32, 10**20])
COUNTED = st.dictionaries(VALUES, WAYS, min_size=1, max_size=6)


@given(COUNTED, COUNTED)
def test_sums_are_those_of_a_dictionary(first: dict[int, int], second: dict[int, int]) -> None:
    expected: Counter[int] = Counter()
    for value, ways in first.items():
        for other, more in second.items():
            expected[(value + other) % PRIME] += ways * more
    assert _joined(Counter(first), Counter(second)) == expected


@pytest.mark.parametrize("factors", [3, 12, 30])
def test_two_groups_that_share_no_level_leave_all_mixed_cells_open(factors: int) -> None:
    """Each group has a base cell and all changes of one of its five levels: 5 to the factors follow, twice."""
    changes = [np.where(np.arange(factors) == place, level, 0) for place in range(factors) for level in range(1, 5)]
    group = np.array([np.zeros(factors, dtype=int), *changes])
    sizes = (10,) * factors
    null = null_vectors(Conjunctions(sizes), np.concatenate([group, group + 5]))
    assert count_vanishing(null, Possible.product(sizes)) == 2 * 5**factors
