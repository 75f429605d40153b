"""Multi-task learning and pretraining: what rescaling gains by rule of running statistics, and whether these fit.

Gains are averaged over numbers of samples within a seed, and a t-interval over seeds decides.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab.papers.measured import DIGITS, Measured, MissingRowsError
from recombine.lab.papers.multitask.experiments.norms import AFTER, BATCH, GROUP, KEPT, NO_STATISTICS, variance_ratio
from recombine.lab.papers.multitask.published import PUBLISHED_IMAGES
from recombine.lab.papers.multitask.readings.images import (
    LEARNED_LOSS,
    PUBLISHED_FACTOR_GAINS,
    PUBLISHED_GAINS,
    network_rows,
)
from recombine.lab.papers.multitask.readings.rows import MIN_SEEDS, of_enough_seeds, paired_by_seed
from recombine.lab.papers.seeds import Interval, require
from recombine.tables.table import Table

#: Numbers of samples of these networks, and those up to which half of the weights costs accuracy in the authors' files.
ALL_SAMPLES, FEW_SAMPLES = (10, 20, 50, 100), (10, 20, 50)
#: Running variances within a tenth of the samples' fit; half as much again or less than three quarters do not.
FITTING_RATIOS, UNFIT_RATIOS = (0.9, 1.1), (0.75, 1.5)
#: Samples of a mini-batch of ResNet-18 on CIFAR-100.
BATCH_SAMPLES = 128
#: Numbers of samples with which twice the weights cost more than ten points in the authors' files.
SAMPLES_OF_COST_AT_TWICE = (10, 20, 50, 100, 200)


def norm_gains(
    rows: Table, factor: float, statistics: str, samples: tuple[int, ...] = ALL_SAMPLES
) -> tuple[FloatArray, FloatArray]:
    """Return what a factor gains over plain finetuning by a rule of running statistics, in points, and seeds.

    Returns
    -------
    gains : array (seeds, samples)
    seeds : array (seeds,)
    """
    kind = {"norm": GROUP if statistics == NO_STATISTICS else BATCH, "statistics": statistics}
    networks = of_enough_seeds(rows, "small networks on digits", **kind)
    columns, seeds = [], []
    for n in samples:
        rescaled, plain = (networks.only(n=n, factor=each) for each in (factor, 1.0))
        higher, lower = paired_by_seed(rescaled, plain, "accuracy")
        columns.append(100 * (higher - lower))
        seeds.append(np.sort(np.intersect1d(rescaled["seed"], plain["seed"])))
    if any(not np.array_equal(each, seeds[0]) for each in seeds):
        raise MissingRowsError("some seeds lack some numbers of samples")
    return np.stack(columns, axis=1), seeds[0]


def _published(factor: float, samples: tuple[int, ...]) -> str:
    gains = PUBLISHED_GAINS if factor == 0.125 else PUBLISHED_FACTOR_GAINS[factor]
    by_samples = dict(zip(PUBLISHED_IMAGES, gains, strict=True))
    return ", ".join(f"{by_samples[n]:+.1f}" for n in samples)


def _by_samples(gains: FloatArray, samples: tuple[int, ...]) -> str:
    return ", ".join(f"{gain:+.1f} at {n}" for n, gain in zip(samples, gains.mean(0), strict=True))


def gain_by_rule(rows: Table, factor: float, statistics: str, samples: tuple[int, ...] = ALL_SAMPLES) -> Measured:
    """Return what a factor gains over plain finetuning, both with running statistics by a rule."""
    gains, seeds = norm_gains(rows, factor, statistics, samples)
    gain = Interval.of(gains.mean(1))
    networks = rows.only(statistics=statistics)
    plain = ", ".join(f"{100 * networks.only(n=n, factor=1.0)['accuracy'].mean():.0f}%" for n in samples)
    listed = f"points, mean over n with one-sided 95% bounds over {len(seeds)} seeds: {_by_samples(gains, samples)}"
    detail = f"{listed}; from plain weights {plain}; published for ResNet-18 {_published(factor, samples)}"
    return Measured({"gain": gain, "cost": _flipped(gain)}, detail, stands_in=DIGITS)


def _flipped(gain: Interval) -> Interval:
    return Interval(-gain.mean, -gain.high, -gain.low)


def restored_after(rows: Table, factor: float, samples: tuple[int, ...]) -> Measured:
    """Return what a factor gains with statistics set after finetuning, and by how much more than with old ones."""
    (old, seeds), (anew, seeds_anew) = (norm_gains(rows, factor, rule, samples) for rule in (KEPT, AFTER))
    if not np.array_equal(seeds, seeds_anew):
        raise MissingRowsError("some networks were not tested by both rules")
    numbers = {
        "gain": Interval.of(anew.mean(1)),
        "cost with kept ones": _flipped(Interval.of(old.mean(1))),
        "restored": Interval.of((anew - old).mean(1)),
    }
    listed = f"points, mean over n with one-sided 95% bounds over {len(seeds)} seeds"
    detail = f"{listed}; restored {_by_samples(anew - old, samples)}; gain {_by_samples(anew, samples)}"
    return Measured(numbers, detail, stands_in=DIGITS)


def _kept_networks(rows: Table) -> tuple[Table, FloatArray, FloatArray]:
    """Return rescaled networks with old statistics, what these cost in points, and how far they should be off."""
    tested = of_enough_seeds(rows, "small networks on digits", norm=BATCH, statistics=KEPT).but(factor=1.0)
    anew = rows.only(norm=BATCH, statistics=AFTER)
    keys = ("n", "factor", "seed")
    fitting = {tuple(row[key] for key in keys): row["accuracy"] for row in anew.rows()}
    keyed = [tuple(row[key] for key in keys) for row in tested.rows()]
    if not set(keyed) <= set(fitting):
        raise MissingRowsError("some networks were not tested by both rules")
    cost = 100 * (np.array([fitting[key] for key in keyed]) - tested["accuracy"])
    off = np.array([float(variance_ratio(row["factor"], row["steps"])) for row in tested.rows()])
    return tested, cost, off


def ratios_by_steps(rows: Table) -> Measured:
    """Return how running variances compare with what their factor and the steps of finetuning say."""
    tested, _, off = _kept_networks(rows)
    far = tested["variance ratio"] / off
    apart = np.maximum(far, 1 / far) - 1
    by_factor = {factor: apart[tested["factor"] == factor] for factor in sorted(tested.by("factor"))}
    each = ", ".join(f"{factor:g}: {np.median(errors):.0%}" for factor, errors in by_factor.items())
    numbers = {"median difference": float(np.median(apart)), "within a tenth": float((apart <= 0.1).mean())}
    return Measured(numbers, f"{len(tested)} networks; median by factor: {each}", stands_in=DIGITS)


def cost_by_fit(rows: Table) -> Measured:
    """Return what old statistics cost where their variances should fit, and where they should not, by seed."""
    tested, cost, off = _kept_networks(rows)
    fits = (off >= FITTING_RATIOS[0]) & (off <= FITTING_RATIOS[1])
    unfit = (off < UNFIT_RATIOS[0]) | (off > UNFIT_RATIOS[1])
    numbers: dict[str, Any] = {}
    counted = []
    for name, chosen in (("they do not fit", unfit), ("they fit", fits)):
        seeds = sorted(set(tested["seed"][chosen].tolist()))
        if len(seeds) < MIN_SEEDS:
            raise MissingRowsError(f"needs at least {MIN_SEEDS} seeds with a network of which {name}")
        means = np.array([cost[chosen & (tested["seed"] == seed)].mean() for seed in seeds])
        numbers[f"cost where {name}"] = Interval.of(means)
        counted.append(f"{name}: {int(chosen.sum())} networks of {len(seeds)} seeds")
    numbers["gain where they fit"] = _flipped(numbers["cost where they fit"])
    between = cost[~fits & ~unfit]
    if len(between):
        counted.append(f"between: {len(between)} networks, mean cost {between.mean():.1f}")
    detail = (
        "points that statistics set after finetuning gain over old ones in the same networks, s other than 1; "
        f"{'; '.join(counted)}"
    )
    return Measured(numbers, detail, stands_in=DIGITS)


def ratios_at_size(rows: Table) -> Measured:
    """Return how far old variances would be off in ResNet-18 on CIFAR-100, by the steps that ours took."""
    tuned = of_enough_seeds(
        network_rows(rows), "resnet on CIFAR-100", images="cifar100", network="resnet", method="pt+ft"
    )

    def steps(factor: float, n: int) -> FloatArray:
        runs = require(tuned, MIN_SEEDS, n=n, factor=factor)
        if not (runs["train loss"] < LEARNED_LOSS).all():
            raise MissingRowsError(f"some networks from s = {factor:g} did not learn their {n} training images")
        batches: FloatArray = runs["epochs"] * -(-n // BATCH_SAMPLES)
        return batches

    def ratios(factor: float, samples: tuple[int, ...]) -> list[float]:
        return [float(variance_ratio(factor, steps(factor, n)).mean()) for n in samples]

    numbers = {
        "half, n up to 50": ratios(0.5, FEW_SAMPLES),
        "a quarter and an eighth": [ratio for factor in (0.25, 0.125) for ratio in ratios(factor, PUBLISHED_IMAGES)],
        "twice, n up to 200": ratios(2.0, SAMPLES_OF_COST_AT_TWICE),
        "half, more samples": ratios(0.5, tuple(n for n in PUBLISHED_IMAGES if n not in FEW_SAMPLES)),
    }
    taken = "; ".join(f"{factor:g}: {steps(factor, 10).mean():.0f}" for factor in (0.125, 0.25, 0.5, 2.0))
    return Measured(numbers, f"running over own variances, mean over seeds, by samples; steps with 10 samples {taken}")
