"""A model's squared error on determined cells, by cause: amounts that add up to the error, each with a range.

With outcome y, prediction p and a the value that seen cells determine, ``p - y = (p - a) + (a - y)``. The first part is
regressed on each factor's effect (less than all of it arrives: leak), on how far each factor's marginal misleads
(shortcut), on what the structure says beyond adding (interaction), on how seen cells that share a pair of levels depart
and on what a wide network makes of the same seen cells beyond all of these (memorization); a constant is the offset,
what remains is the rest. A part's amount is the mean of its product with the error. The coefficients that a cell's
parts are made of come from the other cells, so that chance agreement is blamed on nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.cells.brief import brief_repr
from recombine.jobs.score.regression import PartErrors, PartRegression, Regressors

#: Draws of cells with replacement.
DRAWS = 400
#: The two ends of a range leave this much out.
OUTSIDE = 0.05

#: Which parts of a prediction's departure from what is determined each cause gathers, in the order of all faces.
CAUSES = ("noise", "seen noise", "structure", "leak", "shortcut", "interaction", "memorization", "offset", "rest")


@dataclass(frozen=True)
class Amount:
    """A mean square with the range in which it lies nineteen times in twenty.

    Examples
    --------
    >>> Amount(0.5, 0.4, 0.6)
    Amount(0.5 [0.4, 0.6])
    """

    value: float
    low: float
    high: float

    def __repr__(self) -> str:
        return f"Amount({self.value:.3g} [{self.low:.3g}, {self.high:.3g}])"

    @classmethod
    def about(cls, value: float, error: float, freedom: float) -> Amount:
        """Return ``value`` with the range that its standard ``error`` of so many degrees of freedom gives."""
        from scipy.special import stdtrit

        reach = float(stdtrit(max(freedom, 1.0), 1 - OUTSIDE / 2)) * error
        return cls(value, value - reach, value + reach)


@dataclass(frozen=True, eq=False)
class HeldOutNoise:
    """Noise on T scored cells.

    Attributes
    ----------
    variances : float array of shape (T,)
        Of each cell's mean outcome.
    error : float
        Standard error of their mean that other cells' replicates leave, beyond which cells are scored.
    carried : float array of shape (T,)
        Variance of the determined values: the noise of the seen cells they are made of.
    freedom : float
        Free values that the seen cells decide, among which the carried noise is shared.
    """

    variances: FloatArray
    error: float
    carried: FloatArray
    freedom: float

    __repr__ = brief_repr


@dataclass(frozen=True, eq=False)
class Attribution:
    """One model's error on T determined cells by cause; make one with `attribute`.

    Attributes
    ----------
    error : Amount
        Mean squared error.
    causes : dict of str to Amount
        They add up to the error; a negative one offsets others. Without replicates "structure" holds the noise too.
    leaks, shortcuts : dict of str to Amount
        The same of each factor.
    slopes, pulls : dict of str to Amount
        Share of each effect that arrives (1: all), and share of the way to the marginal (0: none); without those that
        the cells do not vary.
    parts : dict of str to float array of shape (T,)
        What each cause adds to each cell's error, times the root of its weight; structure together with noise.
    """

    error: Amount
    causes: dict[str, Amount]
    leaks: dict[str, Amount]
    shortcuts: dict[str, Amount]
    slopes: dict[str, Amount]
    pulls: dict[str, Amount]
    parts: dict[str, FloatArray] = field(repr=False)

    __repr__ = brief_repr


def attribute(
    predicted: FloatArray,
    observed: FloatArray,
    regressors: Regressors,
    noise: HeldOutNoise | None = None,
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> Attribution:
    """Split the mean squared error of predictions at T cells into causes that add up to it.

    Parameters
    ----------
    predicted, observed : float arrays of shape (T,)
        Of several classes T counts each cell once per class, and the causes add up to the sum over classes.
    regressors : Regressors
    noise : HeldOutNoise, optional
        Where replicates tell it.
    draws : int
        How often cells are drawn with replacement for the ranges.
    seed : int

    Examples
    --------
    Seven tenths of the first factor's effect arrive:

    >>> effects = np.random.default_rng(0).normal(size=(60, 2))
    >>> truth = effects.sum(axis=1)
    >>> known = Regressors(truth, effects, np.zeros((60, 2)), np.zeros(60), ("dose", "site"))
    >>> found = attribute(truth - 0.3 * effects[:, 0], truth, known)
    >>> round(found.slopes["dose"].value, 2), round(found.causes["leak"].value / found.error.value, 2)
    (0.7, 1.0)
    """
    if regressors.together > 1:
        regressors, predicted, observed = _summed_over_classes(regressors, predicted, observed)
    roots = regressors.roots
    error, gap = roots * (predicted - observed), roots * (predicted - regressors.determined)
    system = PartRegression.of(predicted, regressors, gap)
    moved, constant = system.without_itself(gap)
    rest = gap - constant - moved.sum(axis=1)
    spread = PartErrors(system, error, gap, draws, seed)
    labels, means = regressors.labels, moved.T @ error / len(error)
    amounts = {"leak": 0.0, "shortcut": 0.0}
    amounts |= {cause: 0.0 for (cause, _), varied in zip(labels, system.varied, strict=True) if varied}
    for (cause, _), mean in zip(labels, means.tolist(), strict=True):
        if cause in amounts:
            amounts[cause] += mean
    amounts |= {"offset": float(np.mean(constant * error)), "rest": float(np.mean(rest * error))}
    errors = {cause: spread.of(cause, labels) for cause in amounts}
    # The fit leaves no agreement between the rest and what it names, where by chance there is some.
    errors["rest"] = float(np.hypot(errors["rest"], spread.of_products(rest * (gap - rest))))
    missed = roots * (regressors.determined - observed)
    amounts["structure"], errors["structure"] = float(np.mean(missed * error)), spread.of_products(missed * error)
    if noise is not None:
        _take_off(amounts, errors, noise, spread, predicted, regressors, missed * error, float(np.mean(error**2)))
    freedom = max(len(error) / regressors.together - system.varied.sum() - 1.0, 1.0)
    parts = {
        cause: moved[:, [label[0] == cause for label in labels]].sum(axis=1)
        for cause in ("leak", "shortcut", "interaction", "memorization")
    }
    single = [(label, place) for place, label in enumerate(labels) if system.varied[place] and label[1]]
    own = {label: Amount.about(float(means[place]), spread.of_column(place), freedom) for label, place in single}
    expected = {"leak": 1.0, "shortcut": 0.0}
    coefficients = {
        label: Amount.about(expected[label[0]] + float(system.solved[place]), spread.of_slope(place), freedom)
        for label, place in single
    }
    return Attribution(
        Amount.about(float(np.mean(error**2)), spread.of_products(error**2), freedom),
        {name: Amount.about(amounts[name], errors[name], freedom) for name in CAUSES if name in amounts},
        {name: amount for (cause, name), amount in own.items() if cause == "leak"},
        {name: amount for (cause, name), amount in own.items() if cause == "shortcut"},
        {name: amount for (cause, name), amount in coefficients.items() if cause == "leak"},
        {name: amount for (cause, name), amount in coefficients.items() if cause == "shortcut"},
        {"structure": missed, **parts, "offset": constant, "rest": rest},
    )


def _summed_over_classes(
    regressors: Regressors, predicted: FloatArray, observed: FloatArray
) -> tuple[Regressors, FloatArray, FloatArray]:
    """Stretch all values so that mean squares over cells and classes are sums over classes."""
    from dataclasses import replace

    factor = float(np.sqrt(regressors.together))
    stretched = replace(
        regressors,
        determined=factor * regressors.determined,
        effects=factor * regressors.effects,
        misleading=factor * regressors.misleading,
        beyond=factor * regressors.beyond,
        network=None if regressors.network is None else factor * regressors.network,
        remembered=None if regressors.remembered is None else factor * regressors.remembered,
    )
    return stretched, factor * predicted, factor * observed


def _take_off(
    amounts: dict[str, float],
    errors: dict[str, float],
    noise: HeldOutNoise,
    spread: PartErrors,
    predicted: FloatArray,
    regressors: Regressors,
    products: FloatArray,
    square_error: float,
) -> None:
    """Take the noise of the outcomes, and that of the determined values, off what the structure misses."""
    # A model carries as much of the seen cells' noise as of the values that are made of them.
    determined = regressors.centred(regressors.determined[:, None])[:, 0]
    square = float(determined @ determined)
    slope = float(np.clip(determined @ predicted / square, 0.0, 1.0)) if square > 0 else 0.0
    counts = regressors.roots**2
    variances, share = counts * noise.variances, counts * noise.carried
    most = float(share.mean())
    carried, over = slope * most, max(square_error - float(variances.mean()), 0.0)
    # By chance that noise is larger or smaller, and agrees with what the model does otherwise; and nobody knows how
    # much of it a model carries, from none to all.
    by_chance = float(np.sqrt(most * (2 * most + over) / max(noise.freedom, 1.0) + (most / 2) ** 2))
    amounts["noise"], amounts["seen noise"] = float(variances.mean()), carried
    amounts["structure"] -= amounts["noise"] + carried
    errors["noise"] = float(np.hypot(spread.of_products(variances), noise.error))
    errors["seen noise"] = by_chance
    left = spread.of_products(products - variances - slope * share)
    errors["structure"] = float(np.sqrt(left**2 + noise.error**2 + by_chance**2))
