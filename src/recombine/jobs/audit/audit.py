"""The main job: a design goes in, an `Audit` comes out: verdicts, certificates, checks, forecasts and advice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from recombine.cells.arrays import IntArray
from recombine.design.design import Design
from recombine.design.targets import encode_targets, on_scales, place_cell, why_impossible
from recombine.errors import InputError
from recombine.jobs.advice.candidates import Cell, Costs
from recombine.jobs.advice.plan import Plan, plan
from recombine.jobs.audit.additivity import check_additivity
from recombine.jobs.audit.coverage import Coverage, cover
from recombine.jobs.audit.fitted_networks import obstacle
from recombine.jobs.audit.forecast import Forecast, forecast
from recombine.jobs.audit.noise import cell_noise
from recombine.jobs.audit.parts.assumed import AssumedStructure
from recombine.jobs.audit.parts.decided import Decided
from recombine.jobs.audit.parts.values import Values
from recombine.jobs.audit.ranges import (
    unsolved_sentence,
)
from recombine.jobs.findings.finding import Finding, ResultKind
from recombine.jobs.findings.registry import find_all
from recombine.jobs.listing import choose_cells, level_columns
from recombine.jobs.outputs import render, widget
from recombine.jobs.structure.choice import Choice, choose_structure
from recombine.jobs.structure.open_cells import beyond_words
from recombine.output_files import check_file, write_whole
from recombine.table_spec import asked_structure
from recombine.tables.table import Table
from recombine.theory.identification.certificate import Certificate
from recombine.theory.identification.identify import identify
from recombine.verdicts import Verdict
from recombine.writing import written_count

if TYPE_CHECKING:
    from recombine.jobs.importance import Importance


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """What the seen cells of a design say about the unseen ones. Make one with `recombine.audit`.

    Attributes
    ----------
    decided : Decided
        Which cells are listed, their verdicts, counts and leverages.
    values : Values
        The values that follow, and their ranges.
    structure : AssumedStructure
        What is assumed of effects, and whether it holds.
    coverage : Coverage
        What the training rows cover.
    forecast : Forecast
        What networks will do.

    Examples
    --------
    >>> audit(Design.from_cells([[0, 0], [0, 1], [1, 0]], names=["colour", "shape"]))
    Audit(colour × shape, order 1; 3 of 4 cells seen)
    """

    decided: Decided

    @property
    def design(self) -> Design:
        """The design, with the levels of targets."""
        return self.decided.design

    @property
    def choice(self) -> Choice:
        """The structure that verdicts and values assume, and how it was chosen."""
        return self.decided.choice

    @property
    def order(self) -> int:
        """Most factors that interact in the structure that verdicts assume."""
        return self.choice.order

    @property
    def seed(self) -> int:
        """What fixes every random choice."""
        return self.decided.seed

    @property
    def importance(self) -> Importance | None:
        """How much each cell matters, if that was said."""
        return self.decided.importance

    @cached_property
    def values(self) -> Values:
        """The values that follow, and their ranges."""
        return Values(self.decided)

    @cached_property
    def structure(self) -> AssumedStructure:
        """What is assumed of effects, and whether it holds."""
        return AssumedStructure(self.values)

    @cached_property
    def left_out(self) -> tuple[str, ...]:
        """What was left out because it would have taken too long, one sentence each; the forecast says its own."""
        decided, additivity = self.decided, self.structure.additivity
        solved = np.isfinite(decided.leverage[decided.codes <= Verdict.DETERMINED])
        sentences = [self.coverage.left_out, "" if additivity is None else additivity.left_out]
        return tuple(filter(None, [*sentences, unsolved_sentence(decided.leverages, solved)]))

    @cached_property
    def verdicts(self) -> Table:
        """The listed cells with their verdicts and leverage; given an outcome, the value that follows and its range."""
        decided, cells = self.decided, self.decided.listing.cells
        words = np.array([verdict.word for verdict in Verdict], dtype=object)
        columns: dict[str, Any] = {"verdict": words[decided.codes]}
        if decided.matters is not None:
            columns["importance"] = decided.matters.weights
        if self.order > 1:
            columns["verdict at order 1"] = words[decided.first.verdicts_of(cells)]
        columns["leverage"] = decided.leverage
        if self.values.fit is not None:
            ranges = self.values.ranges_of(cells, decided.leverage)
            columns |= {"predicted": ranges.predicted, "standard error": ranges.standard_error}
            columns |= {"low": ranges.low, "high": ranges.high}
        if self.values.beyond.any():
            columns["sum out of range"] = self.values.beyond
        return Table({**level_columns(self.design, cells, columns), **columns})

    @cached_property
    def coverage(self) -> Coverage:
        """What the training rows cover."""
        return cover(self.design)

    @cached_property
    def forecast(self) -> Forecast:
        """What networks trained on the seen cells to convergence will do, if every level is an input of its own."""
        design, unseen = self.design, self.decided.listing.typical
        if design.scales and not obstacle(design):
            plain = replace(design, space=design.space.labelled)
            again = check_additivity(plain, (1,), self.seed).at(1)
            return forecast(plain, unseen, check=again, seed=self.seed)
        additivity = self.structure.additivity
        check = None if additivity is None else additivity.at(1)
        fit = self.values.first_fit
        return forecast(design, unseen, first=self.decided.first, check=check, fit=fit, seed=self.seed)

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
        return found.decided.identification.certificate_of(tuple(codes.tolist()))

    def _asked(self, cell: Cell | int) -> tuple[Audit, IntArray]:
        """The codes of a cell and the audit that knows its levels: a new one if it has a new value on a scale."""
        if isinstance(cell, int):
            return self, self.decided.listing.cells[cell]
        design, codes = place_cell(self.design, cell)
        return self if design is self.design else audit(design, self.order, seed=self.seed), codes

    def explain(self, cell: Cell | int) -> str:
        """Return the verdict of one cell in words: its value, range and certificate, or why there is none."""
        known, codes = self._asked(cell)
        return render(known, "explanation", codes)

    def plan(
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
        proposed = plan(
            self.design,
            self.order,
            k,
            cost=cost,
            forbidden=forbidden,
            self_pairs=self_pairs,
            criterion=criterion,
            seed=self.seed,
            identification=self.decided.identification,
            importance=self.importance,
        )
        return (
            proposed if proposed.outside else replace(proposed, outside=beyond_words(self.choice, self.decided.counts))
        )

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
        seen = f"{len(self.design.seen):,} of {written_count(self.design.possible.count)} cells seen"
        shape = f", order {self.order}" if self.choice.structure.is_sum else f", {self.choice.name}"
        return f"Audit({' × '.join(self.design.space.columns)}{shape}; {seen})"


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
    design = on_scales(design, ordered, numeric)
    structure, order = asked_structure(design.spec, structure, order)
    importance = design.spec.importance if importance is None else importance
    noise = None if design.outcome is None else cell_noise(design)
    variance = None if noise is None or noise.at_most else noise.variances
    choice = choose_structure(design, structure, order, variance=variance, seed=seed)
    order, asked = choice.order, None
    if targets is not None:
        design, asked = encode_targets(design, targets, new_levels=new_levels)
    first = identify(design.seen, **design.shape, seed=seed)
    engine = first if order == 1 else identify(design.seen, order=order, **design.shape, seed=seed)
    weights = None
    if importance is not None:
        from recombine.jobs.importance import read_importance

        weights = read_importance(importance, design)
    listing = choose_cells(design, asked, seed, weights)
    return Audit(Decided(design, choice, listing, engine, first, seed, weights))
