"""Verdicts under a curve: cells whose sums the seen ones determine, but beyond all sums that were seen."""

from __future__ import annotations

import numpy as np

from recombine.cells.arrays import BoolArray, IntArray
from recombine.design.design import Design
from recombine.errors import written_count
from recombine.jobs.structure.choice import Choice
from recombine.theory.identification.counts import Counts
from recombine.theory.identification.identify import Identification
from recombine.theory.structures.link import LinkFit
from recombine.verdicts import Verdict, round_estimate

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
    elif choice.curved and len(known):
        # Separated outcomes send effects to infinity, and against each other they leave any chance open.
        codes[known[np.isnan(choice.predict(cells[known]))]] = Verdict.DISCONNECTED
    return codes


def counts_under(
    choice: Choice, engine: Identification, design: Design, listed: IntArray, whole: bool, seed: int
) -> Counts:
    """Return verdict counts over all cells that can exist; ``listed`` (T, C) are unseen ones, all if ``whole``.

    Where they are not all, how many determined cells lie beyond the seen range is estimated from cells drawn at random;
    if none of these is determined, from the listed ones.
    """
    counts = engine.count_verdicts(seed)
    if not choice.curved or not counts[Verdict.DETERMINED]:
        return counts
    if whole:
        codes = verdicts_under(choice, engine, listed)
        moved = {verdict: int((codes == verdict).sum()) for verdict in (Verdict.DETERMINED, Verdict.DISCONNECTED)}
        found = {**counts.by_verdict, **moved, Verdict.BEYOND: int((codes == Verdict.BEYOND).sum())}
        return Counts(found, counts.total, counts.exact, counts.sampled, found, found) if counts.exact else counts
    for cells in (design.possible.draw(DRAWN, np.random.default_rng(seed)), listed):
        codes = verdicts_under(choice, engine, cells)
        known = np.isin(codes, (Verdict.DETERMINED, Verdict.BEYOND))
        if known.any():
            return _shared_out(counts, codes[known] == Verdict.BEYOND)
    return counts


def _shared_out(counts: Counts, beyond: BoolArray) -> Counts:
    """Split the determined cells by the share of those drawn (n,) that lie beyond, with its 95 % interval."""
    many, known = len(beyond), counts[Verdict.DETERMINED]
    share = float(beyond.mean()) if many else 0.0
    # Agresti and Coull's interval, which is not empty where none or all were drawn.
    near = (share * many + 2) / (many + 4)
    reach = 1.96 * float(np.sqrt(near * (1 - near) / (many + 4)))
    ends = (max(near - reach, 0.0), min(near + reach, 1.0))
    part = {Verdict.BEYOND: share, Verdict.DETERMINED: 1 - share}
    least = {Verdict.BEYOND: ends[0], Verdict.DETERMINED: 1 - ends[1]}
    most = {Verdict.BEYOND: ends[1], Verdict.DETERMINED: 1 - ends[0]}
    found = [{**counts.by_verdict, **{v: round(known * s) for v, s in one.items()}} for one in (part, least, most)]
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
