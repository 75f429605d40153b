"""Two small tasks whose truth is known on every cell, for tests of what users of tables need.

The laboratory has these and more; tests of the product do not need it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class KnownTask:
    """Cells (N, C), which of them are seen (N,), the right answer for all (N,), and the names of the factors."""

    cells: npt.NDArray[np.int64]
    train: npt.NDArray[np.bool_]
    target: npt.NDArray[np.float64]
    factors: tuple[str, ...]

    @property
    def test(self) -> npt.NDArray[np.bool_]:
        return ~self.train

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple((self.cells.max(axis=0) + 1).tolist())


def symbolic_addition(
    n: int = 9,
    anchors: Sequence[int] = (4,),
    values: Sequence[float] | None = None,
    anchors2: Sequence[int] | None = None,
    values2: Sequence[float] | None = None,
) -> KnownTask:
    """The sum of two items, by default -4 to 4, seen where one of them is an anchor."""
    first = np.asarray(np.arange(n) - (n - 1) / 2 if values is None else values, dtype=float)
    second = first if values2 is None else np.asarray(values2, dtype=float)
    cells = np.array(list(product(range(len(first)), range(len(second)))))
    train = [a in anchors or b in (anchors if anchors2 is None else anchors2) for a, b in cells.tolist()]
    return KnownTask(cells, np.array(train), first[cells[:, 0]] + second[cells[:, 1]], ("first", "second"))


def context_dependence(left_out: int = 3, items: int = 3) -> KnownTask:
    """The context says which of two features decides between -1 and 1; a block where they disagree is unseen."""
    cells = np.array(list(product(range(2), range(2 * items), range(2 * items))))
    target = [1.0 if (b if context else a) >= items else -1.0 for context, a, b in cells.tolist()]
    train = [not (a < left_out and items <= b < items + left_out) for _, a, b in cells.tolist()]
    return KnownTask(cells, np.array(train), np.array(target), ("context", "feature 1", "feature 2"))
