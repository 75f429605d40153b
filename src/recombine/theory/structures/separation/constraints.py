"""A likelihood's flat and rising directions as linear constraints: what each observed outcome asks of a direction."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from recombine.cells.arrays import IntArray
from recombine.theory.structures.separation.families import Constraints
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


def constraints(outcomes: Outcomes, margins: Margins, columns: IntArray) -> Constraints:
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
    return outcomes.family.constraints(rows, outcomes.totals > 0)
