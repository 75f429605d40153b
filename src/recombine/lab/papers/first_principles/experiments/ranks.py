"""First principles, sprites without a network: what supports hide, and ranks of the compositions pixel by pixel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab.papers.first_principles.experiments.supports import support as support_named
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds.rendered import sprites
from recombine.theory.compositions import Composition, occlude, rgba
from recombine.theory.sufficiency.conditions import compositional_support, gauge_aware_support, sufficient_support
from recombine.theory.supports import box

Rows = list[dict[str, Any]]
PIXELS = sprites.SPRITE_SIDE**2

#: Compositions on sprites, and whether their layers need an opacity.
RULES: dict[str, tuple[Composition, bool]] = {
    "hard": (occlude("hard"), False),
    "soft": (occlude("soft"), False),
    "rgba": (rgba(), True),
}


# ---------------------------------------------------------------------------- what a narrow diagonal hides


def visibility(unit: Unit) -> Rows:
    """Share of back sprites' pixels, counted together, that every drawn front sprite covers, for one width of the band.

    Fronts are drawn uniformly ("drawn"), or their coordinates also put at the ends of what the band allows ("ends"):
    few draws overlook the fronts that would show a pixel, so both are upper bounds for all admissible fronts.
    """
    about = {name: unit.setting[name] for name in unit.setting if name != "seeds"}
    width, count = unit.setting["width"], unit.setting["fronts"]
    diagonal = support_named(f"diagonal {width}")
    rows = []
    for seed in unit.seeds:
        rng = np.random.default_rng(seed)
        for fronts_from in ("drawn", "ends"):
            covered = hidden = 0
            for back in diagonal.sample(unit.setting["values"], seed)[:, 1]:
                uniform = fronts_from == "drawn"
                fronts = diagonal.conditional(1, back, count, rng)[:, 0] if uniform else _ends(width, back, count, rng)
                mask = sprites.sprite_masks(back)
                covered += int(mask.sum())
                hidden += int((mask & sprites.sprite_masks(fronts).all(axis=0)).sum())
            rows.append({**about, "seed": seed, "way": fronts_from, "hidden": hidden / covered})
    return rows


def _ends(width: float, back: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
    low, high = (np.clip(back + sign * np.sqrt(2) * width, 0, 1) for sign in (-1, 1))
    choice = rng.integers(3, size=(count, len(back)))
    return np.choose(choice, [low, high, rng.uniform(low, high, (count, len(back)))])


# ---------------------------------------------------------------------------- ranks on sprites


def _layers(alpha: bool) -> Callable[[FloatArray], FloatArray]:
    """Return sprites as components: latents (P, 5) -> (P, 4096, 3 or 4).

    Examples
    --------
    >>> _layers(True)(np.zeros((2, 5))).shape
    (2, 4096, 4)
    """
    return lambda z: np.moveaxis(np.asarray(sprites.sprite_layers(z, alpha=alpha)), -3, -1).reshape(len(z), PIXELS, -1)


def ranks(unit: Unit) -> Rows:
    """Full-rank pixels of both slots on planes, and pixels whose open directions some combination would show."""
    setting = unit.setting
    rule, alpha = RULES[setting["rule"]]
    shared = support_named(setting["support"]), rule, [_layers(alpha)] * 2
    exact = sufficient_support(*shared, probes=setting["probes"], seed=0)
    gauge = gauge_aware_support(*shared, probes=setting["probes"], combinations=setting["combinations"], seed=0)
    return [
        {"rule": setting["rule"], "support": setting["support"], "slot": exact_slot.slot, "value": index}
        | {"anchors": int(exact_slot.anchors[index]), "full": int(exact_slot.good[index].sum()), "pixels": PIXELS}
        | {"smallest": float(exact_slot.smallest[index]), "shown elsewhere": float(1 - gauge_slot.shares[index])}
        for exact_slot, gauge_slot in zip(exact.slots, gauge.slots, strict=True)
        for index in range(len(exact_slot.values))
    ]


def amplifications(name: str) -> tuple[float, ...]:
    """Return how much errors may grow from a support of planes into each component: 1 / smallest singular value.

    Of soft occlusion. Anchors of planes are fixed and the rule's Jacobian depends on the value of a sprite only where
    that is not black, so that one value of each slot will do.

    Examples
    --------
    >>> [round(factor, 2) for factor in amplifications("orthogonal*")]
    [6.82, 4.66]
    """
    test = sufficient_support(support_named(name), RULES["soft"][0], [_layers(False)] * 2, probes=1, seed=0)
    return tuple(float(slot.amplification.max()) for slot in test.slots)


def rank_maps(unit: Unit) -> Rows:
    """Share of probed values at which each pixel passes: hard occlusion, and RGBa's front up to gauge."""
    hard, (alpha, _) = RULES["hard"][0], RULES["rgba"]
    single, double = (
        sufficient_support(support_named(name), hard, [_layers(False)] * 2, probes=unit.setting["probes"], seed=1)
        for name in ("orthogonal*", "orthogonal")
    )
    gauge = gauge_aware_support(support_named("orthogonal"), alpha, [_layers(True)] * 2, **unit.setting, seed=1)
    maps = {
        "back, one anchor": single.slots[1],
        "back, two anchors": double.slots[1],
        "front": double.slots[0],
        "front, rgba": gauge.slots[0],
    }
    shares = {name: slot.good.mean(axis=0).round(4).tolist() for name, slot in maps.items()}
    return [{"pixel": pixel} | {name: share[pixel] for name, share in shares.items()} for pixel in range(PIXELS)]


def sketches(unit: Unit) -> Rows:
    """Points of each support by the x of both sprites, and what the two conditions say of it under hard occlusion."""
    name, cube = unit.setting["support"], box(2, len(sprites.LATENTS))
    chosen = support_named(name)
    missing = float(compositional_support(chosen, cube, seed=0).missing.max())
    back = sufficient_support(chosen, occlude("hard"), [_layers(False)] * 2, probes=unit.setting["probes"]).slots[1]
    return [
        {"support": name, "front x": round(float(front), 4), "back x": round(float(behind), 4)}
        | {"missing": missing, "back pixels": float(back.shares.mean())}
        for front, behind in chosen.sample(unit.setting["points"], 0)[:, :, 0]
    ]
