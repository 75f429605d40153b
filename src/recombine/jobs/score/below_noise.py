"""Is a model's error below the noise of the measurements? Then it has seen them, or they are not independent.

Let a cell's n measurements y_i be independent with one distribution, whatever it is, and let the prediction p not know
them. With e_i = y_i - p, the share B = n mean(e)^2 / sum(e^2) has an expectation of at least 1/n: the expectation of
e_1 e_2 / sum(e^2) is the integral over t > 0 of E[e exp(-t e^2)]^2 E[exp(-t e^2)]^(n - 2), which is never negative, and
0 for the true mean under symmetric noise. A model that was pulled towards the measured means has smaller shares. Their
sum over cells is set against Chernoff's bound, which holds for any number of cells: of normal measurements around their
own mean, sum(e^2) given, B follows Beta(1/2, (n - 1)/2); heavier tails and skewness bring it closer to 1/n or above.
Two-valued measurements are binomial, and the bound is that of the worst true chance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.design.design import Design
from recombine.jobs.score.amounts import Amount, mean_amount

#: Chance at which a model that has not seen the measurements is accused, at most: half of 1 in 500, because noise with
#: lighter tails than the normal's varies by a little more than what the bound assumes.
MAX_CHANCE_OF_ALARM = 1 / 1000
#: Noise below this share of the largest outcome is rounding.
MAX_NOISE_OF_ROUNDING = 1e-9
#: Logarithms of the exponents among which the smallest bound is looked for.
LOG_EXPONENTS = (-6.0, 6.0)
#: Cells of a two-valued outcome with more rows are left out: their noise is small, and the bound would take long.
MAX_ROWS_COUNTED = 50
#: True chances among which the worst is looked for.
TRUE_CHANCES = np.linspace(0.0, 1.0, 65)


@dataclass(frozen=True)
class BelowNoise:
    """A model whose error lies below the noise of the measurements, on unseen cells whose rows repeat."""

    error: Amount  #: Its mean squared error there.
    noise: Amount  #: The mean variance of these cells' mean outcomes.
    cells: int
    chance: float  #: At most so likely, if the model had not seen the measurements and these were independent.


def below_noise(predicted: FloatArray, designs: Sequence[Design], rows: IntArray) -> BelowNoise | None:
    """Say by how much predictions (T, K) at the ``rows`` (T,) of K designs are below their noise; None where not.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cells = np.repeat(np.indices((8, 8)).reshape(2, -1).T, 4, axis=0)
    >>> y = cells.sum(axis=1) + rng.normal(size=len(cells))
    >>> design = Design.from_cells(cells, y, train=cells.sum(axis=1) % 2 == 0)
    >>> rows, truth = np.flatnonzero(~design.train), design.held_out.sum(axis=1)
    >>> below_noise(truth[:, None], [design], rows) is None
    True
    >>> seen = truth + 0.7 * (design.outcome[rows] - truth)
    >>> below_noise(seen[:, None], [design], rows).chance < 1e-4
    True
    """
    chosen = designs[0].observed.replicates[1][rows] > 0
    if not chosen.any():
        return None
    error, noise, chances = np.zeros(int(chosen.sum())), np.zeros(int(chosen.sum())), []
    for column, design in enumerate(designs):
        observed, bounds = design.observed, design.outcome_column.two_values
        outcome, count, spread, degrees = (
            values[rows[chosen]] for values in (observed.measured, observed.precision, *observed.replicates)
        )
        missed = predicted[chosen, column] - outcome
        error, noise = error + missed**2, noise + spread / degrees / count
        if bounds is None:
            rounding = (degrees + 1) * (MAX_NOISE_OF_ROUNDING * np.abs(observed.measured).max()) ** 2
            real = spread > rounding
            chances.append(chance_of_shares((count * missed**2)[real], spread[real], degrees[real]))
        else:
            told, share = ((values - bounds[0]) / (bounds[1] - bounds[0]) for values in (outcome + missed, outcome))
            few = (count == degrees + 1) & (count <= MAX_ROWS_COUNTED)
            chances.append(chance_of_counts(told[few], share[few], count[few].astype(int)))
    chance = min(len(chances) * min(chances), 1.0)
    if chance > MAX_CHANCE_OF_ALARM or error.mean() >= noise.mean():
        return None
    return BelowNoise(mean_amount(error), mean_amount(noise), len(error), chance)


def chance_of_shares(missed: FloatArray, spread: FloatArray, freedom: FloatArray) -> float:
    """Return how likely so small shares of what is ``missed`` (T,) in it and the ``spread`` (T,) are, at most.

    ``missed`` is the squared miss of each cell's mean times its rows. A cell's weight grows with its noise up to that
    of the average cell, so that few cells of large noise do not decide alone.
    """
    from scipy.special import hyp1f1

    total = missed + spread
    if not total.sum() > 0:
        return 1.0
    weights = total / (total + total.mean())
    weights /= weights.mean()
    summed = float(weights @ (missed / np.maximum(total, 1e-300)))

    def bound(exponent: float) -> float:
        moments = hyp1f1(0.5, (freedom + 1) / 2, -exponent * weights)  # E[exp(-x B)] of Beta(1/2, freedom / 2)
        return float(np.log(np.maximum(moments, 1e-300)).sum()) + exponent * summed

    return _smallest(bound)


def chance_of_counts(predicted: FloatArray, shares: FloatArray, rows: IntArray) -> float:
    """Return how likely so small an error of chances (T,) beside ``shares`` (T,) of so many ``rows`` is, at most."""
    from scipy.special import binom, xlog1py, xlogy

    tables: list[tuple[FloatArray, FloatArray]] = []
    summed = 0.0
    for count in np.unique(rows):
        mine, successes = rows == count, np.arange(count + 1.0)
        noise = successes * (1 - successes / count) / (count - 1)
        excess = count * (successes / count - predicted[mine, None]) ** 2 - noise  # (T, count + 1)
        summed += float(excess[np.arange(len(excess)), np.rint(shares[mine] * count).astype(int)].sum())
        logs = xlogy(successes, TRUE_CHANCES[:, None]) + xlog1py(count - successes, -TRUE_CHANCES[:, None])
        tables.append((excess, binom(count, successes) * np.exp(logs)))

    def bound(exponent: float) -> float:
        total = exponent * summed
        for excess, likely in tables:
            lowest = excess.min(axis=1, keepdims=True)
            moments = np.exp(-exponent * (excess - lowest)) @ likely.T
            total += float((np.log(moments.max(axis=1)) - exponent * lowest[:, 0]).sum())
        return total

    return _smallest(bound) if tables else 1.0


def _smallest(bound: Callable[[float], float]) -> float:
    """Return the smallest chance that a logarithmic ``bound``, convex in its exponent, allows."""
    from scipy.optimize import minimize_scalar

    best = minimize_scalar(lambda power: bound(float(np.exp(power))), bounds=LOG_EXPONENTS, method="bounded")
    return float(np.exp(min(best.fun, 0.0)))
