"""Forced rendering: what a setting means, and training one decoder per seed as it says.

A setting names a world of bumps (side, width, hole, code), what to train on (draws, stripes) and a decoder; whatever
it leaves out is as in ``DEFAULTS``, the sizes of the released code. Torch is imported when a unit runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.errors import InputError, near_miss
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds.rendered.bumps import BumpSamples, BumpWorld, Hole
from recombine.writing import listing

Rows = list[dict[str, Any]]
Setting = Mapping[str, Any]

#: What a decoder is to paint: a bright bump G on black, or 1 - G, a dark spot on white, as most released scripts do.
IMAGES, INVERTED = "images", "inverted images"
TARGETS = (IMAGES, INVERTED)
#: What a setting may leave out. "draws" is the number of training images drawn with replacement, 0 for every seen place
#: once; "stripes" is how often each stripe is repeated; "margin" widens the canvas as the released stripe script does.
DEFAULTS: dict[str, Any] = {
    "model": "cnn",
    "code": "bump",
    "side": 28,
    "width": 1.0,
    "hole": [6, 22],
    "corner": 0,
    "margin": 0,
    "draws": 2000,
    "stripes": 0,
    "target": IMAGES,
    "hidden": 64,
    "depth": 4,
    "epochs": 50,
    "batch": 32,
    "rate": 1e-3,
    "decay": 1e-2,
}
#: What a row says about its network.
ABOUT = ("model", "code", "side", "depth", "draws", "stripes", "margin", "target")


def is_inverted(target: str) -> bool:
    """Return whether a target names the inverted image 1 - G.

    Examples
    --------
    >>> [is_inverted(target) for target in TARGETS]
    [False, True]
    """
    if target not in TARGETS:
        raise InputError(f"target {target!r} is not one of {listing(TARGETS)};{near_miss(target, TARGETS)}")
    return target == INVERTED


def world_of(setting: Setting) -> BumpWorld:
    """Return the world that a full setting names: a corner hole from "corner" on, or a square one over "hole".

    Its images are the targets of training, inverted or not; what is painted is judged in the `upright` world.

    Examples
    --------
    >>> int(world_of(DEFAULTS).seen().sum()), world_of({**DEFAULTS, "target": INVERTED}).inverted
    (495, True)
    """
    hole = Hole.corner(setting["corner"]) if setting["corner"] else Hole.square(*setting["hole"])
    world = BumpWorld(setting["side"], setting["width"], hole, setting["code"], margin=setting["margin"])
    return replace(world, inverted=is_inverted(setting["target"]))


def upright(world: BumpWorld) -> BumpWorld:
    """Return the world whose images are bumps G, whatever was trained on: errors, peaks and spans are measured on G.

    Examples
    --------
    >>> upright(BumpWorld(8, inverted=True)) == BumpWorld(8)
    True
    """
    return replace(world, inverted=False)


def samples_of(world: BumpWorld, setting: Setting, seed: int) -> BumpSamples:
    """Return one network's training set: bumps outside the hole, then stripes.

    Examples
    --------
    >>> small = {**DEFAULTS, "side": 8, "hole": [2, 5], "draws": 0, "stripes": 2}
    >>> len(samples_of(world_of(small), small, seed=0))
    80
    """
    seen = world.grid().centres[world.seen().reshape(-1)]
    data = world.draw(setting["draws"], seed) if setting["draws"] else world.samples(seen)
    return data + world.stripes(setting["stripes"]) if setting["stripes"] else data


def decoder_of(setting: Setting, inputs: int) -> Any:
    """Return the architecture that a full setting names, for codes of length ``inputs``.

    Examples
    --------
    >>> decoder_of({**DEFAULTS, "model": "pixel", "hidden": 64, "depth": 2}, 56)
    PixelMLP(inputs=56, side=28, width=64, depth=2)
    """
    from recombine.lab.nets.decoders.bumps import CNNDecoder, MLPDecoder
    from recombine.lab.nets.decoders.pixels import PixelMLP, TransformerDecoder

    model, side, hidden, depth = (setting[name] for name in ("model", "side", "hidden", "depth"))
    models: dict[str, Callable[[], Any]] = {
        "cnn": lambda: CNNDecoder(inputs, side, hidden, depth),
        "mlp": lambda: MLPDecoder(inputs, (hidden,) * depth, side**2),
        "pixel": lambda: PixelMLP(inputs, side, hidden, depth),
        "transformer": lambda: TransformerDecoder(inputs, side, depth=depth),
    }
    if model not in models:
        raise InputError(f"model {model!r} is not one of {listing(models)};{near_miss(model, models)}")
    return models[model]()


def arrays_of(world: BumpWorld, setting: Setting, seeds: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """Return the training sets of some seeds as codes (E, N, units) and images (E, N, pixels).

    Examples
    --------
    >>> [array.shape for array in arrays_of(world_of(DEFAULTS), DEFAULTS, [0, 1])]
    [(2, 2000, 56), (2, 2000, 784)]
    """
    sets = [samples_of(world, setting, seed) for seed in seeds]
    return np.stack([data.codes for data in sets]), np.stack([data.images.reshape(len(data), -1) for data in sets])


def train_networks(
    network: Any, unit: Unit, setting: Setting, inputs: Any, targets: Any, *, convolutional: bool = True, **more: Any
) -> Any:
    """Train one network per seed on the unit's device, for as many steps or epochs as a setting says.

    On a GPU networks of convolutions are looped over inside one recorded step: libraries are slow at stacks of them.
    """
    from recombine.lab.nets.ensemble.ensemble import Ensemble
    from recombine.lab.nets.ensemble.optimisers import AdamW

    batch, looped = setting["batch"], convolutional and not unit.device.startswith("cpu")
    steps = setting["steps"] if "steps" in setting else setting["epochs"] * -(-inputs.shape[-2] // batch)
    seeds = list(setting.get("seeds", unit.seeds))
    ensemble = Ensemble(network, seeds, device=unit.device, stacked=not looped)
    options = {"optimiser": AdamW(weight_decay=setting["decay"]), **more}
    return ensemble.train(inputs, targets, rate=setting["rate"], steps=steps, batch=batch, **options)


def train_decoders(unit: Unit, setting: Setting, world: BumpWorld) -> Any:
    """Train one decoder per seed on its own samples."""
    codes, images = arrays_of(world, setting, unit.seeds if setting["draws"] else unit.seeds[:1])
    if len(codes) == 1:
        codes, images = codes[0], images[0]
    network = decoder_of(setting, world.units)
    return train_networks(network, unit, setting, codes, images, convolutional=setting["model"] == "cnn")


def outputs_of(trained: Any, world: BumpWorld) -> FloatArray:
    """Return the networks' images on the whole grid, (E, side, side, side * side), indexed [network, x, y].

    Images of networks that were trained on an inverted world are turned back: 1 - output.
    """
    outputs: FloatArray = trained.outputs(world.grid().codes).double().cpu().numpy()
    images = outputs.reshape(len(outputs), world.side, world.side, -1)
    return 1 - images if world.inverted else images


def sheets_of(trained: Any, world: BumpWorld, index: int) -> list[FloatArray]:
    """Return each layer of one network over the grid, (side, side, at most side * side), the image last, turned back.

    Everything measured of a layer depends on inner products alone, so a layer of more units than places is replaced by
    coordinates with the same inner products.
    """
    import torch

    from recombine.lab.nets.architecture import select_networks

    ensemble = trained.ensemble
    codes = torch.from_numpy(world.grid().codes).to(ensemble.device, ensemble.master).unsqueeze(0)
    with torch.no_grad():
        layers = ensemble.architecture.features(select_networks(trained.parameters, slice(index, index + 1)), codes)
    if world.inverted:
        layers[-1] = 1 - layers[-1]
    return [_isometric(layer[0].flatten(1)).reshape(world.side, world.side, -1) for layer in layers]


def _isometric(values: Any) -> FloatArray:
    """Coordinates (P, at most P) with the inner products of values (P, D)."""
    values = values.double()
    if values.shape[1] <= len(values):
        return np.asarray(values.cpu())
    squares, axes = np.linalg.eigh((values @ values.T).cpu().numpy())
    return np.asarray(axes * np.sqrt(np.maximum(squares, 0.0)))
