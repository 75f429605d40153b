"""Verdicts under a curve: cells whose sums the seen ones determine, but beyond all sums that were seen."""

from __future__ import annotations

import numpy as np

from recombine.cells.arrays import BoolArray, IntArray
from recombine.design.design import Design
from recombine.jobs.structure.choice import Choice
from recombine.theory.identification.counts import Counts
from recombine.theory.identification.identify import Identification
from recombine.theory.structures.link import LinkFit
from recombine.verdicts import Verdict

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
    if isinstance(choice.fit, LinkFit):
        known = np.flatnonzero(codes == Verdict.DETERMINED)
        codes[known[choice.beyond(cells[known])]] = Verdict.BEYOND
    return codes


def counts_under(
    choice: Choice, engine: Identification, design: Design, listed: IntArray, whole: bool, seed: int
) -> Counts:
    """Return verdict counts over all cells that can exist; ``listed`` (T, C) are unseen ones, all if ``whole``.

    Where they are not all, how many determined cells lie beyond the seen range is estimated from cells drawn at random;
    if none of these is determined, from the listed ones.
    """
    counts = engine.count_verdicts(seed)
    if not isinstance(choice.fit, LinkFit) or not counts[Verdict.DETERMINED]:
        return counts
    if whole:
        beyond = int((verdicts_under(choice, engine, listed) == Verdict.BEYOND).sum())
        found = {**counts.by_verdict, Verdict.BEYOND: beyond}
        found[Verdict.DETERMINED] -= beyond
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
