"""Effects of levels against reference levels, as in treatment coding: their limits, estimates and standard errors."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, vstack

from recombine.cells.arrays import BoolArray, IntArray
from recombine.cells.conjunctions import Conjunctions, Subset, subsets
from recombine.theory.structures.existence import Existence, against_first
from recombine.theory.structures.likelihood import LikelihoodFit
from recombine.theory.structures.separation.families import Limit


@dataclass(frozen=True)
class Effect:
    """An effect of levels against the reference levels, as in treatment coding.

    ``factors`` and ``levels`` say whose effect (two of each for an interaction, none for the intercept); ``outcome`` is
    the class that is compared with class 0, None outside of softmax.
    """

    factors: Subset
    levels: Subset
    outcome: int | None
    limit: Limit


@dataclass(frozen=True)
class FittedEffect:
    """An effect with its estimate (infinite or NaN as its limit says) and standard error (NaN unless finite)."""

    effect: Effect
    estimate: float
    error: float


def effect_limits(limits: Existence, reference: Sequence[int] | None = None) -> list[Effect]:
    """Return the limits of all effects against ``reference`` (C,) levels, by default the lowest seen ones.

    The intercept comes first, then main effects, then interactions; for softmax, those of class 1 come first.

    Examples
    --------
    Level 1 of the second factor only ever succeeded:

    >>> from recombine.theory.structures import existence
    >>> limits = existence([[0, 0], [0, 0], [0, 1], [1, 0], [1, 0]], [0, 1, 1, 0, 1])
    >>> [(effect.factors, effect.limit.name) for effect in effect_limits(limits)]
    [((), 'FINITE'), ((0,), 'FINITE'), ((1,), 'INFINITE')]
    """
    return _limits(limits, *effect_rows(limits, reference))


def _limits(
    limits: Existence, names: list[tuple[Subset, Subset, int | None]], matrix: csr_array, unseen: BoolArray
) -> list[Effect]:
    codes = limits.sides_of(matrix)
    codes[unseen] = Limit.OPEN
    return [Effect(*name, Limit(int(code))) for name, code in zip(names, codes, strict=True)]


def fitted_effects(fit: LikelihoodFit, reference: Sequence[int] | None = None) -> list[FittedEffect]:
    """Return estimates and standard errors of all effects against ``reference`` levels; see `effect_limits`.

    Examples
    --------
    The effect of a level that only ever succeeded has no standard error:

    >>> from recombine.theory.structures import fit_likelihood
    >>> fit = fit_likelihood([[0], [0], [1]], [0, 1, 1], "logit")
    >>> [(effect.estimate, effect.error) for effect in fitted_effects(fit)][1]
    (inf, nan)
    """
    rows = effect_rows(fit.existence, reference)
    flat = fit.table.reshape(-1)
    at = {Limit.INFINITE: np.inf, Limit.MINUS_INFINITE: -np.inf}
    fitted = []
    for row, effect in enumerate(_limits(fit.existence, *rows)):
        estimate, error = at.get(effect.limit, np.nan), np.nan
        if effect.limit == Limit.FINITE:
            function = rows[1][[row]].toarray()[0].astype(float)
            estimate = float(function @ flat)
            error = float(np.sqrt(max(function @ fit.solve_information(function), 0.0)))
        fitted.append(FittedEffect(effect, estimate, error))
    return fitted


def effect_rows(
    limits: Existence, reference: Sequence[int] | None = None
) -> tuple[list[tuple[Subset, Subset, int | None]], csr_array, BoolArray]:
    """Return the effects as linear functions of the model's values: whose they are, (T, W), and a mark (T,).

    Marked are those that need a combination of levels that no seen cell has.
    """
    features, classes = limits.features, limits.outcomes.classes
    seen = [np.unique(limits.outcomes.cells[:, factor]) for factor in range(len(features.sizes))]
    base = np.array([levels[0] for levels in seen] if reference is None else reference, dtype=np.int64)
    named = list(_named(features, seen, base))
    matrix = csr_array(np.vstack([_alternating(features, base, factors, levels) for factors, levels in named]))
    unknown = np.setdiff1d(np.arange(features.columns), limits.columns)
    unseen = np.asarray(abs(matrix)[:, unknown].sum(axis=1) > 0).reshape(-1)
    rows = csr_array(matrix[:, limits.columns])
    if not limits.outcomes.family.per_class:
        return [(*name, None) for name in named], rows, unseen
    others = range(1, classes)
    wide = csr_array(vstack([against_first(rows, outcome, classes) for outcome in others]))
    return [(*name, outcome) for outcome in others for name in named], wide, np.tile(unseen, len(others))


def _named(features: Conjunctions, seen: list[IntArray], base: IntArray) -> Iterator[tuple[Subset, Subset]]:
    yield (), ()
    factors = len(features.sizes)
    for term in (term for size in range(1, features.order + 1) for term in subsets(factors, size)):
        levels = [[int(level) for level in seen[factor] if level != base[factor]] for factor in term]
        yield from ((term, chosen) for chosen in itertools.product(*levels))


def _alternating(features: Conjunctions, base: IntArray, factors: Subset, levels: Subset) -> IntArray:
    """Return the effect as a signed sum of cells' rows, (F,): the usual sum over corners."""
    total = np.zeros(features.columns, dtype=np.int64)
    for corner in itertools.product((0, 1), repeat=len(factors)):
        cell = base.copy()
        cell[[factor for factor, up in zip(factors, corner, strict=True) if up]] = [
            level for level, up in zip(levels, corner, strict=True) if up
        ]
        total[features.ids(cell[None, :])[0]] += (-1) ** (len(factors) - sum(corner))
    return total
