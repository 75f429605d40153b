"""One model on the held-out cells: its errors by verdict and by cause, and what they stand beside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray
from recombine.cells.brief import record
from recombine.jobs.limits import SCORE_LIMITS
from recombine.jobs.score.amounts import Amount, mean_amount
from recombine.jobs.score.attribution import Attribution, attribute
from recombine.jobs.score.below_noise import BelowNoise, below_noise
from recombine.jobs.score.calibration import Calibration, calibrate, too_extreme
from recombine.jobs.score.causes import CAUSES
from recombine.jobs.score.causes.learned import learned_elsewhere
from recombine.jobs.score.held_out import HeldOutCells
from recombine.jobs.score.predictions import MAX_CHANCES_OFF, observed_outcomes
from recombine.jobs.score.slices import Slice, find_slices
from recombine.tables.grouping import RowsAre
from recombine.tables.table import Table
from recombine.verdicts import Verdict

#: A chance of none costs as much as one of this, so that one confident miss does not drown all other cells.
MIN_CHANCE = 1e-6
#: Squared errors that differ by so little, as a share of the largest one or of the largest squared outcome, are equal.
EQUAL_SHARE, EQUAL_SHARE_OF_OUTCOME = 1e-12, 1e-20


@dataclass(frozen=True)
class Misses:
    """Classes that a model got wrong on unseen cells, as shares of the measurements there."""

    wrong: float  #: All of them.
    undetermined: float  #: Those on cells that the seen ones do not determine.
    #: Those that the commonest class of each determined cell would get wrong, too: at least as counted, because it is
    #: chosen by the same measurements, and at most by the other measurements of the cell.
    least: float
    most: float


@record
class ModelScore:
    """What one model did on the held-out cells."""

    name: str
    #: (H, K): mean prediction at each held-out cell; of K classes their chances, else K is 1.
    predicted: FloatArray = field(repr=False)
    #: Mean squared error over the held-out cells that were never seen; of several classes the sum over them.
    unseen_error: Amount
    #: One row per verdict: cells, squared error, its share of the whole over unseen cells, and that of the plain mean;
    #: of chances also log loss, and the share of measurements whose likeliest class is right.
    by_verdict: Table = field(repr=False)
    attribution: Attribution | None  #: The error on determined cells by cause; None where those are too few.
    #: Mean squared error of adding less the model's on determined cells: what it got right beyond adding.
    gain: Amount | None
    misses: Misses | None = None  #: Whose the wrong classes are, where predictions are classes.
    #: Squared error of single measurements of unseen cells, and the noise in it, where rows repeat.
    of_rows: tuple[float, float] | None = None
    #: Where the error is below the noise of the measurements: shares of it mean nothing then, and are NaN.
    below_noise: BelowNoise | None = None
    slices: tuple[Slice, ...] = ()  #: Levels and pairs of levels that carry the error beyond chance, worst first.
    calibration: Calibration | None = None  #: Of chances on determined cells: whether they are too sure or too timid.

    @property
    def causes(self) -> dict[str, Amount]:
        """Squared error on determined cells by cause; the amounts add up to it. Empty where it was not split."""
        return {} if self.attribution is None else self.attribution.causes

    @property
    def removals(self) -> dict[str, Amount]:
        """By how much the error falls if one cause of the model's own is undone alone, by cause."""
        return {} if self.attribution is None else self.attribution.removals

    @property
    def explained(self) -> float:
        """Share of the error over noise that has a named cause; NaN where hardly any is over it.

        The others are the rest, and what is within chance of none.
        """
        if self.attribution is None or self.below_noise is not None:
            return float("nan")
        amounts = {name: amount.value for name, amount in self.causes.items()}
        over_noise = self.attribution.error.value - sum(amounts[name] for name in amounts if CAUSES[name].is_noise)
        if over_noise <= SCORE_LIMITS.share_over_noise * self.attribution.error.value:
            return float("nan")
        unnamed = [
            amount.value
            for name, amount in self.causes.items()
            if not CAUSES[name].is_noise and (amount.within_chance or not CAUSES[name].is_named)
        ]
        return 1 - abs(sum(unnamed)) / over_noise

    def share(self, amount: float) -> float:
        """Return what share of the error on determined cells an amount is; NaN where there is none to speak of."""
        error = 0.0 if self.attribution is None or self.below_noise is not None else self.attribution.error.value
        return amount / error if error > 0 else float("nan")

    @property
    def error_shares(self) -> dict[str, float]:
        """Shares of the error on all unseen cells: by verdict where not determined, else by cause; they sum to 1."""
        by_verdict = {row["verdict"]: float(row["share"]) for row in self.by_verdict.rows()}
        by_verdict.pop(Verdict.SEEN.word, None)
        if Verdict.DETERMINED.word not in by_verdict or self.attribution is None or not self.attribution.error.value:
            return by_verdict
        share = by_verdict.pop(Verdict.DETERMINED.word)
        total = self.attribution.error.value
        return {name: share * amount.value / total for name, amount in self.causes.items()} | by_verdict


def model_scores(held_out: HeldOutCells, predictions: Mapping[str, FloatArray], seed: int) -> tuple[ModelScore, ...]:
    """Return what each model did; ``predictions`` are (H, K) by model."""
    counts, scored, unseen = held_out.counts, held_out.codes == Verdict.DETERMINED, held_out.codes != Verdict.SEEN
    adding = np.zeros(0)
    if held_out.regressors is not None:
        adding = np.sum(held_out.misses_beside["adding"] ** 2, axis=1)
    designs, rows = [audit.design for audit in held_out.audits], held_out.rows(unseen)
    below = {name: below_noise(values[unseen], designs, rows) for name, values in predictions.items()}
    # A model that has seen these rows learned nothing from the seen cells alone.
    honest = {name: values[scored].ravel() for name, values in predictions.items() if below[name] is None}
    models = []
    for name, predicted in predictions.items():
        squares = np.sum((predicted - held_out.observed) ** 2, axis=1)
        attribution = gain = None
        fitted = calibrate(held_out, predicted)
        if held_out.regressors is not None:
            values, outcomes = predicted[scored].ravel(), held_out.observed[scored].ravel()
            others = {name_beside: told for name_beside, told in honest.items() if name_beside != name}
            learned = learned_elsewhere(others, outcomes, held_out.regressors, seed)
            regressors = replace(held_out.regressors, learned=learned)
            over = fitted is not None and fitted[0].over_confident and too_extreme(regressors, values)
            extreme = fitted[1] if fitted is not None and over else None
            attribution = attribute(values, outcomes, regressors, held_out.noise, seed=seed, recalibrated=extreme)
            gain = _gain(adding, squares[scored], counts[scored], float(np.abs(held_out.observed).max()))
        error = mean_amount(squares[unseen], counts[unseen])
        measures, misses = _chances(held_out, predicted)
        table, of_rows = _by_verdict(held_out, squares, measures), _row_error(held_out, predicted)
        slices = find_slices(held_out, predicted, seed) if below[name] is None else ()
        calibration = None if fitted is None else fitted[0]
        told = (attribution, gain, misses, of_rows, below[name], slices, calibration)
        models.append(ModelScore(name, predicted, error, table, *told))
    return tuple(models)


def _gain(adding: FloatArray, squares: FloatArray, counts: FloatArray, largest: float) -> Amount:
    """Return by how much squared errors (T,) are below those of adding (T,); what differs by rounding is equal."""
    rounding = EQUAL_SHARE * float((adding + squares).max()) + EQUAL_SHARE_OF_OUTCOME * largest**2
    difference = adding - squares
    return mean_amount(np.where(np.abs(difference) > rounding, difference, 0.0), counts)


def mean_squares(held_out: HeldOutCells, models: Sequence[ModelScore]) -> dict[str, float]:
    """Return the mean squared error on determined cells of each model and of what stands beside them, by name."""
    scored = held_out.codes == Verdict.DETERMINED
    counts = held_out.counts[scored]
    misses = {model.name: (model.predicted - held_out.observed)[scored] for model in models}
    misses |= held_out.misses_beside
    squares = {name: mean_amount(np.sum(miss**2, axis=1), counts).value for name, miss in misses.items()}
    if held_out.noise is not None:
        by_cell = held_out.noise.variances.reshape(-1, len(held_out.audits)).mean(axis=1)
        squares["noise alone"] = mean_amount(by_cell, counts).value
    return squares | dict(held_out.forecasts)


def _by_verdict(held_out: HeldOutCells, squares: FloatArray, measures: Mapping[str, FloatArray]) -> Table:
    counts, codes, unseen = held_out.counts, held_out.codes, held_out.codes != Verdict.SEEN
    seen = observed_outcomes([audit.design for audit in held_out.audits], seen=True)
    plain = np.sum((held_out.observed - seen.mean(axis=0)) ** 2, axis=1)
    rows = []
    for verdict in (verdict for verdict in Verdict if (codes == verdict).any()):
        chosen = codes == verdict
        error = mean_amount(squares[chosen], counts[chosen])
        row = {
            "verdict": verdict.word,
            "cells": int(chosen.sum()),
            "squared error": error.value,
            "low": error.low,
            "high": error.high,
            "share": _share(counts * squares, chosen, unseen),
            "plain mean": mean_amount(plain[chosen], counts[chosen]).value,
        }
        if held_out.weights is not None:
            row["importance"] = _share(counts, chosen, unseen)
        means = {name: mean_amount(values[chosen], counts[chosen]).value for name, values in measures.items()}
        rows.append(row | means)
    return Table.from_rows(rows)


def _share(values: FloatArray, chosen: BoolArray, unseen: BoolArray) -> float:
    """Return the share of the ``chosen`` cells in what ``unseen`` cells have; NaN where they are none of these."""
    total = float(values[unseen].sum())
    return float(values[chosen].sum()) / total if total > 0 and not (chosen & ~unseen).any() else float("nan")


def _chances(held_out: HeldOutCells, predicted: FloatArray) -> tuple[dict[str, FloatArray], Misses | None]:
    """Return measures of each cell (H,) where predictions are chances, and whose the wrong ones are of classes.

    The measures are the share of measurements whose likeliest class is right and, unless predictions are classes (all
    or none), log loss.
    """
    chances, observed, bounds = predicted, held_out.observed, held_out.design.outcome_column.two_values
    if len(held_out.audits) == 1:
        if bounds is None:
            return {}, None
        seconds = [(values[:, 0] - bounds[0]) / (bounds[1] - bounds[0]) for values in (chances, observed)]
        chances, observed = (np.stack([1 - second, second], axis=1) for second in seconds)
    if not ((chances >= -MAX_CHANCES_OFF) & (chances <= 1 + MAX_CHANCES_OFF)).all():
        return {}, None
    right = observed[np.arange(len(chances)), chances.argmax(axis=1)]
    if np.isin(chances, (0.0, 1.0)).all():
        return {"accuracy": right}, None if held_out.weights is not None else _misses(held_out, right, observed)
    loss = -np.sum(observed * np.log(np.clip(chances, MIN_CHANCE, 1.0)), axis=1)
    return {"accuracy": right, "log loss": np.maximum(loss, 0.0)}, None


def _misses(held_out: HeldOutCells, right: FloatArray, observed: FloatArray) -> Misses:
    """Return whose the wrong classes are, from shares (H,) of right measurements and of classes (H, K)."""
    unseen = held_out.codes != Verdict.SEEN
    rows, determined = held_out.design.precision[held_out.rows(unseen)], held_out.codes[unseen] == Verdict.DETERMINED
    total = max(float(rows.sum()), 1e-300)
    missed, counts = rows * (1 - right[unseen]), rows[:, None] * observed[unseen]
    least, most = (
        min(float(wrong[determined].sum()), float(missed[determined].sum())) / total
        for wrong in (rows - counts.max(axis=1), _by_others(counts))
    )
    return Misses(float(missed.sum()) / total, float(missed[~determined].sum()) / total, least, most)


def _by_others(counts: FloatArray) -> FloatArray:
    """Return how many of each cell's measurements (N, K) the commonest class of its other ones gets wrong, (N,)."""
    wrong = np.zeros(len(counts))
    for column in range(counts.shape[1]):
        others = counts.copy()
        others[:, column] -= 1
        best = others == others.max(axis=1, keepdims=True)
        right = best[:, column] / best.sum(axis=1)
        wrong += counts[:, column] * (1 - right)
    return wrong


def _row_error(held_out: HeldOutCells, predicted: FloatArray) -> tuple[float, float] | None:
    """Return the squared error of single measurements of unseen cells, and the noise in it; None without replicates."""
    unseen = held_out.codes != Verdict.SEEN
    chosen = held_out.rows(unseen)
    error = noise = total = 0.0
    for column, rows in enumerate(audit.design.observed for audit in held_out.audits):
        count, (spread, freedom) = rows.precision[chosen], (float(part[chosen].sum()) for part in rows.replicates)
        if not freedom > 0 or rows.rows_are is RowsAre.MEANS or held_out.weights is not None:
            return None
        missed = count * (predicted - held_out.observed)[unseen, column] ** 2
        error, total = error + float(missed.sum()) + spread, float(count.sum())
        noise += spread / freedom
    error /= max(total, 1e-300)
    return (error, min(noise, error)) if error > 0 else None
