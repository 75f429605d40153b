"""What an existing split proves, and whether it leaks: test cells by verdict, and cells that both sides share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt

from recombine.cells.conjunctions import canonical, distinct
from recombine.design.naming import outcome_parts, split_parts
from recombine.errors import InputError
from recombine.jobs.audit.audit import audit
from recombine.jobs.findings.finding import Finding, ResultKind
from recombine.jobs.outputs import Answered
from recombine.jobs.score.predictions import first_class, structure_of_classes
from recombine.jobs.split.leaks import Leak, SidedRows, alike_levels, find_leaks
from recombine.jobs.split.table_files import FactorRows, column_texts, outcome_values, read_rows
from recombine.table_spec import TableFields, TableSpec, asked_structure, make_spec
from recombine.tables.frames import open_table
from recombine.tables.grouping import training_rows
from recombine.tables.table import Table
from recombine.verdicts import Verdict

if TYPE_CHECKING:
    from recombine.cells.arrays import IntArray
    from recombine.jobs.structure.choice import Choice


@dataclass(frozen=True, eq=False)
class SplitCheck(Answered):
    """What the test rows of a split are to its training rows; make one with `check_split`."""

    rows: FactorRows  #: Those with all factors and a side.
    choice: Choice  #: The structure under which verdicts hold.
    column: str  #: The split column.
    sides: npt.NDArray[np.object_]  #: (N,): what it says of each row, as text.
    train: npt.NDArray[np.bool_]  #: (N,)
    cells: IntArray  #: (T, C): distinct test cells; where factors are symmetric, their levels in order.
    codes: IntArray  #: (T,): their verdicts.
    where: IntArray  #: (N - training rows,): cell of each test row.
    leaks: tuple[Leak, ...]
    #: Factor, level of test, level of training: they differ by case, blanks, punctuation or digits of a number only.
    alike: tuple[tuple[str, str, str], ...]

    @cached_property
    def verdicts(self) -> Table:
        """One row per verdict that occurs: test cells and test rows, and their shares of all of them."""
        return self._counted(np.ones(len(self.where), dtype=bool))

    @cached_property
    def by_side(self) -> dict[str, Table]:
        """The same for each value of the split column that is not training, such as valid and test."""
        sides = self.sides[~self.train]
        return {side: self._counted(sides == side) for side in sorted(set(sides.tolist()))}

    def _counted(self, mine: npt.NDArray[np.bool_]) -> Table:
        cells = np.unique(self.where[mine])
        records = []
        for verdict in Verdict:
            count = int((self.codes[cells] == verdict).sum())
            rows = int((self.codes[self.where[mine]] == verdict).sum())
            if rows:
                shares = {"share of cells": count / len(cells), "share of rows": rows / int(mine.sum())}
                records.append({"verdict": verdict.word, "cells": count, "rows": rows, **shares})
        return Table.from_rows(records)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The leaks as numbered findings, which ``--fail-on`` names."""
        from recombine.jobs.findings.registry import find_all  # loads every finding: only for who asks

        return find_all(self, ResultKind.SPLIT)

    @property
    def trained(self) -> int:
        """Number of training rows."""
        return int(self.train.sum())

    def __repr__(self) -> str:
        shares = ", ".join(f"{row['verdict']} {row['share of rows']:.3g}" for row in self.verdicts.rows())
        return f"SplitCheck({shares}; {len(self.leaks)} kinds of leaks)"


def check_split(
    data: object, spec: TableSpec | None = None, *, seed: int = 0, **fields: Unpack[TableFields]
) -> SplitCheck:
    """Say what a split proves: which test cells were seen, are determined by training, or are not, and what leaks.

    Parameters
    ----------
    data : path or dataframe
    spec : TableSpec, optional
        How the table is read. Its ``split`` is what is checked; with an ``outcome``, levels that are copies of others
        are found; ``structure`` and ``order`` say under what verdicts hold, and are chosen as an audit does by default.
    seed : int
    **fields
        Those of `recombine.TableSpec`; they replace those of ``spec``.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"colour": list("rrbb"), "shape": list("xyxy"), "part": ["train"] * 3 + ["test"]})
    >>> check_split(frame, factors=["colour", "shape"], split="part").verdicts
    verdict     cells  rows  share of cells  share of rows
    determined  1      1     1.0             1.0
    """
    # How much cells matter is no matter here.
    spec = make_spec(spec, {**fields, "importance": None})
    source = open_table(data, spec)
    column, value = split_parts(spec.split, source)
    if column is None:
        raise InputError("which column says the part of each row? Name it with --check")
    outcome = outcome_parts(spec.outcome, source)[0]
    # Verdicts are those of audit and score: of several classes those of the first, which add by default.
    single = first_class(source, spec)
    unread: TableFields = {} if single is None else {"outcome": single}
    rows = read_rows(data, spec, {"split": column, "outcome": outcome}, [column], unread)
    sides, side_of = _distinct_values(rows.others[column][rows.kept])
    train = training_rows(sides, column, value)[side_of]
    if train.all() or not train.any():
        raise InputError(
            f"every row of {rows.source.name} is {'training' if train.all() else 'test'}; nothing to check"
        )
    design = rows.design
    structure, order = asked_structure(spec, None, None)
    by_default = single is not None and structure == "auto"
    judged = audit(design, order, structure=structure_of_classes(order) if by_default else structure, seed=seed)
    choice = replace(judged.choice, asked=False, ladder=None) if by_default else judged.choice
    cells, where = distinct(canonical(rows.codes[~train], design.symmetric))
    values = None if outcome is None else outcome_values(rows, outcome)
    numbers = None if values is None else np.unique(values, return_inverse=True)[1].reshape(-1)
    measured = values if values is not None and values.dtype.kind == "f" else None
    labels = tuple(factor.labels for factor in design.factors)
    sided = SidedRows(design.names, labels, rows.codes, train, design.symmetric, numbers, measured)
    return SplitCheck(
        rows,
        choice,
        column,
        np.array(column_texts(sides), dtype=object)[side_of],
        train,
        cells,
        judged.decided.verdicts_of(cells),
        where,
        find_leaks(sided),
        tuple(alike_levels(sided)),
    )


def _distinct_values(column: npt.NDArray[Any]) -> tuple[npt.NDArray[np.object_], IntArray]:
    """Return the distinct values of a column (N,) in order of appearance, and the place of each row's among them."""
    code_of: dict[Any, int] = {}
    where = np.array([code_of.setdefault(value, len(code_of)) for value in column.tolist()], dtype=np.int64)
    values = np.empty(len(code_of), dtype=object)
    values[:] = list(code_of)
    return values, where
