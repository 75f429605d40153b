"""Forced rendering: every experiment, its unit function and its settings.

Quick networks paint 16 x 16 pixels with a hole of 10 x 10 or 12 x 12 places, so that it is still much wider than a
bump, and see every place outside it once per epoch. Full ones have the sizes of the released code, and are trained
twice: on bumps G (a control of ours) and on 1 - G, the target of the released scripts of CNNs and MLPs.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from recombine.lab.papers.forced_rendering.experiments import controls, demos, networks, remedies, single_factors
from recombine.lab.papers.forced_rendering.experiments.training import INVERTED
from recombine.lab.papers.needs import require_images
from recombine.lab.runs.experiment import Experiment, grid

NAME = "forced-rendering"
Settings = list[dict[str, Any]]


FIVE_SEEDS, THREE_SEEDS = list(range(5)), list(range(3))
SMALL: dict[str, Any] = {"side": 16, "hole": [3, 12], "draws": 0, "hidden": 16, "depth": 2, "epochs": 60}
SMALL |= {"seeds": [0, 1]}
#: On 16 x 16 pixels most of a smaller hole is close enough to its edge to be interpolated.
WIDE_HOLE: dict[str, Any] = {"hole": [2, 13], "hidden": 32, "epochs": 75}
DENSE: dict[str, Any] = {"model": "mlp", "hidden": 256, "depth": 3}
#: Codes in the paper's order: population codes, then ramps; positional is ours.
CODES = ("one-hot", "bump", "positional", "ramp", "scaled-ramp")


def _small(*changes: dict[str, Any]) -> Settings:
    return [{**SMALL, **change} for change in changes]


def _large(*changes: dict[str, Any], seeds: list[int] = FIVE_SEEDS) -> Settings:
    return [{"seeds": seeds, **change} for change in changes]


def _released(*changes: dict[str, Any], seeds: list[int] = FIVE_SEEDS) -> Settings:
    """Large networks on the released target; those on G leave the target out, as settings did before there were two."""
    return _large(*({**change, "target": INVERTED} for change in changes), seeds=seeds)


def _codes(*codes: str, **more: Any) -> Settings:
    return [{"code": code, **more} for code in codes]


#: Decoders on the donut: convolutional ones of every code, dense ones, and the control with ten times the draws.
DONUT_DECODERS = (*_codes(*CODES), *_codes("one-hot", "bump", "ramp", "scaled-ramp", **DENSE))
MORE_DRAWS = {"draws": 20_000, "epochs": 20}
#: Decoders by depth: those trained on G, and those of the released sweeps, which go over three codes.
DEPTHS = (*grid(depth=[2, 3, 4, 5, 6, 8, 10]), *grid(**{**DENSE, "depth": [3, 4, 5, 7]}))
RELEASED_DEPTHS = grid(code=["one-hot", "bump", "ramp"], depth=range(2, 11))
DENSE_DEPTHS = grid(**{**DENSE, "depth": range(3, 8)})
#: The released MLPs of raw ramps.
DENSE_RAMPS = grid(**{**DENSE, "hidden": 128, "code": "ramp", "epochs": 20, "depth": range(3, 8)})
HOLES = [{"hole": hole} for hole in ([13, 14], [12, 16], [10, 18], [8, 20], [6, 22])]
LAYERED = (*_codes("one-hot", "bump"), {"stripes": 10})
PICTURED = (*_codes("one-hot", "bump", "scaled-ramp"), {"code": "one-hot", "depth": 8, "stripes": 10})
#: Decoders without stripes and with them, then by how often each stripe is there, then those that stripes do not help.
STRIPED = (*_codes("one-hot", "bump"), *_codes("one-hot", "bump", stripes=10))
DEEP_STRIPED = _codes("one-hot", "bump", stripes=10, depth=8)
REPEATED = [{"stripes": repeats} for repeats in (1, 3, 30)]
UNHELPED = ({"code": "scaled-ramp", "stripes": 10}, *_codes("one-hot", "bump", "scaled-ramp", stripes=10, **DENSE))
#: The pixel MLP of the released script, and of a size for a laptop.
PIXEL = {"model": "pixel", "hidden": 256, "decay": 1e-4, "epochs": 100}
SMALL_PIXEL = {"model": "pixel", "hidden": 64, "decay": 1e-4, "epochs": 60, "rate": 3e-3}
#: The low-rank network for a laptop, and the seed of the released notebook.
SMALL_LOW_RANK = {"side": 16, "width": 1.0, "corner": 6, "epochs": 120, "rate": 2e-3}
RELEASED_SEED = 42
#: The released stripe script: eight layers, twenty epochs, a canvas of 40 pixels cropped to 28.
SCRIPT = {"depth": 8, "epochs": 20}
#: The demo notebooks, small, with the released widths of codes; ramps take longer to learn the donut.
DEMO = {**SMALL, "target": INVERTED, "hole": [4, 11], "hidden": 32, "depth": 3, "epochs": 80}
SPREADS, RAMP_EPOCHS = (1, 3, 5, 7, 9, 11), 150
DEMOS: Settings = [
    *({**DEMO, "code": "bump", "spread": spread} for spread in SPREADS),
    {**DEMO, "code": "ramp", "epochs": RAMP_EPOCHS},
    {**DEMO, "code": "bump", "cross": True},
    {**DEMO, "code": "ramp", "cross": True, "epochs": RAMP_EPOCHS},
]
#: The sweep of the hole's share, small: the least and largest share. So few steps teach small networks no 1 - G.
SHARE_DECODERS: Settings = [
    {"side": 16, "share": share, "code": code, "hidden": 32, "epochs": epochs}
    for code, epochs in (("bump", 30), ("ramp", 50))
    for share in (0.2, 0.6)
]
#: Several digits turned by one network, small.
TURNED = {"images": "digits", "side": 16, "angles": 120, "channels": [32, 32, 16], "turned": [2, 4, 7]}
#: Bumps trained on as multiples of the side of the image, alone and with stripes.
SHARES: dict[int, tuple[float, ...]] = dict.fromkeys((0, 1), (0.5, 1, 2, 4, 8, 16))
SMALL_SHARES = {0: (2, 4, 6, 8), 1: (0.5, 1, 2)}


def _efficiency(shares: dict[int, tuple[float, ...]], sides: dict[int, list[int]], **more: Any) -> Settings:
    """Bumps alone (0) and with stripes (1), as many as shares of the side say; more than all places are left out."""
    return [
        {"side": side, "bumps": [int(share * side) for share in multiples if share < side], "stripes": stripes}
        | {"seeds": seeds, **more}
        for side, seeds in sides.items()
        for stripes, multiples in shares.items()
    ]


EXPERIMENTS = (
    Experiment(
        f"{NAME}/donut",
        networks.bump_decoders,
        quick=[
            {**SMALL, **WIDE_HOLE, **change}
            for change in (
                {"code": "one-hot"},
                *_codes("bump", "positional", seeds=[0]),
                {"code": "scaled-ramp", "rate": 3e-3, "epochs": 100, "seeds": [0]},
                *_codes("one-hot", "bump", **DENSE),
            )
        ],
        full=[
            *_large(*DONUT_DECODERS),
            *_large(MORE_DRAWS, seeds=THREE_SEEDS),
            *_released(*DONUT_DECODERS),
            *_released(MORE_DRAWS, seeds=THREE_SEEDS),
        ],
    ),
    Experiment(
        f"{NAME}/tokens",
        networks.bump_decoders,
        quick=_small({**SMALL_PIXEL, "code": "bump", "seeds": [0]}),
        full=[
            *_large(*({**PIXEL, "code": "bump", "depth": depth} for depth in (2, 4))),
            *_large(
                {**PIXEL, "code": "one-hot", "depth": 2},
                {"model": "transformer", "depth": 2, "epochs": 20},
                seeds=THREE_SEEDS,
            ),
        ],
    ),
    Experiment(
        f"{NAME}/depth",
        networks.bump_decoders,
        quick=_small({"depth": 2, "seeds": [0]}, {"depth": 3, "seeds": [0]}),
        # One seed a unit: these are most of the training, and what time allows should be all depths of all codes.
        full=[
            *_large(*DEPTHS, seeds=THREE_SEEDS),
            *(setting for seed in FIVE_SEEDS for setting in _released(*RELEASED_DEPTHS, seeds=[seed])),
            *_released(*DENSE_DEPTHS),
            *_released(*DENSE_RAMPS, seeds=THREE_SEEDS),
        ],
    ),
    Experiment(
        f"{NAME}/single-factors",
        single_factors.single_factor_sums,
        quick=[{**SMALL, **WIDE_HOLE, "code": code, "target": INVERTED, "seeds": THREE_SEEDS} for code in CODES[:2]],
        # One seed a unit, as above.
        full=[setting for seed in FIVE_SEEDS for setting in _released(*_codes("one-hot", "bump"), seeds=[seed])],
    ),
    Experiment(
        f"{NAME}/hole",
        networks.bump_decoders,
        quick=_small(*({"hole": hole, "epochs": 40, "seeds": [0]} for hole in ([6, 9], [3, 12]))),
        full=[*_large(*HOLES), *_released(*HOLES)],
    ),
    Experiment(
        f"{NAME}/demos",
        demos.demos,
        quick=[{**setting, "epochs": 20, "seeds": [0]} for setting in DEMOS],
        full=DEMOS,
    ),
    Experiment(
        f"{NAME}/shares",
        demos.hole_shares,
        quick=[{**setting, "epochs": 2, "seeds": [0]} for setting in SHARE_DECODERS],
        full=[{**setting, "seeds": [0, 1]} for setting in SHARE_DECODERS],
    ),
    Experiment(
        f"{NAME}/digits-turned",
        controls.rotation,
        quick=[{**TURNED, "angles": 36, "epochs": 2, "seeds": [0], "gap": [100, 200]}],
        full=[{**TURNED, "gap": gap, "seeds": [0, 1]} for gap in ([160, 200], [100, 200])],
    ),
    Experiment(
        f"{NAME}/layers",
        networks.decoder_layers,
        quick=_small(*({"depth": 3, "stripes": stripes, "seeds": [0]} for stripes in (0, 2))),
        full=[*_large(*LAYERED), *_released(*LAYERED)],
    ),
    Experiment(
        f"{NAME}/pictures",
        networks.decoder_pictures,
        quick=_small({"code": "one-hot", "seeds": [0]}, {"code": "one-hot", "stripes": 2, "seeds": [0]}),
        full=[*_large(*PICTURED, seeds=[0]), *_released(*PICTURED, seeds=[0])],
    ),
    Experiment(
        f"{NAME}/stripes",
        networks.bump_decoders,
        quick=_small(
            *_codes("one-hot", "bump", seeds=[0]),
            {"code": "one-hot", "stripes": 2},
            *_codes("bump", "scaled-ramp", stripes=2, seeds=[0]),
            *_codes("one-hot", "bump", stripes=2, **DENSE),
        ),
        full=[
            *_large(*STRIPED, *DEEP_STRIPED),
            *_large(*REPEATED, seeds=THREE_SEEDS),
            *_large(*UNHELPED),
            *_released(*STRIPED, *DEEP_STRIPED, *REPEATED, *UNHELPED),
        ],
    ),
    Experiment(
        f"{NAME}/canvas",
        networks.bump_decoders,
        quick=_small({"margin": 3, "draws": 300, "epochs": 25}, {"draws": 300, "epochs": 25}),
        full=[*_large({**SCRIPT, "margin": 6}, SCRIPT), *_released({**SCRIPT, "margin": 6}, SCRIPT)],
    ),
    Experiment(
        f"{NAME}/low-rank",
        remedies.low_rank,
        quick=[{"penalty": penalty, **SMALL_LOW_RANK, "seeds": THREE_SEEDS} for penalty in remedies.PENALTIES],
        full=[{"penalty": penalty, "seeds": FIVE_SEEDS} for penalty in remedies.PENALTIES],
    ),
    Experiment(
        f"{NAME}/embeddings",
        remedies.embedding_pictures,
        quick=[{"penalty": penalty, **SMALL_LOW_RANK, "seeds": [RELEASED_SEED]} for penalty in remedies.PENALTIES],
        full=[{"penalty": penalty, "seeds": [RELEASED_SEED]} for penalty in remedies.PENALTIES],
    ),
    Experiment(
        f"{NAME}/efficiency",
        remedies.efficiency,
        quick=_efficiency(SMALL_SHARES, {8: [0], 12: [0]}, steps=300, batch=32, hidden=16, depth=2),
        full=_efficiency(SHARES, {12: FIVE_SEEDS, 16: FIVE_SEEDS, 24: THREE_SEEDS, 32: THREE_SEEDS}, steps=3000),
    ),
    Experiment(
        f"{NAME}/rotation",
        controls.rotation,
        quick=[
            {"images": "digits", "side": 16, "angles": 180, "channels": [32, 32, 16], "gap": gap, "seeds": [0]}
            for gap in ([160, 200], [100, 200])
        ],
        full=[{"gap": gap, "seeds": FIVE_SEEDS} for gap in ([160, 200], [100, 200])],
        needs=partial(require_images, default=controls.ROTATION["images"]),
    ),
    Experiment(
        f"{NAME}/encoder",
        controls.encoder,
        quick=[{**SMALL, "code": code, "draws": 500, "epochs": 20, "seeds": [0]} for code in CODES[:2]],
        full=[{"code": code, "epochs": 20, "seeds": FIVE_SEEDS} for code in ("one-hot", "bump", "scaled-ramp")],
    ),
)
