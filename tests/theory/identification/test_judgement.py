"""What floats decide: nothing, as soon as they fail on a seen cell or fill the gap between zero and not."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.conjunctions import every_cell
from recombine.theory.identification.identify import identify
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


def test_the_gap_of_all_cells_is_that_of_the_product(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked for cell by cell, over the whole product, or over neighbours alone where that is too large to list."""
    cells = every_cell((6, 5, 4))
    chosen = cells[(np.random.default_rng(3).random(len(cells)) < 0.2) & (cells[:, 0] < 5)]  # one level is never seen
    options = {"order": 2, "sizes": (6, 5, 4), "route": "projection"}
    of_product, of_cells = identify(chosen, **options), identify(chosen, cells, **options)
    assert (of_product.gap.zero, of_product.gap.nonzero) == pytest.approx((of_cells.gap.zero, of_cells.gap.nonzero))
    distances = of_product.null.distance(cells[cells[:, 0] < 5])
    assert of_product.gap.zero >= distances[distances < 1e-7].max()
    assert of_product.gap.nonzero <= distances[distances > 1e-7].min()
    assert identify(chosen, **{**options, "route": "exact"}).gap is None
    monkeypatch.setattr(sys.modules["recombine.theory.identification.identify"], "MAX_GRID_CELLS", len(cells) - 1)
    probes = identify(chosen, **options).gap
    assert probes.trusted
    assert probes.zero <= of_product.gap.zero
    assert probes.nonzero > 2 * of_product.gap.nonzero  # no neighbour of a seen cell is that near
    assert identify(chosen, cells, **options).gap.nonzero == pytest.approx(of_product.gap.nonzero)
