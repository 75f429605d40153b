"""The first part of an audit: which unseen cells the seen ones decide, and how surely."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from recombine.cells.arrays import FloatArray, IntArray
from recombine.design.design import Design
from recombine.jobs.audit.ranges import listed_leverage
from recombine.jobs.listing import Listing, ListingKind
from recombine.jobs.structure.choice import Choice, counts_under, verdicts_under
from recombine.theory.identification.counts import Counts
from recombine.theory.identification.identify import Identification
from recombine.theory.identification.leverage import Leverage
from recombine.theory.identification.scaled.routes import leverage_for

if TYPE_CHECKING:
    from recombine.jobs.importance import Importance
    from recombine.jobs.matters import WhatMatters


@dataclass(frozen=True, eq=False, repr=False)
class Decided:
    """What is decided about the unseen cells of a design: ``audit.decided``.

    Attributes
    ----------
    design : Design
    choice : Choice
        The structure that verdicts assume.
    listing : Listing
        The unseen cells that are listed, and how they were chosen.
    identification, first : Identification
        The verdict engine at the order of that structure and at order 1.
    importance : Importance or None
        How much each cell matters, if that was said.
    """

    design: Design
    choice: Choice
    listing: Listing
    identification: Identification
    first: Identification
    seed: int = 0
    importance: Importance | None = None

    def __repr__(self) -> str:
        return f"Decided({len(self.listing.cells):,} cells listed)"

    @cached_property
    def counts(self) -> Counts:
        """Verdict counts over all cells that can exist, under the chosen structure."""
        cells, whole = self.listing.typical, self.listing.kind is ListingKind.ALL_UNSEEN
        return counts_under(self.choice, self.identification, self.design, cells, whole, self.seed)

    @cached_property
    def first_counts(self) -> Counts:
        """Verdict counts over all cells that can exist, at order 1."""
        return self.counts if self.choice.order == 1 else self.first.count_verdicts(self.seed)

    @cached_property
    def codes(self) -> IntArray:
        """Verdict codes of the listed cells, shape (T,)."""
        return self.verdicts_of(self.listing.cells)

    def verdicts_of(self, cells: IntArray) -> IntArray:
        """Return the verdict codes of ``cells`` (N, C) under the chosen structure, (N,)."""
        return verdicts_under(self.choice, self.identification, cells)

    @cached_property
    def matters(self) -> WhatMatters | None:
        """The importance of cells by verdict; None where all matter alike."""
        if self.importance is None:
            return None
        from recombine.jobs.matters import weigh_verdicts

        return weigh_verdicts(self.importance, self.design, self.listing, self.codes, self.verdicts_of)

    @cached_property
    def leverage(self) -> FloatArray:
        """Leverage of the listed cells, (T,); NaN where not determined, and but for a few where each takes a solve."""
        return listed_leverage(self.leverages, self.listing.cells, self.codes)

    def leverage_of(self, cells: IntArray) -> FloatArray:
        """Return the leverage of determined or seen ``cells`` (N, C): variance in units of one measurement's, (N,).

        Each seen cell counts as its `Design.precision`, the number of measurements behind its mean.
        """
        return self.leverages.of(cells)

    @cached_property
    def leverages(self) -> Leverage:
        """What works leverages out."""
        design, engine = self.design, self.identification
        return leverage_for(engine.features, design.seen, design.precision[design.train], engine.rank)

    @cached_property
    def departures(self) -> str:
        """What follows by number of departures from the commonest cell, where seen cells are near it; else empty."""
        from recombine.jobs.near import departures_statement

        return departures_statement(self.design, self.identification)
