"""Predictions regressed on what the seen cells say, each cell with coefficients from the others, and their spread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.cells.brief import brief_repr

#: Weak pull of slopes towards 1 and of pulls towards 0, per cell, in units of the predictions' variance: it decides
#: only what the cells do not.
RIDGE = 1e-4
#: Cells up to which each is drawn by itself; more are drawn in so many random groups.
MOST_DRAWN = 2_000
#: A network that varies by less than this share beyond what other regressors say adds nothing of its own.
SAID_ALREADY = 1e-3


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
    remembered : float array of shape (T, P), optional
        By how much seen cells that share a pair of levels depart from what is determined, for each of P pairs of
        factors: what a model that memorizes pairs adds.
    together : int
        How many values in succession belong to one cell: one, or one per class.
    weights : float array of shape (T,), optional
        How much each value counts, 1 on average.
    """

    determined: FloatArray
    effects: FloatArray
    misleading: FloatArray
    beyond: FloatArray
    names: tuple[str, ...]
    network: FloatArray | None = None
    remembered: FloatArray | None = None
    together: int = 1
    weights: FloatArray | None = None

    __repr__ = brief_repr

    @property
    def roots(self) -> FloatArray:
        """Square roots of the weights, (T,): values times these have mean squares in which each counts its weight."""
        return np.ones(len(self.determined)) if self.weights is None else np.sqrt(self.weights)

    @property
    def columns(self) -> FloatArray:
        """What predictions are regressed on, centred: effects, misleading parts, beyond, pairs, network; (T, K).

        K is 2 F + P + 2. Of the network it is what the others do not say.
        """
        found = self.centred(np.column_stack([self.effects, self.misleading, self.beyond]))
        if self.remembered is not None:
            found = np.column_stack([found, self.centred(self.remembered)])
        own = np.zeros((len(found), 1))
        if self.network is not None:
            own = self._own(found, (self.network - self.determined)[:, None])
            own *= own.std() > SAID_ALREADY * self.network.std()
        return np.column_stack([found, own])

    def _own(self, found: FloatArray, values: FloatArray) -> FloatArray:
        """Return what columns (T, J) say beyond those that are ``found`` (T, K)."""
        values, roots = self.centred(values), self.roots[:, None]
        return np.asarray(values - found @ np.linalg.lstsq(roots * found, roots * values, rcond=None)[0])

    def centred(self, values: FloatArray) -> FloatArray:
        """Return columns (T, K) less their means, those of each class by themselves."""
        by_class = values.reshape(-1, self.together, values.shape[1])
        counts = (self.roots**2).reshape(-1, self.together, 1)
        return np.asarray((by_class - (counts * by_class).sum(axis=0) / counts.sum(axis=0)).reshape(values.shape))

    @property
    def labels(self) -> tuple[tuple[str, str], ...]:
        """Cause and factor of each column."""
        leaks, shortcuts = ([(cause, name) for name in self.names] for cause in ("leak", "shortcut"))
        pairs = 0 if self.remembered is None else self.remembered.shape[1]
        return (*leaks, *shortcuts, ("interaction", ""), *[("memorization", "")] * (pairs + 1))


@dataclass(frozen=True, eq=False)
class PartRegression:
    """The regression of ``gap`` (T,) on columns (T, K) and a constant, or one per class."""

    columns: FloatArray
    varied: FloatArray
    ridge: FloatArray
    inverse: FloatArray
    coefficients: FloatArray
    together: int

    @classmethod
    def of(cls, predicted: FloatArray, regressors: Regressors, gap: FloatArray) -> PartRegression:
        """Regress ``gap`` (T,), which is times the roots of the weights already."""
        columns, together = regressors.columns, regressors.together
        values = regressors.roots[:, None] * regressors.centred(np.column_stack([predicted, regressors.determined]))
        whole = float(np.sqrt(np.mean(values**2, axis=0).max()))
        varied = columns.std(axis=0) > 1e-9 * max(float(np.abs(columns).max(initial=0.0)), whole)
        constants = np.tile(np.eye(together), (len(gap) // together, 1))
        used = regressors.roots[:, None] * np.column_stack([constants, columns[:, varied]])
        ridge = np.full(used.shape[1], RIDGE * whole**2)
        # Memory varies far less than effects do: it is pulled in its own units.
        memory = np.array([cause == "memorization" for cause, _ in regressors.labels])[varied]
        ridge[together:][memory] = RIDGE * np.mean(used[:, together:][:, memory] ** 2, axis=0)
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


class PartErrors:
    """Standard errors over cells: of amounts and coefficients by drawing cells with replacement, of means directly."""

    def __init__(self, system: PartRegression, error: FloatArray, gap: FloatArray, draws: int, seed: int) -> None:
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
