"""First principles: what decoders of either size are trained and tested on, sprites of 64 pixels or blobs of 12."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.errors import InputError, near_miss
from recombine.lab.papers.first_principles.experiments.supports import BLOB, SPRITE, anchor
from recombine.lab.worlds.rendered import blobs, sprites
from recombine.writing import listing

if TYPE_CHECKING:
    from torch import Tensor

    from recombine.lab.nets.decoders.composed import ComposedDecoder


@dataclass(frozen=True, eq=False)
class SlotWorld:
    """Images of two things each, and the models that fit them.

    Parameters
    ----------
    latents : tuple of str
        Of one slot.
    side : int
        Pixels along a side.
    images : callable
        Units (N, 2, D), targets, device -> images (N, 3, side, side) from 0 to 1, float32 on the device.
    inputs : callable
        Units -> what a model is fed, (N, 2 D).
    regions : callable
        Units -> front, visible back, empty and hidden pixels, (N, side, side) each.
    anchor_pixels : callable
        Value of all latents -> the pixels (side, side) of that anchor.
    model : callable
        Name -> a model.

    Examples
    --------
    >>> WORLDS["sprites"].inputs(np.zeros((3, 2, 5))).shape, WORLDS["blobs"].model("compositional").outputs
    ((3, 10), 432)
    """

    latents: tuple[str, ...]
    side: int
    images: Callable[[FloatArray, str, str], Tensor]
    inputs: Callable[[FloatArray], FloatArray]
    regions: Callable[[FloatArray], Mapping[str, Any]]
    anchor_pixels: Callable[[float], Any]
    model: Callable[[str], ComposedDecoder]


def _sprites(units: FloatArray, targets: str, device: str) -> Tensor:
    import torch

    # Sprites become floats only on the device.
    images: Tensor = sprites.render_sprites(torch.tensor(units, device=device), targets)
    return images if images.dtype is torch.float32 else images.float().div_(255)


def _blobs(units: FloatArray, targets: str, device: str) -> Tensor:
    import torch

    return torch.tensor(blobs.render_blobs(units, targets), dtype=torch.float32, device=device)


def _sprite_model(name: str) -> ComposedDecoder:
    from recombine.lab.nets.decoders import composed as decoders

    models = {
        "compositional": decoders.compositional_decoder,
        "monolithic": decoders.monolithic_decoder,
        "rgba": decoders.rgba_decoder,
        "rgba sigmoid": lambda: decoders.rgba_decoder(opacity="sigmoid"),
    }
    if name not in models:
        raise InputError(f"model {name!r} is unknown;{near_miss(name, models, f'Models: {listing(models)}')}")
    return models[name]()


def _blob_model(name: str) -> ComposedDecoder:
    from recombine.lab.nets.decoders.composed import small_decoder

    return small_decoder(name, blobs.BLOB_SIDE)


WORLDS: Mapping[str, SlotWorld] = {
    "sprites": SlotWorld(
        SPRITE,
        sprites.SPRITE_SIDE,
        _sprites,
        lambda units: sprites.sprite_latents(units).reshape(len(units), -1),
        sprites.sprite_regions,
        lambda value: sprites.sprite_masks(anchor(value)),
        _sprite_model,
    ),
    "blobs": SlotWorld(
        BLOB,
        blobs.BLOB_SIDE,
        _blobs,
        lambda units: units.reshape(len(units), -1),
        blobs.blob_regions,
        lambda value: blobs.blob_opacities(np.full(3, value)) > 0,
        _blob_model,
    ),
}
