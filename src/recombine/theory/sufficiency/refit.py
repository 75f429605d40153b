"""Refit perturbed components to the seen cells and look at the others: the test that a criterion must pass."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.brief import record
from recombine.cells.conjunctions import every_cell
from recombine.checks import real
from recombine.sample_checks import generator
from recombine.theory.compositions.composition import Composition
from recombine.theory.compositions.jacobians import Function
from recombine.theory.sufficiency.component_grid import Component, ComponentGrid

#: Least-squares steps, and the seen error at which they stop.
MAX_GAUSS_NEWTON_STEPS, GAUSS_NEWTON_ERROR = 60, 1e-13


@record
class Refit:
    """Components that fit the seen cells as well as the true ones; see `refit`.

    Attributes
    ----------
    components : tuple of K arrays (n_k, ..., M_k)
    residual, error : float
        Largest difference of an observation on the seen cells and on the whole grid.

    Examples
    --------
    >>> Refit((), 1e-15, 0.3).converged, Refit((), 1e-15, 0.3).generalises
    (True, False)
    >>> print(Refit((), 1e-15, 0.3))
    other cells differ: 1e-15 off where seen, 0.3 overall
    """

    components: tuple[FloatArray, ...]
    residual: float
    error: float

    @property
    def generalises(self) -> bool:
        """True if the error off the seen cells is that on them, up to rounding."""
        return self.error < 1e-6

    @property
    def converged(self) -> bool:
        """True if the seen cells are fitted."""
        return self.residual < 1e-9

    def __str__(self) -> str:
        if not self.converged:
            return f"not fitted: {self.residual:.2g} left"
        what = "other cells follow" if self.generalises else "other cells differ"
        return f"{what}: {self.residual:.2g} off" + f" where seen, {self.error:.2g} overall"


def refit(
    seen: npt.ArrayLike | Sequence[Sequence[Hashable]],
    composition: Composition | Function,
    components: Sequence[Component],
    *,
    move: float = 0.1,
    seed: int | np.random.Generator = 0,
) -> Refit:
    """Move all components at random, then fit them to the observations of the seen cells (Gauss-Newton).

    Parameters
    ----------
    seen : array_like of int, (P, K)
    components : sequence of K arrays (n_k, ..., M_k)
        The truth.
    move : float
        Standard deviation of the move. Criteria that are exact to first order need it small.

    Examples
    --------
    >>> from recombine.theory.compositions import add
    >>> values = [np.arange(3.0)[:, None]] * 2
    >>> refit([[0, 0], [0, 1], [0, 2], [1, 0], [2, 0]], add(), values).generalises
    True
    >>> refit([[0, 0], [1, 1], [2, 2]], add(), values).generalises
    False
    """
    real(move, "move", above=0)
    truth = ComponentGrid.of(composition, components)
    cells = truth.cells(seen, "seen")
    rng = generator(seed)
    moved = tuple(component + move * rng.standard_normal(component.shape) for component in truth.components)
    solution = fitted(replace(truth, components=moved), cells, truth.outputs(cells))
    everything = every_cell(truth.sizes)
    return Refit(
        solution.components,
        float(np.abs(solution.outputs(cells) - truth.outputs(cells)).max()),
        float(np.abs(solution.outputs(everything) - truth.outputs(everything)).max()),
    )


def fitted(grid: ComponentGrid, cells: IntArray, targets: FloatArray) -> ComponentGrid:
    """Return components that fit observations (P, ..., N) of cells (P, K), by Gauss-Newton steps from the grid's."""
    for _ in range(MAX_GAUSS_NEWTON_STEPS):
        miss = targets - grid.outputs(cells)
        if np.abs(miss).max() < GAUSS_NEWTON_ERROR:
            break
        grid = _stepped(grid, cells, miss)
    return grid


def _stepped(grid: ComponentGrid, cells: IntArray, miss: FloatArray) -> ComponentGrid:
    """Take the shortest full step, halved until the error falls."""
    blocks = miss.reshape(len(miss), -1, miss.shape[-1]).swapaxes(0, 1)
    right = blocks.reshape(len(blocks), -1)
    pairs = zip(grid.jacobian(cells), right, strict=True)
    # Directions that the data hardly show would be stepped along for ever.
    step = np.stack([np.linalg.lstsq(jacobian, side, rcond=1e-9)[0] for jacobian, side in pairs])
    for halvings in range(20):
        tried = grid.moved(0.5**halvings * step)
        if np.linalg.norm(tried.outputs(cells) - grid.outputs(cells) - miss) < np.linalg.norm(miss):
            return tried
    return grid
