"""Tables: read their factor columns row by row, split them, and write them again with a column that says the part."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, IntArray
from recombine.checks import whole
from recombine.design.factors import Factor, code_levels, place_of
from recombine.design.naming import check_insisted, factor_names, taken_columns
from recombine.errors import InputError
from recombine.jobs.outputs import render
from recombine.jobs.split.mix import TRAIN, UNUSED, hidden_place, read_mix
from recombine.jobs.split.rows import RowSplit, split_rows
from recombine.output_files import check_file, path_beside
from recombine.tables.columns import check_factor, factor_profile
from recombine.tables.frames import Source, open_table
from recombine.tables.numbers import level_text
from recombine.verdicts import Verdict
from recombine.writing import listing

#: What the split column says of a row: its side and, for a test row, what it is to training. Unused rows say nothing.
WORDS = {TRAIN: "train", UNUSED: ""} | {int(verdict): f"test {verdict.word}" for verdict in Verdict}


@dataclass(frozen=True, eq=False)
class FactorRows:
    """The rows of a table that have all their factors.

    ``codes`` (N, C) are levels as written (symmetric factors share theirs), ``kept`` (R,) which rows of the table these
    are, and ``others`` further columns (R,) that were asked for.
    """

    source: Source
    factors: tuple[Factor, ...]
    codes: IntArray
    kept: BoolArray
    symmetric: tuple[tuple[int, ...], ...]
    others: Mapping[str, npt.NDArray[Any]]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Levels of each factor."""
        return tuple(len(factor.levels) for factor in self.factors)

    @property
    def title(self) -> str:
        """Factor names with their numbers of levels."""
        return " × ".join(f"{factor.name} ({len(factor.levels):,})" for factor in self.factors)


def read_rows(
    data: object,
    factors: Sequence[str],
    roles: Mapping[str, str | None],
    *,
    symmetric: Sequence[str] = (),
    as_levels: Sequence[str] = (),
    needed: Sequence[str] = (),
) -> FactorRows:
    """Read factor columns, and the columns that play ``roles``, of a path or dataframe; see `FactorRows`.

    Rows that lack a factor, or one of the columns ``needed``, are left out.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"a": ["x", "y", None], "b": ["u", "v", "v"]})
    >>> found = read_rows(frame, ["a", "b"], {})
    >>> found.codes.tolist(), found.kept.tolist()
    ([[0, 0], [1, 1]], [True, True, False])
    """
    source = open_table(data)
    taken = taken_columns(source, roles)
    names = factor_names(source, factors, taken)
    check_insisted(source, as_levels, names)
    places = tuple(sorted(place_of(names, name) for name in symmetric))
    if places and len(set(places)) < max(2, len(places)):
        raise InputError(f"symmetric factors {listing(symmetric)}: name two or more, each once")
    part = source.kept([*names, *taken])
    columns = part.read([*names, *taken])
    kept = np.ones(len(columns[names[0]]), dtype=bool)
    for name in (*names, *needed):
        kept &= ~_missing(columns[name])
    if not kept.any():
        raise InputError(f"{source.name} has no row with {listing(names)}; check the columns")
    plain = [columns[name][kept] for name in names]
    found, codes = code_levels(names, plain, places, source.name)
    for factor in found:
        check_factor(factor_profile(source, factor.name, factor.levels), source.name, factor.name in as_levels)
    others = {name: columns[name] for name in taken}
    part.look(taken)  # kinds of columns that are parsed already; the source knows them from here on
    return FactorRows(source, found, codes, kept, (places,) if places else (), others)


def _missing(values: npt.NDArray[Any]) -> BoolArray:
    if values.dtype.kind == "O":
        listed = values.tolist()
        if not any(map(_is_nothing, set(listed))):  # of the few values that stand in many rows each is looked at once
            return np.zeros(len(listed), dtype=bool)
        return np.fromiter(map(_is_nothing, listed), dtype=bool, count=len(listed))
    if values.dtype.kind in "fmM":
        return np.asarray(values != values)
    return np.zeros(len(values), dtype=bool)


def _is_nothing(value: Any) -> bool:
    # pandas has missing values that refuse to be compared.
    return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)


def outcome_values(rows: FactorRows, name: str) -> npt.NDArray[Any]:
    """Return an outcome column of the kept rows (N,): numbers where all are, else texts; what is missing is one more.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"a": ["x", "y"], "b": ["u", "v"], "y": ["no", None]})
    >>> outcome_values(read_rows(frame, ["a", "b"], {"outcome": "y"}), "y").tolist()
    ['no', '']
    """
    values = rows.others[name][rows.kept]
    missing = _missing(values)
    if rows.source.kind(name) in ("integer", "number") and not missing.any():
        return np.asarray(values, dtype=np.float64)
    texts = ["" if gone else level_text(value) for value, gone in zip(values.tolist(), missing, strict=True)]
    if rows.source.kind(name) not in ("integer", "number"):
        return np.array(texts)
    # A number that is missing is a bin of its own, below all others.
    numbers = np.array([-np.inf if gone else float(text) for text, gone in zip(texts, missing, strict=True)])
    return numbers


@dataclass(frozen=True, eq=False)
class TableSplit:
    """A table with the part of each row; make one with `split_table`.

    Attributes
    ----------
    rows : FactorRows
        The rows that were split; others lack a factor and are in no part.
    split : RowSplit
        Their parts.
    stratified : str or None
        The outcome that was made alike.
    seed : int
    """

    rows: FactorRows
    split: RowSplit
    stratified: str | None
    seed: int

    @cached_property
    def column(self) -> npt.NDArray[np.object_]:
        """The split column (R,): ``train``, ``test determined``, ..., and nothing for rows in no part."""
        words = np.array([WORDS[code] for code in range(UNUSED, max(Verdict) + 1)], dtype=object)
        found = np.full(len(self.rows.kept), "", dtype=object)
        found[self.rows.kept] = words[self.split.part - UNUSED]
        return found

    @cached_property
    def hidden(self) -> dict[str, tuple[str, ...]]:
        """Factor -> its levels that test rows have and training lacks; only factors that have such levels."""
        test, train = (self.rows.codes[rows] for rows in (self.split.test, self.split.train))
        twins = {place: group for group in self.rows.symmetric for place in group}
        found = {}
        for place, factor in enumerate(self.rows.factors):
            known = train[:, list(twins.get(place, (place,)))]
            fresh = np.setdiff1d(test[:, place], known)
            if len(fresh):
                found[factor.name] = tuple(factor.labels[int(code)] for code in fresh)
        return found

    @property
    def left_out(self) -> int:
        """Rows of the table that lack a factor."""
        return int((~self.rows.kept).sum())

    def to_csv(self, path: str | Path, *, column: str = "split", force: bool = False) -> Path:
        """Write the table as CSV, all its columns and the split column last; an existing file is kept unless ``force``.

        Values are written as they were read; what was missing is left blank.
        """
        target = Path(path)
        check_file(target, force)
        source = self.rows.source
        names = source.columns
        if column in names:
            raise InputError(f"{source.name} has a column {column!r} already; name another with --column")
        values = [*source.read(names).values(), self.column]
        with path_beside(target) as draft, draft.open("x", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow([*names, column])
            writer.writerows(zip(*(_texts(part) for part in values), strict=True))
        return target

    def __str__(self) -> str:
        return render(self, "text")

    def __repr__(self) -> str:
        parts = ", ".join(f"{row['part']} {row['got']:.3g}" for row in self.split.shares.rows())
        return f"TableSplit({self.rows.source.name}; {parts})"


def _texts(values: npt.NDArray[Any]) -> list[Any]:
    return ["" if _is_nothing(value) else value for value in values.tolist()]


def split_table(
    data: object,
    factors: Sequence[str],
    test: str | Mapping[str, float],
    *,
    stratify: str | None = None,
    symmetric: Sequence[str] = (),
    as_levels: Sequence[str] = (),
    order: int = 1,
    seed: int = 0,
) -> TableSplit:
    """Split a table so that each part of the test is what its name says; see `recombine.CellSplit`.

    Parameters
    ----------
    data : path or dataframe
    factors : sequence of str
        Factor columns.
    test : str or mapping of str to float
        Parts of the test and their shares of the table's rows, ``"determined:0.2,disconnected:0.1"``;
        ``"unseen level of dose:0.2"`` names the factor whose levels training lacks.
    stratify : str, optional
        Outcome column to be alike in test and training.
    symmetric, as_levels : sequence of str
        As `Design.from_frame` takes them.
    order : int
        Of the model at which verdicts hold.
    seed : int

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame(np.indices((6, 5)).reshape(2, -1).T, columns=["drug", "line"]).astype(str)
    >>> found = split_table(frame, ["drug", "line"], "determined:0.2")
    >>> found, found.column[0] in ("train", "test determined")
    (TableSplit(the table; determined 0.2), True)
    """
    mix = read_mix(test)
    rows = read_rows(data, factors, {"stratify": stratify}, symmetric=symmetric, as_levels=as_levels)
    if not 1 <= whole(order, "order") <= len(rows.factors):
        raise InputError(f"order {order} does not fit {len(rows.factors)} factors; choose 1 to {len(rows.factors)}")
    outcome = None if stratify is None else outcome_values(rows, stratify)
    hidden = hidden_place(test, [factor.name for factor in rows.factors])
    found = split_rows(
        rows.codes,
        mix,
        sizes=rows.sizes,
        order=order,
        symmetric=rows.symmetric,
        outcome=outcome,
        hidden=hidden,
        seed=seed,
    )
    return TableSplit(rows, found, stratify, seed)
