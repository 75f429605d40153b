"""Multi-task learning and pretraining: what is read off the rows of networks on images, and of shared dimensions.

Three seeds of fifty are too few for a verdict at every number of samples, so gains are averaged over all of them within
a seed, and a t-interval over seeds decides. This rule was fixed before there were results.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab.papers.measured import DIGITS, Measured, MissingRowsError
from recombine.lab.papers.multitask.accuracies_by_seed import published_lead
from recombine.lab.papers.multitask.published import DIMENSIONS, PUBLISHED_IMAGES, STAGES
from recombine.lab.papers.multitask.readings.rows import MIN_SEEDS, of_enough_seeds, paired_by_seed
from recombine.lab.papers.seeds import Interval, require
from recombine.tables.table import Column, Table

#: Factors on pretrained weights of the published grid.
WEIGHT_FACTORS = (0.125, 0.25, 0.5, 1.0, 2.0)
#: Gains in points of an eighth of the weights at these numbers of samples, as published: five in the mean.
PUBLISHED_GAINS = (7.4, 10.5, 6.6, 3.8, 2.5, 2.4, 1.7)
#: The same of a half, a quarter and twice the weights, from the authors' files.
PUBLISHED_FACTOR_GAINS = {
    0.5: (-7.4, -6.0, -2.3, -0.2, 0.9, 0.9, 1.2),
    0.25: (7.1, 10.5, 6.1, 3.0, 2.0, 1.5, 1.9),
    2.0: (-10.9, -12.8, -20.3, -23.3, -17.8, -3.6, -1.7),
}
#: Up to this many samples the authors' finetuning from half of the weights loses accuracy.
MAX_FEW_SAMPLES = 50
#: A network shows the signature of nested selection where this share of its dimensions is left at most, and ENSD is at
#: least that share of them: the bounds of 16b.
MAX_SHARE_LEFT, MIN_SHARE_SHARED = 0.5, 0.95
NETWORK_WORDS = {"resnet": "ResNet-18", "vit": "ViT"}
#: From the next seed on the authors' ResNets look as if pretraining had hardly begun: finetuned from an eighth of the
#: weights with 100 samples they are right on 69% of test images, those up to this one on 89%; single tasks on the same.
LAST_PRETRAINED_SEED = 31
#: Where each network is looked at: its last stage or block.
LAST_LAYERS = {"resnet": "stage4", "vit": "blocks.6"}
#: Here plain finetuning of these seeds is worse than with fewer samples, so that gains are shown without it too.
DIP_SAMPLES = 20
#: Samples at which multi-task networks were trained with both stop rules, and those of them that are few.
JOINT_SAMPLES, FEW_JOINT_SAMPLES = (20, 100, 1000), (20, 100)
#: Factors and samples up to which many transformers have not learned in the epochs they had.
LATE_FACTOR, LATE_SAMPLES = 0.25, 200
#: Loss of a guess among 98 classes; below LEARNED_LOSS a task counts as learned.
GUESS_LOSS, LEARNED_LOSS = float(np.log(98)), 0.02


def network_rows(rows: Table) -> Table:
    """Return one row per network of images: those whose layers were looked at have several.

    Results from before multi-task stop rules were told apart are those of rule "both".

    Examples
    --------
    >>> about = {"images": ["digits"] * 2, "network": ["small resnet"] * 2, "method": ["mtl"] * 2, "n": [20, 20]}
    >>> rows = Table({**about, "factor": [1.0, 1.0], "seed": [0, 0], "layer": ["stem", "stage1"]})
    >>> network_rows(rows)["stop rule"].tolist()
    ['both']
    """
    columns = {name: rows[name] for name in rows.columns}
    named = Table({"stop rule": np.where(rows["method"] == "mtl", "both", ""), **columns})
    networks = named.by("images", "network", "method", "stop rule", "n", "factor", "seed")
    return Table.from_rows(next(network.rows()) for network in networks.values())


def networks_as_released(rows: Table) -> int:
    """Return how many networks were trained by methods and stop rules of the authors; a network may have many rows.

    Examples
    --------
    >>> about = {"images": ["cifar100"] * 3, "network": ["resnet"] * 3, "stop rule": ["", "", "both"], "n": [20] * 3}
    >>> about |= {"method": ["pt+ft", "pt+ft", "mtl"], "layer": ["stem", "stage1", ""]}
    >>> networks_as_released(Table({**about, "factor": [1.0] * 3, "seed": [0] * 3}))
    1
    """
    networks = network_rows(rows).but(stop_rule="both")
    return sum(len(networks.only(method=method)) for method in ("pt+ft", "stl", "mtl"))


def _photographs(rows: Table, network: str, **condition: object) -> Table:
    return of_enough_seeds(rows.only(images="cifar100", network=network), f"{network} on CIFAR-100", **condition)


# ---------------------------------------------------------------------------- rescaling


def _points(better: Table, worse: Table) -> Column:
    """Return gains in accuracy, in points, seed by seed."""
    higher, lower = paired_by_seed(better, worse, "accuracy")
    return 100 * (higher - lower)


def _gains(rows: Table, better: float, worse: float) -> FloatArray:
    """Return gains in points (seeds, samples) at all the published numbers of samples."""
    pairs = [[rows.only(n=n, factor=factor) for factor in (better, worse)] for n in PUBLISHED_IMAGES]
    if len({frozenset(accuracies["seed"].tolist()) for pair in pairs for accuracies in pair}) > 1:
        raise MissingRowsError("some seeds lack some numbers of samples")
    return np.stack([_points(gaining, base) for gaining, base in pairs], axis=1)


def gain_of_an_eighth(rows: Table, method: str) -> Measured:
    """Return what finetuning ResNets from an eighth of the weights gains over plain finetuning."""
    gains = _gains(_photographs(network_rows(rows), "resnet", method=method), 0.125, 1.0)
    errors = np.std(gains, axis=0, ddof=1) / len(gains) ** 0.5
    each = zip(PUBLISHED_IMAGES, gains.mean(0), errors, PUBLISHED_GAINS, strict=True)
    listed = ", ".join(f"{gain:+.1f} ± {error:.1f} ({published:+.1f}) at {n}" for n, gain, error, published in each)
    bounds = f"points, mean over n with one-sided 95% bounds over {len(gains)} seeds"
    detail = f"{bounds}; by samples, with standard errors (published): {listed}"
    without_dip = np.delete(gains, PUBLISHED_IMAGES.index(DIP_SAMPLES), axis=1)
    numbers = {"mean gain": Interval.of(gains.mean(1)), f"without n = {DIP_SAMPLES}": Interval.of(without_dip.mean(1))}
    return Measured(numbers, detail)


def gains_of_other_factors(rows: Table) -> Measured:
    """Return what finetuning ResNets from a half, a quarter and twice the weights gains over plain finetuning."""
    chosen = _photographs(network_rows(rows), "resnet", method="pt+ft")
    gains = {factor: _gains(chosen, factor, 1.0) for factor in (0.5, 0.25, 2.0)}
    few = len([n for n in PUBLISHED_IMAGES if n <= MAX_FEW_SAMPLES])
    numbers: dict[str, Any] = {f"gain at s = {factor:g}": Interval.of(gain.mean(1)) for factor, gain in gains.items()}
    numbers[f"cost of s = 0.5, n up to {MAX_FEW_SAMPLES}"] = Interval.of(-gains[0.5][:, :few].mean(1))
    published = "; ".join(
        f"{factor:g}: {np.mean(PUBLISHED_FACTOR_GAINS[factor]):+.1f}, and {gain:+.1f} with 10 samples"
        for factor, (gain, *_) in PUBLISHED_FACTOR_GAINS.items()
    )
    return Measured(
        numbers, f"points, mean over n with one-sided 95% bounds over {len(gains[0.5])} seeds; published {published}"
    )


def gains_with_old_statistics(rows: Table, factor: float) -> Measured:
    """Return what finetuning small ResNets on digits from rescaled weights gains, with statistics of pretraining."""
    networks = of_enough_seeds(network_rows(rows), "small resnet on digits", method="pt+ft released")
    samples = sorted(networks.by("n"))
    plain, rescaled = ([networks.only(n=n, factor=of) for n in samples] for of in (1.0, factor))
    gains = np.stack([_points(better, worse) for better, worse in zip(rescaled, plain, strict=True)], axis=1)
    accuracy = ", ".join(f"{100 * base['accuracy'].mean():.0f}% at {n}" for n, base in zip(samples, plain, strict=True))
    gain = Interval.of(gains.mean(1))
    numbers = {"gain": gain, "cost": Interval(-gain.mean, -gain.high, -gain.low)}
    each = ", ".join(f"{value:+.1f} at {n}" for n, value in zip(samples, gains.mean(0), strict=True))
    detail = (
        f"points, mean over n with one-sided 95% bounds over {len(gains)} seeds: {each}; from plain weights {accuracy}"
    )
    return Measured(numbers, detail, stands_in=DIGITS)


def finetuned_over_single(rows: Table, network: str, samples: tuple[int, ...]) -> Measured:
    """Return how far plain finetuning is ahead of a single task, in points, as a mean over samples within a seed."""
    chosen = _photographs(network_rows(rows), network)
    tuned, alone = (chosen.only(method=name, factor=1.0) for name in ("pt+ft", "stl"))
    gains = np.stack([_points(tuned.only(n=n), alone.only(n=n)) for n in samples], axis=1)
    each = ", ".join(f"{gain:+.1f} at {n}" for n, gain in zip(samples, gains.mean(0), strict=True))
    numbers: dict[str, Any] = {"PT+FT ahead": Interval.of(gains.mean(1))}
    numbers["samples with a lead in the mean"] = int((gains.mean(0) > 0).sum())
    return Measured(numbers, f"points, mean over n with one-sided 95% bounds over {len(gains)} seeds: {each}")


def gains_of_plain(rows: Table) -> Measured:
    """Return what plain finetuning of ViTs gains over every other factor."""
    chosen = _photographs(network_rows(rows), "vit", method="pt+ft")
    gains = {f"over s = {factor:g}": _gains(chosen, 1.0, factor) for factor in WEIGHT_FACTORS if factor != 1.0}
    smallest = ", ".join(f"{gain.mean(0).min():+.1f}" for gain in gains.values())
    seeds = min(map(len, gains.values()))
    bounds = f"points that s = 1 gains, mean over n with one-sided 95% bounds over {seeds} seeds"
    detail = f"{bounds}; smallest at any n: {smallest}; published: best at every n"
    weak = chosen.where((chosen["factor"] <= LATE_FACTOR) & (chosen["n"] <= LATE_SAMPLES))
    late = f"{int((weak['train loss'] >= LEARNED_LOSS).sum())} of {len(weak)}"
    numbers: dict[str, Any] = {name: Interval.of(gain.mean(1)) for name, gain in gains.items()}
    detail += (
        f"; with s of 1/4 or less and n up to {LATE_SAMPLES} {late} networks had not learned their training images"
    )
    return Measured(numbers, detail)


def gains_with_the_signature(rows: Table) -> Measured:
    """Return what rescaling gains where it leaves the last layer with few dimensions, most of them shared."""
    numbers: dict[str, Any] = {}
    without = []
    for network, layer in LAST_LAYERS.items():
        tuned = _photographs(rows, network, method="pt+ft")
        single = network_rows(tuned)
        for factor in (factor for factor in WEIGHT_FACTORS if factor != 1.0):
            sizes = require(tuned, MIN_SEEDS, layer=layer, factor=factor)
            before, after, shared = (float(sizes[name].mean()) for name in ("PR before", "PR after", "ENSD"))
            gain = Interval.of(_gains(single, factor, 1.0).mean(1))
            if after < MAX_SHARE_LEFT * before and shared > MIN_SHARE_SHARED * after:
                numbers[f"gain of {NETWORK_WORDS[network]}, s = {factor:g}"] = gain
            else:
                without.append(f"{NETWORK_WORDS[network]} s = {factor:g}: {gain}")
    gains = list(numbers.values())
    least = min(gains, key=lambda gain: gain.low) if gains else Interval(np.nan, np.nan, np.nan)
    detail = (
        f"points with one-sided 95% bounds over seeds; rescaled networks without the signature: {', '.join(without)}"
    )
    return Measured({"with the signature": len(gains), **numbers, "least sure of these gains": least}, detail)


# ---------------------------------------------------------------------------- dimensions of the last stage


def _last_stage(rows: Table, method: str = "pt+ft", factors: tuple[float, ...] = WEIGHT_FACTORS) -> dict[float, Table]:
    chosen = _photographs(rows, "resnet", layer="stage4", method=method)
    return {factor: require(chosen, MIN_SEEDS, factor=factor) for factor in factors}


def dimensions_kept(rows: Table) -> Measured:
    """Return how many dimensions finetuning leaves, and how their number compares with those shared."""
    sizes = {
        factor: [float(networks[name].mean()) for name in ("PR before", "PR after", "ENSD")]
        for factor, networks in _last_stage(rows).items()
    }
    shrinkage = {f"PR after / before, s = {factor:g}": sizes[factor][1] / sizes[factor][0] for factor in (1.0, 0.125)}
    shared = {"ENSD / PR after": [ensd / after for _, after, ensd in sizes.values()]}
    listed = ", ".join(f"{ensd:.2f} of {after:.2f}" for _, after, ensd in sizes.values())
    detail = f"published 0.98, 0.30; ENSD of PR after at s = 0.125 to 2: {listed}. 16c has the control"
    return Measured(shrinkage | shared, detail)


def dimensions_by_layer(rows: Table) -> Measured:
    """Return how far dimensions of every layer of ResNet-18 are from the published means, as a share of these."""
    tuned = _photographs(rows, "resnet", method="pt+ft")
    numbers: dict[str, Any] = {}
    for factor in (1.0, 0.125):
        means = [require(tuned, MIN_SEEDS, layer=layer, factor=factor) for layer in STAGES]
        for column in ("PR before", "PR after", "ENSD"):
            ours = np.array([float(networks[column].mean()) for networks in means])
            shares = np.abs(ours / np.array(DIMENSIONS["resnet", factor, column]) - 1)
            numbers[f"{column}, s = {factor:g}"] = float(shares.max())
    return Measured(numbers, "largest difference from the published mean (38 seeds) in any of six layers, 1000 images")


def dimensions_of_transformers(rows: Table) -> Measured:
    """Return what finetuning leaves of the last block of ViTs, and how much of that is shared."""
    tuned = _photographs(rows, "vit", method="pt+ft", layer=LAST_LAYERS["vit"])
    sizes = {
        factor: [
            float(require(tuned, MIN_SEEDS, factor=factor)[name].mean()) for name in ("PR before", "PR after", "ENSD")
        ]
        for factor in (1.0, 0.125)
    }
    shrinkage = {f"PR after / before, s = {factor:g}": after / before for factor, (before, after, _) in sizes.items()}
    overlap = {f"ENSD / PR after, s = {factor:g}": shared / after for factor, (_, after, shared) in sizes.items()}
    return Measured(shrinkage | overlap, "last block, mean over seeds; published 0.40 and 1.19, 0.71 and 0.03")


def _over_chance(*tables: Table) -> Column:
    """Return ENSD over that of shuffled neurons, for every network."""
    if not all("chance" in table.columns and np.isfinite(table["chance"]).all() for table in tables):
        raise MissingRowsError("the ENSD of shuffled neurons was not recorded; run it again")
    return np.concatenate([table["ENSD"] / table["chance"] for table in tables])


def shared_over_chance(rows: Table) -> Measured:
    """Return ENSD over that of shuffled neurons, the least and the most of all networks."""
    stages = _last_stage(rows)
    over, still = _over_chance(*stages.values()), _over_chance(stages[1.0], stages[2.0])
    detail = (
        f"ENSD over that of shuffled neurons, {len(over)} networks; at s = 1 and 2, where the stage hardly changes, "
        f"{still.min():.2f} to {still.max():.2f}. Not centred, the direction in which all neurons rise together "
        "dominates: ENSD weighs directions by the square of their variance"
    )
    return Measured({"least and most over chance": [over.min(), over.max()]}, detail)


def centred_over_chance(rows: Table) -> Measured:
    """Return the same of centred activations, and how many dimensions finetuning leaves of these."""
    stages = _last_stage(rows, "pt+ft recalibrated", (0.125, 1.0))
    over = _over_chance(*stages.values())
    share = {f"PR after / before, s = {s:g}": (run["PR after"] / run["PR before"]).mean() for s, run in stages.items()}
    sizes = [float(stages[0.125][name].mean()) for name in ("PR before", "PR after", "ENSD", "chance")]
    detail = (
        f"ENSD over that of shuffled neurons, {len(over)} networks at s = 0.125 and 1. At s = 0.125 from "
        f"{sizes[0]:.0f} to {sizes[1]:.2f} dimensions, ENSD {sizes[2]:.2f}, of shuffled neurons {sizes[3]:.2f}"
    )
    return Measured({"least and most over chance": [over.min(), over.max()], **share}, detail)


# ---------------------------------------------------------------------------- when multi-task training ends


def auxiliary_losses(rows: Table, network: str) -> Measured:
    """Return what is left of the auxiliary task when training ends as soon as the main one is learned."""
    joint = _photographs(network_rows(rows), network, method="mtl", stop_rule="main")
    by_samples = {n: require(joint, MIN_SEEDS if n in FEW_JOINT_SAMPLES else 1, n=n) for n in JOINT_SAMPLES}
    losses_left = {f"loss at n = {n}": float(networks["auxiliary loss"].mean()) for n, networks in by_samples.items()}
    for n in FEW_JOINT_SAMPLES:
        slow = by_samples[n].where(by_samples[n]["train loss"] >= LEARNED_LOSS)
        if len(slow):
            raise MissingRowsError(
                f"{len(slow)} of {len(by_samples[n])} networks with n = {n} did not learn the main task in "
                f"{slow['epochs'].max()} epochs (loss {slow['train loss'].min():.2f} or more), so that the rule never "
                f"stopped them; auxiliary {', '.join(f'{label}: {loss:.2f}' for label, loss in losses_left.items())}"
            )
    losses = np.concatenate([networks["train loss"] for networks in by_samples.values()])
    learned = f"main task learned by {(losses < LEARNED_LOSS).sum()} of {len(losses)} networks"
    detail = f"training loss of the auxiliary task at the end (a guess: {GUESS_LOSS:.2f}); {learned}"
    return Measured(losses_left, f"{detail}. {_both_learned(rows, network, by_samples)}")


def _both_learned(rows: Table, network: str, early: dict[int, Table]) -> str:
    """Say what training until both tasks are learned gives, where there are such networks of the same seeds."""
    try:
        joint = _photographs(network_rows(rows), network, method="mtl", stop_rule="both")
        late = {n: networks for n in JOINT_SAMPLES if len(networks := joint.only(n=n)) >= MIN_SEEDS}
        gains = {n: Interval.of(_points(networks, early[n])) for n, networks in late.items()}
    except MissingRowsError:
        return "Networks trained until both are learned: not run"
    learned = joint["auxiliary loss"] < LEARNED_LOSS
    return (
        f"Trained until both are learned: {learned.sum()} of {len(joint)} networks learned the auxiliary task, the "
        f"longest ran for {joint['epochs'].max()} epochs, largest loss {joint['auxiliary loss'].max():.2f}. Main "
        f"accuracy gained: {', '.join(f'{gain} at {n}' for n, gain in gains.items())} points"
    )


def joint_over_finetuned(rows: Table) -> Measured:
    """Return by how many points MTL leads plain finetuning of ResNets: in the authors' files, and here beside them."""
    single = network_rows(rows)
    joint = _photographs(single, "resnet", method="mtl", stop_rule="main")
    tuned = _photographs(single, "resnet", method="pt+ft", factor=1.0)
    fewest, *larger = JOINT_SAMPLES
    points = {n: _points(require(joint, n=n), require(tuned, n=n)) for n in JOINT_SAMPLES}
    published = {n: published_lead("resnet", n) for n in JOINT_SAMPLES}
    seeds, pretrained = len(published[fewest]), LAST_PRETRAINED_SEED + 1
    numbers: dict[str, Any] = {
        f"MTL ahead at {fewest}": Interval.of(published[fewest]),
        "PT+FT ahead at 100 and 1000": Interval.of(-np.mean([published[n] for n in larger], axis=0)),
        f"MTL ahead at {fewest}, seeds 0 to {LAST_PRETRAINED_SEED}": Interval.of(published[fewest][:pretrained]),
        f"MTL ahead at {fewest}, later seeds": Interval.of(published[fewest][pretrained:]),
        f"here, MTL ahead at {fewest}": Interval.of(points[fewest]),
        "here, PT+FT ahead at 100 and 1000": Interval.of(-np.mean([points[n] for n in larger], axis=0)),
        "seeds here": len(points[fewest]),
    }
    spread = float(np.std(published[fewest], ddof=1) / np.mean(published[fewest]))
    detail = f"points, with one-sided 95% bounds over {seeds} seeds of the authors; to tell their lead at {fewest} "
    return Measured(numbers, f"{detail}from zero, four times in five, takes {_needed_seeds(spread):,} seeds")


def _needed_seeds(spread: float) -> int:
    """Return how many seeds a two-sided test at 5% needs to see a mean of 1 with this deviation four times in five."""
    from scipy.special import ndtri

    return int(np.ceil((spread * (ndtri(0.975) + ndtri(0.8))) ** 2))


def joint_transformers(rows: Table) -> Measured:
    """Return by how many points MTL leads plain finetuning of ViTs in the authors' files, with few samples."""
    # Ours of 20 and 100 samples had not learned the main task (23b), so that they say nothing.
    _photographs(network_rows(rows), "vit", method="pt+ft", factor=1.0)
    numbers = {f"MTL ahead at {n}": Interval.of(published_lead("vit", n)) for n in PUBLISHED_IMAGES[:2]}
    larger = ", ".join(f"{published_lead('vit', n).mean():+.1f} at {n}" for n in PUBLISHED_IMAGES[2:])
    detail = f"points, with one-sided 95% bounds over {len(published_lead('vit', 10))} seeds of the authors"
    return Measured(numbers, f"{detail}; with more samples {larger}")
