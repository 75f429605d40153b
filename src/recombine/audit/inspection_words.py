"""One layer's measures and what they amount to, in words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recombine.audit.inspection import Truth

NAN = float("nan")
#: A layer adds where at least this share of its variance is main effects.
ADDITIVE = 0.5
#: A layer pastes where unseen outputs correlate at least so much with a mixture of seen ones, and more than seen ones.
PASTED, PASTED_ABOVE_SEEN = 0.5, 0.2
#: A layer stops moving where unseen cells span less than this share of the volume that seen ones do.
SHRUNK = 0.5
#: A speed worth a word.
SLOWED = 0.9
#: With the right outputs at hand: the largest error on unseen cells, over their variance, of a model that composes.
RIGHT = 0.25

#: Each verdict with what it means and how it reads of a last layer.
VERDICTS = {
    "adds": "unseen cells are sums of one part per factor, as in a code with separate units",
    "pastes": "unseen cells look like mixtures of seen ones that share a level, more than seen cells do",
    "stops moving": "the representation hardly changes from one unseen cell to the next",
    "keeps moving": "unseen cells move like seen ones and are no mixtures of them",
    "mixes": "mostly conjunctions of levels; without knowing which cells were seen nothing more can be said",
    "constant": "the same at every cell",
    "composes": "outputs on unseen cells are right",
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
class Reading:
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
        See `recombine.measures.superposition.Superposition`.
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


def judged(reading: Reading) -> Reading:
    """Return the reading with its verdict.

    Examples
    --------
    >>> judged(Reading("code", 56, 1.0, 1.0, (1.0, 1.0), (1.0, 1.0), None)).verdict
    'adds'
    """
    return replace(reading, verdict=_verdict(reading))


def _verdict(reading: Reading) -> str:
    if reading.additive != reading.additive:
        return "constant"
    if reading.additive >= ADDITIVE:
        return "adds"
    if reading.pasted >= PASTED and reading.pasted - reading.pasted_seen >= PASTED_ABOVE_SEEN:
        return "pastes"
    if reading.volume_ratio < SHRUNK:
        return "stops moving"
    known = reading.volume_ratio == reading.volume_ratio
    return "keeps moving" if known else "mixes"


def explained(last: Reading, factors: tuple[str, ...], truth: Truth | None) -> tuple[str, str]:
    """Return the verdict on the whole model and the sentence that gives its reasons."""
    parts = [_opening(last), *_movement(last, factors), _additivity(last)]
    verdict = last.verdict
    if truth is not None:
        verdict = "composes" if truth.relative_error <= RIGHT else "does not compose"
        parts.insert(0, _against_truth(truth, verdict))
    return verdict, " ".join(part for part in parts if part)


def _opening(last: Reading) -> str:
    openings = {
        "adds": f"{last.name} adds: {last.additive:.0%} of its variance is one part per factor, which composes by "
        "itself and is right where the right outputs are such sums.",
        "pastes": f"{last.name} does not compose, it pastes: on unseen cells it correlates {last.pasted:.2f} with a "
        f"mixture of seen cells that share a level ({last.pasted_seen:.2f} on seen cells).",
        "stops moving": f"{last.name} does not compose, it stops moving: a unit square of levels spans "
        f"{last.volume_ratio:.2f} of the volume on unseen cells that it spans on seen ones.",
        "keeps moving": f"{last.name} shows no sign of failing to compose: on unseen cells it spans "
        f"{last.volume_ratio:.2f} of the volume it spans on seen ones{_unmixed(last)}.",
        "mixes": f"{last.name} is mostly conjunctions of levels; say which cells were seen to learn more.",
        "constant": f"{last.name} is the same at every cell: nothing is represented.",
    }
    return openings[last.verdict]


def _unmixed(last: Reading) -> str:
    return ", and it is no mixture of seen cells" if last.pasted == last.pasted else ""


def _movement(last: Reading, factors: tuple[str, ...]) -> list[str]:
    """Say where the layer hardly moves, and along which factor it slows most."""
    parts = []
    still = last.still
    if still is not None and still.matters:
        where = ", ".join(f"{name} {low}-{high}" for name, (low, high) in zip(factors, still.ranges, strict=True))
        shares = "" if still.unseen is None else f" ({still.unseen:.0%} of the unseen, {still.seen:.0%} of the seen)"
        parts.append(f"It moves less than half as much as usual at {still.count:,} cells{shares}, within {where}.")
    known = [(speed, name) for speed, name in zip(last.speeds, factors, strict=True) if speed == speed]
    if known and min(known)[0] < SLOWED:
        speed, name = min(known)
        parts.append(f"It slows most along {name}, to {speed:.2f} of its speed on seen cells.")
    return parts


def _additivity(last: Reading) -> str:
    if last.verdict in ("constant", "adds") and last.predicted != last.predicted:
        return ""
    text = f"{last.additive:.0%} of its variance over all cells is additive"
    if last.predicted == last.predicted:
        share = max(last.predicted, 0.0)
        text += f"; sums fitted to seen cells predict {share:.0%} of its variance on unseen ones"
    return text + "."


def _against_truth(truth: Truth, verdict: str) -> str:
    word = "right" if verdict == "composes" else "wrong"
    return (
        f"On unseen cells the outputs are {word}: error {truth.unseen_error:.3g}, {truth.relative_error:.2f} of the "
        f"variance of the right outputs, and {truth.seen_error:.3g} on seen cells; correlation {truth.correlation:.2f}."
    )
