"""Half widths of ranges, in posterior standard deviations, such that left-out outcomes lie within nine times in ten.

Cells whose levels were all seen are judged by leaving out cells one by one, those with a level that was not by leaving
out all cells of a level at once, or of a block of neighbouring levels where levels have coordinates. Of a cell that is
open though its levels were seen (its value needs a difference between levels that no seen cell shows) single left-out
cells say nothing: those are determined by the others, this one by how much levels differ. Whole levels judge it too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri as normal_quantile
from scipy.special import stdtrit as student_quantile

from recombine.cells.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    from recombine.theory.components.posterior import MeanPosterior, Posterior
    from recombine.theory.components.sparse.solver import SparsePosterior

    #: What leaves out cells, one or many at once.
    AnyPosterior = Posterior | MeanPosterior | SparsePosterior
    #: How far cells (k,) are from what is said of them, in standard deviations, by means and variances (k,).
    Distance = Callable[[IntArray, FloatArray, FloatArray], FloatArray]

#: Chance with which a range holds the outcome.
COVERAGE_SHARE = 0.9
#: Saliences are learned from left-out cells too, which makes distances too small by so many over the number of cells.
LEARNED_SALIENCES = 2.0
#: A cell whose standard deviation is so many times that of any seen cell, left out alone, is judged by whole levels.
FAR_RATIO = 1.5
#: Levels of a factor that are left out in turn, and cells of each, at most.
MAX_LEVELS_LEFT_OUT, MAX_CELLS_LEFT_OUT = 24, 120
#: Neighbouring levels in a block, as a share of all.
BLOCK_SHARE = 0.2


@dataclass(frozen=True, eq=False)
class RangeWidths:
    """Half widths of ranges by a posterior, and by how far left-out cells are from what is said of them."""

    posterior: AnyPosterior
    distance: Distance
    variances: FloatArray  #: Of the seen cells (n,), left out, each with the noise of a usual one.

    def of(self, cells: IntArray, variances: FloatArray) -> FloatArray:
        """Return half widths (M,) of cells (M, F) with variances (M,), by what of them was seen."""
        codes, twins = self.posterior.codes, self.posterior.factors.twins
        new = np.stack([~np.isin(levels, codes[:, list(twins(factor))]) for factor, levels in enumerate(cells.T)])
        widths = np.full(len(cells), self.seen)
        open_cells = (np.sqrt(variances) > self.near_sd) & ~new.any(axis=0)
        if open_cells.any():
            widths[open_cells] = self.level
        for factor in np.flatnonzero(new.any(axis=1)).tolist():
            widths[new[factor]] = np.maximum(widths[new[factor]], self.unseen(factor))
        return widths

    @cached_property
    def seen(self) -> float:
        """That of cells whose levels were all seen."""
        return calibrated(self.distance(np.arange(len(self.posterior.y)), *self.posterior.leave_one_out()))

    def unseen(self, factor: int) -> float:
        """Return that of cells with a level of this factor that was not seen."""
        distances = self._level_distances(factor)
        if not distances:
            return self.seen
        # Features are learned from levels, of which there are fewer than cells.
        described = self.posterior.factors.features[factor] is not None
        return calibrated(np.concatenate(distances), len(distances) if described else None)

    @cached_property
    def near_sd(self) -> float:
        """The standard deviation up to which a cell is like seen ones."""
        columns = self.posterior.codes.T - self.posterior.codes.min()
        # To leave out the only cell of a level is to leave out the level.
        among_others = (np.stack([np.bincount(column)[column] for column in columns]) > 1).all(axis=0)
        return FAR_RATIO * float(np.sqrt(self.variances[among_others].max(initial=0.0)))

    @cached_property
    def level(self) -> float:
        """That of cells that are open though their levels were seen: by whole levels of all factors."""
        factors = self.posterior.codes.shape[1]
        distances = [block.max() for factor in range(factors) for block in self._level_distances(factor)]
        if not distances:
            return self.seen
        # Variances were learned from these levels, less a mean for either side of the gap: distances are Student's.
        freedom = max(len(distances) - 2 * factors, 1)
        middle = (1 + COVERAGE_SHARE) / 2
        return calibrated(np.asarray(distances)) * float(student_quantile(freedom, middle) / normal_quantile(middle))

    def _level_distances(self, factor: int) -> list[FloatArray]:
        """Return how far the cells (k,) of each left-out level are from their values, in standard deviations."""
        blocks = [block for block in level_blocks(self.posterior, factor) if len(block) < len(self.posterior.y)]
        return [self.distance(members, *self.posterior.leave_out(members)) for members in blocks]


def level_blocks(posterior: AnyPosterior, factor: int) -> Iterator[IntArray]:
    """Yield the seen cells of each level of a factor, or of blocks of neighbouring levels if it has coordinates."""
    codes = posterior.codes[:, list(posterior.factors.twins(factor))]
    levels, line = np.unique(codes), posterior.factors.coordinates[factor]
    if line is not None:
        levels = levels[np.argsort(line[levels], kind="stable")]
    size = 1 if line is None else max(1, round(BLOCK_SHARE * len(levels)))
    rng = np.random.default_rng(0)
    starts = rng.permutation(len(levels) - size + 1)[:MAX_LEVELS_LEFT_OUT]
    for start in np.sort(starts):
        members = np.flatnonzero(np.isin(codes, levels[start : start + size]).any(axis=1))
        yield np.sort(rng.permutation(members)[:MAX_CELLS_LEFT_OUT])


def calibrated(distances: FloatArray, count: int | None = None) -> float:
    """Return the distance (of n, in standard deviations) that nine in ten do not exceed, widened for few cells.

    They are as good as ``count``, by default n.

    Examples
    --------
    >>> round(calibrated(np.linspace(0, 2, 101)), 3)
    1.856
    """
    ordered = np.sort(distances)
    size = len(ordered)
    rank = min(int(np.ceil(COVERAGE_SHARE * (size + 1))), size)
    return float(ordered[rank - 1] * (1 + LEARNED_SALIENCES / max(count or size, LEARNED_SALIENCES)))
