"""Networks that turn one slot's latents into a layer of an image: what a compositional decoder is made of."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor
from torch.nn import functional

from recombine.errors import InputError
from recombine.lab.nets.architecture import Tensors
from recombine.lab.nets.decoders.upsampling import upsampled_convolution
from recombine.lab.nets.devices import takes_kernels
from recombine.lab.nets.layers.dense import linear


class Component(ABC):
    """A network from latents (g, B, inputs) to layers (g, B, channels, side, side), for g networks at once.

    Attributes
    ----------
    inputs, channels, side : int
    """

    inputs: int
    channels: int
    side: int

    @abstractmethod
    def draw(self, generator: torch.Generator) -> Tensors:
        """Draw one network's parameters as torch's layers would, in the order of the layers."""

    @abstractmethod
    def layer(self, parameters: Tensors, latents: Tensor) -> Tensor:
        """Return the layers of g networks with stacked parameters."""

    @abstractmethod
    def held(self) -> int:
        """Return how many numbers one pass holds for one input."""


@dataclass(frozen=True)
class Decoder(Component):
    """The component decoder of Wiedemer et al. 2023.

    Four dense layers, then ``doublings`` times ELU, bilinear upsampling by two (corners aligned) and a 2x2 convolution
    padded at the right and bottom; the output is linear.

    Parameters
    ----------
    inputs : int
    channels : int
        Of the layer: 3, or 4 with opacity.
    hidden : int
        Width of the first three dense layers.
    features : int
        Channels inside.
    start : int
        Side of the first feature map.
    doublings : int

    Examples
    --------
    >>> sum(tensor.numel() for tensor in Decoder().draw(torch.Generator()).values())
    277475
    """

    inputs: int = 5
    channels: int = 3
    hidden: int = 256
    features: int = 32
    start: int = 4
    doublings: int = 4

    def __post_init__(self) -> None:
        sizes = (self.inputs, self.channels, self.hidden, self.features, self.doublings)
        if min(sizes) < 1 or self.start < 2:
            raise InputError(f"{self} cannot be built; give sizes from 1 up, and a first side of 2 or more")

    @property
    def side(self) -> int:  # type: ignore[override]
        """Pixels along a side of the layer."""
        return self.start << self.doublings

    @property
    def widths(self) -> tuple[int, ...]:
        """Sizes of the dense part, input and first feature map included."""
        return (self.inputs, self.hidden, self.hidden, self.hidden, self.features * self.start**2)

    @property
    def maps(self) -> tuple[int, ...]:
        """Channels before and after every convolution."""
        return (*[self.features] * self.doublings, self.channels)

    def draw(self, generator: torch.Generator) -> Tensors:
        """Draw weights and biases uniform on +- 1 / sqrt(fan_in), layer by layer."""
        parameters = _drawn_dense(self.widths, generator)
        for number, (before, after) in enumerate(pairwise(self.maps)):
            parameters |= _drawn(f"conv{number}", (after, before, 2, 2), generator)
        return parameters

    def layer(self, parameters: Tensors, latents: Tensor) -> Tensor:
        """Map latents (g, B, inputs) to layers (g, B, channels, side, side)."""
        if self._fits_kernels(parameters["conv0.weight"]):
            return self._enlarged(parameters, latents)
        maps = self.first_map(parameters, latents)
        for number in range(self.doublings):
            weight, bias = parameters[f"conv{number}.weight"], parameters[f"conv{number}.bias"]
            maps = upsampled_convolution(functional.elu(maps), weight, bias)
        return maps.permute(0, 1, 4, 2, 3)

    def _fits_kernels(self, weight: Tensor) -> bool:
        """Say whether our own GPU kernels take these maps: short floats, and sizes in powers of two."""
        short = takes_kernels(weight) and weight.dtype in (torch.bfloat16, torch.float16)
        return short and self.features in (16, 32, 64) and self.start in (4, 8, 16, 32) and self.channels <= 16

    def _enlarged(self, parameters: Tensors, latents: Tensor) -> Tensor:
        from recombine.lab.nets.decoders.upsampling_kernels import enlarged

        maps = self._planes(parameters, latents)
        for number in range(self.doublings):
            weight, bias = parameters[f"conv{number}.weight"], parameters[f"conv{number}.bias"]
            maps = enlarged(maps, weight, bias, number == 0, number == self.doublings - 1)
        return maps

    def _planes(self, parameters: Tensors, latents: Tensor) -> Tensor:
        """Return the dense part's feature map, channels first."""
        values = _dense(parameters, latents, len(self.widths) - 1)
        return values.reshape(*values.shape[:2], self.features, self.start, self.start)

    def first_map(self, parameters: Tensors, latents: Tensor) -> Tensor:
        """Return the dense part's feature map, channels last: (g, B, start, start, features)."""
        return self._planes(parameters, latents).permute(0, 1, 3, 4, 2)

    def held(self) -> int:
        """Return the numbers of the dense layers and, three times, of every feature map."""
        sides = [self.start << (number + 1) for number in range(self.doublings)]
        maps = sum(3 * after * side**2 for after, side in zip(self.maps[1:], sides, strict=True))
        return sum(self.widths) + maps


@dataclass(frozen=True)
class FourierNet(Component):
    """Dense ELU layers on sines and cosines of the latents: the component for small images on a CPU.

    The features of a latent z in 0 to 1 are 2z - 1 and sin and cos of pi k z for k = 1 to ``waves``; without them
    small networks underfit and the differences between supports blur.

    Parameters
    ----------
    inputs, channels, side : int
    hidden : int
        Width of the three hidden layers.
    waves : int

    Examples
    --------
    >>> sum(tensor.numel() for tensor in FourierNet().draw(torch.Generator()).values())
    62640
    """

    inputs: int = 3
    channels: int = 3
    side: int = 12
    hidden: int = 96
    waves: int = 3

    @property
    def widths(self) -> tuple[int, ...]:
        """Sizes of all layers."""
        return (self.inputs * (1 + 2 * self.waves), *[self.hidden] * 3, self.channels * self.side**2)

    def draw(self, generator: torch.Generator) -> Tensors:
        """Draw weights and biases uniform on +- 1 / sqrt(fan_in), layer by layer."""
        return _drawn_dense(self.widths, generator)

    def layer(self, parameters: Tensors, latents: Tensor) -> Tensor:
        """Map latents (g, B, inputs) from 0 to 1 to layers (g, B, channels, side, side)."""
        angles = [math.pi * wave * latents for wave in range(1, self.waves + 1)]
        waves = [wave_values for angle in angles for wave_values in (torch.sin(angle), torch.cos(angle))]
        values = _dense(parameters, torch.cat([2 * latents - 1, *waves], -1), len(self.widths) - 1)
        return values.reshape(*values.shape[:2], self.channels, self.side, self.side)

    def held(self) -> int:
        """Return the number of units."""
        return sum(self.widths)


def _dense(parameters: Tensors, latents: Tensor, layers: int) -> Tensor:
    """Apply dense layers with ELU between them; the first is as precise as the latents."""
    weight, bias = parameters["dense0.weight"], parameters["dense0.bias"]
    values = linear(latents, weight.to(latents.dtype), bias.to(latents.dtype)).to(weight.dtype)
    for number in range(1, layers):
        weight, bias = parameters[f"dense{number}.weight"], parameters[f"dense{number}.bias"]
        values = linear(functional.elu(values), weight, bias)
    return values


def _drawn(name: str, shape: tuple[int, ...], generator: torch.Generator) -> Tensors:
    """Draw a weight and a bias exactly as torch's layers do in float32, number by number."""
    weight = torch.empty(shape)
    torch.nn.init.kaiming_uniform_(weight, a=math.sqrt(5), generator=generator)
    bound = 1 / math.sqrt(weight[0].numel())
    bias = torch.empty(shape[0]).uniform_(-bound, bound, generator=generator)
    return {f"{name}.weight": weight.double(), f"{name}.bias": bias.double()}


def _drawn_dense(widths: Sequence[int], generator: torch.Generator) -> Tensors:
    parameters: Tensors = {}
    for number, (fan_in, fan_out) in enumerate(pairwise(widths)):
        parameters |= _drawn(f"dense{number}", (fan_out, fan_in), generator)
    return parameters
