"""What matters of what was judged: the importance of unseen cells by verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.conjunctions import contains
from recombine.design.design import Design
from recombine.jobs.importance import ANY, Importance, part_of_what_matters
from recombine.jobs.listing import MAX_LISTED_WHOLE, Listing, ListingKind
from recombine.verdicts import Verdict
from recombine.writing import plural


@dataclass(frozen=True, eq=False)
class WhatMatters:
    """The importance of cells by verdict.

    Attributes
    ----------
    importance : Importance
    weights : float array of shape (T,)
        Importance of the listed cells.
    cells : int array of shape (M, C)
        The cells whose importance is over 0, as far as they were looked at; no seen ones, but among targets.
    codes : int array of shape (M,)
        Their verdicts.
    sums : dict of Verdict to float
        Their importance by verdict; what was seen counts too.
    scope : {"targets", "unseen", "listed"}
        Whether these are the targets, all unseen cells that matter, or the listed ones of a product too large.
    stray : int
        Patterns that name a whole cell which cannot exist.
    """

    importance: Importance
    weights: FloatArray
    cells: IntArray
    codes: IntArray
    sums: dict[Verdict, float]
    scope: Literal["targets", "unseen", "listed"]
    stray: int = 0

    def __repr__(self) -> str:
        shares = ", ".join(f"{verdict.word} {self.share(verdict):.1%}" for verdict in Verdict if self.count(verdict))
        return f"WhatMatters({shares})"

    @property
    def exact(self) -> bool:
        """Whether every cell that matters was looked at."""
        return self.scope != "listed"

    @property
    def unseen(self) -> float:
        """Importance of the unseen cells: what matters."""
        return float(sum(value for verdict, value in self.sums.items() if verdict is not Verdict.SEEN))

    def count(self, *verdicts: Verdict) -> int:
        """Return how many cells that matter carry one of these verdicts."""
        return int(np.isin(self.codes, verdicts).sum())

    def share(self, *verdicts: Verdict) -> float:
        """Return the share of the unseen cells' importance that carries one of these verdicts; 0 if nothing matters."""
        part = sum(self.sums[verdict] for verdict in Verdict if verdict in verdicts)
        return float(part) / self.unseen if self.unseen else 0.0

    def concerned(self, verdict: Verdict, which: str = "") -> str:
        """Say in a clause how many cells with this verdict matter, and how much; ``which`` says what they are."""
        count = self.count(verdict)
        if not count:
            return "none of the listed ones matters"
        lead = f"{plural(count, 'cell')} {which}" if which else f"{count:,} of them"
        text = f"{lead} matter{'s' if count == 1 else ''}, {part_of_what_matters(self.share(verdict))}"
        return text if self.exact else f"{text} among the listed cells"


def weigh_verdicts(
    importance: Importance,
    design: Design,
    listing: Listing,
    codes: IntArray,
    verdicts_of: Callable[[IntArray], IntArray],
) -> WhatMatters:
    """Return the importance of cells by verdict; ``codes`` (T,) are those of the listed cells.

    Of a product too large to list, the cells that matter are judged if they can be written out; else the listed ones
    stand for them.

    Examples
    --------
    >>> from recombine.jobs.listing import choose_cells
    >>> from recombine.theory.identification.identify import identify
    >>> design = Design.from_cells([[0, 0], [0, 1], [1, 0], [2, 2]])
    >>> importance = Importance(np.array([[1, 1], [2, 0]]), np.array([3.0, 1.0]))
    >>> listed, engine = choose_cells(design, None, 0), identify(design.seen)
    >>> weigh_verdicts(importance, design, listed, engine.verdicts_of(listed.cells), engine.verdicts_of)
    WhatMatters(determined 75.0%, disconnected 25.0%)
    """
    weights = importance.of(listing.cells)
    cells, found = listing.cells, codes
    scope: Literal["targets", "unseen", "listed"] = "targets" if listing.kind is ListingKind.TARGETS else "unseen"
    if listing.kind is ListingKind.SAMPLE:
        matter = importance.support(design.possible, MAX_LISTED_WHOLE)
        scope = "listed" if matter is None else "unseen"
        if matter is not None:
            cells = matter[~contains(design.seen, matter)]
            found = verdicts_of(cells)
    mine = importance.of(cells)
    sums = {verdict: float(mine[found == verdict].sum()) for verdict in Verdict}
    if scope != "targets":
        sums[Verdict.SEEN] = float(importance.of(design.seen).sum())
    kept = mine > 0
    whole = importance.patterns[((importance.patterns != ANY).all(axis=1)) & (importance.values > 0)]
    stray = int((~design.possible.holds(whole)).sum())
    return WhatMatters(importance, weights, cells[kept], found[kept], sums, scope, stray)
