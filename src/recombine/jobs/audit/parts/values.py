"""The second part of an audit: the values that follow for determined cells, their errors and ranges."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.errors import InputError, SolverError
from recombine.jobs.audit.left_out_cells import determined_values, fit_order, held_out_errors
from recombine.jobs.audit.noise import pooled_variance
from recombine.jobs.audit.parts.decided import Decided
from recombine.jobs.audit.ranges import CellRanges, Ranges, cell_ranges, measure_ranges, outside_two_values
from recombine.tables.table import Table
from recombine.theory.identification.additive_fit import AdditiveFit
from recombine.verdicts import Verdict

if TYPE_CHECKING:
    from recombine.jobs.structure.held_out_ranges import HeldOutRanges


@dataclass(frozen=True, eq=False)
class Values:
    """The values that follow from the seen outcomes: ``audit.values``; all None without an outcome."""

    decided: Decided

    @cached_property
    def fit(self) -> AdditiveFit | None:
        """The additive model of the asked order fitted to the seen cells by precision; None without an outcome."""
        design = self.decided.design
        if design.outcome is None:
            return None
        return fit_order(design, self.decided.choice.order, self.decided.leverages)

    @cached_property
    def first_fit(self) -> AdditiveFit | None:
        """The same at order 1."""
        if self.fit is None or self.decided.choice.order == 1:
            return self.fit
        return fit_order(self.decided.design, 1)

    def predict(self, cells: IntArray) -> FloatArray:
        """Return values of ``cells`` (N, C) under the chosen structure, (N,); only those of determined ones follow."""
        model = self.decided.choice.fit or self.fit
        if model is None:
            raise InputError("values need an outcome; name its column with --outcome")
        return model.predict(cells)

    @cached_property
    def predictions(self) -> FloatArray | None:
        """Values of the listed cells under the chosen structure, shape (T,); NaN where nothing follows.

        Those of a two-valued outcome are kept between its two values; `beyond` says which would not be.
        """
        return None if self.sums is None else self.decided.design.outcome_column.bounded(self.sums)

    @cached_property
    def sums(self) -> FloatArray | None:
        """Values at the listed cells, not yet kept between an outcome's two values."""
        if self.fit is None:
            return None
        return determined_values(self.predict, self.decided.listing.cells, self.decided.codes)

    @property
    def beyond(self) -> BoolArray:
        """Listed cells whose sum of effects no two-valued outcome can have, such as a chance above 1, shape (T,)."""
        return outside_two_values(self.decided.design, self.sums, len(self.decided.codes))

    @cached_property
    def ranges(self) -> Ranges | HeldOutRanges | None:
        """What the seen cells' own misses say about the values of others; None without an outcome or leverages."""
        design, leverages = self.decided.design, self.decided.leverages
        if not self.decided.choice.structure.is_sum:
            from recombine.jobs.structure.held_out_ranges import held_out_ranges

            return held_out_ranges(design, self.decided.choice)
        if self.fit is None or leverages.solved_singly:
            return None
        pooled = pooled_variance(design)
        # Where floating point cannot invert the seen cells, values are given without error or range.
        with suppress(SolverError):
            return measure_ranges(design, self.fit, leverages, None if pooled is None else pooled[0])
        return None

    def ranges_of(self, cells: IntArray, leverage: FloatArray | None = None) -> CellRanges:
        """Return predicted value, standard error and 90 % range of ``cells`` (N, C); NaN where nothing follows.

        ``leverage`` saves the work where it is known already, NaN for cells that are not determined.
        """
        determined = self.decided.verdicts_of(cells) <= Verdict.DETERMINED
        predicted = None if self.fit is None else self.predict(cells[determined])
        return cell_ranges(self.decided.design, self.ranges, predicted, cells, determined, leverage)

    @cached_property
    def held_out_errors(self) -> Table | None:
        """Errors on held-out cells by verdict, of the values that follow and of the plain mean; None without any."""
        design = self.decided.design
        if self.fit is None or design.train.all():
            return None
        codes = self.decided.verdicts_of(design.held_out)
        return held_out_errors(design, codes, determined_values(self.predict, design.held_out, codes))
