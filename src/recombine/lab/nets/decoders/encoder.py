"""The way back, as a control (Liang et al. 2025): an encoder that reads the code of a place from its image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from recombine.errors import InputError
from recombine.lab.nets.architecture import Architecture, Tensors, generator_for
from recombine.lab.nets.layers.dense import apply_layer
from recombine.lab.nets.layers.first_weights import default_layers
from recombine.lab.nets.layers.side_by_side import apart, convolve, side_by_side


@dataclass(frozen=True)
class ImageEncoder(Architecture):
    """Convolutions of stride 2 with ReLU, a dense ReLU layer and a linear one, drawn as torch draws its layers.

    Parameters
    ----------
    side : int
        Pixels per side of the image, which enters as (side * side,).
    outputs : int
        Length of a code.
    channels : tuple of int
        Filters of each convolution.
    hidden : int
        Units of the dense layer.

    Examples
    --------
    >>> network = ImageEncoder(side=28, outputs=56)
    >>> tuple(network.initial(seed=0, scale=1.0)["dense.weight"].shape)
    (128, 2048)
    """

    side: int = 28
    outputs: int = 56
    channels: tuple[int, ...] = (32, 64, 128)
    hidden: int = 128

    def __post_init__(self) -> None:
        if not self.channels or min(self.side, self.outputs, self.hidden, *self.channels) < 1:
            raise InputError(f"{self} cannot be built; give at least one convolution and sizes from 1 up")

    @property
    def inputs(self) -> int:
        """Number of pixels."""
        return self.side**2

    @property
    def _sides(self) -> list[int]:
        """Side of the image after each convolution."""
        sides = [self.side]
        for _ in self.channels:
            sides.append((sides[-1] + 1) // 2)
        return sides[1:]

    def initial(self, seed: int, scale: float) -> Tensors:
        """Draw one network's filters, weights and biases."""
        channels = enumerate(pairwise((1, *self.channels)))
        shapes: dict[str, tuple[int, ...]] = {f"conv{layer}": (out, before, 3, 3) for layer, (before, out) in channels}
        shapes["dense"] = (self.hidden, self.channels[-1] * self._sides[-1] ** 2)
        shapes["last"] = (self.outputs, self.hidden)
        return default_layers(shapes, scale, generator_for(seed, purpose=0))

    def forward(self, parameters: Tensors, statistics: Tensors, inputs: Tensor, training: bool) -> Tensor:
        """Map images (c, B, side * side) to codes (c, B, outputs)."""
        images = side_by_side(inputs.view(*inputs.shape[:2], 1, self.side, self.side))
        for layer in range(len(self.channels)):
            weight, bias = parameters[f"conv{layer}.weight"], parameters[f"conv{layer}.bias"]
            images = torch.relu(convolve(images, weight, bias, stride=2, padding=1))
        values = torch.relu(apply_layer(apart(images, len(inputs)).flatten(2), parameters, "dense"))
        return apply_layer(values, parameters, "last")

    def activations(self, shape: Sequence[int]) -> int:
        """Return the numbers held for one image."""
        return self.hidden + sum(2 * out * side**2 for out, side in zip(self.channels, self._sides, strict=True))
