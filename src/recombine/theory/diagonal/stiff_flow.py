"""Gradient flow of a wide diagonal linear network with one output, integrated by implicit steps.

The network is two arrays (as trained by hand): coefficients are up^2 - down^2, and with s minus the slope of
the mean squared error in the coefficients,

    d up / dt = up s,    d down / dt = -down s,    s = (2 / n) X'(y - X beta).

Flow keeps up * down, the price of a feature. Nothing here knows that: it is measured. Time is that of gradient descent,
its rate times its steps. Once few large weights fit most of the targets, what is left waits for weights that may be a
million times smaller, so explicit steps would have to be a million times too short.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray
from recombine.cells.threads import one_thread
from recombine.checks import real
from recombine.errors import InputError, SolverError
from recombine.sample_checks import moderate, reachable, samples

#: Errors of a step are relative to each weight down to this size: small weights count, for they may grow.
BDF_WEIGHT_TOLERANCE = 1e-30
#: Steps, and time, at which to give up: implicit steps that are longer still are lost in rounding.
MAX_BDF_STEPS, MAX_BDF_TIME = 5000, 1e14


@dataclass(frozen=True, eq=False)
class FlowEnd:
    """Where gradient flow ended.

    Attributes
    ----------
    up, down : ndarray (D,)
    times : ndarray (T,)
        The start and the end of every step. The last is later than exact flow would need: errors of the size of the
        precision die out over long steps.
    path : ndarray (T, D)
        Coefficients at those times.
    residual : float
        Largest deviation from a target, relative to the largest target.
    drift : float
        Largest relative change of up * down, which exact flow conserves.
    """

    up: FloatArray = field(repr=False)
    down: FloatArray = field(repr=False)
    times: FloatArray = field(repr=False)
    path: FloatArray = field(repr=False)
    residual: float
    drift: float

    @property
    def value(self) -> FloatArray:
        """Coefficients at the end, (D,)."""
        return np.asarray(self.path[-1])

    @property
    def steps(self) -> int:
        """Steps that were taken."""
        return len(self.path) - 1


@dataclass(frozen=True, eq=False)
class _Network:
    """Samples of one task; weights are up and down in one vector (2D,)."""

    X: FloatArray
    y: FloatArray
    gram: FloatArray

    @staticmethod
    def beta(weights: FloatArray) -> FloatArray:
        up, down = np.split(weights, 2)
        return np.asarray((up - down) * (up + down))

    def residual(self, beta: FloatArray) -> float:
        return float(np.abs(self.y - self.X @ beta).max()) / (float(np.abs(self.y).max()) or 1.0)

    def rates(self, weights: FloatArray) -> FloatArray:
        """Rate of growth of each weight, (2D,)."""
        slope = (self.y - self.X @ self.beta(weights)) @ self.X * (2 / len(self.y))
        return np.concatenate([slope, -slope])

    def velocity(self, _: float, weights: FloatArray) -> FloatArray:
        return weights * self.rates(weights)

    def jacobian(self, _: float, weights: FloatArray) -> FloatArray:
        """Derivatives of velocities, (2D, 2D): the rate of each weight by itself, and how weights share the samples."""
        up, down = np.split(weights, 2)
        signed = np.concatenate([up, -down])
        matrix = np.tile(self.gram, (2, 2))
        matrix *= signed[:, None]
        matrix *= -2 * signed
        matrix[np.diag_indices(len(weights))] += self.rates(weights)
        return matrix


def stiff_flow(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    start: tuple[npt.ArrayLike, npt.ArrayLike],
    *,
    tolerance: float = 1e-12,
    precision: float = 1e-6,
) -> FlowEnd:
    """Integrate gradient flow on the mean squared error until all samples are fitted.

    Weights that hardly change any more take coefficients to an end that is as close as the residual says, up to a
    factor that depends on the inputs alone: however unequal the weights, weighted pseudo-inverses of a matrix are
    bounded (Stewart 1989).

    Parameters
    ----------
    X : array (n, D)
    y : array (n,)
    start : pair of arrays (D,)
        Up and down at the start. A weight of zero never moves, so they must not all be zero.
    tolerance : float
        Largest deviation from a target, relative to the largest target, to stop at: below 1, and no less than 1e-14, as
        rounding leaves that much.
    precision : float
        Error of a step relative to every weight (backward differentiation of order 1 to 5), from 1e-12 to 0.01.

    Examples
    --------
    >>> end = stiff_flow([[1.0, 2.0, 2.0]], [3.0], (np.full(3, 10.0), np.full(3, 10.0)))
    >>> end.value.round(4)
    array([0.3333, 0.6667, 0.6667])
    """
    from scipy.integrate import BDF

    inputs, targets, weights = _checked(X, y, start)
    network = _Network(inputs, targets, inputs.T @ inputs * (2 / len(targets)))
    aim = real(tolerance, "tolerance", at_least=1e-14, below=1)
    error = real(precision, "precision", at_least=1e-12, at_most=1e-2)
    if network.residual(network.beta(weights)) > aim:
        reachable(inputs, targets, np.any(np.split(weights, 2), axis=0))
    times, path = [0.0], [network.beta(weights)]
    with one_thread():  # networks run side by side in processes
        solver = BDF(
            network.velocity, 0.0, weights, MAX_BDF_TIME, rtol=error, atol=BDF_WEIGHT_TOLERANCE, jac=network.jacobian
        )
        while not (reached := network.residual(path[-1])) <= aim:
            if solver.status != "running" or len(path) > MAX_BDF_STEPS:
                raise SolverError(
                    f"gradient flow is still {reached:.1e} from the targets at time {solver.t:.1e}; "
                    "can they be reached from such a start?"
                )
            solver.step()
            times.append(float(solver.t))
            path.append(network.beta(solver.y))
    up, down = np.split(solver.y, 2)
    return FlowEnd(up, down, np.array(times), np.array(path), reached, _drift(weights, solver.y))


def _drift(before: FloatArray, after: FloatArray) -> float:
    """Return the largest relative change of up * down, where it is not zero."""
    first, last = (np.prod(np.split(weights, 2), axis=0) for weights in (before, after))
    return float(np.abs(last[first != 0] / first[first != 0] - 1).max(initial=0.0))


def _checked(
    X: npt.ArrayLike, y: npt.ArrayLike, start: tuple[npt.ArrayLike, npt.ArrayLike]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    try:
        first, second = start
    except (TypeError, ValueError):
        raise InputError(f"start is a {type(start).__name__}; give a pair of arrays (D,), up and down") from None
    up, down = moderate(first, "weights up"), moderate(second, "weights down")
    inputs, targets = samples(moderate(X, "inputs"), moderate(y, "targets"))
    width = inputs.shape[1:]
    if up.shape != width or down.shape != up.shape:
        raise InputError(f"up has shape {up.shape} and down {down.shape}; give {width} of both, one per input")
    return inputs, targets, np.concatenate([up, down])
