"""The error of predictions by cause: offset, leak, shortcut, the rest of the model, and what effects cannot say."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray
from recombine.cells.brief import record
from recombine.errors import InputError

#: Weak pull of the slopes towards 1 and of the shortcuts towards 0, per cell, in units of the predictions' variance: it
#: decides only what the cells do not.
SLOPE_RIDGE = 1e-3


@record
class ErrorParts:
    """Predictions minus outcomes, as a sum of parts over T cells and F factors.

    Examples
    --------
    >>> effects = np.array([[1.0, 0.5], [-1.0, 0.5], [1.0, -0.5], [-1.0, -0.5]])
    >>> parts = decompose_error(effects @ [0.7, 1.0], effects.sum(axis=1), effects, effects)
    >>> parts.slopes.round(2).tolist(), float(parts.shares["leak"].round(2))
    ([0.7, 1.0], 1.0)
    """

    #: (F,): share of each factor's effect that the predictions carry (1: all of it); NaN where the cells do not vary
    #: it.
    slopes: FloatArray
    #: (F,): how far the predictions follow each factor's marginal away from its effect (1: all the way); NaN where the
    #: two do not differ.
    pulls: FloatArray
    #: (T, F): what the lost share of each effect, and the pull of each marginal, add to the error.
    leak: FloatArray
    shortcut: FloatArray
    #: (T,): what is constant; what else the predictions depart from the effects by; what the effects miss of the
    #: outcomes.
    offset: FloatArray
    rest: FloatArray
    structure: FloatArray

    @cached_property
    def error(self) -> FloatArray:
        """The whole error of each cell, shape (T,)."""
        explained = self.leak.sum(axis=1) + self.shortcut.sum(axis=1)
        return np.asarray(self.offset + explained + self.rest + self.structure)

    @cached_property
    def shares(self) -> dict[str, np.float64]:
        """Each part's share of the mean squared error; they add up to 1, a negative one offsets others."""
        amounts = {"offset": self.offset, "leak": self.leak.sum(axis=1), "shortcut": self.shortcut.sum(axis=1)}
        amounts |= {"rest": self.rest, "structure": self.structure}
        return {name: np.float64(_share(amount[:, None], self.error)[0]) for name, amount in amounts.items()}

    @property
    def shortcut_shares(self) -> FloatArray:
        """Share of the squared error that is each factor's shortcut, shape (F,)."""
        return _share(self.shortcut, self.error)


def decompose_error(
    predicted: npt.ArrayLike, observed: npt.ArrayLike, effects: npt.ArrayLike, marginals: npt.ArrayLike
) -> ErrorParts:
    """Split the error of predictions at T cells into causes, given what seen cells say of each of F factors.

    Predictions are regressed on the effects e_f, and on how far the marginals mislead, d_f = m_f - e_f:
    ``predicted = c + sum s_f e_f + sum t_f d_f + r``. The error is then ``c + sum (s_f - 1) e_f + sum t_f d_f + r +
    (sum e_f - observed)``: offset, leak, shortcut, rest, structure.

    Parameters
    ----------
    predicted, observed : array-like (T,)
        Less the mean outcome of the seen cells.
    effects : array-like (T, F)
        Effect of each factor's level in the fit to the seen cells.
    marginals : array-like (T, F)
        Mean seen outcome of each factor's level, less the mean outcome.

    Examples
    --------
    A factor without effect whose marginal misleads by 1, half of which is taken over:

    >>> rng = np.random.default_rng(0)
    >>> effects = np.column_stack([rng.normal(size=50), np.zeros(50)])
    >>> marginals = effects + [0.0, 1.0] * np.tile([[-1.0], [1.0]], (25, 1))
    >>> told = effects.sum(axis=1) + 0.5 * marginals[:, 1]
    >>> parts = decompose_error(told, effects.sum(axis=1), effects, marginals)
    >>> parts.pulls.round(2).tolist(), parts.shortcut_shares.round(2).tolist()
    ([nan, 0.5], [0.0, 1.0])
    """
    predictions, observations = np.asarray(predicted, dtype=float), np.asarray(observed, dtype=float)
    effect, marginal = np.asarray(effects, dtype=float), np.asarray(marginals, dtype=float)
    if predictions.ndim != 1 or not len(predictions) or observations.shape != predictions.shape:
        raise InputError(
            f"predicted has shape {predictions.shape}, observed {observations.shape}; give one number each per cell"
        )
    if effect.shape != marginal.shape or effect.ndim != 2 or len(effect) != len(predictions):
        raise InputError(
            f"effects have shape {effect.shape}, marginals {marginal.shape} for {len(predictions)} cells; give one row "
            "per cell and one column per factor"
        )
    columns = np.hstack([effect, marginal - effect])
    factors = effect.shape[1]
    expected = np.repeat([1.0, 0.0], factors)
    spread = columns.std(axis=0)
    varied = spread > 1e-9 * max(float(np.abs(columns).max(initial=0.0)), float(np.abs(predictions).max()))
    gap = predictions - columns @ expected
    # In units of the whole, so that a marginal that hardly differs from its effect is not blamed for what it cannot do.
    scale = max(float(predictions.std()), float(columns[:, :factors].sum(axis=1).std()))
    centred = (columns - columns.mean(axis=0))[:, varied] / (scale or 1.0)
    gram = centred.T @ centred + SLOPE_RIDGE * len(predictions) * np.eye(int(varied.sum()))
    change = np.zeros(len(spread))
    change[varied] = np.linalg.solve(gram, centred.T @ (gap - gap.mean())) / (scale or 1.0)
    # What a factor adds everywhere alike is no leak: it counts as offset.
    moved = (columns - columns.mean(axis=0)) * change
    offset = np.full(len(predictions), float(gap.mean()))
    coefficients = np.where(varied, expected + change, np.nan)
    return ErrorParts(
        coefficients[:factors],
        coefficients[factors:],
        moved[:, :factors],
        moved[:, factors:],
        offset,
        gap - offset - moved.sum(axis=1),
        effect.sum(axis=1) - observations,
    )


def _share(amounts: FloatArray, error: FloatArray) -> FloatArray:
    """Return the share of each column of ``amounts`` (T, P) in the mean squared ``error`` (T,)."""
    total = float(error @ error)
    return amounts.T @ error / total if total > 0 else np.zeros(amounts.shape[1])
