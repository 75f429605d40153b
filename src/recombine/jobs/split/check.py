"""What an existing split proves, and whether it leaks: test cells by verdict, and cells that both sides share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import IntArray
from recombine.cells.conjunctions import canonical, distinct
from recombine.design.design import Design
from recombine.design.naming import split_parts, with_curved
from recombine.design.scaling import scales_asked
from recombine.errors import InputError
from recombine.jobs.audit.noise import cell_noise
from recombine.jobs.findings.finding import Finding, ResultKind
from recombine.jobs.outputs import render
from recombine.jobs.split.leaks import Leak, SidedRows, alike_levels, find_leaks
from recombine.jobs.split.table_files import FactorRows, outcome_values, read_rows
from recombine.jobs.structure.choice import Choice, choose_structure, verdicts_under
from recombine.tables.frames import open_table
from recombine.tables.grouping import training_rows
from recombine.tables.numbers import level_text
from recombine.tables.table import Table
from recombine.theory.identification.identify import identify
from recombine.theory.structures.all_structures import STRUCTURES
from recombine.verdicts import Verdict


@dataclass(frozen=True, eq=False)
class SplitCheck:
    """What the test rows of a split are to its training rows; make one with `check_split`.

    Attributes
    ----------
    rows : FactorRows
        The rows with all factors and a side.
    choice : Choice
        The structure under which verdicts hold.
    column : str
        The split column.
    sides : object array of shape (N,)
        What it says of each row, as text.
    train : bool array of shape (N,)
    cells : int array of shape (T, C)
        Distinct test cells; where factors are symmetric, their levels in order.
    codes : int array of shape (T,)
        Their verdicts.
    where : int array of shape (N - training rows,)
        Cell of each test row.
    leaks : tuple of Leak
    alike : tuple of (factor, level of test, level of training)
        Levels that differ by case, blanks, punctuation or the digits of a number only.
    """

    rows: FactorRows = field(repr=False)
    choice: Choice
    column: str
    sides: npt.NDArray[np.object_] = field(repr=False)
    train: npt.NDArray[np.bool_] = field(repr=False)
    cells: IntArray = field(repr=False)
    codes: IntArray = field(repr=False)
    where: IntArray = field(repr=False)
    leaks: tuple[Leak, ...]
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
        found = []
        for verdict in Verdict:
            count, rows = (
                int((self.codes[cells] == verdict).sum()),
                int((self.codes[self.where[mine]] == verdict).sum()),
            )
            if rows:
                shares = {"share of cells": count / len(cells), "share of rows": rows / int(mine.sum())}
                found.append({"verdict": verdict.word, "cells": count, "rows": rows, **shares})
        return Table.from_rows(found)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The leaks as numbered findings, which ``--fail-on`` names."""
        from recombine.jobs.findings.registry import find_all  # loads every finding: only for who asks

        return find_all(self, ResultKind.SPLIT)

    @property
    def trained(self) -> int:
        """Number of training rows."""
        return int(self.train.sum())

    def __str__(self) -> str:
        return render(self, "text")

    def __repr__(self) -> str:
        shares = ", ".join(f"{row['verdict']} {row['share of rows']:.3g}" for row in self.verdicts.rows())
        return f"SplitCheck({self.column} of {self.rows.source.name}; {shares}; {len(self.leaks)} kinds of leaks)"


def check_split(
    data: object,
    factors: Sequence[str],
    split: str,
    *,
    outcome: str | None = None,
    symmetric: Sequence[str] = (),
    as_levels: Sequence[str] = (),
    order: int | None = None,
    structure: str = "add",
    ordered: Sequence[str] = (),
    numeric: Sequence[str] = (),
    seed: int = 0,
) -> SplitCheck:
    """Say what a split proves: which test cells were seen, are determined by training, or are not, and what leaks.

    Parameters
    ----------
    data : path or dataframe
    factors : sequence of str
        Factor columns.
    split : str
        ``"column"`` or ``"column=value"``: rows with that value are training, the others the test.
    outcome : str, optional
        Outcome column; with it, levels that are copies of others are found.
    symmetric, as_levels, ordered, numeric : sequence of str
        As `Design.from_frame` takes them.
    order : int, optional
        Of the model at which verdicts hold; 1 by default.
    structure : str
        What effects do, as `recombine.audit` takes it; ``add`` by default.
    seed : int

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"colour": list("rrbb"), "shape": list("xyxy"), "part": ["train"] * 3 + ["test"]})
    >>> check_split(frame, ["colour", "shape"], "part").verdicts
    verdict     cells  rows  share of cells  share of rows
    determined  1      1     1.0             1.0
    """
    source = open_table(data)
    column, value = split_parts(split, source)
    if column is None:
        raise InputError("which column says the part of each row? Name it with --check")
    curved = list(scales_asked(ordered, numeric, source.columns))
    rows = read_rows(
        data,
        with_curved(factors, curved),
        {"split": column, "outcome": outcome},
        symmetric=symmetric,
        as_levels=[*as_levels, *(name for name in curved if name not in as_levels)],
        needed=[column],
    )
    sides, side_of = _distinct_values(rows.others[column][rows.kept])
    train = training_rows(sides, column, value)[side_of]
    if train.all() or not train.any():
        raise InputError(
            f"every row of {rows.source.name} is {'training' if train.all() else 'test'}; nothing to check"
        )
    design, choice = _judged(data, rows, split, outcome, order, structure, (ordered, numeric), seed)
    engine = identify(design.seen, order=choice.order, **design.shape, seed=seed)
    cells, where = distinct(canonical(rows.codes[~train], rows.symmetric))
    codes = verdicts_under(choice, engine, cells)
    numbers = None
    if outcome is not None:
        numbers = np.unique(outcome_values(rows, outcome), return_inverse=True)[1].reshape(-1)
    labels = tuple(factor.labels for factor in rows.factors)
    names = tuple(factor.name for factor in rows.factors)
    sided = SidedRows(names, labels, rows.codes, train, rows.symmetric, numbers)
    texts = np.array([level_text(side) for side in sides.tolist()], dtype=object)[side_of]
    leaks, alike = find_leaks(sided), tuple(alike_levels(sided))
    return SplitCheck(rows, choice, column, texts, train, cells, codes, where, leaks, alike)


def _distinct_values(column: npt.NDArray[Any]) -> tuple[npt.NDArray[np.object_], IntArray]:
    """Return the distinct values of a column (N,) in order of appearance, and the place of each row's among them."""
    found: dict[Any, int] = {}
    where = np.fromiter((found.setdefault(value, len(found)) for value in column.tolist()), np.int64, len(column))
    values = np.empty(len(found), dtype=object)
    values[:] = list(found)
    return values, where


def _judged(
    data: object,
    rows: FactorRows,
    split: str,
    outcome: str | None,
    order: int | None,
    structure: str,
    scales: tuple[Sequence[str], Sequence[str]],
    seed: int,
) -> tuple[Design, Choice]:
    """Return the design whose training cells judge the others, and the structure, which may need outcomes."""
    named = STRUCTURES.get(structure)
    design = Design.from_frame(
        data,
        factors=[factor.name for factor in rows.factors],
        outcome=outcome if named is None or named.needs_outcome else None,
        split=split,
        symmetric=[rows.factors[place].name for group in rows.symmetric for place in group],
        as_levels=[factor.name for factor in rows.factors],
        crossed=True,
        ordered=scales[0],
        numeric=scales[1],
    )
    adds = named is not None and named.adds
    asked = None if adds and order in (None, 1) else order
    if adds and asked is not None:
        return design, choose_structure(design, "auto", asked, seed=seed)  # without an outcome: sums of that order
    noise = None if design.outcome is None else cell_noise(design)
    variance = None if noise is None or noise.at_most else noise.variances
    return design, choose_structure(design, structure, asked, variance=variance, seed=seed)
