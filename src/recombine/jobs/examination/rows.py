"""The rows that are examined: columns of factors and the outcome, as designs of some rows and as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray
from recombine.design.design import Design, used_spec
from recombine.errors import InputError
from recombine.table_spec import TableSpec, make_spec
from recombine.tables.frames import open_table
from recombine.tables.numbers import level_text
from recombine.writing import plural

#: Values of rows, (N,) each, by the name of their column.
Columns: TypeAlias = Mapping[str, npt.NDArray[Any]]

#: What a spec still says of a table once its columns were read.
FIELDS_STILL_SAID = ("symmetric", "nested", "crossed", "structure", "order")
#: How an outcome without a name is called.
OUTCOME = "y"


@dataclass(frozen=True, eq=False)
class ExaminedRows:
    """The factor columns and outcomes of all rows, and how they are read."""

    columns: Columns  #: (N,) each: the factors, then the outcome.
    outcome: npt.NDArray[Any]  #: (N,), as models are given it.
    spec: TableSpec
    classes: Mapping[str, Any]  #: The classes as they are written, and as models know them; empty for numbers.
    source: str = "the table"  #: What the table is called.

    @classmethod
    def of(
        cls,
        factors: Columns,
        outcome: npt.NDArray[Any],
        name: str | None,
        classes: Mapping[str, Any],
        spec: TableSpec,
    ) -> ExaminedRows:
        """Return rows (N,) of ``factors`` with an ``outcome``, read as ``spec`` says."""
        count = len(next(iter(factors.values())))
        if outcome.shape != (count,):
            raise InputError(f"y has shape {outcome.shape}; give one outcome for each of the {count:,} rows of X")
        name = OUTCOME if name is None or name in factors else name
        if name in factors:
            raise InputError(f"a factor is called {name!r} like the outcome; rename its column")
        spec = make_spec(spec, {"factors": list(factors), "outcome": name})
        return cls({**factors, name: outcome.astype(str) if classes else outcome}, outcome, spec, classes)

    @classmethod
    def of_file(cls, path: Path, table: TableSpec, beside: Sequence[str] = ()) -> tuple[ExaminedRows, Columns]:
        """Return the rows of a file that lack nothing, and those of the columns ``beside`` the factors."""
        source = open_table(path, table)
        name = source.require(str(table.outcome), "outcome")
        is_class = table.classes or source.kind(name) not in ("integer", "number")
        spec = table if is_class and table.factors else used_spec(Design.from_frame(path, table))[0]
        if not spec.factors:
            raise InputError("which columns are combined? Name them with --factors")
        read = source.read([*map(str, spec.factors), name, *(source.require(each, "column") for each in beside)])
        complete = ~np.any([[value is None or value != value for value in values] for values in read.values()], axis=0)
        if 2 * complete.sum() < len(complete):
            raise InputError(
                f"{len(complete) - int(complete.sum()):,} of {plural(len(complete), 'row')} of {source.name} lack a "
                "level or the outcome; name other factors, or fill them in"
            )
        columns = {each: values[complete] for each, values in read.items()}
        outcome = columns.pop(name)
        levels = {each: np.array([level_text(value) for value in columns[each]]) for each in spec.factors}
        outcome = np.array([level_text(value) for value in outcome]) if is_class else outcome.astype(float)
        classes = {each: each for each in np.unique(outcome).tolist()} if is_class else {}
        still_said = {field: getattr(spec, field) for field in FIELDS_STILL_SAID}
        rows = cls.of(levels, outcome, name, classes, make_spec(None, still_said))
        return replace(rows, source=source.name), columns

    @property
    def factors(self) -> Any:
        """The factor columns as a table."""
        return table_of_columns({name: self.columns[name] for name in self.spec.factors or ()})

    def designs(self, train: BoolArray, test: BoolArray | None = None) -> list[Design]:
        """Return the design of training rows and of held-out ones, flags (N,) of each; or one for each class."""
        seen, held_out = (
            None if rows is None else table_of_columns({name: values[rows] for name, values in self.columns.items()})
            for rows in (train, test)
        )
        outcomes = [{"outcome": f"{self.spec.outcome}={name}"} for name in self.classes]
        specs = [make_spec(self.spec, outcome) for outcome in outcomes] or [self.spec]
        designs = [Design.from_frame(seen, spec, held_out=held_out) for spec in specs]
        return [replace(design, reading=replace(design.reading, source=self.source)) for design in designs]

    def refuse_names(self, models: Sequence[str]) -> None:
        """Refuse a model that is called like a column."""
        if both := [name for name in models if name in self.columns]:
            raise InputError(f"a model and a column are both called {both[0]!r}; rename one")

    def with_predictions(self, predicted: Columns) -> Any:
        """Return a table of all columns and every model's predictions, a column per class where these are chances."""
        columns = dict(self.columns)
        for model, values in predicted.items():
            if values.ndim == 1:
                columns[model] = values.astype(str) if self.classes else values
            else:
                columns |= {f"{model}:{name}": values[:, column] for column, name in enumerate(self.classes)}
        return table_of_columns(columns)


def table_of_columns(columns: Columns) -> Any:
    """Return columns as a table that `Design.from_frame` reads, whatever dataframe library is installed."""
    import duckdb

    return duckdb.sql("select * from columns")
