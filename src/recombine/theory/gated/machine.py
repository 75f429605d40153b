"""One support vector machine without intercept on a given signed Gram matrix, and whether it exists at all.

Hard margin: min a'Qa/2 - sum a over a >= 0. Q is often singular, so a small multiple of the identity is added and taken
back by proximal steps (each solves with 1 + jitter * a on the right), which end at a solution of the unchanged problem.
If the data can be separated, margins (Qa)_i tend to one. If they cannot, there is p >= 0 with sum p = 1 and Qp = 0, the
certificate that no function has positive margins. Where neither is found (relative margins below about 1e-5), rounding
hides the answer, and that is said.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.errors import SolverError
from recombine.theory.gated.pivoting import nonnegative_minimum

#: Share of the mean diagonal that makes the matrix definite.
MACHINE_JITTER = 1e-10
#: Margins may miss one by this.
MARGIN_SHORTFALL = 1e-10
MAX_PROXIMAL_STEPS = 30
#: Steps towards a certificate; each one shrinks what is left by the jitter over the eigenvalue that matters.
CERTIFICATE_STEPS = 6


class NotSeparableError(SolverError):
    """No function of the architecture has positive margins on all samples, so there is no hard margin.

    Examples
    --------
    >>> raise NotSeparableError
    Traceback (most recent call last):
        ...
    recombine.theory.gated.machine.NotSeparableError: no gated linear function with these contexts separates the
        samples, so there is no hard margin; add units or contexts, or give a finite C
    """

    def __init__(self) -> None:
        super().__init__(
            "no gated linear function with these contexts separates the samples, so there is no hard margin; "
            "add units or contexts, or give a finite C"
        )


class UndecidedError(SolverError):
    """Rounding hides whether there is a hard margin: neither a function nor a certificate against one was found.

    Examples
    --------
    >>> raise UndecidedError
    Traceback (most recent call last):
        ...
    recombine.theory.gated.machine.UndecidedError: the samples may be separable, but with a margin so small beside the
        inputs that rounding hides it; centre and scale the inputs, or give a finite C
    """

    def __init__(self) -> None:
        super().__init__(
            "the samples may be separable, but with a margin so small beside the inputs that rounding hides it; "
            "centre and scale the inputs, or give a finite C"
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

    Raises
    ------
    UndecidedError
        If C is infinite and no margins near one were found; `inseparability_certificate` tells whether there are any.

    Examples
    --------
    >>> machine_for(np.array([[2.0, 0.0], [0.0, 4.0]])).dual.round(6).tolist()
    [0.5, 0.25]
    """
    jitter = MACHINE_JITTER * float(np.trace(signed)) / len(signed) if np.isinf(C) else 1 / C
    matrix = signed + jitter * np.eye(len(signed))
    try:
        dual, _ = nonnegative_minimum(matrix, np.ones(len(signed)), start)
    except SolverError as error:
        raise (UndecidedError() if np.isinf(C) else error) from error
    margins = signed @ dual
    if np.isinf(C):
        if not margins.min() >= 0.5:
            raise UndecidedError
        dual, margins = _refined(signed, matrix, jitter, dual, margins)
    return Machine(dual, matrix, margins)


def inseparability_certificate(signed: FloatArray) -> FloatArray:
    """Return p >= 0, sum p = 1, of shape (n,), that makes p'Qp as small as rounding lets it: 0 if nothing separates.

    It minimises p'Qp + (sum p - 1)^2. Where the minimum is zero, jitter is no bias and proximal steps end it quickly.

    Examples
    --------
    One sample with both labels, and one that is easy:

    >>> Q = np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> inseparability_certificate(Q).round(6).tolist()
    [0.5, 0.5, 0.0]
    """
    scale = float(np.trace(signed)) / len(signed)
    matrix = (signed / scale if scale else signed) + 1 + MACHINE_JITTER * np.eye(len(signed))
    weights, start = np.zeros(len(signed)), None
    for _ in range(CERTIFICATE_STEPS):
        weights, _ = nonnegative_minimum(matrix, 1 + MACHINE_JITTER * weights, start)
        start = weights > 0
    share: FloatArray = weights / weights.sum()
    return share


def _refined(
    signed: FloatArray, matrix: FloatArray, jitter: float, dual: FloatArray, margins: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Take the jitter back by proximal steps."""
    for _ in range(MAX_PROXIMAL_STEPS):
        if margins.min() > 1 - MARGIN_SHORTFALL:
            break
        closer, _ = nonnegative_minimum(matrix, 1 + jitter * dual, dual > 0)
        gained = signed @ closer
        # Where a step no longer halves what is missing, rounding is all that is left.
        if 1 - gained.min() > (1 - margins.min()) / 2:
            break
        dual, margins = closer, gained
    return dual, margins
