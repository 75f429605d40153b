"""Analysis of variance of activations over a factor grid: how much is one part per factor, how much is conjunctions?

On a full grid the activations split into orthogonal parts, one for each subset of factors: h(z) = mean + sum of main
effects + interactions. The share of main effects is 1 for every code that keeps factors in separate units; along the
layers of a decoder it falls, which is what re-entangling means in numbers (Liang et al. 2025).
"""

from __future__ import annotations

import math
from typing import Any

from recombine.cells.conjunctions import Subset, subsets
from recombine.measures.activations.grid import ActivationGrid, as_grid

#: Variance below this share of the mean square is rounding: the activations are constant.
FLAT_VARIANCE_SHARE = 1e-24


def effect_shares(activations: Any) -> dict[Subset, float]:
    """Return the share of variance that each subset of factors explains of activations (levels_1, ..., levels_C, D).

    Variances over cells are summed over features. The shares add up to 1; all are NaN for constant activations.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = np.meshgrid([-1.0, 1.0], [-1.0, 1.0], indexing="ij")
    >>> effect_shares(np.stack([x, x * y], axis=-1))
    {(0,): 0.5, (1,): 0.0, (0, 1): 0.5}
    """
    grid = as_grid(activations)
    family = [subset for order in range(grid.factors + 1) for subset in subsets(grid.factors, order)]
    squares = dict.fromkeys(family, 0.0)
    raw = 0.0
    for block in grid.raw_blocks():
        centre = block.mean(axis=0)
        raw += float((block**2).sum()) / grid.count
        _add_squares(squares, (block - centre).reshape(*grid.levels, -1), grid)
    # Mean squares of conditional means contain those of all smaller subsets: Moebius inversion takes them out.
    variances: dict[Subset, float] = {}
    for subset in family:
        inside = (variances[smaller] for smaller in variances if set(smaller) < set(subset))
        variances[subset] = max(squares[subset] - sum(inside), 0.0)
    del variances[()]
    total = sum(variances.values())
    if total <= FLAT_VARIANCE_SHARE * raw:
        return dict.fromkeys(variances, float("nan"))
    return {subset: variance / total for subset, variance in variances.items()}


def _add_squares(squares: dict[Subset, float], block: Any, grid: ActivationGrid) -> None:
    """Add the mean square of the conditional mean given each subset of factors."""
    for subset in squares:
        other_axes = tuple(axis for axis in range(grid.factors) if axis not in subset)
        mean = block.mean(axis=other_axes) if other_axes else block
        squares[subset] += float((mean**2).sum()) / math.prod(grid.levels[axis] for axis in subset)
