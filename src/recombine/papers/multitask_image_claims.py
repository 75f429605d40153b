"""Multi-task learning and pretraining: what rescaling does to networks on CIFAR-100, and what shared dimensions are."""

from __future__ import annotations

import numpy as np

from recombine.papers.claims import Check, Claim, Outcome
from recombine.papers.results import matching
from recombine.tables import Table

FEWEST_SEEDS = 3


def _cifar(rows: Table, network: str) -> Table:
    """One row a network: those with layers have several."""
    chosen = matching(rows, images="cifar100", network=network, method="pt+ft")
    seen: set[tuple[int, float, int]] = set()
    first = []
    for row in chosen.rows():
        key = (row["n"], row["factor"], row["seed"])
        first.append(key not in seen)
        seen.add(key)
    return chosen.where(np.array(first, dtype=bool))


def _gains(rows: Table, better: float, worse: float) -> dict[int, tuple[float, float, int]]:
    """Samples -> mean paired gain in points, its standard error, and the number of seeds."""
    gains = {}
    for n in sorted(set(rows["n"].tolist())):
        one, two = (matching(rows, n=n, factor=factor) for factor in (better, worse))
        both = sorted(set(one["seed"].tolist()) & set(two["seed"].tolist()))
        pairs = [float(matching(one, seed=s)["accuracy"][0] - matching(two, seed=s)["accuracy"][0]) for s in both]
        if pairs:
            spread = np.std(pairs, ddof=1) / len(pairs) ** 0.5 if len(pairs) > 1 else np.nan
            gains[n] = (100 * float(np.mean(pairs)), 100 * float(spread), len(pairs))
    return gains


def _resnet(rows: Table) -> Outcome:
    gains = _gains(_cifar(rows, "resnet"), 0.125, 1.0)
    seeds = min((count for _, _, count in gains.values()), default=0)
    if seeds < FEWEST_SEEDS:
        return Outcome.not_run(f"needs ResNets on CIFAR-100 with at least {FEWEST_SEEDS} seeds; there are {seeds}")
    value = ", ".join(f"{gain:+.1f}" for gain, _, _ in gains.values())
    error = max(error for _, error, _ in gains.values())
    detail = f"points at n = {', '.join(map(str, gains))}; {seeds} seeds, largest standard error {error:.1f}"
    return Outcome.of(value, all(gain > 1 for gain, _, _ in gains.values()), detail)


def _vit(rows: Table) -> Outcome:
    chosen = _cifar(rows, "vit")
    others = [factor for factor in sorted(set(chosen["factor"].tolist())) if factor != 1.0]
    found = {factor: _gains(chosen, 1.0, factor) for factor in others}
    seeds = min((count for gains in found.values() for _, _, count in gains.values()), default=0)
    if seeds < FEWEST_SEEDS:
        return Outcome.not_run(f"needs ViTs on CIFAR-100 with at least {FEWEST_SEEDS} seeds; there are {seeds}")
    least = {factor: min(gain for gain, _, _ in gains.values()) for factor, gains in found.items()}
    value = ", ".join(f"{gain:+.1f} over {factor:g}" for factor, gain in least.items())
    return Outcome.of(value, min(least.values()) > 0, f"smallest gain of s = 1 in points over n; {seeds} seeds")


def _nested_signature(rows: Table) -> Outcome:
    chosen = matching(rows, images="cifar100", network="resnet", layer="stage4")
    seeds = len(set(chosen["seed"].tolist()))
    if seeds < FEWEST_SEEDS:
        return Outcome.not_run(f"needs ResNets on CIFAR-100 with at least {FEWEST_SEEDS} seeds; there are {seeds}")
    factors = sorted(set(chosen["factor"].tolist()))
    means = {
        f: {c: float(matching(chosen, factor=f)[c].mean()) for c in ("PR before", "PR after", "ENSD")} for f in factors
    }
    shared = {f: mean["ENSD"] / mean["PR after"] for f, mean in means.items()}
    left = {f: mean["PR after"] / mean["PR before"] for f, mean in means.items()}
    holds = all(0.95 <= value <= 1.35 for value in shared.values()) and left[1.0] > 0.9 and left[min(factors)] < 0.5
    low, high = min(shared.values()), max(shared.values())
    detail = f"PR after / before at s = 1 and {min(factors):g}; ENSD / PR after {low:.2f} to {high:.2f}; {seeds} seeds"
    return Outcome.of(f"{left[1.0]:.2f}, {left[min(factors)]:.2f}", holds, detail)


def _identities(rows: Table) -> Outcome:
    worst, moved = float(rows["worst"].max()), float(np.abs(rows["turned alone"] - 1).min())
    detail = f"{len(rows)} draws; turning one side alone changes it by at least {moved:.0%}"
    return Outcome.of(f"{worst:.0e}", worst < 1e-9 and moved > 1e-3, detail)


def _claim(number: str, statement: str, source: str, expected: str, tolerance: str, name: str, check: Check) -> Claim:
    return Claim(f"multitask/{number}", statement, source, expected, tolerance, name, check)


CLAIMS = (
    _claim(
        "15a",
        "ResNet-18 on CIFAR-100: finetuning from an eighth of the pretrained weights beats plain finetuning.",
        "Fig. CIFAR-100",
        "+7.4, +10.5, +6.6, +3.8, +2.5, +2.4, +1.7 points",
        "> +1 at every n",
        "rescaling",
        _resnet,
    ),
    _claim(
        "15b",
        "ViT on CIFAR-100: no rescaling beats plain finetuning.",
        "Fig. CIFAR-100",
        "s = 1 best at every n",
        "none",
        "rescaling",
        _vit,
    ),
    _claim(
        "16a",
        "ENSD of a representation with itself is its PR; it is symmetric and blind to scale and to a common rotation.",
        "definition",
        "0",
        "1e-9",
        "dimensions",
        _identities,
    ),
    _claim(
        "16b",
        "ResNet-18: from rescaled weights the last stage keeps few dimensions, and those were there before (nested).",
        "Fig. ENSD",
        "0.98, 0.30; ENSD / PR 0.95 to 1.35",
        "> 0.9, < 0.5",
        "rescaling",
        _nested_signature,
    ),
)
