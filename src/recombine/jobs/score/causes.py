"""A model's squared error on determined cells, by cause: amounts that add up to the error, each with a range.

With outcome y, prediction p and a the value that seen cells determine, ``p - y = (p - a) + (a - y)``. The first part is
regressed on each factor's effect (less than all of it arrives: leak), on how far each factor's marginal misleads
(shortcut), on what the structure says beyond adding (interaction), and on what a wide network makes of the same seen
cells beyond all of these (memorization); a constant is the offset, what remains is the rest. A part's amount is the
mean of its product with the error. The coefficients that a cell's parts are made of come from the other cells, so that
chance agreement is blamed on nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.cells.brief import brief_repr

#: Weak pull of slopes towards 1 and of pulls towards 0, per cell, in units of the predictions' variance: it decides
#: only what the cells do not.
RIDGE = 1e-4
#: Draws of cells with replacement.
DRAWS = 400
#: Cells up to which each is drawn by itself; more are drawn in so many random groups.
MOST_DRAWN = 2_000
#: A network that varies by less than this share beyond what other regressors say adds nothing of its own.
SAID_ALREADY = 1e-3
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
class Regressors:
    """What predictions at T cells are compared with.

    Attributes
    ----------
    determined : float array of shape (T,)
        What the seen cells say under the chosen structure.
    effects : float array of shape (T, F)
        Effect of each factor's level, centred on the seen cells.
    misleading : float array of shape (T, F)
        Its marginal less its effect.
    beyond : float array of shape (T,)
        What the structure says beyond the sum of effects; zero where effects add.
    names : tuple of str
        Of the F factors, or groups of interchangeable ones.
    network : float array of shape (T,), optional
        Predictions of a wide network fitted to the seen cells.
    together : int
        How many values in succession belong to one cell: one, or one per class.
    """

    determined: FloatArray
    effects: FloatArray
    misleading: FloatArray
    beyond: FloatArray
    names: tuple[str, ...]
    network: FloatArray | None = None
    together: int = 1

    __repr__ = brief_repr

    @property
    def columns(self) -> FloatArray:
        """What predictions are regressed on, centred, (T, 2 F + 2): effects, misleading parts, beyond, network.

        Of the network that is what the others do not say.
        """
        found = self.centred(np.column_stack([self.effects, self.misleading, self.beyond]))
        own = np.zeros(len(found))
        if self.network is not None:
            departure = self.centred((self.network - self.determined)[:, None])[:, 0]
            own = departure - found @ np.linalg.lstsq(found, departure, rcond=None)[0]
            own[:] = own if own.std() > SAID_ALREADY * self.network.std() else 0.0
        return np.column_stack([found, own])

    def centred(self, values: FloatArray) -> FloatArray:
        """Return columns (T, K) less their means, those of each class by themselves."""
        by_class = values.reshape(-1, self.together, values.shape[1])
        return np.asarray((by_class - by_class.mean(axis=0)).reshape(values.shape))

    @property
    def labels(self) -> tuple[tuple[str, str], ...]:
        """Cause and factor of each column."""
        leaks, shortcuts = ([(cause, name) for name in self.names] for cause in ("leak", "shortcut"))
        return (*leaks, *shortcuts, ("interaction", ""), ("memorization", ""))


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
        What each cause adds to each cell's error; structure together with noise.
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
    error, gap = predicted - observed, predicted - regressors.determined
    system = _System.of(predicted, regressors, gap)
    moved, constant = system.without_itself(gap)
    rest = gap - constant - moved.sum(axis=1)
    spread = _Spread(system, error, gap, draws, seed)
    labels, means = regressors.labels, moved.T @ error / len(error)
    amounts = {"leak": 0.0, "shortcut": 0.0}
    amounts |= {labels[place][0]: 0.0 for place in (-2, -1) if system.varied[place]}
    for (cause, _), mean in zip(labels, means.tolist(), strict=True):
        if cause in amounts:
            amounts[cause] += mean
    amounts |= {"offset": float(np.mean(constant * error)), "rest": float(np.mean(rest * error))}
    errors = {cause: spread.of(cause, labels) for cause in amounts}
    # The fit leaves no agreement between the rest and what it names, where by chance there is some.
    errors["rest"] = float(np.hypot(errors["rest"], spread.of_products(rest * (gap - rest))))
    missed = regressors.determined - observed
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
    )
    return stretched, factor * predicted, factor * observed


def _take_off(
    amounts: dict[str, float],
    errors: dict[str, float],
    noise: HeldOutNoise,
    spread: _Spread,
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
    most = float(noise.carried.mean())
    carried, over = slope * most, max(square_error - float(noise.variances.mean()), 0.0)
    # By chance that noise is larger or smaller, and agrees with what the model does otherwise; and nobody knows how
    # much of it a model carries, from none to all.
    by_chance = float(np.sqrt(most * (2 * most + over) / max(noise.freedom, 1.0) + (most / 2) ** 2))
    amounts["noise"], amounts["seen noise"] = float(noise.variances.mean()), carried
    amounts["structure"] -= amounts["noise"] + carried
    errors["noise"] = float(np.hypot(spread.of_products(noise.variances), noise.error))
    errors["seen noise"] = by_chance
    left = spread.of_products(products - noise.variances - slope * noise.carried)
    errors["structure"] = float(np.sqrt(left**2 + noise.error**2 + by_chance**2))


@dataclass(frozen=True, eq=False)
class _System:
    """The regression of ``gap`` (T,) on columns (T, K) and a constant, or one per class."""

    columns: FloatArray
    varied: FloatArray
    ridge: FloatArray
    inverse: FloatArray
    coefficients: FloatArray
    together: int

    @classmethod
    def of(cls, predicted: FloatArray, regressors: Regressors, gap: FloatArray) -> _System:
        columns, together = regressors.columns, regressors.together
        whole = float(regressors.centred(np.column_stack([predicted, regressors.determined])).std(axis=0).max())
        varied = columns.std(axis=0) > 1e-9 * max(float(np.abs(columns).max(initial=0.0)), whole)
        constants = np.tile(np.eye(together), (len(gap) // together, 1))
        used = np.column_stack([constants, columns[:, varied]])
        ridge = np.full(used.shape[1], RIDGE * whole**2)
        # Where nothing varies at all any pull would do.
        ridge[together:] = np.maximum(ridge[together:], 1e-300)
        ridge[:together] = 0.0
        inverse = np.linalg.inv(used.T @ used + len(gap) * np.diag(ridge))
        return cls(used, varied, ridge, inverse, inverse @ (used.T @ gap), together)

    @property
    def solved(self) -> FloatArray:
        """Coefficient of every column, zero where it does not vary, (K,)."""
        return np.asarray(self._placed(self.coefficients[None, self.together :])[0])

    def without_itself(self, gap: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return each column's part (T, K) and the constant (T,), all with coefficients from the other cells."""
        together = self.together
        by_cell = self.columns.reshape(-1, together, self.columns.shape[1])
        solved = by_cell @ self.inverse
        kept = np.eye(together) - solved @ by_cell.transpose(0, 2, 1)
        kept[:, np.arange(together), np.arange(together)] = np.maximum(np.diagonal(kept, axis1=1, axis2=2), 1e-9)
        missed = np.linalg.solve(kept, (gap - self.columns @ self.coefficients).reshape(-1, together, 1))
        coefficients = np.repeat(self.coefficients - (solved * missed).sum(axis=1), together, axis=0)
        parts = self.columns * coefficients
        return self._placed(parts[:, together:]), parts[:, :together].sum(axis=1)

    def _placed(self, values: FloatArray) -> FloatArray:
        found = np.zeros((len(values), len(self.varied)))
        found[:, np.asarray(self.varied, dtype=bool)] = values
        return found


class _Spread:
    """Standard errors over cells: of amounts and coefficients by drawing cells with replacement, of means directly."""

    def __init__(self, system: _System, error: FloatArray, gap: FloatArray, draws: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        used, self.together = system.columns, system.together
        count = len(error) // self.together
        self.varied = np.asarray(system.varied, dtype=bool)
        groups = min(count, MOST_DRAWN)
        places = np.arange(count) if groups == count else rng.integers(groups, size=count)
        places = np.repeat(places, self.together)
        # All that is drawn depends on sums over cells only.
        features = [np.ones(len(error)), gap * error, *(used * gap[:, None]).T, *(used * error[:, None]).T]
        size = used.shape[1]
        upper = np.triu_indices(size)
        features += [used[:, left] * used[:, right] for left, right in zip(*upper, strict=True)]
        sums = np.stack([np.bincount(places, weights=feature, minlength=groups) for feature in features], axis=1)
        drawn = rng.multinomial(groups, np.full(groups, 1 / groups), size=draws) @ sums
        total = drawn[:, 0]
        normal = np.empty((draws, size, size))
        normal[:, upper[0], upper[1]] = normal[:, upper[1], upper[0]] = drawn[:, 2 + 2 * size :]
        normal += total[:, None, None] * np.diag(system.ridge)
        self.slopes = np.linalg.solve(normal, drawn[:, 2 : 2 + size, None])[:, :, 0]
        self.widened = float(np.sqrt(count / max(count - size, 1)))  # fitted to the cells, residuals are too small
        self.products = self.slopes * drawn[:, 2 + size : 2 + 2 * size] / total[:, None]
        self.rest = drawn[:, 1] / total - self.products.sum(axis=1)

    def of(self, cause: str, labels: tuple[tuple[str, str], ...]) -> float:
        """Return the standard error of a cause's amount."""
        if cause == "offset":
            return self.widened * float(self.products[:, : self.together].sum(axis=1).std())
        if cause == "rest":
            return self.widened * float(self.rest.std())
        mine = np.array([label[0] == cause for label in labels])[self.varied]
        return self.widened * float(self.products[:, self.together :][:, mine].sum(axis=1).std())

    def of_column(self, place: int) -> float:
        """Return the standard error of the amount of one column."""
        return self.widened * float(self.products[:, self.together + self.varied[:place].sum()].std())

    def of_slope(self, place: int) -> float:
        """Return the standard error of the coefficient of one column."""
        return self.widened * float(self.slopes[:, self.together + self.varied[:place].sum()].std())

    def of_products(self, products: FloatArray) -> float:
        """Return the standard error of the mean of ``products`` (T,)."""
        products = products.reshape(-1, self.together).mean(axis=1)
        return float(products.std(ddof=1) / np.sqrt(len(products))) if len(products) > 1 else float("nan")
