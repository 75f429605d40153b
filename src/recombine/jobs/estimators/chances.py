"""Chances of classes on cells: likelihood fits that always exist, which order of effects held-out rows show, ranges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.conjunctions import distinct
from recombine.errors import RecombineError
from recombine.theory.identification.identify import identify
from recombine.theory.structures.likelihood import LikelihoodFit, fit_chances
from recombine.theory.structures.terms import terms_of
from recombine.verdicts import Verdict

#: What to do where the maximum of the likelihood does not exist.
SEPARATED = ("prior", "limits")
#: Parts that are held out in turn.
FOLDS = 5
#: Held-out rows below which nothing is chosen.
MIN_ROWS_SCORED = 10
#: Standard errors to either side of a 90 % range.
REACH = 1.6448536269514722


@dataclass(frozen=True)
class OrderChoice:
    """The order of effects that held-out rows show, the log loss of each that was tried, or why none was chosen."""

    order: int
    losses: dict[int, float]
    reason: str = ""


def choose_order(cells: IntArray, labels: IntArray, classes: int, sizes: Sequence[int], seed: int = 0) -> OrderChoice:
    """Choose pairs if they lower the log loss on held-out cells by more than one standard error of the difference.

    Parameters
    ----------
    cells : int array of shape (N, C)
        One row per observation; a cell with several is held out as a whole.
    labels : int array of shape (N,)
    classes : int
    sizes : sequence of int
    seed : int

    Examples
    --------
    >>> cells = np.repeat(np.indices((2, 2, 6)).reshape(3, -1).T, 20, axis=0)
    >>> chance = np.where(cells[:, 0] == cells[:, 1], 0.9, 0.1)
    >>> labels = (np.random.default_rng(0).random(len(cells)) < chance).astype(int)
    >>> choose_order(cells, labels, 2, (2, 2, 6)).order
    2
    """
    if cells.shape[1] < 2:
        return OrderChoice(1, {}, "pairs need 2 columns and there is 1")
    terms = terms_of(cells, 2).columns
    if terms > len(cells) / 2:
        return OrderChoice(1, {}, f"pairs have {terms:,} terms, more than half of the {len(cells):,} rows")
    rows, which = distinct(cells)
    fold_of = np.random.default_rng(seed).permutation(len(rows)) % FOLDS
    losses = np.full((2, len(cells)), np.nan)
    for fold in range(FOLDS):
        tested, training = fold_of[which] == fold, fold_of[which] != fold
        if not tested.any() or len(np.unique(labels[training])) < 2:
            continue
        losses[:, tested] = _losses(cells[training], labels[training], cells[tested], labels[tested], classes, sizes)
    done = np.isfinite(losses).all(axis=0)
    if done.sum() < MIN_ROWS_SCORED:
        return OrderChoice(
            1, {}, f"{int(done.sum())} held-out rows follow from the others, and it takes {MIN_ROWS_SCORED}"
        )
    gain = losses[0, done] - losses[1, done]
    better = gain.mean() > gain.std(ddof=1) / np.sqrt(len(gain))
    return OrderChoice(2 if better else 1, {row + 1: float(loss[done].mean()) for row, loss in enumerate(losses)})


def _losses(
    cells: IntArray, labels: IntArray, asked: IntArray, truth: IntArray, classes: int, sizes: Sequence[int]
) -> FloatArray:
    """Return minus the logarithm of the chance of what came out, (2, M), for effects and pairs; NaN where not known."""
    losses = np.full((2, len(asked)), np.nan)
    # Rows that only single effects determine say nothing about pairs.
    determined = np.flatnonzero(identify(cells, asked, 2, sizes=sizes).verdicts == Verdict.DETERMINED)
    for order in (1, 2) if len(determined) else ():
        try:
            chances = fit_chances(cells, labels, classes, order, sizes).fit.predict(asked[determined])
        except RecombineError:
            return np.full((2, len(asked)), np.nan)
        chance = (
            chances[np.arange(len(determined)), truth[determined]]
            if chances.ndim == 2
            else np.where(truth[determined] == 1, chances, 1 - chances)
        )
        losses[order - 1, determined] = -np.log(np.maximum(chance, 1e-15))
    return losses


def range_of_chances(fit: LikelihoodFit, cells: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the ends of 90 % ranges for the chances of all classes at cells (N, C), (N, K) each; NaN at limits.

    They are 1.64 standard errors to either side on the log odds.

    Examples
    --------
    >>> fit = fit_chances(np.zeros((100, 1), dtype=int), np.arange(100) % 2, 2, 1, (1,)).fit
    >>> [end.round(3).tolist() for end in range_of_chances(fit, np.zeros((1, 1), dtype=int))]
    [[[0.418, 0.418]], [[0.582, 0.582]]]
    """
    from scipy.special import expit, logit

    chances, errors = fit.predict(cells), fit.standard_errors(cells)
    if chances.ndim == 1:
        chances, errors = np.stack([1 - chances, chances], axis=1), np.stack([errors, errors], axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        odds, reach = logit(chances), REACH * errors / (chances * (1 - chances))
        return np.asarray(expit(odds - reach)), np.asarray(expit(odds + reach))
