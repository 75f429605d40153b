"""The parts of an audit: what is decided, the values that follow, and the structure that is assumed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.design.targets import encode_targets, with_described
from recombine.errors import InputError
from recombine.jobs.audit.additivity import check_additivity, fit_order, held_out_errors
from recombine.jobs.audit.noise import cell_noise
from recombine.jobs.audit.ranges import CellRanges, Ranges, listed_leverage, ranges_under, structure_columns
from recombine.jobs.listing import Listing, ListingKind, NearCounts, choose_cells, count_near, level_columns
from recombine.jobs.structure.choice import Choice, choose_structure, counts_under, verdicts_under
from recombine.jobs.values.sources import (
    PosteriorRanges,
    RestsOn,
    ValueSource,
    affordable_components,
    between_seen,
    carried_shares,
    choose_source,
    features_of,
    furthest_cells,
    posterior_columns,
    posterior_ranges,
    rests_on,
)
from recombine.table_spec import asked_structure
from recombine.tables.table import Table
from recombine.theory.identification.identify import Identification, identify
from recombine.theory.identification.scaled.routes import leverage_for
from recombine.verdicts import Verdict

if TYPE_CHECKING:
    from recombine.cells.arrays import BoolArray, FloatArray, IntArray
    from recombine.design.design import Design
    from recombine.jobs.audit.additivity import AdditivityCheck
    from recombine.jobs.importance import Importance
    from recombine.jobs.matters import WhatMatters
    from recombine.jobs.structure.held_out_ranges import HeldOutRanges
    from recombine.jobs.values.outcome_shares import OutcomeShares
    from recombine.theory.components.fit import ComponentsFit
    from recombine.theory.identification.additive_fit import AdditiveFit
    from recombine.theory.identification.counts import Counts
    from recombine.theory.identification.leverage import Leverage


@dataclass(frozen=True, eq=False, repr=False)
class Decided:
    """Which unseen cells the seen ones decide, and how surely: ``audit.decided``."""

    design: Design
    choice: Choice  #: The structure that verdicts assume.
    listing: Listing  #: The unseen cells that are listed, and how they were chosen.
    #: The verdict engine at the order of that structure and at order 1.
    identification: Identification
    first: Identification
    seed: int = 0
    importance: Importance | None = None  #: How much each cell matters, if that was said.
    forecast_by: str = "auto"  #: Whether models are trained, a `ForecastBy`.

    def __repr__(self) -> str:
        return f"Decided({len(self.listing.cells):,} cells listed)"

    @cached_property
    def counts(self) -> Counts:
        """Verdict counts over all cells that can exist, under the chosen structure."""
        complete = self.listing.kind is ListingKind.ALL_UNSEEN
        return counts_under(self.choice, self.identification, self.design, self.listing.typical, complete, self.seed)

    @property
    def beyond_curve(self) -> Counts | None:
        """The same where unseen cells lie beyond the seen range of a curve; None elsewhere."""
        curved = self.choice.fit is not None and self.choice.fit.seen_range is not None
        return self.counts if curved and self.counts[Verdict.BEYOND] else None

    @property
    def opened_by_values(self) -> bool:
        """Whether cells are open whose sums are determined: signs, zeros or separated outcomes leave them so."""
        if self.choice.fit is None or not self.choice.fit.leaves_open:
            return False
        return self.counts[Verdict.DISCONNECTED] > self.identification.count_verdicts(self.seed)[Verdict.DISCONNECTED]

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
    def departures(self) -> NearCounts | None:
        """What follows by number of departures from the commonest cell, where seen cells are near it."""
        return count_near(self.design, self.identification)


def decide(
    design: Design,
    structure: str | None = None,
    order: int | None = None,
    targets: object = None,
    new_levels: bool = False,
    importance: object = None,
    seed: int = 0,
    forecast: str = "auto",
) -> Decided:
    """Choose a structure and the cells to list, and prepare their verdicts; see `recombine.audit`."""
    structure, order = asked_structure(design.spec, structure, order)
    importance = design.spec.importance if importance is None else importance
    noise = None if design.outcome is None else cell_noise(design)
    variance = None if noise is None or noise.at_most else noise.variances
    choice = choose_structure(design, structure, order, variance=variance, seed=seed)
    choice = replace(choice, order_asked=order is not None)
    target_cells, design = None, with_described(design)
    if targets is not None:
        design, target_cells = encode_targets(design, targets, new_levels=new_levels)
    first = identify(design.seen, **design.shape, seed=seed)
    engine = first if choice.order == 1 else identify(design.seen, order=choice.order, **design.shape, seed=seed)
    weights = None
    if importance is not None:
        from recombine.jobs.importance import read_importance

        weights = read_importance(importance, design)
    listing = choose_cells(design, target_cells, seed, weights)
    return Decided(design, choice, listing, engine, first, seed, weights, forecast)


@dataclass(frozen=True, eq=False)
class Values:
    """The value of every cell, and what the seen outcomes certify: ``audit.values``; all None without an outcome.

    The value of a cell, seen or not, is the posterior of variance components, or what the structure says where
    `recombine.jobs.values.choose_source` has it so. What follows from the seen cells by the structure alone, as a
    certificate shows, is `certified`: without noise the two agree.
    """

    decided: Decided

    @cached_property
    def fit(self) -> AdditiveFit | None:
        """The additive model of the asked order fitted to the seen cells by precision; None without an outcome."""
        design = self.decided.design
        return None if design.outcome is None else fit_order(design, self.decided.choice.order, self.decided.leverages)

    @cached_property
    def first_fit(self) -> AdditiveFit | None:
        """The same at order 1."""
        return self.fit if self.fit is None or self.decided.choice.order == 1 else fit_order(self.decided.design, 1)

    def certified_of(self, cells: IntArray) -> FloatArray:
        """Return what the chosen structure says of ``cells`` (N, C), (N,); only that of determined ones follows."""
        model = self.decided.choice.fit or self.fit
        if model is None:
            raise InputError("values need an outcome; name its column with --outcome")
        return model.predict(cells)

    @cached_property
    def certified(self) -> FloatArray | None:
        """The same of the listed cells (T,), NaN where not determined, not yet kept between an outcome's two values."""
        if self.fit is None:
            return None
        values, follows = np.full(len(self.decided.codes), np.nan), self.decided.codes <= Verdict.DETERMINED
        values[follows] = self.certified_of(self.decided.listing.cells[follows])
        return values

    @property
    def beyond(self) -> BoolArray:
        """Listed cells whose sum of effects no two-valued outcome can have, such as a chance above 1, shape (T,)."""
        ends = self.decided.design.outcome_column.two_values
        if self.certified is None or ends is None:
            return np.zeros(len(self.decided.codes), dtype=bool)
        slack = 1e-9 * np.ptp(ends)
        return np.asarray((self.certified < ends[0] - slack) | (self.certified > ends[1] + slack))

    @cached_property
    def components(self) -> ComponentsFit | None:
        """What factors and pairs of them carry; None without an outcome, and where that takes too long to fit."""
        return None if self.fit is None else affordable_components(self.decided.design, len(self.decided.listing.cells))

    @cached_property
    def shares(self) -> OutcomeShares | None:
        """What carries the outcome, by sets of factors; None where no value is better than the mean."""
        return None if self.components is None else carried_shares(self.components, self.decided.design)

    @cached_property
    def source(self) -> ValueSource | None:
        """Where values come from; None without an outcome."""
        decided = self.decided
        if self.fit is None:
            return None
        fit = None if decided.leverages.solved_singly else self.fit
        return choose_source(self.components, decided.choice, decided.design, decided.first, fit)

    @property
    def at_mean(self) -> bool:
        """Whether unseen cells are given the mean: nothing that levels or pairs of them do is beyond chance."""
        return self.source is ValueSource.MEAN and len(self.decided.listing.cells) > 0

    @cached_property
    def ranges(self) -> Ranges | HeldOutRanges | PosteriorRanges | None:
        """What the ranges of determined cells rest on; None without an outcome, and where there are none."""
        if self.components is None or self.source is ValueSource.STRUCTURE:
            return self._structure_ranges
        return posterior_ranges(self.components, self.decided.design, self.fit)

    @cached_property
    def _structure_ranges(self) -> Ranges | HeldOutRanges | None:
        decided = self.decided
        return ranges_under(decided.choice, decided.design, self.fit, decided.leverages)

    def ranges_of(self, cells: IntArray, leverage: FloatArray | None = None) -> CellRanges:
        """Return value, standard error and 90 % range of ``cells`` (N, C), and what is certified of them.

        ``leverage`` saves the work where it is known already, NaN for cells that are not determined.
        """
        design, determined = self.decided.design, self.decided.verdicts_of(cells) <= Verdict.DETERMINED
        columns, certified = np.full((4, len(cells)), np.nan), np.full(len(cells), np.nan)
        if self.fit is not None:
            certified[determined] = design.outcome_column.bounded(self.certified_of(cells[determined]))
        follows = determined
        if self.components is not None and self.source is not ValueSource.STRUCTURE:
            follows = determined & between_seen(design, cells)
        if self.fit is not None and follows.any():
            leverages = None if leverage is None else leverage[follows]
            valued = cells[follows], certified[follows], leverages
            columns[:, follows] = structure_columns(design, self._structure_ranges, *valued)
        if self.components is not None:
            columns[:, ~follows] = posterior_columns(self.components, design, cells[~follows], self.fit)
        if self.decided.choice.fit is not None:
            # No chance is below 0, and no count.
            columns[[0, 2, 3]] = np.clip(columns[[0, 2, 3]], *self.decided.choice.fit.outcome_bounds)
        predicted, error, low, high = columns
        return CellRanges(predicted, error, low, high, certified)

    @property
    def _bases(self) -> list[str]:
        """What the values of the listed cells rest on (T,)."""
        decided = self.decided
        if self.at_mean:
            return [RestsOn.MEAN.value] * len(decided.codes)
        return rests_on(decided.codes, features_of(decided.design, decided.listing.cells))

    @cached_property
    def held_out_errors(self) -> Table | None:
        """Errors on held-out cells by verdict, of their values and of the plain mean; None without any."""
        design = self.decided.design
        if self.fit is None or design.train.all():
            return None
        codes = self.decided.verdicts_of(design.held_out)
        blank = np.full(len(codes), np.nan)
        return held_out_errors(design, codes, self.ranges_of(design.held_out, blank).predicted)

    def furthest(self, count: int = 5) -> Table | None:
        """Return the seen cells that are furthest from what the others say of them, in standard deviations.

        None where components add on the outcome's own scale: `AdditivityCheck.breakers` has those cells.
        """
        return None if self.components is None else furthest_cells(self.components, self.decided.design, count)

    @cached_property
    def table(self) -> Table:
        """The listed cells with verdict and leverage; given an outcome, values with ranges and what is certified."""
        decided, cells = self.decided, self.decided.listing.cells
        words = np.array([verdict.word for verdict in Verdict], dtype=object)
        columns: dict[str, Any] = {"verdict": words[decided.codes]}
        if decided.matters is not None:
            columns["importance"] = decided.matters.weights
        if decided.choice.order > 1:
            columns["verdict at order 1"] = words[decided.first.verdicts_of(cells)]
        columns["leverage"] = decided.leverage
        if self.fit is not None:
            ranges = self.ranges_of(cells, decided.leverage)
            columns |= {"predicted": ranges.predicted, "standard error": ranges.standard_error}
            columns |= {"low": ranges.low, "high": ranges.high}
            columns |= {"rests on": self._bases, "certified": ranges.certified}
        if self.beyond.any():
            columns["sum out of range"] = self.beyond
        return Table({**level_columns(decided.design, cells, columns), **columns})


@dataclass(frozen=True, eq=False)
class AssumedStructure:
    """What verdicts and values assume, and how well that holds: ``audit.structure``."""

    values: Values

    @property
    def choice(self) -> Choice:
        """The structure that was chosen or named, how, and the ladder of all that were scored."""
        return self.values.decided.choice

    @cached_property
    def additivity(self) -> AdditivityCheck | None:
        """Whether effects add, checked on the seen cells; None without an outcome."""
        decided, fit, first = self.values.decided, self.values.fit, self.values.first_fit
        if fit is None or first is None:
            return None
        order = decided.choice.order
        orders = tuple(sorted({1, 2, order}))
        check = check_additivity(decided.design, orders, decided.seed, asked=order, fits={1: first, order: fit})
        return replace(check, beyond_chance=not self.values.at_mean)

    @cached_property
    def left_out(self) -> FloatArray:
        """Values of the seen cells (n,), each predicted from others as values are; NaN where these do not say."""
        values, choice, design = self.values, self.choice, self.values.decided.design
        predicted = np.full(len(design.seen), np.nan)
        weighed = values.source in (ValueSource.COMPONENTS, ValueSource.MEAN)
        if weighed and values.components is not None:
            return design.outcome_column.bounded(values.components.leave_one_out().mean)
        if choice.fit is not None:
            predicted[choice.places] = choice.predicted
        elif self.additivity is not None and (check := self.additivity.at(choice.order)) is not None:
            predicted[check.determined] = check.predicted[check.determined]
        return design.outcome_column.bounded(predicted)
