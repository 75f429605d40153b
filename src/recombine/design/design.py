"""Designs: a table reduced to its distinct cells, as integer codes with counts and mean outcomes."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Unpack

import msgspec
import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, IntArray, as_cells, refuse_masked
from recombine.cells.conjunctions import Conjunctions, canonical
from recombine.cells.possible import Possible
from recombine.cells.scaled import FactorShape, additive_model
from recombine.cells.scales import Scale
from recombine.design.factors import Factor, factor_table, numbered_factors
from recombine.design.observed import Observed, OutcomeColumn
from recombine.design.reading import Reading, read_table
from recombine.design.restriction import possible_cells, restrict
from recombine.design.scaling import scales_of
from recombine.design.space import FactorSpace
from recombine.errors import InputError
from recombine.table_spec import ColumnFields, TableFields, TableSpec, make_spec, plain_spec
from recombine.tables.grouping import RowsAre, two_values
from recombine.writing import listing, printable, written_count


@dataclass(frozen=True, eq=False, repr=False)
class Design:
    """The distinct cells of a table: what was seen in training, how often, and with which outcome.

    Build one with `Design.from_frame` (a table) or `Design.from_cells` (integer codes).
    """

    space: FactorSpace  #: The factors, and what is said of the cells that can exist.
    observed: Observed  #: The cells, how often each was measured, and with which mean outcome.
    #: Name of the outcome, and its values where there are two only.
    outcome_column: OutcomeColumn = field(default_factory=OutcomeColumn)
    reading: Reading = field(default_factory=Reading)  #: The table's name, and what was noticed while it was read.
    #: How the table was read, as it was said; what was guessed is not in it, see `recombine.design.used_spec`.
    spec: TableSpec = field(default_factory=TableSpec)

    @classmethod
    def from_frame(
        cls,
        data: object,
        spec: TableSpec | None = None,
        *,
        held_out: object = None,
        **fields: Unpack[TableFields],
    ) -> Design:
        """Build a design from the path of a table or any dataframe narwhals knows.

        Parameters
        ----------
        data : path or dataframe
            Rows are grouped to distinct cells in the frame's own engine; only cells come back.
        spec : TableSpec, optional
            How the table is read.
        held_out : path or dataframe, optional
            Another table with the same columns, whose rows are held out; all rows of ``data`` are training then.
        **fields
            Those of `recombine.TableSpec`: ``factors``, ``outcome``, ``split``, ...; they replace those of ``spec``.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"colour": ["red", "red", "blue"], "shape": ["cube", "ball", "cube"], "y": [1, 2, 3]})
        >>> design = Design.from_frame(frame, factors=["colour", "shape"], outcome="y")
        >>> design.sizes, design.seen.tolist()
        ((2, 2), [[0, 1], [1, 0], [1, 1]])
        """
        return cls(*read_table(data, make_spec(spec, fields), held_out))

    @classmethod
    def from_cells(
        cls,
        cells: npt.ArrayLike,
        outcome: npt.ArrayLike | None = None,
        *,
        train: npt.ArrayLike | None = None,
        names: Sequence[str] | None = None,
        sizes: Sequence[int] | None = None,
        symmetric: Sequence[Sequence[int]] = (),
        nested: Sequence[str] = (),
        possible: object = None,
    ) -> Design:
        """Build a design from integer codes of shape (N, C), one row per measurement; no nesting is inferred.

        Examples
        --------
        >>> Design.from_cells([[0, 0], [0, 1], [1, 0]], outcome=[1.0, 2.0, 3.0]).possible.count
        4
        """
        groups = tuple(tuple(group) for group in symmetric)
        codes = canonical(as_cells(cells), groups)
        space = FactorSpace(numbered_factors(codes, names, sizes, symmetric), groups)
        training = np.ones(len(codes), dtype=bool) if train is None else np.asarray(train, dtype=bool)
        if training.shape != (len(codes),):
            raise InputError(f"train must be {len(codes)} flags, one per row of cells")
        refuse_masked(outcome, "outcome")
        values, column = None, OutcomeColumn()
        if outcome is not None:
            values = np.asarray(outcome, dtype=float)
            if values.shape != (len(codes),) or not np.isfinite(values).all():
                raise InputError(f"outcome must be {len(codes)} finite numbers, one per row of cells")
            levels = np.unique(values).tolist()
            column = OutcomeColumn("outcome", None, two_values((levels[0], levels[-1]), len(levels), len(codes)))
        rows = np.ones(len(codes), dtype=np.int64)
        observed = Observed(codes, training, rows, rows.astype(float), values).merged()
        spec = make_spec(None, {"factors": space.names, "nested": nested, "crossed": True, "possible": possible})
        return cls(restrict(space, observed.cells, observed.rows, spec), observed, column, Reading(), spec)

    def __repr__(self) -> str:
        outcome = f", outcome {self.outcome_column.name}" if self.outcome_column.name else ""
        seen = f"{len(self.seen):,} of {written_count(self.possible.count)} cells seen"
        return printable(f"Design({self.space.title}{outcome}; {seen})")

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>{factor_table(self.factors)._repr_html_()}"

    @property
    def factors(self) -> tuple[Factor, ...]:
        """The factors."""
        return self.space.factors

    @property
    def symmetric(self) -> tuple[tuple[int, ...], ...]:
        """Groups of interchangeable factors."""
        return self.space.symmetric

    @property
    def names(self) -> tuple[str, ...]:
        """Factor names."""
        return self.space.names

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of levels of each factor."""
        return self.space.sizes

    @property
    def cells(self) -> IntArray:
        """Distinct cells, shape (M, C); one that occurs both in training and held out has two rows."""
        return self.observed.cells

    @property
    def train(self) -> BoolArray:
        """Which of the cells are training, shape (M,)."""
        return self.observed.train

    @property
    def outcome(self) -> FloatArray | None:
        """Weighted mean outcome of each cell, shape (M,), if the table has one."""
        return self.observed.outcome

    @property
    def precision(self) -> FloatArray:
        """How many measurements each cell's mean outcome is worth, shape (M,): relative inverse variances."""
        return self.observed.precision

    @cached_property
    def seen(self) -> IntArray:
        """Distinct training cells, shape (N, C)."""
        return self.cells if self.train.all() else self.cells[self.train]

    @property
    def held_out(self) -> IntArray:
        """Distinct held-out cells, shape (H, C); empty without a split."""
        return self.cells[~self.train]

    @cached_property
    def possible(self) -> Possible:
        """The cells that can exist: the full product but for nesting and structural zeros."""
        return possible_cells(self.space, self.cells)

    @cached_property
    def scales(self) -> tuple[Scale | None, ...]:
        """Where the levels of ordered and numeric factors lie, None for labels; empty where all are labels."""
        return scales_of(self.space, self.seen)

    @property
    def shape(self) -> FactorShape:
        """Sizes, symmetric groups and possible cells, as `recombine.identify` takes them."""
        return {"sizes": self.sizes, "symmetric": self.symmetric, "possible": self.possible, "scales": self.scales}

    def features(self, order: int) -> Conjunctions:
        """Return the additive model of one order on the cells of this design."""
        models: dict[int, Conjunctions] = self.__dict__.setdefault("_models_by_order", {})
        if order not in models:
            models[order] = additive_model(self.sizes, order, self.symmetric, self.possible.following, self.scales)
        return models[order]

    def label(self, cell: Sequence[int] | IntArray) -> str:
        """Return one cell as text: ``"AA · JFK · LAX"``."""
        return self.space.label(cell)


def as_design(data: object, split: str | None, fields: ColumnFields) -> Design:
    """Return a design as it is, or that of a path or dataframe that is read as ``fields`` say; see `Design.from_frame`.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"colour": ["red", "blue"], "shape": ["cube", "ball"], "y": [1.0, 2.0]})
    >>> as_design(frame, None, {"factors": ["colour", "shape"], "outcome": "y"})
    Design(colour (2) × shape (2), outcome y; 2 of 4 cells seen)
    """
    if not isinstance(data, Design):
        return Design.from_frame(data, split=split, **fields)
    if fields or split is not None:
        names = listing([*fields, *(["split"] if split is not None else [])])
        raise InputError(f"a Design says already how its table is read; leave out {names}, or give the table itself")
    return data


def used_spec(design: Design) -> tuple[TableSpec, dict[str, str]]:
    """Return the spec with what was guessed, and how each guessed field came about.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"colour": list("rrbb"), "shape": list("xyxy"), "mass": [1.5, 2.5, 3.5, 4.5]})
    >>> spec, guessed = used_spec(Design.from_frame(frame, outcome="mass"))
    >>> spec.factors, guessed
    (('colour', 'shape'), {'factors': 'guessed'})
    """
    spec, guessed = design.spec, {}
    changes: dict[str, Any] = {}
    if spec.factors is None:
        labels = [factor.name for factor in design.factors if not factor.on_scale]
        if plain := [name for name in labels if name not in design.space.taken_apart]:
            changes["factors"], guessed["factors"] = tuple(plain), "guessed"
    if spec.outcome is None and (design.reading.proposals or spec.wide) and design.outcome_column.name:
        changes["outcome"] = design.outcome_column.name
        guessed["outcome"] = "as --wide says" if spec.wide else "guessed"
    if spec.weight is not None and spec.counts is None and design.observed.rows_are is not RowsAre.MEASUREMENTS:
        changes["counts"], guessed["counts"] = design.observed.rows_are is RowsAre.COUNTS, "guessed"
    if spec.sets is not None and spec.separator is None:
        changes["separator"] = next(column.separator for column in design.space.parts if column.kind == "set")
        guessed["separator"] = "recognised"
    inferred = tuple(f"{item.child}/{item.parent}" for item in design.space.nesting if item.inferred)
    if inferred:
        changes["nested"], guessed["nested"] = (*spec.nested, *inferred), "inferred from the rows"
    return msgspec.structs.replace(spec, **changes), guessed


def used_table(design: Design) -> dict[str, Any]:
    """Return how a table was read, guesses included, as documents hold it."""
    return plain_spec(used_spec(design)[0])
