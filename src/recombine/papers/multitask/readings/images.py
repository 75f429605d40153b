"""Multi-task learning and pretraining: what rescaling does to networks on CIFAR-100, and what shared dimensions are.

Three seeds of fifty are too few for a verdict at every number of samples, so gains are averaged over all of them within
a seed, and a t-interval over seeds decides. This rule was fixed before there were results.
"""

from __future__ import annotations

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.papers.claims import Check, Outcome, Standing
from recombine.papers.multitask.readings.rows import FEWEST_SEEDS, Interval, claim, needed, one_a_network, paired
from recombine.papers.seeds import MissingRowsError
from recombine.tables.table import Table

#: The published grid.
SAMPLES, FACTORS = (10, 20, 50, 100, 200, 500, 1000), (0.125, 0.25, 0.5, 1.0, 2.0)
#: ENSD must be so many times that of the same layer with its neurons shuffled to speak for known features.
ABOVE_CHANCE = 1.5
#: Samples at which multi-task networks were trained with both stop rules, and those of them that are few.
JOINT_SAMPLES, FEW = (20, 100, 1000), (20, 100)
#: Loss of a guess among 98 classes; above UNLEARNED a task counts as not learned, below LEARNED as learned.
GUESS, UNLEARNED, LEARNED = float(np.log(98)), 3.0, 0.02


def _photographs(rows: Table, network: str, **values: object) -> Table:
    chosen = rows.only(images="cifar100", network=network, **values)
    if len(set(chosen["seed"].tolist())) < FEWEST_SEEDS:
        needs = f"needs {network} networks on CIFAR-100 with at least {FEWEST_SEEDS} seeds"
        raise MissingRowsError(f"{needs}: run with --scale full --device cuda")
    return chosen


def _gains(rows: Table, better: float, worse: float) -> FloatArray:
    """Return paired gains in accuracy, in points (seeds, samples), at all the published numbers of samples."""
    pairs = [[rows.only(n=n, factor=factor) for factor in (better, worse)] for n in SAMPLES]
    if len({frozenset(part["seed"].tolist()) for pair in pairs for part in pair}) > 1:
        raise MissingRowsError("some seeds lack some numbers of samples")
    return np.stack([100 * paired(one, two, "accuracy") for one, two in pairs], axis=1)


def _decided(value: str, gain: Interval, least: float, detail: str) -> Outcome:
    """Judge a gain that should be above ``least``: it holds if clearly positive, fails if clearly too small."""
    if gain.mean > least and gain.low > 0:
        return Outcome(value, Standing.HOLDS, detail)
    if gain.high < least or not np.isfinite(gain.mean):
        return Outcome(value, Standing.FAILS, detail)
    return Outcome(value, Standing.NOT_RUN, f"too few seeds to tell; {detail}")


def _eighth(method: str) -> Check:
    def check(rows: Table) -> Outcome:
        gains = _gains(_photographs(one_a_network(rows), "resnet", method=method), 0.125, 1.0)
        pooled = Interval.of(gains.mean(1))
        spread = np.std(gains, axis=0, ddof=1) / len(gains) ** 0.5
        listed = ", ".join(
            f"{gain:+.1f} ± {error:.1f} at {n}" for n, gain, error in zip(SAMPLES, gains.mean(0), spread, strict=True)
        )
        detail = f"points, {len(gains)} seeds; by samples, with standard errors: {listed}"
        return _decided(str(pooled), pooled, 1.0, detail)

    return check


def _vit(rows: Table) -> Outcome:
    chosen = _photographs(one_a_network(rows), "vit", method="pt+ft")
    gains = {factor: _gains(chosen, 1.0, factor) for factor in FACTORS if factor != 1.0}
    pooled = {factor: Interval.of(gain.mean(1)) for factor, gain in gains.items()}
    value = ", ".join(f"{gain} over {factor:g}" for factor, gain in pooled.items())
    least = ", ".join(f"{gain.mean(0).min():+.1f}" for gain in gains.values())
    seeds = min(len(gain) for gain in gains.values())
    # The factor that is hardest to tell from s = 1 decides.
    hardest = min(pooled.values(), key=lambda gain: gain.low)
    beaten = next((gain for gain in pooled.values() if gain.high < 0 or np.isnan(gain.mean)), hardest)
    return _decided(value, beaten, 0.0, f"gain of s = 1 in points, {seeds} seeds; smallest at any n: {least}")


def _last_stage(rows: Table, method: str = "pt+ft", factors: tuple[float, ...] = FACTORS) -> dict[float, Table]:
    chosen = _photographs(rows, "resnet", layer="stage4", method=method)
    return {factor: needed(chosen, FEWEST_SEEDS, factor=factor) for factor in factors}


def _nested_signature(rows: Table) -> Outcome:
    sizes = {
        factor: [float(part[name].mean()) for name in ("PR before", "PR after", "ENSD")]
        for factor, part in _last_stage(rows).items()
    }
    left = {factor: after / before for factor, (before, after, _) in sizes.items()}
    shared = [both / after for _, after, both in sizes.values()]
    listed = ", ".join(f"{both:.2f} of {after:.2f}" for _, after, both in sizes.values())
    detail = f"PR after / before at s = 1 and 0.125; ENSD of PR after at s = 0.125 to 2: {listed}. 16c has the control"
    holds = all(0.95 <= ratio <= 1.35 for ratio in shared) and left[1.0] > 0.9 and left[0.125] < 0.5
    return Outcome.of(f"{left[1.0]:.2f}, {left[0.125]:.2f}", holds, detail)


def _over_chance(parts: dict[float, Table]) -> FloatArray:
    """Return ENSD over that of shuffled neurons, for every network."""
    if not all("chance" in part.columns and np.isfinite(part["chance"]).all() for part in parts.values()):
        raise MissingRowsError("the ENSD of shuffled neurons was not recorded; run it again")
    return np.concatenate([part["ENSD"] / part["chance"] for part in parts.values()])


def _above_chance(rows: Table) -> Outcome:
    parts = _last_stage(rows)
    over = _over_chance(parts)
    same = np.concatenate([parts[factor]["ENSD"] / parts[factor]["chance"] for factor in (1.0, 2.0)])
    detail = (
        f"ENSD over that of shuffled neurons, {len(over)} networks; at s = 1 and 2, where the stage hardly changes, "
        f"{same.min():.2f} to {same.max():.2f}. Not centred, the direction in which all neurons rise together "
        "dominates: ENSD weighs directions by the square of their variance"
    )
    return Outcome.of(f"{over.min():.2f} to {over.max():.2f}", bool(np.all(over > ABOVE_CHANCE)), detail)


def _centred(rows: Table) -> Outcome:
    parts = _last_stage(rows, "pt+ft recalibrated", (0.125, 1.0))
    over = _over_chance(parts)
    left = {factor: float((part["PR after"] / part["PR before"]).mean()) for factor, part in parts.items()}
    sizes = [float(parts[0.125][name].mean()) for name in ("PR before", "PR after", "ENSD", "chance")]
    detail = (
        f"ENSD over that of shuffled neurons, {len(over)} networks at s = 0.125 and 1; PR after / before "
        f"{left[0.125]:.2f} and {left[1.0]:.2f}. At s = 0.125 from {sizes[0]:.0f} to {sizes[1]:.2f} dimensions, "
        f"ENSD {sizes[2]:.2f}, of shuffled neurons {sizes[3]:.2f}"
    )
    holds = bool(np.all(over > ABOVE_CHANCE)) and left[0.125] < 0.5
    return Outcome.of(f"{over.min():.1f} to {over.max():.1f}", holds, detail)


def _identities(rows: Table) -> Outcome:
    worst, moved = float(rows["worst"].max()), float(np.abs(rows["turned alone"] - 1).min())
    detail = f"{len(rows)} draws; turning one side alone changes it by at least {moved:.0%}"
    return Outcome.of(f"{worst:.0e}", worst < 1e-9 and moved > 1e-3, detail)


def _stop_rule(network: str) -> Check:
    def check(rows: Table) -> Outcome:
        joint = _photographs(one_a_network(rows), network, method="mtl", stop_rule="main")
        parts = {n: needed(joint, FEWEST_SEEDS if n in FEW else 1, n=n) for n in JOINT_SAMPLES}
        left = {n: float(part["auxiliary loss"].mean()) for n, part in parts.items()}
        listed = ", ".join(f"{loss:.2f}" for loss in left.values())
        for n in FEW:
            if np.any(parts[n]["train loss"] >= LEARNED):
                raise MissingRowsError(_never_learned(parts[n], n, listed))
        detail = f"auxiliary training loss at the end, n = 20, 100, 1000 (a guess: {GUESS:.2f}; main task learned by "
        detail += f"{_learned(parts)}). {_both_learned(rows, network, parts)}"
        return Outcome.of(listed, all(left[n] > UNLEARNED for n in FEW), detail)

    return check


def _never_learned(part: Table, n: int, auxiliary: str) -> str:
    slow = part.where(part["train loss"] >= LEARNED)
    return (
        f"{len(slow)} of {len(part)} networks with n = {n} did not learn the main task in {slow['epochs'].max()} "
        f"epochs (loss {slow['train loss'].min():.2f} or more), so that the rule never stopped them; auxiliary loss at "
        f"the end {auxiliary} for n = 20, 100, 1000"
    )


def _both_learned(rows: Table, network: str, early: dict[int, Table]) -> str:
    """Say what training until both tasks are learned gives, where there are such networks of the same seeds."""
    try:
        joint = _photographs(one_a_network(rows), network, method="mtl", stop_rule="both")
        late = {n: part for n in JOINT_SAMPLES if len(part := joint.only(n=n)) >= FEWEST_SEEDS}
        gains = {n: Interval.of(100 * paired(part, early[n], "accuracy")) for n, part in late.items()}
    except MissingRowsError:
        return "Networks trained until both are learned: not run"
    learned = joint["auxiliary loss"] < LEARNED
    return (
        f"Trained until both are learned: {learned.sum()} of {len(joint)} networks learned the auxiliary task, the "
        f"longest ran for {joint['epochs'].max()} epochs, largest loss {joint['auxiliary loss'].max():.2f}. Main "
        f"accuracy gained: {', '.join(f'{gain} at {n}' for n, gain in gains.items())} points"
    )


def _learned(parts: dict[int, Table]) -> str:
    losses = np.concatenate([part["train loss"] for part in parts.values()])
    return f"{(losses < LEARNED).sum()} of {len(losses)} networks"


CLAIMS = (
    claim(
        "15a",
        "ResNet-18 on CIFAR-100: finetuning from an eighth of the pretrained weights beats plain finetuning.",
        "data of Fig. CIFAR-100",
        "+5.0 points over n (+7.4, +10.5, +6.6, +3.8, +2.5, +2.4, +1.7)",
        "mean over n above +1 and its lower 95% bound over seeds above 0; fails if the upper one is below +1",
        "rescaling",
        _eighth("pt+ft"),
    ),
    claim(
        "15b",
        "ViT on CIFAR-100: no rescaling beats plain finetuning.",
        "data of Fig. CIFAR-100",
        "s = 1 best at every n",
        "lower 95% bound of the mean gain over n above 0 for every other s; fails if an upper one is below 0",
        "rescaling",
        _vit,
    ),
    claim(
        "15c",
        "The same where plain finetuning, too, starts from batch-norm statistics of the main task's samples.",
        "ours, a control of 15a",
        "as 15a",
        "as 15a",
        "rescaling",
        _eighth("pt+ft recalibrated"),
    ),
    claim(
        "16a",
        "ENSD of a representation with itself is its PR; it is symmetric and blind to scale and to a common rotation.",
        "definition",
        "0",
        "1e-9",
        "dimensions",
        _identities,
    ),
    claim(
        "16b",
        "ResNet-18: from rescaled weights the last stage keeps few dimensions, with an ENSD as high as their number.",
        "data of Fig. ENSD",
        "0.98, 0.30; ENSD / PR 0.95 to 1.35",
        "> 0.9, < 0.5",
        "rescaling",
        _nested_signature,
    ),
    claim(
        "16c",
        "There, the ENSD of 16b tells known features from others: it is above that of shuffled neurons.",
        "ours, a control of 16b",
        f"more than {ABOVE_CHANCE:g} times",
        "in every network",
        "rescaling",
        _above_chance,
    ),
    claim(
        "16d",
        "Centred, ENSD does tell them apart: what little the last stage keeps lies where its activity varied before.",
        "ours, a control of 16b",
        f"more than {ABOVE_CHANCE:g} times; PR after / before < 0.5",
        "in every network; at s = 0.125",
        "rescaling",
        _centred,
    ),
    claim(
        "23a",
        "Multi-task training of ResNet-18 that ends when the main task is learned leaves the auxiliary one unlearned.",
        "ours, on the stop rule of the code",
        f"above {UNLEARNED:g} (a guess: {GUESS:.2f})",
        "at n = 20 and 100",
        "rescaling",
        _stop_rule("resnet"),
    ),
    claim(
        "23b",
        "Multi-task training of ViT that ends when the main task is learned leaves the auxiliary one unlearned.",
        "ours, on the stop rule of the code",
        f"above {UNLEARNED:g} (a guess: {GUESS:.2f})",
        "at n = 20 and 100",
        "rescaling",
        _stop_rule("vit"),
    ),
)
