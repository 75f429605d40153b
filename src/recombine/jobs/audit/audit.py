"""The main job: a design goes in, an `Audit` comes out: verdicts, certificates, checks, forecasts and advice."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.design.design import Design
from recombine.design.restriction import why_impossible
from recombine.design.scaling import place_cell
from recombine.errors import InputError, SolverError
from recombine.jobs.advice.candidates import Cell, Costs
from recombine.jobs.advice.plan import Plan, plan
from recombine.jobs.audit.additivity import AdditivityCheck, check_additivity
from recombine.jobs.audit.coverage import Coverage, cover
from recombine.jobs.audit.fitted_networks import obstacle
from recombine.jobs.audit.forecast import Forecast, forecast
from recombine.jobs.audit.left_out_cells import determined_values, fit_order, held_out_errors
from recombine.jobs.audit.noise import cell_noise, pooled_variance
from recombine.jobs.audit.ranges import (
    CellRanges,
    Ranges,
    cell_ranges,
    listed_leverage,
    measure_ranges,
    outside_two_values,
    unsolved_sentence,
)
from recombine.jobs.findings.finding import Finding, ResultKind
from recombine.jobs.findings.registry import find_all
from recombine.jobs.listing import Listing, ListingKind, choose_cells, level_columns
from recombine.jobs.near import departures_statement
from recombine.jobs.outputs import render, widget
from recombine.jobs.structure.choice import Choice, choose_structure, counts_under, verdicts_under
from recombine.jobs.structure.held_out_ranges import HeldOutRanges, held_out_ranges
from recombine.jobs.structure.open_cells import beyond_words
from recombine.output_files import check_file, write_whole
from recombine.table_spec import asked_structure
from recombine.tables.table import Table
from recombine.theory.identification.additive_fit import AdditiveFit
from recombine.theory.identification.certificate import Certificate
from recombine.theory.identification.counts import Counts
from recombine.theory.identification.identify import Identification, identify
from recombine.theory.identification.leverage import Leverage
from recombine.theory.identification.scaled.routes import leverage_for
from recombine.verdicts import Verdict
from recombine.writing import written_count

if TYPE_CHECKING:
    from recombine.jobs.importance import Importance
    from recombine.jobs.matters import WhatMatters


@dataclass(frozen=True, eq=False)
class Audit:
    """What the seen cells of a design say about the unseen ones. Make one with `recombine.audit`.

    Attributes
    ----------
    design : Design
    choice : Choice
        The structure that verdicts and values assume, and how it was chosen.
    listing : Listing
        The unseen cells that are listed, and how they were chosen.
    identification, first : Identification
        The verdict engine at ``order`` and at order 1.
    importance : Importance or None
        How much each cell matters, if that was said.

    Examples
    --------
    >>> audit(Design.from_cells([[0, 0], [0, 1], [1, 0]], names=["colour", "shape"]))
    Audit(colour × shape, order 1; 3 of 4 cells seen)
    """

    design: Design
    choice: Choice
    listing: Listing
    identification: Identification
    first: Identification
    seed: int = 0
    importance: Importance | None = None

    @property
    def order(self) -> int:
        """Most factors that interact in the structure that verdicts assume."""
        return self.choice.order

    @cached_property
    def counts(self) -> Counts:
        """Verdict counts over all cells that can exist, under the chosen structure."""
        cells, whole = self.listing.typical, self.listing.kind is ListingKind.ALL_UNSEEN
        return counts_under(self.choice, self.identification, self.design, cells, whole, self.seed)

    @cached_property
    def first_counts(self) -> Counts:
        """Verdict counts over all cells that can exist, at order 1."""
        return self.counts if self.order == 1 else self.first.count_verdicts(self.seed)

    @cached_property
    def codes(self) -> IntArray:
        """Verdict codes of the listed cells, shape (T,)."""
        return self.verdicts_of(self.listing.cells)

    @cached_property
    def matters(self) -> WhatMatters | None:
        """The importance of cells by verdict; None where all matter alike."""
        if self.importance is None:
            return None
        from recombine.jobs.matters import weigh_verdicts

        return weigh_verdicts(self.importance, self.design, self.listing, self.codes, self.verdicts_of)

    def verdicts_of(self, cells: IntArray) -> IntArray:
        """Return the verdict codes of ``cells`` (N, C) under the chosen structure, (N,)."""
        return verdicts_under(self.choice, self.identification, cells)

    @cached_property
    def leverage(self) -> FloatArray:
        """Leverage of the listed cells, (T,); NaN where not determined, and but for a few where each takes a solve."""
        return listed_leverage(self._leverage, self.listing.cells, self.codes)

    def leverage_of(self, cells: IntArray) -> FloatArray:
        """Return the leverage of determined or seen ``cells`` (N, C): variance in units of one measurement's, (N,).

        Each seen cell counts as its `Design.precision`, the number of measurements behind its mean.
        """
        return self._leverage.of(cells)

    @cached_property
    def _leverage(self) -> Leverage:
        design, engine = self.design, self.identification
        return leverage_for(engine.features, design.seen, design.precision[design.train], engine.rank)

    @cached_property
    def fit(self) -> AdditiveFit | None:
        """The additive model of the asked order fitted to the seen cells by precision; None without an outcome."""
        return None if self.design.outcome is None else fit_order(self.design, self.order, self._leverage)

    @cached_property
    def _first_fit(self) -> AdditiveFit:
        """The same at order 1, with an outcome."""
        return self.fit if self.order == 1 and self.fit is not None else fit_order(self.design, 1)

    def predict(self, cells: IntArray) -> FloatArray:
        """Return values of ``cells`` (N, C) under the chosen structure, (N,); only those of determined ones follow."""
        model = self.choice.fit or self.fit
        if model is None:
            raise InputError("values need an outcome; name its column with --outcome")
        return model.predict(cells)

    @cached_property
    def predictions(self) -> FloatArray | None:
        """Values of the listed cells under the chosen structure, shape (T,); NaN where nothing follows.

        Those of a two-valued outcome are kept between its two values; `beyond` says which would not be.
        """
        return None if self._sums is None else self.design.bounded(self._sums)

    @cached_property
    def _sums(self) -> FloatArray | None:
        """Values at the listed cells, not yet kept between an outcome's two values."""
        if self.fit is None:
            return None
        return determined_values(self.predict, self.listing.cells, self.codes)

    @property
    def beyond(self) -> BoolArray:
        """Listed cells whose sum of effects no two-valued outcome can have, such as a chance above 1, shape (T,)."""
        return outside_two_values(self.design, self._sums, len(self.codes))

    @cached_property
    def ranges(self) -> Ranges | HeldOutRanges | None:
        """What the seen cells' own misses say about the values of others; None without an outcome or leverages."""
        if not self.choice.structure.is_sum:
            return held_out_ranges(self.design, self.choice)
        if self.fit is None or self._leverage.solved_singly:
            return None
        pooled = pooled_variance(self.design)
        # Where floating point cannot invert the seen cells, values are given without error or range.
        with suppress(SolverError):
            return measure_ranges(self.design, self.fit, self._leverage, None if pooled is None else pooled[0])
        return None

    def ranges_of(self, cells: IntArray, leverage: FloatArray | None = None) -> CellRanges:
        """Return predicted value, standard error and 90 % range of ``cells`` (N, C); NaN where nothing follows.

        ``leverage`` saves the work where it is known already, NaN for cells that are not determined.
        """
        known = self.verdicts_of(cells) <= Verdict.DETERMINED
        predicted = None if self.fit is None else self.predict(cells[known])
        return cell_ranges(self.design, self.ranges, predicted, cells, known, leverage)

    @cached_property
    def left_out(self) -> tuple[str, ...]:
        """What was left out because it would have taken too long, one sentence each; the forecast says its own."""
        found = [self.coverage.left_out, "" if self.additivity is None else self.additivity.left_out]
        known = np.isfinite(self.leverage[self.codes <= Verdict.DETERMINED])
        return tuple(sentence for sentence in [*found, unsolved_sentence(self._leverage, known)] if sentence)

    @cached_property
    def departures_statement(self) -> str:
        """What follows by number of departures from the commonest cell, where seen cells are near it; else empty."""
        return departures_statement(self.design, self.identification)

    @cached_property
    def verdicts(self) -> Table:
        """The listed cells with their verdicts and leverage; given an outcome, the value that follows and its range."""
        words = np.array([verdict.word for verdict in Verdict], dtype=object)
        columns: dict[str, Any] = {"verdict": words[self.codes]}
        if self.matters is not None:
            columns["importance"] = self.matters.weights
        if self.order > 1:
            columns["verdict at order 1"] = words[self.first.verdicts_of(self.listing.cells)]
        columns["leverage"] = self.leverage
        if self.fit is not None:
            values = self.ranges_of(self.listing.cells, self.leverage)
            columns |= {"predicted": values.predicted, "standard error": values.standard_error}
            columns |= {"low": values.low, "high": values.high}
        if self.beyond.any():
            columns["sum out of range"] = self.beyond
        return Table({**level_columns(self.design, self.listing.cells, columns), **columns})

    @cached_property
    def coverage(self) -> Coverage:
        """What the training rows cover."""
        return cover(self.design)

    @cached_property
    def additivity(self) -> AdditivityCheck | None:
        """Whether effects add, checked on the seen cells; None without an outcome."""
        if self.design.outcome is None:
            return None
        orders = tuple(sorted({1, 2, self.order}))
        fits = {1: self._first_fit} | ({} if self.fit is None else {self.order: self.fit})
        return check_additivity(self.design, orders, self.seed, asked=self.order, fits=fits)

    @cached_property
    def held_out_errors(self) -> Table | None:
        """Errors on held-out cells by verdict, of the values that follow and of the plain mean; None without any."""
        if self.fit is None or self.design.train.all():
            return None
        codes = self.verdicts_of(self.design.held_out)
        return held_out_errors(self.design, codes, determined_values(self.predict, self.design.held_out, codes))

    @cached_property
    def forecast(self) -> Forecast:
        """What networks trained on the seen cells to convergence will do, if every level is an input of its own."""
        plain = self.design.labelled
        if plain is not self.design and not obstacle(self.design):
            again = check_additivity(plain, (1,), self.seed).at(1)
            return forecast(plain, self.listing.typical, check=again, seed=self.seed)
        check = None if self.additivity is None else self.additivity.at(1)
        fit = None if self.design.outcome is None else self._first_fit
        return forecast(self.design, self.listing.typical, first=self.first, check=check, fit=fit, seed=self.seed)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Numbered findings, worst first."""
        return find_all(self, ResultKind.AUDIT)

    @property
    def summary(self) -> str:
        """The audit in a screenful of plain text."""
        return render(self, "text")

    def certificate(self, cell: Cell | int) -> Certificate:
        """Return the signed seen cells that add up to ``cell``: levels, or a row of the verdicts; see `explain`."""
        found, codes = self._asked(cell)
        if reason := why_impossible(found.design, codes):
            raise InputError(f"{found.design.label(codes)} cannot exist: {reason}; ask for a cell that can")
        return found.identification.certificate_of(tuple(codes.tolist()))

    def _asked(self, cell: Cell | int) -> tuple[Audit, IntArray]:
        """The codes of a cell and the audit that knows its levels: a new one if it has a new value on a scale."""
        if isinstance(cell, int):
            return self, self.listing.cells[cell]
        design, codes = place_cell(self.design, cell)
        return self if design is self.design else audit(design, self.order, seed=self.seed), codes

    def explain(self, cell: Cell | int) -> str:
        """Return the verdict of one cell in words: its value, range and certificate, or why there is none."""
        known, codes = self._asked(cell)
        return render(known, "explanation", codes)

    def suggest(
        self,
        k: int | None = 5,
        *,
        cost: Costs | None = None,
        forbidden: Sequence[Cell] = (),
        self_pairs: bool = False,
        criterion: Literal["V", "D"] = "V",
    ) -> Plan:
        """Return the next ``k`` cells to collect (None: as many as it takes to determine everything).

        Costs and forbidden cells are those of the design's spec if none are given; see `recombine.jobs.advice.plan`.
        """
        if self.design.spec.cost is not None or self.design.spec.forbidden is not None:
            from recombine.jobs.advice.constraints import spec_constraints

            cost, forbidden = spec_constraints(self.design, cost, forbidden)
        found = plan(
            self.design,
            self.order,
            k,
            cost=cost,
            forbidden=forbidden,
            self_pairs=self_pairs,
            criterion=criterion,
            seed=self.seed,
            identification=self.identification,
            importance=self.importance,
        )
        return found if found.outside else replace(found, outside=beyond_words(self.choice, self.counts))

    def compare_models(self, shares: Sequence[float] = (0.2, 0.5), draws: int = 6) -> Table:
        """Score other models on held-out seen cells, by verdict; see `recombine.jobs.audit.rivals.compare_models`."""
        from recombine.jobs.audit.rivals import compare_models

        return compare_models(self.design, shares, draws, self.order, self.seed)

    def to_html(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the self-contained HTML report; an existing file is kept unless ``force``."""
        target = Path(path)
        check_file(target, force)
        write_whole(target, render(self, "page"))
        return target

    def explore(self) -> Any:
        """Return the page of ``recombine explore`` with these cells, a widget for notebooks."""
        return widget(self)

    def _repr_html_(self) -> str:
        return render(self, "notebook")

    def __str__(self) -> str:
        return self.summary

    def __repr__(self) -> str:
        seen = f"{len(self.design.seen):,} of {written_count(self.design.product)} cells seen"
        shape = f", order {self.order}" if self.choice.structure.is_sum else f", {self.choice.name}"
        return f"Audit({' × '.join(self.design.columns)}{shape}; {seen})"


def audit(
    design: Design,
    order: int | None = None,
    *,
    structure: str | None = None,
    targets: object = None,
    new_levels: bool = False,
    ordered: Sequence[str] = (),
    numeric: Sequence[str] = (),
    importance: object = None,
    seed: int = 0,
) -> Audit:
    """Audit a design: which unseen cells do the seen ones determine, how will models miss them, what to collect next?

    Parameters
    ----------
    design : Design
    order : int, optional
        Largest number of factors that interact in the assumed model; 1 means effects add. By default that of the
        chosen structure.
    structure : str, optional
        What effects do; by default as the design's spec says, else ``auto``. That scores the structures which the data
        can carry on held-out seen cells and chooses the simplest good one; or a name of
        `recombine.theory.structures.STRUCTURES`, such as ``link`` or ``pairs``.
    targets : path or dataframe, optional
        Cells to judge, one column per factor; by default every unseen cell of the product.
    new_levels : bool
        Accept target levels that the table does not have; their verdict is `unseen level`.
    ordered, numeric : sequence of str
        Factors whose levels lie on a line, so that values between seen ones follow; see `Design.on_scales`.
    importance : path, dataframe, (table, column) or Importance, optional
        How much each cell matters; see `recombine.jobs.read_importance`. By default as the design's spec says.
    seed : int
        Fixes every random choice.

    Examples
    --------
    >>> design = Design.from_cells([[0, 0], [0, 1], [1, 0]], names=["colour", "shape"])
    >>> audit(design).verdicts
    colour  shape  verdict     leverage
    1       1      determined  3.0
    """
    if not isinstance(design, Design):
        raise InputError(f"audit takes a Design, not a {type(design).__name__}; build one with Design.from_frame(...)")
    design = design.on_scales(ordered, numeric)
    structure, order = asked_structure(design.spec, structure, order)
    importance = design.spec.importance if importance is None else importance
    noise = None if design.outcome is None else cell_noise(design)
    variance = None if noise is None or noise.at_most else noise.variances
    choice = choose_structure(design, structure, order, variance=variance, seed=seed)
    order, asked = choice.order, None
    if targets is not None:
        design, asked = design.encode(targets, new_levels=new_levels)
    first = identify(design.seen, **design.shape, seed=seed)
    found = first if order == 1 else identify(design.seen, order=order, **design.shape, seed=seed)
    weights = None
    if importance is not None:
        from recombine.jobs.importance import read_importance

        weights = read_importance(importance, design)
    return Audit(design, choice, choose_cells(design, asked, seed, weights), found, first, seed, weights)
