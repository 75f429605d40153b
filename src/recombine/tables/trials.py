"""An outcome ``conversions/visitors``: of so many trials so many succeeded, as tables of tests have it.

A row with 70 conversions of 2,327 visitors stands for 70 ones and 2,257 zeros: it becomes two rows with these numbers
as counts, so that the noise is that of single visitors, and effects may add on log odds.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from recombine.errors import InputError
from recombine.table_spec import TableSpec, make_spec
from recombine.tables.engine import Relation
from recombine.tables.frames import Source, open_table


def open_counted(data: object, spec: TableSpec) -> tuple[Source, TableSpec]:
    """Open a table, and read successes of trials as single ones where its outcome names both; see `count_trials`."""
    return count_trials(open_table(data, spec), spec)


def count_trials(source: Source, spec: TableSpec) -> tuple[Source, TableSpec]:
    """Return a table of successes and failures where the outcome is ``successes/trials``; else what was given.

    Examples
    --------
    >>> shop = {"page": ["a", "b"], "bought": [1, 0], "visitors": [4, 2]}
    >>> counted, spec = count_trials(open_table(shop), TableSpec(outcome="bought/visitors"))
    >>> counted.read(counted.columns)["visitors"].tolist(), spec.weight, spec.counts
    ([1.0, 3.0, 2.0], 'visitors', True)
    """
    columns = _columns_of(spec.outcome, source)
    if columns is None:
        return source, spec
    if spec.weight is not None or spec.sd is not None:
        raise InputError(f"outcome {spec.outcome!r} says of how many; leave --weight and --sd out")
    successes, trials = (_whole_numbers(source, column) for column in columns)
    if (wrong := np.flatnonzero(successes > trials)).size:
        wrong_row = int(wrong[0])
        raise InputError(
            f"outcome {spec.outcome!r}: {columns[0]} is {successes[wrong_row]:g} of {trials[wrong_row]:g} {columns[1]} "
            f"in row {wrong_row + 1} of {source.name}, more than there were"
        )
    counts = np.stack([successes, trials - successes], axis=1)
    # A count of nothing is no row; a row that lacks one of the two numbers is one without an outcome.
    row, failed = np.nonzero((counts > 0) | ~np.isfinite(counts))
    others = source.read([name for name in source.columns if name not in columns])
    finite = np.isfinite(counts[row, failed])
    table = {name: values[row] for name, values in others.items()}
    table |= {
        str(spec.outcome): np.where(finite, 1.0 - failed, np.nan),
        columns[1]: np.where(finite, counts[row, failed], 1),
    }
    counted = open_table(table)
    assert isinstance(counted.reader, Relation)
    reader = replace(counted.reader, note=source.reader.note, notes=source.reader.notes)
    return replace(counted, reader=reader, name=source.name), make_spec(spec, {"weight": columns[1], "counts": True})


def _columns_of(outcome: str | None, source: Source) -> tuple[str, str] | None:
    """Return the columns of successes and trials that an outcome names; None where it is a column itself."""
    if outcome is None or outcome in source.columns:
        return None
    slashes = [index for index, letter in enumerate(outcome) if letter == "/"]
    pairs = ((outcome[:index].strip(), outcome[index + 1 :].strip()) for index in slashes)
    return next((pair for pair in pairs if {*pair} <= {*source.columns} and pair[0] != pair[1]), None)


def _whole_numbers(source: Source, column: str) -> npt.NDArray[np.float64]:
    """Return a column of counts (N,), NaN where one is missing."""
    written = source.read([column])[column]
    if not len(written):
        raise InputError(f"{source.name} has no usable row (it has a header but no rows); nothing to audit")
    counts = np.full(1, -1.0)
    if source.kind(column) in ("integer", "number"):
        counts = np.array([np.nan if value is None or value == "" else float(value) for value in written])
    if (np.isfinite(counts) & ((counts < 0) | (counts % 1 != 0))).any():
        raise InputError(f"column {column!r} of {source.name} has other values than counts; name two columns of counts")
    return counts
