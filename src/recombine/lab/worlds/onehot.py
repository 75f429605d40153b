"""The simplest world: one input unit for each level of each factor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, as_cells
from recombine.errors import InputError


def one_hot(cells: npt.ArrayLike, sizes: Sequence[int]) -> FloatArray:
    """Return the one-hot codes of each factor side by side.

    Parameters
    ----------
    cells : array of int, shape (N, C)
    sizes : sequence of int
        Number of levels of each of the C factors.

    Returns
    -------
    array of float, shape (N, sum of sizes)
        Each row has C ones.

    Examples
    --------
    >>> one_hot([[0, 1], [1, 2]], sizes=(2, 3)).astype(int).tolist()
    [[1, 0, 0, 1, 0], [0, 1, 0, 0, 1]]
    """
    codes = as_cells(cells, factors=len(sizes))
    outside = np.argwhere(codes >= np.asarray(sizes))
    if len(outside):
        row, factor = outside[0]
        raise InputError(
            f"cells[{row}, {factor}] is level {codes[row, factor]}, but sizes gives factor {factor} only "
            f"{sizes[factor]} levels; pass sizes that cover all cells"
        )
    code = np.zeros((len(codes), sum(sizes)))
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    np.put_along_axis(code, codes + starts, 1.0, axis=1)
    return code
