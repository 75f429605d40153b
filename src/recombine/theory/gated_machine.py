"""One support vector machine without intercept on a given signed Gram matrix, and whether it exists at all.

Hard margin: min a'Qa/2 - sum a over a >= 0. Q is often singular, so a small multiple of the identity is added and taken
back by proximal steps (each solves with 1 + jitter * a on the right), which end at a solution of the unchanged problem.
If the data cannot be separated there is p >= 0 with Qp = 0, hence p'Qa = 0 and some margin (Qa)_i <= 0 whatever a is;
if they can, margins tend to one. That tells the two apart down to relative margins of about 1e-5.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recombine.arrays import BoolArray, FloatArray, IntArray
from recombine.errors import SolverError
from recombine.theory.pivoting import nonnegative_minimum

#: Share of the mean diagonal that makes the matrix definite.
JITTER = 1e-10
#: Margins may miss one by this.
SHORT = 1e-10
MOST_PROXIMAL_STEPS = 30


class NotSeparableError(SolverError):
    """No function of the architecture has positive margins on all samples, so there is no hard margin.

    Examples
    --------
    >>> raise NotSeparableError
    Traceback (most recent call last):
        ...
    recombine.theory.gated_machine.NotSeparableError: no gated linear function with these contexts separates the
        samples, so there is no hard margin; add units or contexts, or give a finite C
    """

    def __init__(self) -> None:
        super().__init__(
            "no gated linear function with these contexts separates the samples, so there is no hard margin; "
            "add units or contexts, or give a finite C"
        )


@dataclass(frozen=True, eq=False)
class Machine:
    """A solved machine: dual (n,), signed Gram matrix with what was added to its diagonal, margins (n,)."""

    dual: FloatArray
    matrix: FloatArray
    margins: FloatArray

    @property
    def margin(self) -> float:
        """The smallest margin; one up to rounding in the hard case."""
        return float(self.margins.min())

    @property
    def violations(self) -> FloatArray:
        """How far each margin falls short of one, shape (n,)."""
        return np.maximum(1 - self.margins, 0.0)

    def solve(self, rows: IntArray, right: FloatArray) -> FloatArray:
        """Solve with the block of the matrix on ``rows`` for each column of ``right``."""
        from scipy.linalg import cho_factor, cho_solve

        block = self.matrix[np.ix_(rows, rows)]
        answer: FloatArray = cho_solve(cho_factor(block, lower=True, check_finite=False), right)
        return answer


def machine_for(signed: FloatArray, C: float = np.inf, start: BoolArray | None = None) -> Machine:
    """Solve the machine of a signed Gram matrix Q = yy' o K.

    Parameters
    ----------
    signed : ndarray (n, n)
    C : float
        Price of violations, C / 2 times the sum of their squares; infinite for the hard margin.
    start : ndarray of bool (n,), optional
        Guess of the support.

    Examples
    --------
    >>> machine_for(np.array([[2.0, 0.0], [0.0, 4.0]])).dual.round(6).tolist()
    [0.5, 0.25]
    """
    scale = float(np.trace(signed)) / len(signed)
    if not scale > 0:
        raise NotSeparableError
    jitter = JITTER * scale if np.isinf(C) else 1 / C
    matrix = signed + jitter * np.eye(len(signed))
    dual, _ = nonnegative_minimum(matrix, np.ones(len(signed)), start)
    margins = signed @ dual
    if np.isinf(C):
        if margins.min() < 0.5:
            raise NotSeparableError
        dual, margins = _refined(signed, matrix, jitter, dual, margins)
    return Machine(dual, matrix, margins)


def _refined(
    signed: FloatArray, matrix: FloatArray, jitter: float, dual: FloatArray, margins: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Take the jitter back by proximal steps."""
    for _ in range(MOST_PROXIMAL_STEPS):
        if margins.min() > 1 - SHORT:
            break
        closer, _ = nonnegative_minimum(matrix, 1 + jitter * dual, dual > 0)
        gained = signed @ closer
        # Where a step no longer halves what is missing, rounding is all that is left.
        if 1 - gained.min() > (1 - margins.min()) / 2:
            break
        dual, margins = closer, gained
    return dual, margins
