"""What a cause of error is: its words, its look, its columns of the regression and its amount."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.jobs.score.amounts import Amount, ChanceSpread
from recombine.jobs.score.regression import ErrorSplit, Regressors
from recombine.registry import help_address


class Coefficient(NamedTuple):
    """What the coefficient of a factor's column is called, where it is expected, and what it means."""

    name: str
    expected: float
    heading: str
    meaning: str


class CauseColumns(NamedTuple):
    """Columns (T, K) of the regression, and the factor of each; empty where a column belongs to no factor."""

    values: FloatArray
    factors: tuple[str, ...]


class Cause:
    """One reason for a model's error: a subclass, with one instance in the registry."""

    #: In tables, legends and JSON; and where a single cell's error is told, if it is another.
    name: str
    name_at_one_cell: str = ""
    #: What it is in three words and in one clause, and what to do about it.
    title: str
    meaning: str
    action: str
    #: Whose the error is: greys are the data's ``colour``, and ``hatch`` tells causes apart without colour.
    of: Literal["data", "model"]
    colour: str
    hatch: str = ""
    #: What is said where coefficients are over the expected value, if that is the opposite of ``meaning``.
    overdone_meaning: str | None = None
    meaning_by: str = ""  #: The same clause of a model that stands beside, whose name takes the place of ``{by}``.
    hit_rate: str | None = None  #: Key in ``data/hit_rates.json`` of the audit's sentence that forecasts this cause.
    coefficient: Coefficient | None = None  #: Of causes that are told factor by factor.
    #: Whether it is noise, and whether it explains anything: only the rest has no name.
    is_noise: bool = False
    is_named: bool = True
    ridge_in_own_units: bool = False  #: For columns that vary far less than predictions do.

    def __repr__(self) -> str:
        return f"<cause {self.name}>"

    @property
    def address(self) -> str:
        """Where the documentation tells more; empty where none is named."""
        return help_address("cause", self.name)

    def by(self, split: ErrorSplit) -> str:
        """Return the name of the model beside which the cause shows; empty where it takes none."""
        return ""

    def columns(self, regressors: Regressors, preceding: FloatArray) -> CauseColumns | None:
        """Return what departures are regressed on; None where this cause is no regressor.

        ``preceding`` (T, J) are the columns of the causes before it, centred: for what counts only beyond them.
        """
        return None

    def part(self, split: ErrorSplit) -> FloatArray | None:
        """Return what the cause adds to each cell's error, (T,); None where it is no regressor."""
        columns = split.matrix.of_cause(self.name)
        return np.asarray(split.parts[:, columns].sum(axis=1)) if columns.any() else None

    def amount(self, split: ErrorSplit) -> tuple[float, ChanceSpread] | None:
        """Return mean square and its spread, the mean product of its part with the error; None where none is told.

        All amounts together are the squared error: what a cause without columns takes, another has to leave.
        """
        columns = split.matrix.of_cause(self.name)
        if self.coefficient is None and not (columns & split.regression.varied).any():
            return None
        return sum(split.column_amounts[columns].tolist(), 0.0), split.spread_of_columns(columns)

    def message(self, factor: str, coefficient: Amount) -> str:
        """Say what a factor's coefficient means for the predictions; empty where it is not worth a word."""
        return ""
