"""Tables: read their factor columns row by row, split them, and write them again with a column that says the part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, IntArray
from recombine.cells.conjunctions import Conjunctions
from recombine.design.design import Design
from recombine.design.naming import NO_OUTCOME, taken_columns
from recombine.design.scaling import scales_of
from recombine.errors import InputError
from recombine.jobs.outputs import render
from recombine.jobs.split.mix import TRAIN, UNUSED, hidden_place, read_mix, split_order
from recombine.jobs.split.rows import RowSplit, split_rows
from recombine.output_files import check_file
from recombine.table_spec import TableFields, TableSpec, make_spec
from recombine.tables.frames import Source, open_table
from recombine.tables.numbers import is_nothing, level_text, missing_values
from recombine.tables.table import write_csv
from recombine.verdicts import Verdict

#: Fields of a spec as they are where factors are read and nothing else: no row is left out for another column.
FACTORS_ALONE: TableFields = {
    "outcome": None,
    "classes": False,
    "split": None,
    "weight": None,
    "sd": None,
    "counts": None,
}
#: What the split column says of a row: its side and, for a test row, what it is to training. Unused rows say nothing.
WORDS = {TRAIN: "train", UNUSED: ""} | {int(verdict): f"test {verdict.word}" for verdict in Verdict}


@dataclass(frozen=True, eq=False)
class FactorRows:
    """The rows of a table that have a cell."""

    source: Source
    design: Design
    codes: IntArray  #: (N, C): levels as written; symmetric factors share theirs.
    kept: BoolArray  #: (R,): which rows of the table these are.
    others: Mapping[str, npt.NDArray[Any]]  #: Further columns (R,) that were asked for.


def read_rows(
    data: object,
    spec: TableSpec,
    roles: Mapping[str, str | None],
    needed: Sequence[str] = (),
    unread: TableFields | None = None,
) -> FactorRows:
    """Read the cell of every row, and the columns that play ``roles``, of a path or dataframe; see `FactorRows`.

    Rows that have no cell, or lack one of the columns ``needed``, are left out. The fields ``unread`` replace those of
    the spec while the table is read, and are kept in it all the same.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"a": ["x", "y", None], "b": ["u", "v", "v"]})
    >>> rows = read_rows(frame, TableSpec(factors=["a", "b"]), {})
    >>> rows.codes.tolist(), rows.kept.tolist()
    ([[0, 0], [1, 1]], [True, True, False])
    """
    source = open_table(data, spec)
    taken = taken_columns(source, roles)
    no_guess: TableFields = {"outcome": NO_OUTCOME} if spec.outcome is None else {}  # a guess would leave rows out
    design = replace(Design.from_frame(data, make_spec(spec, no_guess | (unread or {}))), spec=spec)
    for name in design.space.columns:
        if name in taken:
            raise InputError(f"column {name!r} is both a factor and the {taken[name]}; give it one part")
    columns = source.kept([*design.space.columns, *taken])
    codes = design.space.codes_of_rows(columns)
    others = columns.read(taken) if taken else {}
    complete = codes[:, 0] >= 0
    for name in needed:
        complete &= ~missing_values(others[name])
    columns.look(taken)  # kinds of columns that are parsed already; the source knows them from here on
    return FactorRows(source, design, codes[complete], complete, others)


def outcome_values(rows: FactorRows, name: str) -> npt.NDArray[Any]:
    """Return an outcome column of the kept rows (N,): numbers where all are, else texts; what is missing is one more.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"a": ["x", "y"], "b": ["u", "v"], "y": ["no", None]})
    >>> outcome_values(read_rows(frame, TableSpec(factors=["a", "b"]), {"outcome": "y"}), "y").tolist()
    ['no', '']
    """
    values = rows.others[name][rows.kept]
    missing, texts = missing_values(values), column_texts(values)
    if rows.source.kind(name) not in ("integer", "number"):
        return np.array(texts)
    # A number that is missing is a bin of its own, below all others.
    return np.array([float(text) if text else -np.inf for text in texts]) if missing.any() else values.astype(float)


def column_texts(values: npt.NDArray[Any]) -> list[str]:
    """Return the values of a column as levels are written; what is missing is empty."""
    missing = missing_values(values)
    return ["" if gone else level_text(value) for value, gone in zip(values.tolist(), missing, strict=True)]


@dataclass(frozen=True, eq=False)
class TableSplit:
    """A table with the part of each row; make one with `split_table`."""

    rows: FactorRows  #: The rows that were split; others lack a factor and are in no part.
    split: RowSplit
    stratified: str | None  #: The outcome that was made alike.
    seed: int

    @cached_property
    def column(self) -> npt.NDArray[np.object_]:
        """The split column (R,): ``train``, ``test determined``, ..., and nothing for rows in no part."""
        words = np.array([WORDS[code] for code in range(UNUSED, max(Verdict) + 1)], dtype=object)
        column = np.full(len(self.rows.kept), "", dtype=object)
        column[self.rows.kept] = words[self.split.part - UNUSED]
        return column

    @cached_property
    def hidden(self) -> dict[str, tuple[str, ...]]:
        """Factor -> its levels that test rows have and training lacks; only factors that have such levels."""
        design = self.rows.design
        test, train = (self.rows.codes[rows] for rows in (self.split.test, self.split.train))
        hidden = {}
        for position, factor in enumerate(design.factors):
            fresh = np.setdiff1d(test[:, position], train[:, list(design.space.twins(position))])
            if len(fresh):
                hidden[factor.name] = tuple(factor.labels[int(code)] for code in fresh)
        return hidden

    @property
    def left_out(self) -> int:
        """Rows of the table that lack a factor."""
        return int((~self.rows.kept).sum())

    def to_csv(self, path: str | Path, *, column: str = "split", force: bool = False, safe: bool = False) -> Path:
        """Write the table as CSV, all its columns and the split column last; an existing file is kept unless ``force``.

        Values are written as they were read; what was missing is left blank. If ``safe``, text that a spreadsheet would
        take for a formula gets an apostrophe.
        """
        target = Path(path)
        check_file(target, force)
        source = self.rows.source
        names = source.columns
        if column in names:
            raise InputError(f"{source.name} has a column {column!r} already; name another with --column")
        columns = [values.tolist() for values in (*source.read(names).values(), self.column)]
        filled = [["" if is_nothing(value) else value for value in values] for values in columns]
        write_csv(target, [*names, column], filled, safe=safe)
        return target

    def __str__(self) -> str:
        return render(self, "text")

    def __repr__(self) -> str:
        parts = ", ".join(f"{row['part']} {row['got']:.3g}" for row in self.split.shares.rows())
        return f"TableSplit({parts})"


def split_table(
    data: object,
    test: str | Mapping[str, float],
    spec: TableSpec | None = None,
    *,
    stratify: str | None = None,
    seed: int = 0,
    **fields: Unpack[TableFields],
) -> TableSplit:
    """Split a table so that each part of the test is what its name says; see `recombine.CellSplit`.

    Parameters
    ----------
    data : path or dataframe
    test : str or mapping of str to float
        Parts of the test and their shares of the table's rows, ``"determined:0.2,disconnected:0.1"``;
        ``"unseen level of dose:0.2"`` names the factor whose levels training lacks.
    spec : TableSpec, optional
        How the table is read; verdicts hold at its order, 1 by default.
    stratify : str, optional
        Outcome column to be alike in test and training.
    seed : int
    **fields
        Those of `recombine.TableSpec`; they replace those of ``spec``.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame(np.indices((6, 5)).reshape(2, -1).T, columns=["drug", "line"]).astype(str)
    >>> split = split_table(frame, "determined:0.2", factors=["drug", "line"])
    >>> split, split.column[0] in ("train", "test determined")
    (TableSplit(determined 0.2), True)
    """
    mix, spec = read_mix(test), make_spec(spec, fields)
    order = split_order(spec)
    # Factors are guessed as an audit guesses them: none is the outcome, a weight, ...
    rows = read_rows(data, spec, {"stratify": stratify}, unread={} if spec.factors is None else FACTORS_ALONE)
    design = rows.design
    split = split_rows(
        rows.codes,
        mix,
        Conjunctions(design.sizes, order, design.symmetric),
        outcome=None if stratify is None else outcome_values(rows, stratify),
        hidden=hidden_place(test, design.names),
        scales=(lambda cells: scales_of(design.space, cells)) if design.scales else None,
        seed=seed,
    )
    return TableSplit(rows, split, stratify, seed)
