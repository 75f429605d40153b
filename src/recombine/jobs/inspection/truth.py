"""A model's outputs next to the right ones: how wrong they are on cells that were not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray
from recombine.errors import InputError
from recombine.measures.activations.grid import ActivationGrid, as_grid
from recombine.measures.activations.superposition import correlations

#: The largest error on unseen cells, over the variance of the right outputs there, of outputs that are right, and of
#: outputs that are near the right ones.
RIGHT, NEAR = 0.01, 0.25
#: The same over the variance on all cells, where the right outputs do not vary on unseen ones (one cell, say).
RIGHT_OVER_ALL = 0.01
#: A variance below this share of the mean square is rounding.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Truth:
    """The last layer next to the right outputs.

    Attributes
    ----------
    seen_error, unseen_error : float
        Mean squared error on seen and on unseen cells.
    relative_error : float
        The latter over the variance of the right outputs on unseen cells: 1 for a model that knows their mean alone.
        NaN where they do not vary.
    correlation : float
        Mean correlation over features of unseen outputs with the right ones; NaN where either is constant.
    variance : float
        Of the right outputs over all cells.
    """

    seen_error: float
    unseen_error: float
    relative_error: float
    correlation: float
    variance: float

    @property
    def verdict(self) -> str:
        """Whether the model composes; "cannot tell" where an error that is not tiny has nothing to be held against.

        Examples
        --------
        >>> [Truth(0.0, share, share, 0.9, 1.0).verdict for share in (0.01, 0.14, 0.9)]
        ['composes', 'composes in part', 'does not compose']
        >>> Truth(0.0, 0.1, float("nan"), 0.9, 1.0).verdict
        'cannot tell'
        """
        if self.relative_error == self.relative_error:
            near = "composes" if self.relative_error <= RIGHT else "composes in part"
            return near if self.relative_error <= NEAR else "does not compose"
        return "composes" if self.unseen_error <= RIGHT_OVER_ALL * self.variance else "cannot tell"


def compare_outputs(grid: ActivationGrid, truth: npt.NDArray[Any], seen: BoolArray | None) -> Truth:
    """Compare outputs with the right ones, on seen and on unseen cells.

    Parameters
    ----------
    grid : ActivationGrid
    truth : array of as many numbers as the grid holds, the first axes its levels
    seen : bool array of shape (levels_1, ..., levels_C), or None
        None is refused: without it no output can be called unseen.

    Examples
    --------
    >>> right = np.arange(8.0).reshape(2, 2, 2)
    >>> compare_outputs(as_grid(right), right, np.array([[True, True], [True, False]])).verdict
    'composes'
    """
    if seen is None:
        raise InputError("say which cells were seen, so that outputs on the others can be judged: --seen mask.npy")
    if truth.size != grid.values.size or truth.shape[: grid.factors] != grid.levels:
        raise InputError(
            f"the truth has shape {truth.shape}, but the last layer has levels {grid.levels} and {grid.features} "
            "features; give the right output of every cell"
        )
    right = as_grid(truth.reshape(grid.values.shape), name="the right outputs").values.astype(np.float64)
    errors = ((grid.values - right) ** 2).mean(axis=-1)
    missed, spread = float(errors[~seen].mean()), _variance(right[~seen])
    close = correlations(grid.values, right)[~seen]
    measured = close[~np.isnan(close)]
    return Truth(
        float(errors[seen].mean()),
        missed,
        missed / spread if spread > 0 else float("nan"),
        float(measured.mean()) if measured.size else float("nan"),
        _variance(right.reshape(-1, grid.features)),
    )


def _variance(rows: npt.NDArray[np.float64]) -> float:
    """Mean over features of the variance over rows, 0 where it is no more than rounding."""
    variance = float(rows.var(axis=0).mean())
    return variance if variance > ROUNDING * float((rows**2).mean()) else 0.0
