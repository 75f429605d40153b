"""A likelihood's flat and rising directions as linear constraints: what each observed outcome asks of a direction."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from recombine.cells.arrays import BoolArray, IntArray
from recombine.theory.structures.separation.margins import Margins
from recombine.theory.structures.separation.outcomes import Outcomes


def keep_columns(matrix: csr_array, columns: IntArray) -> csr_array:
    """Keep some columns (F,) of a sparse array (N, all) of which the rows have no others."""
    return csr_array(matrix[:, columns])


def against_first(functionals: csr_array, outcome: int, classes: int) -> csr_array:
    """Return functions (T, F) of values as those of class ``outcome`` against class 0, (T, F * classes).

    Examples
    --------
    >>> against_first(csr_array([[1, -1]]), 1, 2).toarray().tolist()
    [[-1, 1, 1, -1]]
    """
    wide = functionals.tocoo()
    rows, columns = wide.coords
    return csr_array(
        (
            np.concatenate([wide.data, -wide.data]),
            (np.concatenate([rows, rows]), np.concatenate([columns * classes + outcome, columns * classes])),
        ),
        shape=(functionals.shape[0], functionals.shape[1] * classes),
    )


def differences(ids: IntArray, plus: IntArray, minus: IntArray, classes: int, width: int) -> csr_array:
    """Return the rows of class ``plus`` (N,) against class ``minus`` (N,) in cells with value numbers ``ids`` (N, S).

    Examples
    --------
    >>> differences(np.array([[0, 1]]), np.array([2]), np.array([0]), 3, 6).toarray().tolist()
    [[-1, 0, 1, -1, 0, 1]]
    """
    columns = np.hstack([ids * classes + plus[:, None], ids * classes + minus[:, None]])
    data = np.hstack([np.ones_like(ids, dtype=np.int64), -np.ones_like(ids, dtype=np.int64)])
    rows = np.repeat(np.arange(len(ids)), columns.shape[1])
    found = csr_array((data.reshape(-1), (rows, columns.reshape(-1))), shape=(len(ids), width))
    found.eliminate_zeros()
    return found


def constraints(
    outcomes: Outcomes, margins: Margins, columns: IntArray
) -> tuple[csr_array, csr_array, IntArray, IntArray]:
    """Say along which directions the likelihood does not fall: no product with tied rows, none below 0 with loose ones.

    A cell with only successes must not lose, one with only failures not gain, one with both must stay; the mean of an
    empty cell must not grow; a class that a cell lacks must not gain on those it has.

    Returns
    -------
    loose, tied : sparse arrays of int, (m, W) and (b, W)
        W is the number of ``columns``, for softmax times the number of classes.
    cell, ruled : IntArray, (m,)
        Whose each loose row is, and the class that vanishes there where its product is positive.

    Examples
    --------
    >>> from recombine.theory.structures.separation.outcomes import gather_outcomes
    >>> outcomes = gather_outcomes([[0], [0], [1]], [0, 1, 1])
    >>> loose, tied, cell, ruled = constraints(outcomes, Margins.of_order((2,)), np.arange(2))
    >>> loose.toarray().tolist(), tied.toarray().tolist(), cell.tolist(), ruled.tolist()
    ([[0, 1]], [[1, 0]], [1], [0])
    """
    rows = keep_columns(margins.incidence(outcomes.cells), columns)
    seen = outcomes.totals > 0
    if outcomes.family == "softmax":
        return _of_classes(rows, seen)
    if outcomes.family == "log":
        sign, tied = np.where(seen[:, 0], 0, -1), seen[:, 0]
        ruled = np.zeros(len(seen), dtype=np.int64)
    else:
        tied = np.asarray(seen.all(axis=1))
        sign = np.where(tied, 0, np.where(seen[:, 1], 1, -1))
        ruled = np.where(seen[:, 1], 0, 1)
    loose = np.flatnonzero(~tied)
    signed = csr_array(rows[loose].multiply(sign[loose][:, None]))
    return signed.astype(np.int64), csr_array(rows[np.flatnonzero(tied)]), loose, ruled[loose]


def _of_classes(rows: csr_array, seen: BoolArray) -> tuple[csr_array, csr_array, IntArray, IntArray]:
    classes = seen.shape[1]
    ids = rows.indices.reshape(rows.shape[0], -1).astype(np.int64)
    first = seen.argmax(axis=1)
    cell, other = np.nonzero(np.arange(classes)[None, :] != first[:, None])
    wide = differences(ids[cell], first[cell], other, classes, rows.shape[1] * classes)
    observed = seen[cell, other]
    loose = np.flatnonzero(~observed)
    return csr_array(wide[loose]), csr_array(wide[np.flatnonzero(observed)]), cell[loose], other[loose]
