"""Verdicts under a curve: cells whose sums the seen ones determine, but beyond all sums that were seen."""

from __future__ import annotations

import numpy as np

from recombine.cells.arrays import IntArray
from recombine.design.design import Design
from recombine.jobs.structure.choice import Choice
from recombine.theory.identification.counts import Counts
from recombine.theory.identification.identify import Identification
from recombine.theory.structures.link import LinkFit
from recombine.verdicts import Verdict
from recombine.writing import round_estimate, written_count

#: Cells of a product too large to list that are drawn to estimate how many lie beyond the seen range.
DRAWN = 20_000


def verdicts_under(choice: Choice, engine: Identification, cells: IntArray) -> IntArray:
    """Return the verdict codes of ``cells`` (N, C) under the chosen structure, (N,).

    Examples
    --------
    >>> from recombine.theory.identification.identify import identify
    >>> seen = np.array([[0, 0], [0, 1], [1, 0]])
    >>> verdicts_under(Choice("add", 1), identify(seen), np.array([[1, 1]])).tolist()
    [1]
    """
    codes = engine.verdicts_of(cells).astype(np.int64)
    known = np.flatnonzero(codes == Verdict.DETERMINED)
    if isinstance(choice.fit, LinkFit):
        codes[known[choice.beyond(cells[known])]] = Verdict.BEYOND
    elif choice.by_likelihood and len(known):
        # Separated outcomes send effects to infinity, and against each other they leave any chance open.
        codes[known[np.isnan(choice.predict(cells[known]))]] = Verdict.DISCONNECTED
    return codes


def counts_under(
    choice: Choice, engine: Identification, design: Design, listed: IntArray, whole: bool, seed: int
) -> Counts:
    """Return verdict counts over all cells that can exist; ``listed`` (T, C) are unseen ones, all if ``whole``.

    Where they are not all, how many determined cells the structure's scale leaves open is estimated from cells drawn at
    random; if none of these is determined, from the listed ones.
    """
    counts = engine.count_verdicts(seed)
    if not (isinstance(choice.fit, LinkFit) or choice.by_likelihood) or not counts[Verdict.DETERMINED]:
        return counts
    if whole:
        codes = verdicts_under(choice, engine, listed)
        unseen = {verdict: int((codes == verdict).sum()) for verdict in Verdict if verdict is not Verdict.SEEN}
        found = counts.by_verdict | unseen
        return Counts(found, counts.total, True, 0, found, found)
    for cells in (design.possible.draw(DRAWN, np.random.default_rng(seed)), listed):
        known = cells[engine.verdicts_of(cells) == Verdict.DETERMINED]
        if len(known):
            return _shared_out(counts, verdicts_under(choice, engine, known))
    return counts


def _shared_out(counts: Counts, codes: IntArray) -> Counts:
    """Split the determined cells by the verdicts of those drawn (n,) under the structure, with its 95 % interval."""
    many, known = len(codes), counts[Verdict.DETERMINED]
    opened = Verdict.BEYOND if (codes == Verdict.BEYOND).any() else Verdict.DISCONNECTED
    share = float((codes != Verdict.DETERMINED).mean())
    # Agresti and Coull's interval, which is not empty where none or all were drawn.
    near = (share * many + 2) / (many + 4)
    reach = 1.96 * float(np.sqrt(near * (1 - near) / (many + 4)))
    ends = (share, max(near - reach, 0.0), min(near + reach, 1.0))
    found = [
        counts.by_verdict
        | {opened: counts[opened] + round(known * part), Verdict.DETERMINED: known - round(known * left)}
        for part, left in zip(ends, (share, ends[2], ends[1]), strict=True)
    ]
    return Counts(found[0], counts.total, False, many, found[1], found[2])


def beyond_words(choice: Choice, counts: Counts) -> str:
    """Say how many cells lie beyond the seen range of a curve and what would mend it; empty where none does."""
    count = counts[Verdict.BEYOND]
    if not count or not isinstance(choice.fit, LinkFit):
        return ""
    number = written_count(count) if counts.exact else f"about {written_count(round_estimate(count))}"
    which = "unseen cell lies" if count == 1 else "unseen cells lie"
    return f"{number} {which} beyond the seen range of the curve: collect cells that lie as far out."


def why_beyond(choice: Choice, cell: IntArray) -> str:
    """Say where ``cell`` (C,) lies beyond the seen range of a curve; empty where it does not."""
    if not isinstance(choice.fit, LinkFit) or not choice.beyond(cell[None])[0]:
        return ""
    here, (low, high) = float(choice.fit.latent(cell[None])[0]), choice.fit.seen_range
    side = "above" if here > high else "below"
    most = "large" if here > high else "small"
    return (
        f"its sum of effects, {here:.5g}, lies {side} those of all seen combinations, {low:.5g} to {high:.5g}; collect "
        f"one with a sum as {most}"
    )
