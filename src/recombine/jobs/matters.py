"""What matters of what was judged: the importance of unseen cells by verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.conjunctions import contains
from recombine.design.design import Design
from recombine.jobs.importance import ANY, Importance
from recombine.jobs.limits import LISTING_LIMITS
from recombine.jobs.listing import Listing, ListingKind
from recombine.verdicts import Verdict

Scope = Literal["targets", "unseen", "listed"]


@dataclass(frozen=True, eq=False)
class WhatMatters:
    """The importance of cells by verdict."""

    importance: Importance
    weights: FloatArray  #: Importance of the listed cells, (T,).
    #: The cells (M, C) whose importance is over 0, as far as they were looked at, and their verdicts (M,); no seen
    #: ones, but among targets.
    cells: IntArray
    codes: IntArray
    sums: dict[Verdict, float]  #: Their importance by verdict; what was seen counts too.
    scope: Scope  #: Whether these are the targets, all unseen cells that matter, or the listed ones of a large product.
    stray: int = 0  #: Patterns that name a whole cell which cannot exist.

    def __repr__(self) -> str:
        shares = ", ".join(
            f"{verdict.word} {100 * self.share(verdict):.1f} %" for verdict in Verdict if self.count(verdict)
        )
        return f"WhatMatters({shares})"

    @property
    def exact(self) -> bool:
        """Whether every cell that matters was looked at."""
        return self.scope != "listed"

    @property
    def unseen(self) -> float:
        """Importance of the unseen cells: what matters."""
        return float(sum(value for verdict, value in self.sums.items() if verdict is not Verdict.SEEN))

    def count(self, verdict: Verdict) -> int:
        """Return how many cells that matter carry this verdict."""
        return int((self.codes == verdict).sum())

    def share(self, verdict: Verdict) -> float:
        """Return the share of the unseen cells' importance that carries this verdict; 0 if nothing matters."""
        return self.sums[verdict] / self.unseen if self.unseen else 0.0


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
    >>> import numpy as np
    >>> from recombine.design import Design
    >>> from recombine.jobs.listing import choose_cells
    >>> from recombine.theory.identification.identify import identify
    >>> design = Design.from_cells([[0, 0], [0, 1], [1, 0], [2, 2]])
    >>> importance = Importance(np.array([[1, 1], [2, 0]]), np.array([3.0, 1.0]))
    >>> listed, engine = choose_cells(design, None, 0), identify(design.seen)
    >>> weigh_verdicts(importance, design, listed, engine.verdicts_of(listed.cells), engine.verdicts_of)
    WhatMatters(determined 75.0 %, disconnected 25.0 %)
    """
    weights = importance.of(listing.cells)
    cells, values = listing.cells, weights
    scope: Scope = "targets" if listing.kind is ListingKind.TARGETS else "unseen"
    if listing.kind is ListingKind.SAMPLE:
        matter = importance.support(design.possible, LISTING_LIMITS.max_listed)
        scope = "listed" if matter is None else "unseen"
        if matter is not None:
            cells = matter[~contains(design.seen, matter)]
            codes, values = verdicts_of(cells), importance.of(cells)
    sums = {verdict: float(values[codes == verdict].sum()) for verdict in Verdict}
    if scope != "targets":
        sums[Verdict.SEEN] = float(importance.of(design.seen).sum())
    full = importance.patterns[((importance.patterns != ANY).all(axis=1)) & (importance.values > 0)]
    stray = int((~design.possible.holds(full)).sum())
    return WhatMatters(importance, weights, cells[values > 0], codes[values > 0], sums, scope, stray)
