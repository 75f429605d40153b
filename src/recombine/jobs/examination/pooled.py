"""Held-out cells of several folds as if they were of one: what each was compared with, by its own fold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.conjunctions import distinct
from recombine.jobs.audit.audit import Audit
from recombine.jobs.score.model_score import HeldOutCells
from recombine.jobs.score.regression import HeldOutNoise, Regressors
from recombine.verdicts import Verdict


def pool_folds(audits: tuple[Audit, ...], classes: tuple[str, ...], folds: Sequence[HeldOutCells]) -> HeldOutCells:
    """Return the cells of all ``folds`` in the order of the held-out cells of ``audits``, which hold out every cell.

    Determined values, effects, noise and baselines of a cell are those of the training cells of its own fold.
    """
    design = audits[0].design
    places = [_places(design.held_out, fold.design.held_out) for fold in folds]
    codes = np.empty(len(design.held_out), dtype=np.int64)
    for place, fold in zip(places, folds, strict=True):
        codes[place] = fold.codes
    whole = HeldOutCells(audits, codes, None, None, classes, folds=len(folds))
    told = [fold for fold in folds if fold.determined]
    if not told:
        return whole
    order = np.argsort(
        np.concatenate([place[fold.codes == Verdict.DETERMINED] for place, fold in zip(places, folds, strict=True)])
    )
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


def _places(cells: IntArray, some: IntArray) -> IntArray:
    """Return where each of ``some`` cells (M, C) stands among the distinct ``cells`` (N, C), (M,)."""
    _, where = distinct(np.concatenate([cells, some]))
    place = np.empty(len(cells), dtype=np.int64)
    place[where[: len(cells)]] = np.arange(len(cells))
    return np.asarray(place[where[len(cells) :]])


def _joined_regressors(parts: Sequence[Regressors], order: IntArray) -> Regressors:
    """Return the regressors of all folds, their values in ``order`` (T,)."""

    def joined(arrays: Sequence[FloatArray | None]) -> FloatArray | None:
        given = [array for array in arrays if array is not None]
        return np.concatenate(given)[order] if len(given) == len(arrays) else None

    def every(arrays: Sequence[FloatArray]) -> FloatArray:
        return np.asarray(np.concatenate(arrays)[order])

    draws = zip(*(part.noisy_draws for part in parts), strict=False)  # as many as the fold with fewest has
    return replace(
        parts[0],
        determined=every([part.determined for part in parts]),
        effects=every([part.effects for part in parts]),
        misleading=every([part.misleading for part in parts]),
        beyond=every([part.beyond for part in parts]),
        network=joined([part.network for part in parts]),
        remembered=joined([part.remembered for part in parts]),
        weights=None,
        noisy_draws=tuple(
            (every([one[0] for one in draw]), every([one[1] for one in draw]), every([one[2] for one in draw]))
            for draw in draws
        ),
    )


def _joined_noise(parts: Sequence[HeldOutNoise], order: IntArray) -> HeldOutNoise:
    """Return the noise of all folds, values in ``order`` (T,).

    Folds share most of their training cells and replicates, so that errors are no smaller than those of one fold.
    """
    counts = np.array([len(part.variances) for part in parts], dtype=float)
    return HeldOutNoise(
        np.concatenate([part.variances for part in parts])[order],
        float(np.average([part.error for part in parts], weights=counts)),
        np.concatenate([part.carried for part in parts])[order],
        float(np.average([part.freedom for part in parts], weights=counts)),
    )


def _mean_forecasts(folds: Sequence[HeldOutCells]) -> dict[str, float]:
    """Return the squared errors foretold in every fold, by name, each fold counted by its determined cells."""
    names = [name for name in folds[0].forecasts if all(name in fold.forecasts for fold in folds)]
    counts = [fold.determined for fold in folds]
    return {name: float(np.average([fold.forecasts[name] for fold in folds], weights=counts)) for name in names}
