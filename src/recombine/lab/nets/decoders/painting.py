"""What decoders of square images in shades of grey share: their shape, and transposed convolutions."""

from __future__ import annotations

from abc import abstractmethod

import torch
from torch import Tensor

from recombine.lab.nets.architecture import Architecture, Tensors
from recombine.lab.nets.layers.first_weights import uniform
from recombine.lab.nets.layers.side_by_side import convolve_transposed


class ImageDecoder(Architecture):
    """Networks from codes (inputs,) to images (side * side,), row by row, whose last layer is the image."""

    side: int

    @property
    def outputs(self) -> int:  # type: ignore[override]
        """Number of pixels."""
        return self.side**2

    @abstractmethod
    def features(self, parameters: Tensors, inputs: Tensor) -> list[Tensor]:
        """Return the activations of every layer on codes (c, B, inputs), the image last, each (c, B, ...)."""

    def forward(self, parameters: Tensors, statistics: Tensors, inputs: Tensor, training: bool) -> Tensor:
        """Map codes (c, B, inputs) to images (c, B, side * side)."""
        return self.features(parameters, inputs)[-1].flatten(2)


def paint(images: Tensor, name: str, parameters: Tensors, stride: int) -> Tensor:
    """Apply the transposed convolution ``name``; a stride of 2 doubles the image, a stride of 1 keeps its size.

    Examples
    --------
    >>> weights = {"up.weight": torch.zeros(1, 2, 3, 4, 4), "up.bias": torch.zeros(1, 3)}
    >>> paint(torch.zeros(5, 2, 7, 7), "up", weights, stride=2).shape
    torch.Size([5, 3, 14, 14])
    """
    return convolve_transposed(images, parameters[f"{name}.weight"], parameters[f"{name}.bias"], stride, padding=1)


def transposed_filters(
    name: str, channels: int, out: int, kernel: int, scale: float, generator: torch.Generator
) -> Tensors:
    """Draw filters (channels, out, kernel, kernel) and biases (out,) as ``torch.nn.ConvTranspose2d`` does.

    Examples
    --------
    >>> drawn = transposed_filters("last", 64, 1, 3, 1.0, torch.Generator())
    >>> tuple(drawn["last.weight"].shape), bool(drawn["last.weight"].abs().max() <= 1 / 3)
    ((64, 1, 3, 3), True)
    """
    fan_in = out * kernel**2
    weight = uniform(fan_in, (channels, out, kernel, kernel), generator)
    return {f"{name}.weight": scale * weight, f"{name}.bias": scale * uniform(fan_in, (out,), generator)}
