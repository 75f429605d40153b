"""One layer's measures and what they amount to, in words."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recombine.jobs.inspection.truth import Truth

NAN = float("nan")
#: A layer adds where at least this share of its variance over all cells is main effects.
ADDITIVE = 0.5
#: Unseen cells are sums where sums fitted to seen cells predict at least this share of their variance.
SUMS = 0.9
#: A layer pastes where unseen outputs correlate at least so much with a mixture of seen ones, and more than seen ones.
PASTED, PASTED_ABOVE_SEEN = 0.5, 0.2
#: Unseen cells are no mixture of seen ones below this correlation, if seen cells have no smaller one.
UNMIXED = 0.3
#: A layer stops moving where unseen cells span less than this share of the volume that seen ones do.
SHRUNK = 0.5
#: A speed worth a word, and how much slower than along any other factor the slowest must be to be named.
SLOWED, TIED = 0.9, 0.01

#: Each verdict with what it means. Only the right outputs tell whether a model composes: without them the verdicts
#: "adds" and "keeps moving" say how it behaves, not whether it is right.
VERDICTS = {
    "adds": "one part per factor; whether the sum is right cannot be told without --truth",
    "pastes": "unseen cells look like mixtures of seen ones that share a level, more than seen cells do",
    "stops moving": "the representation hardly changes from one unseen cell to the next",
    "keeps moving": "what unseen outputs should be was not given, so whether they are right cannot be told; "
    "give --truth",
    "mixes": "mostly conjunctions of levels; without knowing which cells were seen nothing more can be said",
    "constant": "the same at every cell",
    "cannot tell": "what could be measured does not settle it",
    "composes": "outputs on unseen cells are right",
    "composes in part": "outputs on unseen cells are near the right ones, and off by more than a hundredth of their "
    "variance",
    "does not compose": "outputs on unseen cells are wrong",
}


@dataclass(frozen=True)
class Stillness:
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
        """Whether there are more such cells than the corners of any grid have, and more among unseen ones."""
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
    still : Stillness or None
    verdict : str
    """

    name: str
    features: int
    additive: float
    F: float
    speeds: tuple[float, ...]
    readout: tuple[float, ...]
    still: Stillness | None
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


def judge_layer(reading: LayerReading, known: bool = False) -> LayerReading:
    """Return the reading with its verdict; ``known`` is whether seen cells are told from unseen ones.

    Examples
    --------
    >>> judge_layer(LayerReading("code", 56, 1.0, 1.0, (1.0, 1.0), (1.0, 1.0), None)).verdict
    'adds'
    """
    return replace(reading, verdict=_verdict(reading, known))


def _verdict(reading: LayerReading, known: bool) -> str:
    if reading.additive != reading.additive:
        return "constant"
    # Before "adds": sums painted into the unseen cells raise the additive share of outputs that are not sums.
    if reading.pasted >= PASTED and reading.pasted - reading.pasted_seen >= PASTED_ABOVE_SEEN:
        return "pastes"
    if reading.additive >= ADDITIVE:
        return "adds"
    if reading.volume_ratio < SHRUNK:
        return "stops moving"
    if reading.volume_ratio == reading.volume_ratio:
        return "keeps moving"
    return "cannot tell" if known else "mixes"


def judge_model(last: LayerReading, factors: tuple[str, ...], truth: Truth | None) -> tuple[str, str]:
    """Return the verdict on the whole model and the sentence that gives its reasons."""
    parts = [_opening(last), _mixture(last), *_movement(last, factors), _additivity(last)]
    if truth is not None:
        parts.insert(0, _against_truth(truth))
    elif last.verdict in ("adds", "keeps moving"):
        parts.append("Whether that is right cannot be told without the right outputs (--truth).")
    verdict = last.verdict if truth is None else truth.verdict
    return verdict, " ".join(part for part in parts if part)


def _opening(last: LayerReading) -> str:
    openings = {
        "adds": f"{last.name} adds: {last.additive:.0%} of its variance over all cells is one part per factor.",
        "pastes": f"{last.name} pastes: on unseen cells it correlates {last.pasted:.2f} with a mixture of seen cells "
        f"that share a level ({last.pasted_seen:.2f} on seen cells), which is right only where such mixtures are.",
        "stops moving": f"{last.name} stops moving: a unit square of levels spans {last.volume_ratio:.2f} of the "
        "volume on unseen cells that it spans on seen ones.",
        "keeps moving": f"{last.name} keeps moving: on unseen cells it spans {last.volume_ratio:.2f} of the volume it "
        "spans on seen ones.",
        "mixes": f"{last.name} is mostly conjunctions of levels; say which cells were seen to learn more.",
        "cannot tell": f"{last.name} is mostly conjunctions of levels, and how its volume changes on unseen cells "
        "cannot be measured: that takes as many features as factors, and seen and unseen cells off the grid's border.",
        "constant": f"{last.name} is the same at every cell: nothing is represented.",
    }
    return openings[last.verdict]


def _mixture(last: LayerReading) -> str:
    """Say how much unseen cells look like mixtures of seen ones, where that is not the verdict itself."""
    if last.verdict not in ("keeps moving", "stops moving") or last.pasted != last.pasted:
        return ""
    against = f" ({last.pasted_seen:.2f} on seen cells)" if last.pasted_seen == last.pasted_seen else ""
    text = f"It correlates {last.pasted:.2f} with a mixture of seen cells that share a level{against}"
    return text + (": it is no mixture of them." if last.pasted < UNMIXED and last.pasted <= last.pasted_seen else ".")


def _movement(last: LayerReading, factors: tuple[str, ...]) -> list[str]:
    """Say where the layer hardly moves, and along which factor it slows most."""
    parts = []
    still = last.still
    if still is not None and still.matters:
        where = ", ".join(f"{name} {low}-{high}" for name, (low, high) in zip(factors, still.ranges, strict=True))
        shares = "" if still.unseen is None else f" ({still.unseen:.0%} of the unseen, {still.seen:.0%} of the seen)"
        parts.append(f"It moves less than half as much as usual at {still.count:,} cells{shares}, within {where}.")
    known = sorted((speed, name) for speed, name in zip(last.speeds, factors, strict=True) if speed == speed)
    # Where two factors tie, rounding would choose.
    if len(known) > 1 and known[0][0] < min(SLOWED, (1 - TIED) * known[1][0]):
        parts.append(f"It slows most along {known[0][1]}, to {known[0][0]:.2f} of its speed on seen cells.")
    return parts


def _additivity(last: LayerReading) -> str:
    """Say how much is additive over all cells, and how much of the unseen cells is sums of what seen cells have."""
    parts = (
        []
        if last.verdict in ("adds", "constant")
        else [f"{last.additive:.0%} of its variance over all cells is additive"]
    )
    if last.predicted == last.predicted:
        parts.append(f"sums fitted to seen cells predict {max(last.predicted, 0.0):.0%} of its variance on unseen ones")
    if not parts:
        return ""
    text = "; ".join(parts)
    return text[0].upper() + text[1:] + (": unseen cells are sums." if last.predicted >= SUMS else ".")


def _against_truth(truth: Truth) -> str:
    """Say how wrong unseen outputs are, without the numbers that do not exist."""
    seen, close = f"{truth.seen_error:.3g} on seen cells", truth.correlation
    tail = f"; correlation {close:.2f}" if close == close else ""
    if truth.relative_error == truth.relative_error:
        word = {"composes": "right", "composes in part": "near the right ones"}.get(truth.verdict, "wrong")
        times = truth.unseen_error / truth.seen_error if truth.seen_error else 0.0
        beside = f"{times:,.0f} times that on seen cells ({truth.seen_error:.3g})" if times >= 2 else f"and {seen}"
        explained = f"they explain {_percent(1 - truth.relative_error)} of the variance of the right outputs"
        return f"On unseen cells the outputs are {word}: {explained}; error {truth.unseen_error:.3g}, {beside}{tail}."
    word = "right" if truth.verdict == "composes" else "not small enough to be called right"
    return (
        f"On unseen cells the error is {truth.unseen_error:.3g} ({seen}){tail}. The right outputs do not vary there; "
        f"next to their variance over all cells, {truth.variance:.3g}, that is {word}."
    )


def _percent(share: float) -> str:
    """A share in percent, rounded down where it is nearly all; what is left of none is none.

    >>> _percent(0.86), _percent(0.9996), _percent(-0.3)
    ('86 %', '99.9 %', 'none')
    """
    if share <= 0:
        return "none"
    return f"{100 * share:.0f} %" if share < 0.99 else f"{math.floor(1000 * share) / 10:g} %"
