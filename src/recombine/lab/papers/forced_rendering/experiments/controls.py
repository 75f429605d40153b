"""Forced rendering, controls: a digit that is rotated through a gap of angles, and the way from image to code."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab.papers.forced_rendering.experiments.training import (
    DEFAULTS,
    Rows,
    arrays_of,
    train_networks,
    world_of,
)
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds.images.sources import load_images
from recombine.lab.worlds.rendered.bumps import BumpWorld
from recombine.lab.worlds.rendered.rotations import RotationWorld

#: The digit that is turned, the first of its value in the set, where a setting names no others.
TURNED_DIGIT_VALUE = 4
#: Filters of the encoder's convolutions.
ENCODER_CHANNELS = (32, 64, 128)
#: What a rotation setting may leave out, next to ``DEFAULTS``.
ROTATION: dict[str, Any] = {
    "images": "mnist",
    "turned": [TURNED_DIGIT_VALUE],
    "gap": [160, 200],
    "angles": 2000,
    "channels": [128, 128, 64],
    "epochs": 60,
    "decay": 1e-4,
}


def digit(images: str, side: int, value: int = TURNED_DIGIT_VALUE) -> FloatArray:
    """Return the first digit of a value in a set of images, from 0 to 1, brought to ``side`` pixels per side.

    Examples
    --------
    >>> digit("digits", 16).shape
    (16, 16)
    """
    from scipy.ndimage import zoom

    images_loaded = load_images(images)
    row = int(np.flatnonzero(images_loaded.labels == value)[0])
    image: FloatArray = images_loaded.pixels[row, 0].astype(np.float64) / 255
    if len(image) != side:
        # A margin of a seventh, as MNIST has, so that nothing leaves the image when it turns.
        inner = round(side * 5 / 7)
        before = (side - inner) // 2
        image = np.pad(np.clip(zoom(image, inner / len(image), order=1), 0, 1), (before, side - inner - before))
    return image


def rotation(unit: Unit) -> Rows:
    """What a decoder paints at angles inside a gap, next to the true rotation and to a blend of the gap's edges.

    One row per network and digit; with several digits the code names the digit, too. "in span" is the share of the
    outputs' energy in the span of the two edge images.

    Examples
    --------
    >>> tiny = {"images": "digits", "side": 8, "angles": 36, "channels": [4, 4, 4], "epochs": 1, "seeds": [0]}
    >>> rows = rotation(Unit("rotation", 1, tiny))
    >>> rows[0]["gap"], rows[0]["seed"]
    ('160-200', 0)
    """
    from recombine.lab.nets.decoders.rotation import RotationDecoder

    setting = {**DEFAULTS, **ROTATION, **unit.setting}
    side, (start, end), values = setting["side"], setting["gap"], setting["turned"]
    worlds = [RotationWorld(digit(setting["images"], side, value), gap=(start, end)) for value in values]
    angles = worlds[0].angles(setting["angles"])
    gap = ~worlds[0].seen(angles)
    images = np.stack([world.images(angles).reshape(len(angles), -1) for world in worlds])
    codes = digit_codes(worlds[0].codes(angles), len(values))
    network = RotationDecoder(codes.shape[-1], side=side, channels=tuple(setting["channels"]))
    shown = codes[:, ~gap].reshape(-1, codes.shape[-1]), images[:, ~gap].reshape(-1, side**2)
    trained = train_networks(network, unit, setting, *shown, loss="squared-absolute", clip=1.0)
    outputs = trained.outputs(codes.reshape(-1, codes.shape[-1])).double().cpu().numpy()
    about = {"images": setting["images"], "side": side, "gap": f"{start}-{end}"}
    rows: Rows = []
    for seed, painted in zip(unit.seeds, outputs.reshape(-1, *images.shape), strict=True):
        for value, world, guess, truth in zip(values, worlds, painted, images, strict=True):
            blends = world.blends(angles[gap]).reshape(-1, side**2)
            edges = world.images([start, end]).reshape(2, -1)
            row = {**about, "seed": seed, "seen error": _error(guess[~gap], truth[~gap])}
            named = {"digit": value} if len(values) > 1 else {}
            rows.append(row | _in_gap(guess[gap], truth[gap], blends, edges) | named)
    return rows


def digit_codes(turns: FloatArray, digits: int) -> FloatArray:
    """Return codes (digits, K, units) of turns (K, 2); where there are several digits, one unit more for each.

    Examples
    --------
    >>> digit_codes(np.array([[1.0, 0.0]]), digits=2).tolist()
    [[[1.0, 0.0, 1.0, 0.0]], [[1.0, 0.0, 0.0, 1.0]]]
    """
    if digits == 1:
        return turns[None]
    which = np.repeat(np.eye(digits)[:, None], len(turns), axis=1)
    return np.concatenate([np.broadcast_to(turns, (digits, *turns.shape)), which], axis=2)


def _in_gap(outputs: FloatArray, truth: FloatArray, blends: FloatArray, edges: FloatArray) -> dict[str, float]:
    onto = edges.T @ np.linalg.pinv(edges.T)
    inside = ((outputs @ onto) ** 2).sum(axis=1) / (outputs**2).sum(axis=1)
    return {
        "error to truth": _error(outputs, truth),
        "error to blend": _error(outputs, blends),
        "blend to truth": _error(blends, truth),
        "in span": float(inside.mean()),
    }


def _error(a: FloatArray, b: FloatArray) -> float:
    return float(((a - b) ** 2).mean())


def encoder(unit: Unit) -> Rows:
    """Whether an encoder trained on the donut reads the code of images in the hole, one row per network.

    "right" is the share of places read within 1.5 pixels of the truth, where what is read is the pair of levels whose
    codes are nearest. "relative error" is the error of the code in the hole over its variance there.

    Examples
    --------
    >>> tiny = {"code": "one-hot", "side": 8, "hole": [2, 5], "draws": 0, "epochs": 1, "channels": [4], "seeds": [0]}
    >>> encoder(Unit("encoder", 1, tiny))[0]["seen right"] < 0.5
    True
    """
    from recombine.lab.nets.decoders.encoder import ImageEncoder
    from recombine.lab.nets.ensemble.optimisers import Adam

    setting = {**DEFAULTS, **unit.setting}
    world = world_of(setting)
    codes, images = arrays_of(world, setting, unit.seeds)
    network = ImageEncoder(world.side, world.units, tuple(setting.get("channels", ENCODER_CHANNELS)))
    trained = train_networks(network, unit, setting, images, codes, optimiser=Adam())
    grid = world.grid()
    outputs = trained.outputs(grid.images.reshape(len(grid), -1)).double().cpu().numpy()
    about = {"code": setting["code"], "side": world.side}
    return [{**about, "seed": seed, **_read(guess, world)} for seed, guess in zip(unit.seeds, outputs, strict=True)]


def _read(outputs: FloatArray, world: BumpWorld) -> dict[str, float]:
    grid, seen = world.grid(), world.seen().reshape(-1)
    error = ((outputs - grid.codes) ** 2).mean(axis=1)
    near = np.hypot(*(read_places(outputs, world) - grid.centres).T) <= 1.5
    return {
        "seen error": float(error[seen].mean()),
        "unseen error": float(error[~seen].mean()),
        "relative error": float(error[~seen].mean() / grid.codes[~seen].var(axis=0).mean()),
        "seen right": float(near[seen].mean()),
        "unseen right": float(near[~seen].mean()),
    }


def read_places(codes: FloatArray, world: BumpWorld) -> FloatArray:
    """Return the places (K, 2) that codes (K, units) say: the nearest level's, half by half.

    Examples
    --------
    >>> world = BumpWorld(5, encoding="positional")
    >>> bool((read_places(world.grid().codes, world) == world.grid().centres).all())
    True
    """
    levels = np.arange(world.side, dtype=float)
    level_codes = world.codes(np.stack([levels, levels], axis=1)).reshape(world.side, 2, -1)
    halves = codes.reshape(len(codes), 2, -1)
    distance = ((halves[:, None] - level_codes[None]) ** 2).sum(axis=-1)
    return np.asarray(distance.argmin(axis=1), dtype=np.float64)
