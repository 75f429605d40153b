"""Held-out cells of several folds as if they were of one: what each was compared with, by its own fold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.conjunctions import places_among
from recombine.jobs.audit.audit import Audit
from recombine.jobs.score.held_out import HeldOutCells
from recombine.jobs.score.regression import HeldOutNoise, Regressors
from recombine.verdicts import Verdict


def pool_folds(audits: tuple[Audit, ...], classes: tuple[str, ...], folds: Sequence[HeldOutCells]) -> HeldOutCells:
    """Return the cells of all ``folds`` in the order of the held-out cells of ``audits``, which hold out every cell.

    Determined values, effects, noise and baselines of a cell are those of the training cells of its own fold.
    """
    design = audits[0].design
    positions = [places_among(design.held_out, fold.design.held_out) for fold in folds]
    codes, numbers = np.empty((2, len(design.held_out)), dtype=np.int64)
    for number, (cells, fold) in enumerate(zip(positions, folds, strict=True)):
        codes[cells], numbers[cells] = fold.codes, number
    whole = HeldOutCells(audits, codes, None, None, classes, folds=len(folds), fold=numbers)
    told = [fold for fold in folds if fold.determined]
    if not told:
        return whole
    scored = [cells[fold.codes == Verdict.DETERMINED] for cells, fold in zip(positions, folds, strict=True)]
    order = np.argsort(np.concatenate(scored))
    values = (order[:, None] * len(audits) + np.arange(len(audits))).ravel()
    regressors = [fold.regressors for fold in told if fold.regressors is not None]
    noises = [fold.noise for fold in told if fold.noise is not None]
    names = [name for name in told[0].misses_beside if all(name in fold.misses_beside for fold in told)]
    return replace(
        whole,
        regressors=_joined_regressors(regressors, values) if len(regressors) == len(told) else None,
        noise=_joined_noise(noises, values) if len(noises) == len(told) else None,
        misses_beside={name: np.concatenate([fold.misses_beside[name] for fold in told])[order] for name in names},
        forecasts=_mean_forecasts(told),
    )


def _joined_regressors(of_folds: Sequence[Regressors], order: IntArray) -> Regressors:
    """Return the regressors of all folds, their values in ``order`` (T,)."""

    def joined(arrays: Iterable[FloatArray]) -> FloatArray:
        return np.asarray(np.concatenate(list(arrays))[order])

    def if_all(arrays: Sequence[FloatArray | None]) -> FloatArray | None:
        fitted = [array for array in arrays if array is not None]
        return joined(fitted) if len(fitted) == len(arrays) else None

    draws = zip(*(fold.noisy_draws for fold in of_folds), strict=False)  # as many as the fold with fewest has
    return replace(
        of_folds[0],
        determined=joined(fold.determined for fold in of_folds),
        effects=joined(fold.effects for fold in of_folds),
        misleading=joined(fold.misleading for fold in of_folds),
        beyond=joined(fold.beyond for fold in of_folds),
        network=if_all([fold.network for fold in of_folds]),
        remembered=if_all([fold.remembered for fold in of_folds]),
        weights=None,
        noisy_draws=tuple(
            (joined(sums), joined(effects), joined(misleading))
            for sums, effects, misleading in (zip(*draw, strict=True) for draw in draws)
        ),
    )


def _joined_noise(of_folds: Sequence[HeldOutNoise], order: IntArray) -> HeldOutNoise:
    """Return the noise of all folds, values in ``order`` (T,).

    Folds share most of their training cells and replicates, so that errors are no smaller than those of one fold.
    """
    counts = np.array([len(fold.variances) for fold in of_folds], dtype=float)
    return HeldOutNoise(
        np.concatenate([fold.variances for fold in of_folds])[order],
        float(np.average([fold.error for fold in of_folds], weights=counts)),
        np.concatenate([fold.carried for fold in of_folds])[order],
        float(np.average([fold.freedom for fold in of_folds], weights=counts)),
        float(np.average([fold.skewness for fold in of_folds], weights=counts)),
    )


def _mean_forecasts(folds: Sequence[HeldOutCells]) -> dict[str, float]:
    """Return the squared errors foretold in every fold, by name, each fold counted by its determined cells."""
    names = [name for name in folds[0].forecasts if all(name in fold.forecasts for fold in folds)]
    counts = [fold.determined for fold in folds]
    return {name: float(np.average([fold.forecasts[name] for fold in folds], weights=counts)) for name in names}
