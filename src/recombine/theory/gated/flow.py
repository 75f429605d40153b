"""Gradient flow on two-layer gated networks with time rescaled by the loss, which reaches the limit of training.

Flow on log sum exp(-y f) takes the same path as flow on the exponential loss, with time divided by the loss, so that
parameters grow exponentially instead of logarithmically: a time of 75 stands for astronomically many steps. Along the
way v_h^2 - sum_c |w_hc|^2 does not change.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray, as_numbers
from recombine.cells.brief import record
from recombine.checks import real, whole
from recombine.errors import InputError, SolverError
from recombine.theory.gated.features import as_problem
from recombine.theory.gated.machine import NotSeparableError
from recombine.theory.gated.margin import largest_margin

#: Relative and absolute tolerance of the integrator.
INTEGRATOR_TOLERANCES = (1e-9, 1e-12)
#: Which samples count depends on differences of margins of about one; beyond this margin rounding drowns them.
MAX_MARGIN = 4e6


class FlowEndedWarning(UserWarning):
    """A flow could not be followed to all times that were asked for, and rows of the later ones are not numbers.

    Examples
    --------
    >>> issubclass(FlowEndedWarning, UserWarning)
    True
    """


class NotSeparableWarning(UserWarning):
    """No network of a flow's architecture separates its samples, so that the margin stays below zero for ever.

    Examples
    --------
    >>> issubclass(NotSeparableWarning, UserWarning)
    True
    """


@record
class Flow:
    """Networks along the flow, at the T times that were asked for.

    Attributes
    ----------
    times : ndarray (T,)
        Rescaled time tau.
    hidden : ndarray (T, H, C, d)
    readout : ndarray (T, H)
    margin : ndarray (T,)
        Smallest y f over the samples.
    end : Flow of one time, optional
        Where the flow ended before the last time, because its margin became too large to be followed. Rows of later
        times are not numbers.

    Examples
    --------
    >>> X = np.array([[1.0, 1.0], [-1.0, 1.0]])
    >>> path = flow(X, [1, -1], [[0], [0]], contexts=1, seed=0, times=(0.0, 10.0))
    >>> path.zeta.shape, round(float(path.ratio[-1]), 4), path.end
    ((2, 1, 1, 2), 1.0, None)
    """

    times: FloatArray
    hidden: FloatArray
    readout: FloatArray
    margin: FloatArray
    end: Flow | None = None

    @property
    def reached(self) -> Flow:
        """The times that were reached, and last of all the end, where the flow ended before it had been asked to."""
        if self.end is None:
            return self
        rows = self.times <= self.end.times[0]
        return Flow(
            np.append(self.times[rows], self.end.times),
            np.concatenate([self.hidden[rows], self.end.hidden]),
            np.concatenate([self.readout[rows], self.end.readout]),
            np.append(self.margin[rows], self.end.margin),
        )

    @property
    def zeta(self) -> FloatArray:
        """Readout times hidden weights, shape (T, H, C, d)."""
        return self.readout[:, :, None, None] * self.hidden

    @property
    def ratio(self) -> FloatArray:
        """Sum of the group norms of zeta over the margin, shape (T,); it ends at the optimum of the margin problem.

        Not a number while some sample is on the wrong side, when there is no margin; `flow` warns if that never ends.
        """
        return self._over_margin(np.sqrt((self.zeta**2).sum(axis=(2, 3))).sum(axis=1))

    @property
    def half_square(self) -> FloatArray:
        """Half the squared norm of all parameters over the margin, shape (T,); equals ``ratio`` when balanced."""
        squares: FloatArray = (self.hidden**2).sum(axis=(1, 2, 3)) + (self.readout**2).sum(axis=1)
        return self._over_margin(squares / 2)

    @property
    def drift(self) -> FloatArray:
        """Largest change of ``v_h^2 - sum_c |w_hc|^2`` since the first time, over a unit's squared size, shape (T,)."""
        sizes = (self.hidden**2).sum(axis=(2, 3)), self.readout**2
        conserved = sizes[1] - sizes[0]
        change: FloatArray = (np.abs(conserved - conserved[0]) / (sizes[0] + sizes[1])).max(axis=1)
        return change

    def _over_margin(self, sizes: FloatArray) -> FloatArray:
        return np.divide(sizes, self.margin, out=np.full_like(sizes, np.nan), where=self.margin > 0)


def flow(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    ids: npt.ArrayLike,
    *,
    contexts: int,
    seed: int | None = None,
    scale: float = 0.1,
    start: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    times: Sequence[float] | FloatArray = (0.0, 75.0),
) -> Flow:
    """Integrate the rescaled flow of one network, from a random start or from weights of your own.

    Parameters
    ----------
    X : array (n, d)
    y : array (n,)
        Labels -1 and +1.
    ids : array of int (n, H)
        Context of each unit; equal columns are units that share their context function.
    contexts : int
        Contexts of a unit.
    seed : int, optional
        First weights are normal with standard deviation ``scale``.
    scale : float
        Outputs of the first weights must leave room below the largest margin that can be followed.
    start : tuple of arrays (H, C, d) and (H,), optional
        First hidden weights and readout, instead of a seed: those of a trained network, or of one to be compared.
    times : sequence of float
        Rescaled times, from 0 up; there is a row for each. Where the margin becomes so large that floating point
        numbers cannot tell support vectors apart, the flow ends: rows of later times are not numbers, a warning says
        so, and ``end`` has the time and the weights.

    Warns
    -----
    FlowEndedWarning
        If it ends before the last time.
    NotSeparableWarning
        If the last margin is not positive and no gated linear function with these contexts could have a positive one.

    Examples
    --------
    >>> X = np.array([[1.0, 1.0], [-1.0, 1.0]])
    >>> path = flow(X, [1, -1], [[0], [0]], contexts=1, start=([[[0.1, 0.0]]], [0.1]), times=(0.0, 9.0))
    >>> path.hidden[0].tolist(), round(float(path.ratio[-1]), 4)
    ([[[0.1, 0.0]]], 1.0)

    Every time is answered, those after the end with rows that are not numbers:

    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", FlowEndedWarning)
    ...     path = flow(X, [1, -1], [[0], [0]], contexts=1, seed=0, times=(10.0, 60.0))
    >>> np.isnan(path.margin).tolist(), round(float(path.end.times[0]), 1)
    ([False, True], 12.2)
    """
    points, signs, rows = as_problem(X, y, ids, contexts)
    clock = _as_times(times)
    field = _Field(points * signs[:, None], (rows[:, :, None] == np.arange(contexts)).astype(np.float64))
    if (seed is None) == (start is None):
        raise InputError("first weights come from a seed or from start; give one of the two")
    if start is not None:
        first = field.given(*start)
    else:
        first = field.drawn(whole(seed, "seed", 0), real(scale, "scale", above=0))
    states, last = _integrated(field, first, clock)
    if last is None:
        path = field.along(clock, states)
        if path.margin[-1] <= 0:
            _warn_if_inseparable(points, signs, rows, contexts)
        return path
    end, late = field.along(*last), len(clock) - len(states)
    warnings.warn(
        f"the flow ends at time {end.times[0]:.4g}, where its margin is {MAX_MARGIN:.0e} and rounding hides which "
        f"samples count; the rows of {late} of {len(clock)} times are not numbers; ask for earlier times, or look at "
        "end, where it ended",
        FlowEndedWarning,
        stacklevel=2,
    )
    return field.along(clock, np.vstack([states, np.full((late, len(first)), np.nan)]), end)


def _warn_if_inseparable(points: FloatArray, signs: FloatArray, rows: IntArray, contexts: int) -> None:
    try:
        # All norms on weights of units separate the same samples, and that of one group is the fastest.
        largest_margin(points, signs, rows, contexts=contexts, norm="zeta")
    except NotSeparableError:
        warnings.warn(
            "no gated linear function with these contexts separates the samples, so that some stay on the wrong side "
            "however long the flow is, and ratio is not a number; add units or contexts, or leave out samples that "
            "contradict each other",
            NotSeparableWarning,
            stacklevel=3,
        )
    except (SolverError, InputError):
        return  # too close or too many samples to tell


def _as_times(times: Sequence[float] | FloatArray) -> FloatArray:
    clock = as_numbers(times, "times").astype(np.float64)
    if clock.ndim != 1 or not len(clock) or not np.isfinite(clock).all() or clock[0] < 0 or (np.diff(clock) <= 0).any():
        raise InputError(f"times {times} must rise from 0 or later, and be finite")
    return clock


def _integrated(
    field: _Field, start: FloatArray, clock: FloatArray
) -> tuple[FloatArray, tuple[FloatArray, FloatArray] | None]:
    """Return states (T, parameters) at the times that were reached; and when and where it ended, if it did earlier."""
    from scipy.integrate import solve_ivp

    if clock[-1] == 0:
        return start[None], None
    accuracy: dict[str, Any] = {"rtol": INTEGRATOR_TOLERANCES[0], "atol": INTEGRATOR_TOLERANCES[1]}
    answer: Any = solve_ivp(
        field, (0.0, float(clock[-1])), start, method="LSODA", t_eval=clock, events=field.room, **accuracy
    )
    if not answer.success:
        raise SolverError(f"the flow could not be integrated ({answer.message}); try another seed or a shorter time")
    # Where it ends before the first time there is no state at all, which comes as an empty list.
    states = np.reshape(answer.y, (len(start), -1)).T
    if not len(answer.t_events[0]):
        return states, None
    return states, (answer.t_events[0], answer.y_events[0])


@dataclass(frozen=True, eq=False)
class _Field:
    """Velocity of the flow; signed inputs (n, d) and which weights each sample uses (n, H, C)."""

    signed: FloatArray
    uses: FloatArray

    def drawn(self, seed: int, scale: float) -> FloatArray:
        """Draw first weights, shape (parameters,)."""
        units, contexts = self.uses.shape[1:]
        generator = np.random.default_rng(np.random.SeedSequence([seed, 5]))
        weights: FloatArray = scale * generator.normal(size=units * (contexts * self.signed.shape[1] + 1))
        return self._with_room(weights, f"lower scale {scale}")

    def given(self, hidden: npt.ArrayLike, readout: npt.ArrayLike) -> FloatArray:
        """Take first weights of the caller's, shape (parameters,)."""
        units, contexts = self.uses.shape[1:]
        shapes = (units, contexts, self.signed.shape[1]), (units,)
        weights = [as_numbers(array, "start").astype(np.float64) for array in (hidden, readout)]
        if tuple(array.shape for array in weights) != shapes or not all(np.isfinite(array).all() for array in weights):
            raise InputError(
                f"start has hidden weights {weights[0].shape} and readout {weights[1].shape}; "
                f"give finite numbers of shapes {shapes[0]} and {shapes[1]}"
            )
        return self._with_room(np.concatenate([array.ravel() for array in weights]), "scale them down")

    def _with_room(self, weights: FloatArray, advice: str) -> FloatArray:
        """Refuse first weights that leave the flow no room."""
        largest = float(np.abs(self.outputs(*self.parts(weights))).max())
        if not largest < MAX_MARGIN:
            raise InputError(
                f"outputs at the start are up to {largest:.0e} and margins can be followed to {MAX_MARGIN:.0e}; "
                f"{advice}, or the inputs"
            )
        return weights

    def parts(self, states: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Split states (..., parameters) into hidden weights (..., H, C, d) and readout (..., H)."""
        units, contexts = self.uses.shape[1:]
        hidden = states[..., :-units].reshape(*states.shape[:-1], units, contexts, self.signed.shape[1])
        return hidden, states[..., -units:]

    def along(self, clock: FloatArray, states: FloatArray, end: Flow | None = None) -> Flow:
        """Return the flow through states (T, parameters) at the times of a clock (T,)."""
        hidden, readout = self.parts(states)
        margin = np.array([self.outputs(w, v).min() for w, v in zip(hidden, readout, strict=True)])
        return Flow(clock, hidden, readout, margin, end)

    def outputs(self, hidden: FloatArray, readout: FloatArray) -> FloatArray:
        """Return y f, shape (n,)."""
        products = np.tensordot(self.signed, hidden, axes=(1, 2))
        values: FloatArray = (self.uses * products).sum(axis=2) @ readout
        return values

    def room(self, time: float, state: FloatArray) -> float:
        """Return how far the margin is from the largest that can be followed; the flow ends at zero."""
        return float(MAX_MARGIN - self.outputs(*self.parts(state)).min())

    room.terminal = True  # type: ignore[attr-defined]

    def __call__(self, time: float, state: FloatArray) -> FloatArray:
        hidden, readout = self.parts(state)
        margins = self.outputs(hidden, readout)
        chance = np.exp(margins.min() - margins)
        pull = np.tensordot(self.uses, (chance / chance.sum())[:, None] * self.signed, axes=(0, 0))
        return np.concatenate([(readout[:, None, None] * pull).ravel(), (hidden * pull).sum(axis=(1, 2))])
