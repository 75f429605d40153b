"""First principles: what decoders of either size are trained and tested on, sprites of 64 pixels or blobs of 12."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.errors import InputError, listing, near_miss
from recombine.papers.first_principles.experiments.supports import BLOB, SPRITE, anchor
from recombine.worlds.rendered import blobs, sprites

if TYPE_CHECKING:
    from torch import Tensor

    from recombine.nets.decoders.composed import ComposedDecoder


class SlotWorld(ABC):
    """Images of two things each, and the models that fit them.

    Attributes
    ----------
    latents : tuple of str
        Of one slot.
    side : int
        Pixels along a side.
    """

    latents: tuple[str, ...]
    side: int

    @abstractmethod
    def images(self, units: FloatArray, targets: str, device: str) -> Tensor:
        """Draw units (N, 2, D) as images (N, 3, side, side) from 0 to 1, float32 on the device."""

    @abstractmethod
    def inputs(self, units: FloatArray) -> FloatArray:
        """Return what a model is fed, (N, 2 D)."""

    @abstractmethod
    def regions(self, units: FloatArray) -> Mapping[str, Any]:
        """Return the pixels (N, side, side) of each kind."""

    @abstractmethod
    def anchor_pixels(self, value: float) -> Any:
        """Return the pixels (side, side) of the anchor whose latents are ``value``."""

    @abstractmethod
    def model(self, name: str) -> ComposedDecoder:
        """Return a model by name."""


@dataclass(frozen=True)
class SpriteWorld(SlotWorld):
    """The paper's sprites and its models.

    Examples
    --------
    >>> SpriteWorld().inputs(np.zeros((3, 2, 5))).shape
    (3, 10)
    """

    latents: tuple[str, ...] = SPRITE
    side: int = sprites.SIDE

    def images(self, units: FloatArray, targets: str, device: str) -> Tensor:
        """Draw on the device; sprites become floats only there."""
        import torch

        drawn: Tensor = sprites.render_sprites(torch.tensor(units, device=device), targets)
        return drawn if drawn.dtype is torch.float32 else drawn.float().div_(255)

    def inputs(self, units: FloatArray) -> FloatArray:
        """Return the mapped latents side by side, the shape as a number."""
        values: FloatArray = sprites.sprite_latents(units)
        return values.reshape(len(units), -1)

    def regions(self, units: FloatArray) -> Mapping[str, Any]:
        """Return front, visible back, empty and hidden pixels."""
        return sprites.sprite_regions(units)

    def anchor_pixels(self, value: float) -> Any:
        """Return the pixels of an anchor."""
        return sprites.sprite_masks(anchor(value))

    def model(self, name: str) -> ComposedDecoder:
        """Return a model of the paper."""
        from recombine.nets.decoders import composed as decoders

        models = {
            "compositional": decoders.compositional_decoder,
            "monolithic": decoders.monolithic_decoder,
            "rgba": decoders.rgba_decoder,
        }
        if name == "rgba sigmoid":
            return decoders.rgba_decoder(opacity="sigmoid")
        if name not in models:
            raise InputError(f"model {name!r} is unknown;{near_miss(name, models)} Models: {listing(models)}")
        return models[name]()


@dataclass(frozen=True)
class BlobWorld(SlotWorld):
    """Small images for a CPU.

    Examples
    --------
    >>> BlobWorld().model("compositional").outputs
    432
    """

    latents: tuple[str, ...] = BLOB
    side: int = blobs.SIDE

    def images(self, units: FloatArray, targets: str, device: str) -> Tensor:
        """Draw blobs."""
        import torch

        return torch.tensor(blobs.render_blobs(units, targets), dtype=torch.float32, device=device)

    def inputs(self, units: FloatArray) -> FloatArray:
        """Return the latents as they are."""
        return units.reshape(len(units), -1)

    def regions(self, units: FloatArray) -> Mapping[str, Any]:
        """Return front, visible back, empty and hidden pixels."""
        return blobs.blob_regions(units)

    def anchor_pixels(self, value: float) -> Any:
        """Return the pixels of an anchor."""
        return blobs.blob_opacities(np.full(3, value)) > 0

    def model(self, name: str) -> ComposedDecoder:
        """Return a small model."""
        from recombine.nets.decoders import composed as decoders

        return decoders.small_decoder(name, self.side)


WORLDS: Mapping[str, SlotWorld] = {"sprites": SpriteWorld(), "blobs": BlobWorld()}
