"""An inspection in words: what each verdict means, why the last layer has it, and what limits the reading."""

from __future__ import annotations

import math

from recombine.lab.inspection.inspection import Inspection
from recombine.lab.inspection.limits import INSPECTION_LIMITS
from recombine.lab.inspection.reading import Composes, LayerReading, Truth
from recombine.measures.activations.grid import MAX_GRAM_CELLS
from recombine.writing import listing, plural, whole_percent

#: Each verdict with what it means. Only the right outputs tell whether a model composes: without them the verdicts
#: "adds" and "keeps moving" say how it behaves, not whether it is right.
VERDICT_MEANINGS = {
    Composes.ADDS: "one part per factor",
    Composes.PASTES: "unseen cells look like mixtures of seen ones that share a level, more than seen cells do",
    Composes.STOPS_MOVING: "the representation hardly changes from one unseen cell to the next",
    Composes.KEEPS_MOVING: "the representation changes from one unseen cell to the next as much as on seen ones",
    Composes.MIXES: "mostly conjunctions of levels; without knowing which cells were seen nothing more can be said",
    Composes.CONSTANT: "the same at every cell",
    Composes.CANNOT_TELL: "what could be measured does not settle it",
    Composes.RIGHT: "outputs on unseen cells are right",
    Composes.NEAR: "outputs on unseen cells are near the right ones, and off by more than a hundredth of their "
    "variance",
    Composes.WRONG: "outputs on unseen cells are wrong",
}

#: Verdicts that are no sign of failure, and none that outputs are right.
BEHAVIOUR = (Composes.ADDS, Composes.KEEPS_MOVING)
#: What no verdict on behaviour says, and how to learn it.
NOT_TOLD = (
    "whether predictions of unseen cells are right cannot be told without truth: give the right outputs "
    "(--truth right.npy, in Python truth=right)"
)


def inspection_headline(inspection: Inspection) -> str:
    """Say the verdict and what it means; without the right outputs, first that it does not say whether they are right.

    Examples
    --------
    >>> import numpy as np, recombine as rc
    >>> inspection_headline(rc.inspect(np.eye(6).reshape(2, 3, 6), ["x", "y"]))
    'right or wrong cannot be told; the last layer adds: one part per factor'
    """
    verdict = f"{inspection.verdict}: {VERDICT_MEANINGS[inspection.verdict]}"
    if inspection.truth is not None or inspection.verdict not in BEHAVIOUR:
        return verdict
    return f"right or wrong cannot be told; the last layer {verdict}"


def inspection_opening(inspection: Inspection) -> str:
    """Say how many layers were looked at, over which factors and cells."""
    sizes = " × ".join(f"{name} ({size})" for name, size in zip(inspection.factors, inspection.levels, strict=True))
    cells = "" if inspection.seen is None else f"; {inspection.seen:,} cells seen, {inspection.unseen:,} unseen"
    return f"{plural(len(inspection.layers), 'layer')} over {sizes}{cells}"


def inspection_sentence(inspection: Inspection) -> str:
    """Say why the last layer has its verdict.

    Examples
    --------
    >>> import numpy as np, recombine as rc
    >>> inspection_sentence(rc.inspect(np.eye(6).reshape(2, 3, 6), ["x", "y"])).partition(":")[0]
    'the array adds'
    """
    return layer_sentence(inspection.layers[-1], inspection.factors, inspection.truth)


def layer_sentence(last: LayerReading, factors: tuple[str, ...], truth: Truth | None = None) -> str:
    """Say why a layer has its verdict; ``truth`` is how far it is from the right outputs."""
    sentences = [_opening(last), _mixture(last), *_movement(last, factors), _additivity(last)]
    if truth is not None:
        sentences.insert(0, _against_truth(truth))
    elif last.verdict is not Composes.CONSTANT:
        sentences.append(f"{NOT_TOLD[0].upper()}{NOT_TOLD[1:]}.")
    return " ".join(sentence for sentence in sentences if sentence)


def inspection_notes(inspection: Inspection) -> list[str]:
    """Say what limits the reading: the order of levels, what was not said or seen, what is too large or too thin."""
    notes = ["Levels are taken in the order given, one step apart; speeds, volumes and readouts mean little otherwise."]
    if inspection.seen is None:
        notes.append(
            "Which cells were seen was not said, so seen and unseen cells are not told apart (--seen mask.npy)."
        )
    if inspection.partly_unseen:
        notes.append(
            f"Some levels of {listing(inspection.partly_unseen)} were never seen: nothing can be composed there."
        )
    cells = math.prod(inspection.levels)
    if cells > MAX_GRAM_CELLS:
        notes.append(
            f"{cells:,} cells are too many to compare all pairs (at most {MAX_GRAM_CELLS:,}): kernels, pasting "
            "and readouts are left out; keep every second level to have them."
        )
    thin = [layer.name for layer in inspection.layers if layer.features < len(inspection.factors)]
    if thin:
        notes.append(f"{listing(thin)}: fewer features than factors, so no volume can be measured.")
    return notes


def inspection_legend(inspection: Inspection) -> list[str]:
    """Say what the columns of the table of layers are."""
    lines = [
        "additive: share of the variance over all cells in one part per factor (1 for a code, less where levels are "
        "conjoined)",
        "F: 1 where factors move it in orthogonal directions; F_K: 1 where its kernel is a product of one per factor",
    ]
    if inspection.seen is not None:
        lines += [
            "volume: how much a square of levels spans on unseen cells, over seen ones (below 0.5: stops moving)",
            "pasted: correlation of unseen cells with a mixture of seen ones that share a level; (seen): the same on "
            "seen cells, which is what the shape of the outputs alone gives",
        ]
    cells = "unseen cells" if inspection.seen is not None else "all cells"
    return [*lines, f"readout: R² on {cells} of a linear readout of the level of the worst factor"]


def _opening(last: LayerReading) -> str:
    openings = {
        Composes.ADDS: f"adds: {whole_percent(last.additive)} of its variance over all cells is one part per factor",
        Composes.PASTES: f"pastes: on unseen cells it correlates {last.pasted:.2f} with a mixture of seen cells that "
        f"share a level ({last.pasted_seen:.2f} on seen cells), which is right only where such mixtures are",
        Composes.STOPS_MOVING: f"stops moving: a unit square of levels spans {last.volume_ratio:.2f} of the volume on "
        "unseen cells that it spans on seen ones",
        Composes.KEEPS_MOVING: f"keeps moving: on unseen cells it spans {last.volume_ratio:.2f} of the volume it spans "
        "on seen ones",
        Composes.MIXES: "is mostly conjunctions of levels; say which cells were seen to learn more",
        Composes.CANNOT_TELL: "is mostly conjunctions of levels, and how its volume changes on unseen cells cannot be "
        "measured: that takes as many features as factors, and seen and unseen cells off the grid's border",
        Composes.CONSTANT: "is the same at every cell: nothing is represented",
    }
    return f"{last.name} {openings[last.verdict]}."


def _mixture(last: LayerReading) -> str:
    """Say how much unseen cells look like mixtures of seen ones, where that is not the verdict itself."""
    if last.verdict not in (Composes.KEEPS_MOVING, Composes.STOPS_MOVING) or last.pasted != last.pasted:
        return ""
    against = f" ({last.pasted_seen:.2f} on seen cells)" if last.pasted_seen == last.pasted_seen else ""
    unmixed = last.pasted < INSPECTION_LIMITS.max_unmixed and last.pasted <= last.pasted_seen
    end = ": it is no mixture of them." if unmixed else "."
    return f"It correlates {last.pasted:.2f} with a mixture of seen cells that share a level{against}{end}"


def _movement(last: LayerReading, factors: tuple[str, ...]) -> list[str]:
    """Say where the layer hardly moves, and along which factor it slows most."""
    sentences = []
    still = last.still
    if still is not None and still.matters:
        ranges = ", ".join(f"{name} {low}-{high}" for name, (low, high) in zip(factors, still.ranges, strict=True))
        shares = ""
        if still.unseen is not None and still.seen is not None:
            shares = f" ({whole_percent(still.unseen)} of the unseen, {whole_percent(still.seen)} of the seen)"
        sentences.append(f"It moves less than half as much as usual at {still.count:,} cells{shares}, within {ranges}.")
    speeds = sorted((speed, name) for speed, name in zip(last.speeds, factors, strict=True) if speed == speed)
    # Where two factors tie, rounding would choose.
    limits = INSPECTION_LIMITS
    if len(speeds) > 1 and speeds[0][0] < min(limits.max_speed_told, (1 - limits.min_speed_lead) * speeds[1][0]):
        sentences.append(f"It slows most along {speeds[0][1]}, to {speeds[0][0]:.2f} of its speed on seen cells.")
    return sentences


def _additivity(last: LayerReading) -> str:
    """Say how much is additive over all cells, and how much of the unseen cells is sums of what seen cells have."""
    clauses = []
    if last.verdict not in (Composes.ADDS, Composes.CONSTANT):
        clauses.append(f"{whole_percent(last.additive)} of its variance over all cells is additive")
    if last.predicted == last.predicted:
        clauses.append(
            f"sums fitted to seen cells predict {whole_percent(max(last.predicted, 0.0))} of its variance on unseen "
            "ones"
        )
    if not clauses:
        return ""
    text = "; ".join(clauses)
    return (
        text[0].upper()
        + text[1:]
        + (": unseen cells are sums." if last.predicted >= INSPECTION_LIMITS.min_sums else ".")
    )


def _against_truth(truth: Truth) -> str:
    """Say how wrong unseen outputs are, without the numbers that do not exist."""
    seen, close = f"{truth.seen_error:.3g} on seen cells", truth.correlation
    tail = f"; correlation {close:.2f}" if close == close else ""
    if truth.relative_error == truth.relative_error:
        word = {Composes.RIGHT: "right", Composes.NEAR: "near the right ones"}.get(truth.verdict, "wrong")
        times = truth.unseen_error / truth.seen_error if truth.seen_error else 0.0
        beside = f"{times:,.0f} times that on seen cells ({truth.seen_error:.3g})" if times >= 2 else f"and {seen}"
        explained = f"they explain {_percent(1 - truth.relative_error)} of the variance of the right outputs"
        return f"On unseen cells the outputs are {word}: {explained}; error {truth.unseen_error:.3g}, {beside}{tail}."
    word = "right" if truth.verdict is Composes.RIGHT else "not small enough to be called right"
    return (
        f"On unseen cells the error is {truth.unseen_error:.3g} ({seen}){tail}. The right outputs do not vary there; "
        f"next to their variance over all cells, {truth.variance:.3g}, that is {word}."
    )


def _percent(share: float) -> str:
    """A share in percent, rounded down where it is nearly all; what is left of none is none."""
    if share <= 0:
        return "none"
    return f"{100 * share:.0f} %" if share < 0.99 else f"{math.floor(1000 * share) / 10:g} %"
