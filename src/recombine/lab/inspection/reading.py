"""One layer's measures and what they amount to, and a model's outputs next to the right ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray
from recombine.errors import InputError
from recombine.lab.inspection.limits import INSPECTION_LIMITS
from recombine.measures.activations.anova import effect_shares
from recombine.measures.activations.factorization import factorization, kernel_factorization
from recombine.measures.activations.geometry import metric_tensor, speed_ratios, volume_element, volume_ratio
from recombine.measures.activations.grid import MAX_GRAM_CELLS, ActivationGrid, as_grid
from recombine.measures.activations.linear_probe import linear_probe
from recombine.measures.activations.superposition import correlations, superposition
from recombine.measures.activations.surrogate import surrogate

NAN = float("nan")
#: A variance below this share of the mean square is rounding.
SHARE_OF_ROUNDING = 1e-12


class Composes(StrEnum):
    """What a layer does, or whether outputs are right: only the right outputs tell whether a model composes."""

    ADDS = "adds"
    PASTES = "pastes"
    STOPS_MOVING = "stops moving"
    KEEPS_MOVING = "keeps moving"
    MIXES = "mixes"
    CONSTANT = "constant"
    CANNOT_TELL = "cannot tell"
    RIGHT = "composes"
    NEAR = "composes in part"
    WRONG = "does not compose"

    def __repr__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True)
class StillCells:
    """Cells where a representation hardly moves: how many, and their smallest and largest level of each factor.

    ``unseen`` and ``seen`` are their shares among these cells, where they are told apart.
    """

    count: int
    ranges: tuple[tuple[int, int], ...]
    unseen: float | None
    seen: float | None

    @property
    def matters(self) -> bool:
        """Whether there are more still cells than grid corners, or a larger share among unseen than among seen ones."""
        if self.unseen is None or self.seen is None:
            return bool(self.count > 2 ** len(self.ranges))
        return self.unseen > max(self.seen, INSPECTION_LIMITS.min_still_unseen)


@dataclass(frozen=True)
class LayerReading:
    """What was measured of one layer; NaN where a measure says nothing."""

    name: str
    features: int
    additive: float  #: Share of variance in main effects.
    #: Metric-tensor factorization; `F_K` is the operator-Schmidt one.
    F: float
    speeds: tuple[float, ...]  #: Mean speed along each factor on unseen over seen cells, without the border.
    #: R² of a linear readout of each factor on unseen cells (on all cells where none is unseen).
    readout: tuple[float, ...]
    still: StillCells | None
    volume_ratio: float = NAN  #: Mean volume element on unseen over seen cells, without the border of the grid.
    F_K: float = NAN
    #: This and the next three: see `recombine.measures.activations.Superposition`.
    pasted: float = NAN
    pasted_seen: float = NAN
    spanned: float = NAN
    cross_ratio: float = NAN
    #: Share of the variance on unseen cells that sums of one part per factor, fitted to seen cells, predict.
    predicted: float = NAN
    verdict: Composes = Composes.CANNOT_TELL

    def number(self, column: str) -> Any:
        """Return the value of a column of the table of layers."""
        return getattr(self, {"predicted by a sum": "predicted"}.get(column, column.replace(" ", "_")))


def judge_layer(reading: LayerReading, seen_given: bool = False) -> LayerReading:
    """Return the reading with its verdict; ``seen_given`` is whether seen cells are told from unseen ones.

    Examples
    --------
    >>> judge_layer(LayerReading("code", 56, 1.0, 1.0, (1.0, 1.0), (1.0, 1.0), None)).verdict
    'adds'
    """
    limits, above_seen = INSPECTION_LIMITS, reading.pasted - reading.pasted_seen
    verdict = Composes.CANNOT_TELL if seen_given else Composes.MIXES
    if reading.additive != reading.additive:
        verdict = Composes.CONSTANT
    # Before "adds": sums painted into the unseen cells raise the additive share of outputs that are not sums.
    elif reading.pasted >= limits.min_pasted and above_seen >= limits.min_pasted_above_seen:
        verdict = Composes.PASTES
    elif reading.additive >= limits.min_additive:
        verdict = Composes.ADDS
    elif reading.volume_ratio == reading.volume_ratio:
        verdict = Composes.STOPS_MOVING if reading.volume_ratio < limits.min_volume else Composes.KEEPS_MOVING
    return replace(reading, verdict=verdict)


def read_layer(name: str, grid: ActivationGrid, seen: BoolArray | None) -> LayerReading:
    """Return all measures of a layer; those that compare all pairs of cells only where there are not too many."""
    shares = effect_shares(grid)
    metric = metric_tensor(grid)
    flat = np.isnan(shares[0,]) or grid.features < grid.factors
    nothing = (NAN,) * grid.factors
    fields: dict[str, Any] = {
        "name": name,
        "features": grid.features,
        "additive": sum(share for subset, share in shares.items() if len(subset) == 1),
        "F": NAN if np.isnan(shares[0,]) else factorization(metric),
        "speeds": nothing if seen is None else tuple(speed_ratios(metric, seen, border=False).tolist()),
        "volume_ratio": NAN if seen is None or flat else volume_ratio(metric, seen, border=False),
        "still": None if flat else _still_cells(volume_element(metric), seen),
        "readout": nothing,
    }
    if grid.count <= MAX_GRAM_CELLS and not np.isnan(shares[0,]):
        probe = linear_probe(grid, seen)
        fields |= {"F_K": kernel_factorization(grid), "readout": probe.unseen or probe.fitted}
        if seen is not None:
            mixed = superposition(grid, seen)
            fields |= {"pasted": mixed.pasted, "pasted_seen": mixed.pasted_seen, "spanned": mixed.spanned}
            fields |= {"cross_ratio": mixed.cross_ratio, "predicted": surrogate(grid, seen).explained}
    return judge_layer(LayerReading(**fields), seen is not None)


def _still_cells(volume: FloatArray, seen: BoolArray | None) -> StillCells:
    """Where the volume element is far below its median, over seen cells where these are known."""
    usual = float(np.median(volume if seen is None else volume[seen]))
    still = volume < INSPECTION_LIMITS.min_still * usual
    cells = np.argwhere(still)
    ranges = tuple((int(levels.min()), int(levels.max())) for levels in cells.T) if len(cells) else ()
    if seen is None:
        return StillCells(len(cells), ranges, None, None)
    return StillCells(len(cells), ranges, float(still[~seen].mean()), float(still[seen].mean()))


@dataclass(frozen=True, eq=False)
class Truth:
    """The last layer next to the right outputs."""

    #: Mean squared error on seen and on unseen cells.
    seen_error: float
    unseen_error: float
    #: The latter over the variance of the right outputs on unseen cells: 1 for a model that knows their mean alone. NaN
    #: where they do not vary.
    relative_error: float
    #: Mean correlation over features of unseen outputs with the right ones; NaN where either is constant.
    correlation: float
    variance: float  #: Of the right outputs over all cells.

    @property
    def verdict(self) -> Composes:
        """Whether the model composes; not told where an error that is not tiny has nothing to be held against.

        Examples
        --------
        >>> [Truth(0.0, share, share, 0.9, 1.0).verdict for share in (0.01, 0.14, 0.9)]
        ['composes', 'composes in part', 'does not compose']
        >>> Truth(0.0, 0.1, float("nan"), 0.9, 1.0).verdict
        'cannot tell'
        """
        if self.relative_error == self.relative_error:
            near = Composes.RIGHT if self.relative_error <= INSPECTION_LIMITS.max_error_right else Composes.NEAR
            return near if self.relative_error <= INSPECTION_LIMITS.max_error_near else Composes.WRONG
        small = self.unseen_error <= INSPECTION_LIMITS.max_error_over_all * self.variance
        return Composes.RIGHT if small else Composes.CANNOT_TELL


def compare_outputs(grid: ActivationGrid, truth: npt.NDArray[Any], seen: BoolArray | None) -> Truth:
    """Compare outputs with the right ones, which are as many numbers, on ``seen`` and on unseen cells."""
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
        missed / spread if spread > 0 else NAN,
        float(measured.mean()) if measured.size else NAN,
        _variance(right.reshape(-1, grid.features)),
    )


def _variance(rows: npt.NDArray[np.float64]) -> float:
    """Mean over features of the variance over rows, 0 where it is no more than rounding."""
    variance = float(rows.var(axis=0).mean())
    return variance if variance > SHARE_OF_ROUNDING * float((rows**2).mean()) else 0.0
