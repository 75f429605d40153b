"""The main job: a design goes in, an `Audit` comes out: verdicts, certificates, checks, forecasts and advice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.design.design import Design
from recombine.design.restriction import why_impossible
from recombine.design.scaling import place_cell
from recombine.errors import InputError, SolverError, plural
from recombine.jobs.advice.candidates import Cell, Costs
from recombine.jobs.advice.plan import Plan, plan
from recombine.jobs.audit import findings
from recombine.jobs.audit.additivity import AdditivityCheck, check_additivity
from recombine.jobs.audit.certificates import explanation
from recombine.jobs.audit.coverage import Coverage, cover
from recombine.jobs.audit.fitted_networks import obstacle
from recombine.jobs.audit.forecast import Forecast, forecast
from recombine.jobs.audit.left_out_cells import errors_by_verdict, fit_order
from recombine.jobs.audit.noise import pooled_variance
from recombine.jobs.audit.ranges import CellRanges, Ranges, measure_ranges
from recombine.jobs.audit.rivals import compare_models
from recombine.jobs.faces import face
from recombine.jobs.listing import Listing, choose_cells, level_columns
from recombine.jobs.near import departures_statement
from recombine.jobs.output_files import check_file
from recombine.progress import tell
from recombine.tables.table import Table
from recombine.theory.identification.additive_fit import AdditiveFit
from recombine.theory.identification.certificate import Certificate
from recombine.theory.identification.counts import Counts
from recombine.theory.identification.identify import Identification, identify
from recombine.theory.identification.leverage import Leverage
from recombine.theory.identification.scaled.leverage import leverage_for
from recombine.verdicts import Finding, Verdict

#: Listed cells whose leverage is solved for where each takes a solve of its own.
SOLVED_CELLS = 5
#: What to do about a cell that is wrongly held to be impossible.
CROSSED = "If it can, say --crossed (crossed=True in Python) where nesting was inferred, else correct what you said."


@dataclass(frozen=True, eq=False)
class Audit:
    """What the seen cells of a design say about the unseen ones. Make one with `recombine.audit`.

    Attributes
    ----------
    design : Design
    order : int
        Order of the additive model the verdicts assume.
    listing : Listing
        The unseen cells that are listed, and how they were chosen.
    identification, first : Identification
        The verdict engine at ``order`` and at order 1.

    Examples
    --------
    >>> audit(Design.from_cells([[0, 0], [0, 1], [1, 0]], names=["colour", "shape"]))
    Audit(colour × shape, order 1; 3 of 4 cells seen)
    """

    design: Design
    order: int
    listing: Listing
    identification: Identification
    first: Identification
    seed: int = 0

    @cached_property
    def counts(self) -> Counts:
        """Verdict counts over all cells that can exist, at the asked order."""
        return self.identification.count_verdicts(self.seed)

    @cached_property
    def first_counts(self) -> Counts:
        """Verdict counts over all cells that can exist, at order 1."""
        return self.counts if self.order == 1 else self.first.count_verdicts(self.seed)

    @cached_property
    def codes(self) -> IntArray:
        """Verdict codes of the listed cells, shape (T,)."""
        return self.identification.verdicts_of(self.listing.cells).astype(np.int64)

    @cached_property
    def leverage(self) -> FloatArray:
        """Leverage of the listed cells, shape (T,); NaN where not determined.

        Where each cell needs a solve of its own (thousands of seen conjunctions) only a few determined cells, spread
        evenly over the list, are solved; the others are NaN too.
        """
        known = np.flatnonzero(self.codes <= Verdict.DETERMINED)
        if self._leverage.solved_singly:
            known = known[np.unique(np.linspace(0, len(known) - 1, SOLVED_CELLS).astype(int))] if len(known) else known
        result = np.full(len(self.codes), np.nan)
        # A cell whose solve does not converge is left open rather than stopping the audit.
        with suppress(SolverError):
            result[known] = self.leverage_of(self.listing.cells[known])
        return result

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

    @cached_property
    def predictions(self) -> FloatArray | None:
        """Values of the listed cells that follow if effects add, shape (T,); NaN where nothing follows.

        Those of a two-valued outcome are kept between its two values; `beyond` says which would not be.
        """
        return None if self._sums is None else self.design.bounded(self._sums)

    @cached_property
    def _sums(self) -> FloatArray | None:
        """Sums of effects at the listed cells."""
        if self.fit is None:
            return None
        return np.where(self.codes <= Verdict.DETERMINED, self.fit.predict(self.listing.cells), np.nan)

    @property
    def beyond(self) -> BoolArray:
        """Listed cells whose sum of effects no two-valued outcome can have, such as a chance above 1, shape (T,)."""
        if self._sums is None or self.design.two_values is None:
            return np.zeros(len(self.codes), dtype=bool)
        (low, high), slack = self.design.two_values, 1e-9 * np.ptp(self.design.two_values)
        return np.asarray((self._sums < low - slack) | (self._sums > high + slack))

    @cached_property
    def ranges(self) -> Ranges | None:
        """What the seen cells' own misses say about the values of others; None without an outcome or leverages."""
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
        found, blank = np.full((4, len(cells)), np.nan), np.full(len(cells), np.nan)
        known = self.identification.verdicts_of(cells) <= Verdict.DETERMINED
        if self.fit is not None:
            found[0, known] = self.design.bounded(self.fit.predict(cells[known]))
        if self.ranges is not None:
            some = self.ranges.of(cells[known], leverage=None if leverage is None else leverage[known])
            bounded = self.design.bounded
            found[1:, known] = some.standard_error, bounded(some.low), bounded(some.high)
        return CellRanges(*(blank if self.fit is None else values for values in found))

    @property
    def ranges_statement(self) -> str:
        """One sentence on the ranges, or on why there are none; empty without an outcome."""
        none = "No standard error or range: there are too many levels to work out leverages." if self.fit else ""
        return none if self.ranges is None else self.ranges.statement

    @cached_property
    def left_out(self) -> tuple[str, ...]:
        """What was left out because it would have taken too long, one sentence each; the forecast says its own."""
        found = [self.coverage.left_out, "" if self.additivity is None else self.additivity.left_out]
        known = self.codes <= Verdict.DETERMINED
        if self._leverage.solved_singly and known.any():
            looked_at = int(np.isfinite(self.leverage[known]).sum())
            found.append(
                f"Leverage was worked out for {looked_at:,} of {plural(int(known.sum()), 'determined cell')} listed: "
                f"with {len(self._leverage.columns):,} conjunctions each cell takes a solve of its own."
            )
        return tuple(sentence for sentence in found if sentence)

    @cached_property
    def departures_statement(self) -> str:
        """What follows by number of departures from the commonest cell, where seen cells are near it; else empty."""
        return departures_statement(self.design, self.identification)

    @cached_property
    def verdicts(self) -> Table:
        """The listed cells with their verdicts and leverage; given an outcome, the value that follows and its range."""
        words = np.array([verdict.word for verdict in Verdict], dtype=object)
        columns: dict[str, Any] = {"verdict": words[self.codes]}
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
        higher = sorted({2, self.order} & set(range(2, len(self.design.sizes) + 1)))
        orders = (1, *(order for order in higher if not self.design.features(order).saturated))
        fits = {1: self._first_fit} | ({} if self.fit is None else {self.order: self.fit})
        return check_additivity(self.design, orders, self.seed, asked=self.order, fits=fits)

    @cached_property
    def held_out_errors(self) -> Table | None:
        """Errors on held-out cells by verdict, of the values that follow and of the plain mean; None without any."""
        return errors_by_verdict(self.design, self.identification, self.fit)

    @cached_property
    def forecast(self) -> Forecast:
        """What networks trained on the seen cells to convergence will do, if every level is an input of its own."""
        plain = self.design.labelled
        if plain is not self.design and not obstacle(self.design):
            again = check_additivity(plain, (1,), self.seed).at(1)
            return forecast(plain, self.listing.cells, check=again, seed=self.seed)
        check = None if self.additivity is None else self.additivity.at(1)
        fit = None if self.design.outcome is None else self._first_fit
        return forecast(self.design, self.listing.cells, first=self.first, check=check, fit=fit, seed=self.seed)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Numbered findings, worst first."""
        listed, codes, counts, order = self.listing, self.codes, self.counts, self.order
        checks: dict[str, Callable[[], Finding | None]] = {
            "verdicts": lambda: findings.cells_not_determined(
                listed, codes, counts, order, self.identification.deficit, self.departures_statement
            ),
            "levels": lambda: findings.level_never_seen(self.design),
            "ranges of values": lambda: findings.beyond_range(self.design, listed, codes),
            "nesting": lambda: findings.factor_inside(self.design),
            "undecided cells": lambda: findings.cells_undecided(listed, codes, counts),
            "leverage": lambda: findings.shaky_cells(self.design, listed, codes, self.leverage, self.verdicts),
            "interaction": lambda: findings.additivity_fails(self.additivity, order),
            "additivity": lambda: findings.additivity_not_shown(self.additivity, order),
            "what was not checked": lambda: findings.additivity_unchecked(self.additivity, order),
            "leaks": lambda: findings.leak_risk(self.forecast),
            "shortcuts": lambda: findings.shortcut_factor(self.forecast),
        }
        return findings.worst_first([*self.design.notes, *_made(checks)])

    @property
    def summary(self) -> str:
        """The audit in a screenful of plain text."""
        return face(self, "text")

    def certificate(self, cell: Cell | int) -> Certificate:
        """Return the signed seen cells that add up to ``cell`` (its levels, or its row number in the verdicts).

        Print ``audit.explain(cell)`` for the same with level names and outcomes.
        """
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
        found, codes = self._asked(cell)
        if reason := why_impossible(found.design, codes):
            return f"{found.design.label(codes)}: cannot exist: {reason}. {CROSSED}"
        return explanation(found, codes)

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

        See `recombine.jobs.advice.plan.plan`.
        """
        return plan(
            self.design,
            self.order,
            k,
            cost=cost,
            forbidden=forbidden,
            self_pairs=self_pairs,
            criterion=criterion,
            seed=self.seed,
            known=self.identification,
        )

    def compare_models(self, shares: Sequence[float] = (0.2, 0.5), draws: int = 6) -> Table:
        """Score additive least squares, a forest, a kernel ridge and a network on held-out seen cells, by verdict.

        See `recombine.jobs.audit.rivals.compare_models`.
        """
        return compare_models(self.design, shares, draws, self.order, self.seed)

    def to_html(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the self-contained HTML report; an existing file is kept unless ``force``."""
        target = Path(path)
        check_file(target, force)
        target.write_text(face(self, "page"), encoding="utf-8")
        return target

    def _repr_html_(self) -> str:
        return face(self, "notebook")

    def __str__(self) -> str:
        return self.summary

    def __repr__(self) -> str:
        seen = f"{len(self.design.seen):,} of {self.design.product:,} cells seen"
        return f"Audit({' × '.join(self.design.columns)}, order {self.order}; {seen})"


def _made(checks: Mapping[str, Callable[[], Finding | None]]) -> Iterator[Finding | None]:
    """Make each check in turn, and say how many are done."""
    for done, (name, check) in enumerate(checks.items()):
        tell(name, done / len(checks))
        yield check()


def audit(
    design: Design,
    order: int = 1,
    *,
    targets: object = None,
    new_levels: bool = False,
    ordered: Sequence[str] = (),
    numeric: Sequence[str] = (),
    seed: int = 0,
) -> Audit:
    """Audit a design: which unseen cells do the seen ones determine, how will models miss them, what to collect next?

    Parameters
    ----------
    design : Design
    order : int
        Largest number of factors that interact in the assumed model; 1 means effects add.
    targets : path or dataframe, optional
        Cells to judge, one column per factor; by default every unseen cell of the product.
    new_levels : bool
        Accept target levels that the table does not have; their verdict is `unseen level`.
    ordered, numeric : sequence of str
        Factors whose levels lie on a line, so that values between seen ones follow; see `Design.on_scales`.
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
    if not 1 <= order <= len(design.factors):
        raise InputError(f"order {order} does not fit {len(design.factors)} factors; choose 1 to {len(design.factors)}")
    design, asked = design.on_scales(ordered, numeric), None
    if targets is not None:
        design, asked = design.encode(targets, new_levels=new_levels)
    first = identify(design.seen, **design.shape, seed=seed)
    found = first if order == 1 else identify(design.seen, order=order, **design.shape, seed=seed)
    return Audit(design, order, choose_cells(design, asked, seed), found, first, seed)
