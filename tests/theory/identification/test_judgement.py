"""What floats decide: nothing, as soon as they fail on a seen cell or fill the gap between zero and not."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.conjunctions import every_cell
from recombine.theory.identification.judgement import Judgement
from recombine.theory.identification.nullspace import MAX_ZERO_DISTANCE, MIN_NONZERO_DISTANCE
from recombine.theory.identification.projection import PROJECTION_ERROR
from recombine.verdicts import Verdict

SEEN = every_cell((4, 3))[::2]
TARGETS = np.array([[9, 9], [0, 1]])


def judged(distances: dict[tuple[int, ...], float], error: float = 0.0) -> tuple[list[int], Judgement]:
    """Verdicts of the targets by vectors whose distance is 0 but at some cells."""

    def distance(cells: IntArray) -> FloatArray:
        return np.array([distances.get(tuple(cell), 0.0) for cell in cells.tolist()])

    null = SimpleNamespace(
        modulus=None, seed=0, error=error, distance=distance, holds_free=lambda cells: np.zeros(len(cells), dtype=bool)
    )
    judgement = Judgement(null, SEEN)  # type: ignore[arg-type]
    return judgement.codes(TARGETS).tolist(), judgement


def test_ends_of_the_gap_decide() -> None:
    codes, judgement = judged({(9, 9): MIN_NONZERO_DISTANCE, (0, 1): MAX_ZERO_DISTANCE}, PROJECTION_ERROR)
    assert codes == [Verdict.DISCONNECTED, Verdict.DETERMINED]
    gap = judgement.gap(np.array([MAX_ZERO_DISTANCE, MIN_NONZERO_DISTANCE]))
    assert gap is not None
    assert (gap.zero, gap.nonzero, gap.trusted) == (MAX_ZERO_DISTANCE, MIN_NONZERO_DISTANCE, True)
    between = (MAX_ZERO_DISTANCE * MIN_NONZERO_DISTANCE) ** 0.5
    assert judged({(9, 9): between})[0] == [Verdict.UNDECIDED, Verdict.DETERMINED]
    assert judged({(9, 9): 1.0}, 2 * PROJECTION_ERROR)[0] == [Verdict.UNDECIDED] * 2


@pytest.mark.parametrize("cell", [tuple(row) for row in SEEN.tolist()])
def test_nothing_is_decided_where_any_seen_cell_is_not_felt(cell: tuple[int, ...]) -> None:
    assert judged({cell: 1.0, (9, 9): 1.0})[0] == [Verdict.UNDECIDED] * 2
