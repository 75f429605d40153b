"""Factors and designs: a table reduced to its distinct cells, as integer codes with counts and mean outcomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, IntArray, as_cells, refuse_masked
from recombine.cells.conjunctions import Conjunctions, canonical
from recombine.cells.possible import Possible
from recombine.cells.scaled import additive_model
from recombine.cells.scales import FactorScale, Scale
from recombine.design.coding import merged
from recombine.design.factors import Factor, numbered_factors
from recombine.design.nesting import Nested
from recombine.design.notes import TableNote
from recombine.design.parts import Parts, joined_texts, one_cell, read_columns
from recombine.design.reading import codes_of_rows, design_of_table
from recombine.design.restriction import possible_cells, restrict
from recombine.design.scaling import put_on_scales, scales_asked, scales_of
from recombine.design.targets import encode_targets
from recombine.errors import InputError
from recombine.table_spec import TableFields, TableSpec, make_spec
from recombine.tables.frames import Source, open_table
from recombine.tables.grouping import RowsAre, two_values
from recombine.tables.guesses import Proposal
from recombine.writing import written_count


class Shape(TypedDict):
    """What the cells of a design are cells of: levels of each factor, interchangeable factors, cells that can exist."""

    sizes: tuple[int, ...]
    symmetric: tuple[tuple[int, ...], ...]
    possible: Possible
    scales: tuple[Scale | None, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Design:
    """The distinct cells of a table: what was seen in training, how often, and with which outcome.

    Build one with `Design.from_frame` (a table) or `Design.from_cells` (integer codes).

    Attributes
    ----------
    factors : tuple of Factor
    cells : int array of shape (M, C)
        Distinct cells; a cell that occurs both in training and held out has two rows.
    train : bool array of shape (M,)
    rows : int array of shape (M,)
        Table rows behind each; in a table of counts, a row of n stands for n.
    weight : float array of shape (M,)
        Their total weight (the number of rows without a weight column).
    outcome : float array of shape (M,) or None
        Weighted mean outcome.
    spread, freedom : float arrays of shape (M,)
        Sum of squares and degrees of freedom of the outcome within the cell: the replicates' noise.
    symmetric : tuple of tuple of int
        Groups of interchangeable factors.
    two_values : (float, float) or None
        Lower and higher value of an outcome whose measurements take two values only.
    rows_are : RowsAre
        What a row was read as: one measurement, n equal ones, or the mean of n.
    nesting : tuple of Nested
        Which factors lie inside others, so that most of the product cannot exist.
    parts : tuple of Parts
        Columns that were taken apart into several factors: sequences and sets.
    spec : TableSpec
        How the table was read, as it was said; what was guessed is not in it, see `recombine.design.used_spec`.
    """

    factors: tuple[Factor, ...]
    cells: IntArray
    train: BoolArray
    rows: IntArray
    weight: FloatArray
    outcome: FloatArray | None = None
    spread: FloatArray | None = None
    freedom: FloatArray | None = None
    symmetric: tuple[tuple[int, ...], ...] = ()
    outcome_name: str | None = None
    outcome_labels: tuple[str, str] | None = None
    source: str = "the table"
    notes: tuple[TableNote, ...] = ()
    proposals: tuple[Proposal, ...] = field(default=())
    two_values: tuple[float, float] | None = None
    rows_are: RowsAre = RowsAre.MEASUREMENTS
    nesting: tuple[Nested, ...] = ()
    listed: IntArray | None = None
    listed_in: str = ""
    asked: IntArray | None = None
    parts: tuple[Parts, ...] = ()
    spec: TableSpec = field(default_factory=TableSpec)

    def __post_init__(self) -> None:
        # In whichever order they were named: the first of a group owns the columns of all.
        object.__setattr__(self, "symmetric", tuple(sorted(tuple(sorted(group)) for group in self.symmetric)))

    @classmethod
    def from_frame(
        cls,
        data: object,
        spec: TableSpec | None = None,
        *,
        held_out: object = None,
        **fields: Unpack[TableFields],
    ) -> Design:
        """Build a design from a CSV/Parquet path or any dataframe narwhals knows.

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
        return design_of_table(cls, data, make_spec(spec, fields), held_out)

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
        >>> Design.from_cells([[0, 0], [0, 1], [1, 0]], outcome=[1.0, 2.0, 3.0]).product
        4
        """
        codes = canonical(as_cells(cells), [tuple(group) for group in symmetric])
        factors = numbered_factors(codes, names, sizes, symmetric)
        training = np.ones(len(codes), dtype=bool) if train is None else np.asarray(train, dtype=bool)
        if training.shape != (len(codes),):
            raise InputError(f"train must be {len(codes)} flags, one per row of cells")
        refuse_masked(outcome, "outcome")
        values = None if outcome is None else np.asarray(outcome, dtype=float)
        if values is not None and (values.shape != (len(codes),) or not np.isfinite(values).all()):
            raise InputError(f"outcome must be {len(codes)} finite numbers, one per row of cells")
        rows = np.ones(len(codes), dtype=np.int64)
        design = cls(factors, codes, training, rows, rows.astype(float), values, symmetric=tuple(map(tuple, symmetric)))
        distinct_values = [] if values is None else np.unique(values).tolist()
        ends = (distinct_values[0], distinct_values[-1]) if distinct_values else None
        two = None if ends is None else two_values(ends, len(distinct_values), len(codes))
        spec = TableSpec(factors=design.names, nested=tuple(nested), crossed=True, possible=possible)
        design = replace(design, outcome_name=None if values is None else "outcome", two_values=two, spec=spec)
        design = merged(design)
        return restrict(design, nested, True, possible)

    def codes_of_rows(self, data: object) -> IntArray:
        """Return the cell of every row of a table, shape (R, C), as codes; -1 throughout where a row has none.

        A row has none if it lacks a factor, or has a level that the design does not know.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"a": ["x", "y", None], "b": ["u", "v", "v"]})
        >>> Design.from_frame(frame, factors=["a", "b"]).codes_of_rows(frame).tolist()
        [[0, 0], [1, 1], [-1, -1]]
        """
        source = data if isinstance(data, Source) else open_table(data)
        return codes_of_rows(self.factors, self.parts, self.columns, source)

    def __repr__(self) -> str:
        outcome = f", outcome {self.outcome_name}" if self.outcome_name else ""
        return f"Design({self.title}{outcome}; {len(self.seen):,} of {written_count(self.product)} cells seen)"

    @property
    def title(self) -> str:
        """Factor names with their numbers of levels: ``"carrier (16) × origin (3)"``."""
        texts = {factor.name: f"{factor.name} ({len(factor.levels):,})" for factor in self.factors}
        return " × ".join(
            (texts | {column.column: column.title for column in self.parts})[name] for name in self.columns
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table that hold the factors: the factors' names, but for sequences and sets."""
        return read_columns(self.parts, self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """Factor names."""
        return tuple(factor.name for factor in self.factors)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of levels of each factor."""
        return tuple(len(factor.levels) for factor in self.factors)

    @property
    def shape(self) -> Shape:
        """Sizes, symmetric groups and possible cells, as `recombine.identify` takes them."""
        return {"sizes": self.sizes, "symmetric": self.symmetric, "possible": self.possible, "scales": self.scales}

    @cached_property
    def scales(self) -> tuple[Scale | None, ...]:
        """Where the levels of ordered and numeric factors lie, None for labels; empty where all are labels."""
        return scales_of(self)

    def on_scales(self, ordered: Sequence[str] = (), numeric: Sequence[str] = ()) -> Design:
        """Return the design with some factors ordered or numeric: their levels share a curve, so others follow between.

        An ordered factor runs straight from one seen level to the next; levels that are no numbers are given in order:
        ``"grade=low<mid<high"``. A numeric one is a natural cubic spline with at most five knots.
        """
        scales_wanted = scales_asked(ordered, numeric, self.names)
        if not scales_wanted:
            return self
        scales = {"ordered": (*self.spec.ordered, *ordered), "numeric": (*self.spec.numeric, *numeric)}
        return replace(put_on_scales(self, scales_wanted), spec=make_spec(self.spec, scales))

    @cached_property
    def labelled(self) -> Design:
        """The design with every factor's levels as labels."""
        plain = tuple(replace(factor, scale=FactorScale.LABELS, in_order=()) for factor in self.factors)
        return replace(self, factors=plain) if self.scales else self

    @cached_property
    def possible(self) -> Possible:
        """The cells that can exist: the full product but for nesting and structural zeros."""
        return possible_cells(self)

    @cached_property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Places of the factors, interchangeable ones together: ``((0, 1), (2,))``."""
        paired = {index for group in self.symmetric for index in group}
        return tuple(
            sorted([*self.symmetric, *((index,) for index in range(len(self.factors)) if index not in paired)])
        )

    def twins(self, place: int) -> tuple[int, ...]:
        """Return the places of the factors that are interchangeable with factor ``place``, its own among them."""
        return next(group for group in self.groups if place in group)

    def features(self, order: int) -> Conjunctions:
        """Return the additive model of one order on the cells of this design."""
        if order not in self._features:
            shape = self.sizes, order, self.symmetric, self.possible.following
            self._features[order] = additive_model(*shape, self.scales)
        return self._features[order]

    @cached_property
    def _features(self) -> dict[int, Conjunctions]:
        return {}

    @property
    def product(self) -> int:
        """Number of cells that can exist (unordered inside symmetric groups)."""
        return self.possible.count

    @cached_property
    def seen(self) -> IntArray:
        """Distinct training cells, shape (N, C)."""
        return self.cells if self.train.all() else self.cells[self.train]

    @property
    def precision(self) -> FloatArray:
        """How many measurements each cell's mean outcome is worth, shape (M,): relative inverse variances."""
        return self.weight

    @property
    def within_rows(self) -> bool:
        """Whether rows that are means say how much their measurements differ (a column of standard deviations)."""
        return (
            self.rows_are is RowsAre.MEANS and self.freedom is not None and bool(np.any(self.freedom > self.rows - 1))
        )

    @property
    def typical_precision(self) -> float:
        """The median of the seen cells' `precision`: how often a further cell may be expected to be measured."""
        return float(np.quantile(self.precision[self.train], 0.5, method="lower"))

    def bounded(self, values: FloatArray) -> FloatArray:
        """Return predicted ``values`` of a two-valued outcome moved between its two values; any other as they are."""
        return values if self.two_values is None else np.clip(values, *self.two_values)

    @property
    def held_out(self) -> IntArray:
        """Distinct held-out cells, shape (H, C); empty without a split."""
        return self.cells[~self.train]

    def decode(self, cells: IntArray) -> dict[str, npt.NDArray[Any]]:
        """Return the level labels of ``cells`` (N, C), one column for each of `columns`."""
        labels = {
            factor.name: np.array(factor.labels, dtype=object)[cells[:, index]]
            for index, factor in enumerate(self.factors)
        }
        for column in self.parts:
            levels = zip(*(labels.pop(name) for name in column.names), strict=True)
            labels[column.column] = np.array([column.text(row) for row in levels], dtype=object)
        return labels

    def label(self, cell: Sequence[int] | IntArray) -> str:
        """Return one cell as text: ``"AA · JFK · LAX"``."""
        texts = [factor.labels[int(code)] for factor, code in zip(self.factors, cell, strict=True)]
        return " · ".join(texts if not self.parts else joined_texts(self.parts, texts))

    def cell(self, levels: Mapping[str, object] | Sequence[object]) -> IntArray:
        """Return the codes, shape (C,), of one cell given by its levels (in factor order, or by factor name)."""
        levels = one_cell(levels, self.parts, self.names)
        codes = np.array([[factor.code(level) for factor, level in zip(self.factors, levels, strict=True)]])
        ordered: IntArray = canonical(codes, self.symmetric)[0]
        return ordered

    def encode(self, data: object, *, new_levels: bool = False) -> tuple[Design, IntArray]:
        """Return the cells of a target table as codes, shape (T, C), and the design they refer to.

        Unknown levels raise, unless ``new_levels``: then the returned design knows them too, as levels never seen.
        """
        return encode_targets(self, data, new_levels)
