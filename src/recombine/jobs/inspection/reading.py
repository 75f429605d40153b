"""One layer's measures, and what they amount to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

NAN = float("nan")
#: A layer adds where at least this share of its variance over all cells is main effects.
SHARE_ADDITIVE = 0.5
#: A layer pastes where unseen outputs correlate at least so much with a mixture of seen ones, and more than seen ones.
CORRELATION_PASTED, CORRELATION_ABOVE_SEEN = 0.5, 0.2
#: A layer stops moving where unseen cells span less than this share of the volume that seen ones do.
VOLUME_SHARE_STOPPED = 0.5


@dataclass(frozen=True)
class StillCells:
    """Where a representation hardly moves.

    Attributes
    ----------
    count : int
        Cells whose volume element is below half of the usual one.
    ranges : tuple of (int, int)
        Smallest and largest level of each factor among them.
    unseen, seen : float or None
        Their share among the unseen and among the seen cells.
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
        return self.unseen > max(self.seen, 0.1)


@dataclass(frozen=True)
class LayerReading:
    """What was measured of one layer; NaN where a measure says nothing.

    Attributes
    ----------
    name : str
    features : int
    additive : float
        Share of variance in main effects.
    F, F_K : float
        Metric-tensor and operator-Schmidt factorization.
    volume_ratio : float
        Mean volume element on unseen over seen cells, without the border of the grid.
    speeds : tuple of float
        The same for the speed along each factor.
    readout : tuple of float
        R² of a linear readout of each factor on unseen cells (on all cells where none is unseen).
    pasted, pasted_seen, spanned, cross_ratio : float
        See `recombine.measures.activations.Superposition`.
    predicted : float
        Share of the variance on unseen cells that sums of one part per factor, fitted to seen cells, predict.
    still : StillCells or None
    verdict : str
    """

    name: str
    features: int
    additive: float
    F: float
    speeds: tuple[float, ...]
    readout: tuple[float, ...]
    still: StillCells | None
    volume_ratio: float = NAN
    F_K: float = NAN
    pasted: float = NAN
    pasted_seen: float = NAN
    spanned: float = NAN
    cross_ratio: float = NAN
    predicted: float = NAN
    verdict: str = ""

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
    return replace(reading, verdict=_verdict(reading, seen_given))


def _verdict(reading: LayerReading, seen_given: bool) -> str:
    if reading.additive != reading.additive:
        return "constant"
    # Before "adds": sums painted into the unseen cells raise the additive share of outputs that are not sums.
    if reading.pasted >= CORRELATION_PASTED and reading.pasted - reading.pasted_seen >= CORRELATION_ABOVE_SEEN:
        return "pastes"
    if reading.additive >= SHARE_ADDITIVE:
        return "adds"
    if reading.volume_ratio < VOLUME_SHARE_STOPPED:
        return "stops moving"
    if reading.volume_ratio == reading.volume_ratio:
        return "keeps moving"
    return "cannot tell" if seen_given else "mixes"
