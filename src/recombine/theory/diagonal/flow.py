"""Gradient flow of a two-layer diagonal linear network, integrated: an oracle for what theory says of its end.

The weights themselves are integrated, with nothing of the theory built in: one or several outputs, each with its own
samples. For problems of a few dozen coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray
from recombine.cells.brief import record
from recombine.checks import real, reals, whole
from recombine.errors import InputError, SolverError
from recombine.sample_checks import generator, reachable, task_samples


@record
class Weights:
    """Weights of both paths: hidden (2, D) and readouts (2, D, O); the first path counts positive.

    Examples
    --------
    >>> Weights.alike(3, hidden=0.1).beta
    array([[0.],
           [0.],
           [0.]])
    """

    hidden: FloatArray
    readouts: FloatArray

    @classmethod
    def alike(cls, dimension: int, hidden: float, readout: float | None = None, outputs: int = 1) -> Weights:
        """Return weights that are the same everywhere; readouts equal hidden weights if not given."""
        second = hidden if readout is None else readout
        shape = (2, whole(dimension, "dimension"))
        return cls(np.full(shape, hidden), np.full((*shape, whole(outputs, "outputs")), second))

    @property
    def beta(self) -> FloatArray:
        """Coefficients (D, O)."""
        products = self.hidden[:, :, None] * self.readouts
        return np.asarray(products[0] - products[1])

    @property
    def conserved(self) -> FloatArray:
        """w^2 - sum_o v_o^2 of both paths, (2, D): gradient flow never changes it."""
        return np.asarray(self.hidden**2 - (self.readouts**2).sum(axis=2))

    @property
    def flat(self) -> FloatArray:
        """All weights in one vector."""
        return np.concatenate([self.hidden.ravel(), self.readouts.ravel()])

    def like(self, flat: FloatArray) -> Weights:
        """Return weights of the same shape from one vector."""
        size = self.hidden.size
        return Weights(flat[:size].reshape(self.hidden.shape), flat[size:].reshape(self.readouts.shape))


Tasks = Sequence[tuple[npt.ArrayLike, npt.ArrayLike]]

#: Weight decay is annealed from ten to minus this power.
FIRST_DECAY_POWER = 2


def gradient_flow(tasks: Tasks, start: Weights, *, tolerance: float = 1e-13, precision: float = 1e-10) -> Weights:
    """Integrate gradient flow on the squared error, summed over tasks, until all samples are fitted.

    Parameters
    ----------
    tasks : sequence of (X (n_o, D), y (n_o,))
        One per output.
    tolerance : float
        Largest deviation from a target to stop at.
    precision : float
        Relative error of a step of the integrator (LSODA).

    Examples
    --------
    >>> end = gradient_flow([([[1.0, 2.0, 2.0]], [3.0])], Weights.alike(3, hidden=10.0))
    >>> end.beta[:, 0].round(4)
    array([0.3333, 0.6667, 0.6667])
    """
    from scipy.integrate import solve_ivp

    pairs = _checked(tasks, start)
    if np.abs(_errors(start, pairs)).max() >= tolerance:
        moving = np.asarray(start.hidden.any(axis=0) | start.readouts.any(axis=(0, 2)))
        for task, (X, y) in enumerate(pairs):
            reachable(X, y, moving, f" of task {task}")
    state, time, reached = start.flat, 1.0, np.inf
    for _ in range(60):
        piece = solve_ivp(
            lambda _, flat: -_gradient(start.like(flat), pairs).flat,
            (0.0, time),
            state,
            method="LSODA",
            rtol=precision,
            atol=1e-3 * precision * max(float(np.abs(start.flat).max()), 1e-6),
        )
        state, time = piece.y[:, -1], 2 * time
        reached = float(np.abs(_errors(start.like(state), pairs)).max())
        if reached < tolerance or (reached < 1e-10 and time > 1e9):
            return start.like(state)
    raise SolverError(f"gradient flow is still {reached:.1e} from the targets; can they be reached?")


def gradient_descent(tasks: Tasks, start: Weights, rate: float, steps: int) -> Weights:
    """Take ``steps`` steps of gradient descent of size ``rate`` on the same error.

    Examples
    --------
    >>> end = gradient_descent([([[1.0, 0.0]], [1.0])], Weights.alike(2, hidden=0.5), rate=0.1, steps=200)
    >>> end.beta[:, 0].round(3)
    array([1., 0.])
    """
    pairs = _checked(tasks, start)
    state, size = start.flat, real(rate, "rate", above=0)
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(whole(steps, "steps", at_least=0)):
            state = state - size * _gradient(start.like(state), pairs).flat
    if not np.isfinite(state).all():
        raise SolverError(f"gradient descent diverged at a rate of {rate}; lower it")
    return start.like(state)


def decayed_limit(tasks: Tasks, seed: int | np.random.Generator = 0, smallest: float = 1e-8) -> Weights:
    """Minimise squared error plus weight decay, annealed from 0.01 down to ``smallest`` by factors of ten.

    Parameters
    ----------
    tasks : sequence of (X (n_o, D), y (n_o,))
    seed : int or Generator
        Of the random weights it begins with.
    smallest : float
        The last decay, rounded to a power of ten; at most 0.01.

    Examples
    --------
    >>> decayed_limit([([[1.0, 2.0]], [2.0])], smallest=1e-7).beta[:, 0].round(4) + 0.0
    array([0., 1.])
    """
    from scipy.optimize import least_squares

    pairs = task_samples(tasks)
    shape = Weights.alike(pairs[0][0].shape[1], 1.0, outputs=len(pairs))
    last_power = round(-np.log10(real(smallest, "smallest", above=0, at_most=10.0**-FIRST_DECAY_POWER)))

    def errors(flat: FloatArray, root: float) -> FloatArray:
        return np.concatenate([_errors(shape.like(flat), pairs), root * flat])

    def slopes(flat: FloatArray, root: float) -> FloatArray:
        return np.concatenate([_slopes(shape.like(flat), pairs), root * np.eye(flat.size)])

    state = generator(seed).standard_normal(shape.flat.size) / 2
    for power in range(FIRST_DECAY_POWER, last_power + 1):
        fit = least_squares(
            errors,
            state,
            slopes,
            args=(10 ** (-power / 2),),
            xtol=1e-15,
            ftol=1e-15,
            gtol=1e-15,
            max_nfev=5000,
        )
        state = np.asarray(fit.x)
    return shape.like(state)


def _errors(weights: Weights, pairs: Sequence[tuple[FloatArray, FloatArray]]) -> FloatArray:
    """Deviations from all targets in one vector."""
    beta = weights.beta
    return np.concatenate([X @ beta[:, task] - y for task, (X, y) in enumerate(pairs)])


def _slopes(weights: Weights, pairs: Sequence[tuple[FloatArray, FloatArray]]) -> FloatArray:
    """Derivatives of the deviations in the weights, one row per sample."""
    blocks = []
    for task, (X, _) in enumerate(pairs):
        hidden = [sign * X * weights.readouts[path, :, task] for path, sign in ((0, 1), (1, -1))]
        readouts = np.zeros((len(X), *weights.readouts.shape))
        for path, sign in ((0, 1), (1, -1)):
            readouts[:, path, :, task] = sign * X * weights.hidden[path]
        blocks.append(np.hstack([*hidden, readouts.reshape(len(X), -1)]))
    return np.vstack(blocks)


def _gradient(weights: Weights, pairs: Sequence[tuple[FloatArray, FloatArray]]) -> Weights:
    """Gradient of half the squared error in the weights."""
    beta = weights.beta
    slopes = np.stack([X.T @ (X @ beta[:, task] - y) for task, (X, y) in enumerate(pairs)], axis=1)
    signed = np.stack([slopes, -slopes])
    return Weights((signed * weights.readouts).sum(axis=2), signed * weights.hidden[:, :, None])


def _checked(tasks: Tasks, start: Weights) -> list[tuple[FloatArray, FloatArray]]:
    hidden, readouts = reals(start.hidden, "hidden weights"), reals(start.readouts, "readouts")
    width = hidden.shape[-1] if hidden.ndim else 0
    if hidden.shape != (2, width) or readouts.shape != (2, width, len(tasks)):
        raise InputError(
            f"hidden weights have shape {hidden.shape} and readouts {readouts.shape}; give (2, D) and "
            f"(2, D, {len(tasks)}), one readout per task"
        )
    return task_samples(tasks, width)
