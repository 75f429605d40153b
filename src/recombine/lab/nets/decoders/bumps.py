"""Decoders that paint an image from a code, as Liang et al. 2025 train them on bumps: convolutional and dense.

Weights and biases are drawn as torch's layers draw them by default: uniform on +- 1 / sqrt(fan_in), where a transposed
convolution counts its filters' outputs as its fan-in.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from recombine.errors import InputError
from recombine.lab.nets.architecture import Tensors, generator_for
from recombine.lab.nets.architectures.mlp import MLP
from recombine.lab.nets.decoders.painting import ImageDecoder, paint, transposed_filters
from recombine.lab.nets.layers.dense import linear
from recombine.lab.nets.layers.first_weights import uniform
from recombine.lab.nets.layers.side_by_side import apart, side_by_side


@dataclass(frozen=True)
class CNNDecoder(ImageDecoder):
    """Transposed convolutions with ReLU: a code becomes side/4 x side/4 pixels, which two layers double.

    Parameters
    ----------
    inputs : int
        Length of a code.
    side : int
        Pixels per side of the image, a multiple of 4.
    hidden : int
        Channels of every hidden layer.
    depth : int
        Layers after the first, from 2 up: two that double the image, then 3 x 3 filters. A linear one comes last.

    Examples
    --------
    >>> network = CNNDecoder(inputs=56)
    >>> parameters = network.initial(seed=0, scale=1.0)
    >>> [tuple(parameters[f"block{layer}.weight"].shape) for layer in range(4)]
    [(64, 64, 4, 4), (64, 64, 4, 4), (64, 64, 3, 3), (64, 64, 3, 3)]
    """

    inputs: int
    side: int = 28
    hidden: int = 64
    depth: int = 4

    # Small images of many networks: more than one in a chunk only moves memory.
    cpu_networks = 1

    def __post_init__(self) -> None:
        if self.side % 4 or min(self.inputs, self.side, self.hidden) < 1:
            raise InputError(f"{self} cannot be built; give an image side that is a multiple of 4, and sizes from 1 up")
        if self.depth < 2:
            raise InputError(f"depth is {self.depth}; two layers double the image, so give at least 2")

    @property
    def _filters(self) -> dict[str, tuple[int, int, int]]:
        """Channels in, channels out and side of the filters of each transposed convolution."""
        sides = [4, 4] + [3] * (self.depth - 2)
        blocks = {f"block{layer}": (self.hidden, self.hidden, side) for layer, side in enumerate(sides)}
        return {"first": (self.inputs, self.hidden, self.side // 4), **blocks, "last": (self.hidden, 1, 3)}

    def initial(self, seed: int, scale: float) -> Tensors:
        """Draw one network's filters and biases."""
        generator = generator_for(seed, purpose=0)
        parameters: Tensors = {}
        for name, (channels, out, kernel) in self._filters.items():
            parameters |= transposed_filters(name, channels, out, kernel, scale, generator)
        return parameters

    def features(self, parameters: Tensors, inputs: Tensor) -> list[Tensor]:
        """Return the activations of every layer, the image last, each (c, B, channels, H, W)."""
        networks, first = len(inputs), parameters["first.weight"]
        # On a single pixel a transposed convolution is a matrix product.
        bias = parameters["first.bias"].repeat_interleave(first.shape[-1] ** 2, dim=1)
        seeds = linear(inputs, first.flatten(2).transpose(1, 2), bias)
        images = side_by_side(torch.relu(seeds).view(*inputs.shape[:2], *first.shape[2:]))
        images = images.contiguous(memory_format=torch.channels_last)
        layers = [images]
        for block in range(self.depth):
            stride = 2 if block < 2 else 1
            images = torch.relu(paint(images, f"block{block}", parameters, stride))
            layers.append(images)
        layers.append(paint(images, "last", parameters, 1))
        return [apart(layer, networks) for layer in layers]

    def activations(self, shape: Sequence[int]) -> int:
        """Return the numbers held by all layers for one code."""
        sides = [self.side // 4, self.side // 2, *[self.side] * (self.depth - 1)]
        return 2 * self.hidden * sum(side**2 for side in sides) + self.side**2


@dataclass(frozen=True)
class MLPDecoder(MLP):
    """Dense ReLU layers and a linear layer of one unit per pixel, drawn as torch draws linear layers.

    Examples
    --------
    >>> network = MLPDecoder(inputs=56, hidden=(256, 256, 256), outputs=784)
    >>> bool(network.initial(seed=0, scale=1.0)["weight0"].abs().max() <= 56**-0.5)
    True
    """

    def _draw(self, fan_in: int, fan_out: int, scale: float, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        weight = uniform(fan_in, (fan_out, fan_in), generator)
        return scale * weight, scale * uniform(fan_in, (fan_out,), generator)

    def features(self, parameters: Tensors, inputs: Tensor) -> list[Tensor]:
        """Return the activations of every layer, the image last, each (c, B, width)."""
        return [*self.hidden_layers(parameters, inputs), self.forward(parameters, {}, inputs, False)]

    @property
    def side(self) -> int:
        """Pixels per side of the image."""
        return math.isqrt(self.outputs)
