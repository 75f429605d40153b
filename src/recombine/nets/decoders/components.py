"""Networks that turn one slot's latents into a layer of an image: what a compositional decoder is made of.

Upsampling and the 2x2 convolution after it are both linear, so they are done at once: channels are mixed at the low
resolution, one mixture for each tap of the filter, and two small matrix products spread the mixtures over the larger
image. The large image with all its channels, which costs most of the time, is never made.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from recombine.errors import InputError
from recombine.nets.architecture import Tensors
from recombine.nets.layers.dense import linear

#: Images whose slopes are added up in one product, where that many divide a batch.
IMAGES = 8
#: Fewer output channels than this are spread line by line.
NARROW = 8


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
        short = weight.is_cuda and weight.dtype in (torch.bfloat16, torch.float16)
        return short and self.features in (16, 32, 64) and self.start in (4, 8, 16, 32) and self.channels <= 16

    def _enlarged(self, parameters: Tensors, latents: Tensor) -> Tensor:
        from recombine.nets.decoders.upsampling_kernels import enlarged

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
class InterpolatedDecoder(Decoder):
    """The same decoder by torch's own upsampling and convolutions, slot by slot: the yardstick for ours.

    Examples
    --------
    >>> parameters = {name: tensor[None] for name, tensor in Decoder().draw(torch.Generator()).items()}
    >>> latents = torch.rand(1, 2, 5, dtype=torch.float64)
    >>> ours, theirs = (kind().layer(parameters, latents) for kind in (Decoder, InterpolatedDecoder))
    >>> bool((ours - theirs).abs().max() < 1e-12)
    True
    """

    def layer(self, parameters: Tensors, latents: Tensor) -> Tensor:
        """Map latents (g, B, inputs) to layers (g, B, channels, side, side)."""
        maps = self.first_map(parameters, latents).permute(0, 1, 4, 2, 3)
        drawn = []
        for place, image in enumerate(maps):
            for number in range(self.doublings):
                rectified = functional.elu(image)
                larger = functional.interpolate(rectified, scale_factor=2, mode="bilinear", align_corners=True)
                weight, bias = (parameters[f"conv{number}.{part}"][place] for part in ("weight", "bias"))
                image = functional.conv2d(functional.pad(larger, (0, 1, 0, 1)), weight, bias)
            drawn.append(image)
        return torch.stack(drawn)


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
        waves = [part for angle in angles for part in (torch.sin(angle), torch.cos(angle))]
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


def upsampled_convolution(maps: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Upsample by two (bilinear, corners aligned), then convolve with 2x2 filters padded at the right and bottom.

    Parameters
    ----------
    maps : Tensor, shape (g, B, H, W, C)
        Channels last.
    weight : Tensor, shape (g, O, C, 2, 2)
    bias : Tensor, shape (g, O)

    Returns
    -------
    Tensor, shape (g, B, 2H, 2W, O)

    Examples
    --------
    >>> flat = torch.ones(1, 1, 4, 4, 2)
    >>> spread = upsampled_convolution(flat, torch.ones(1, 3, 2, 2, 2), torch.zeros(1, 3))
    >>> spread.shape, spread[0, 0, 0, 0, 0].item(), spread[0, 0, 7, 7, 0].item()
    (torch.Size([1, 1, 8, 8, 3]), 8.0, 2.0)
    """
    groups, batch, height, width, channels = maps.shape
    wanted = weight.shape[1]
    # Rows of four numbers or more are what matrix units read; an idle channel is cheaper than crooked rows.
    idle = -wanted % 4
    weight, bias = functional.pad(weight, (0, 0, 0, 0, 0, 0, 0, idle)), functional.pad(bias, (0, idle))
    out = wanted + idle
    down, across = _spread(height, maps.dtype, maps.device), _spread(width, maps.dtype, maps.device)
    # Rows of the upsampling matrix add up to 1, so the bias may join the first tap at the low resolution.
    first = functional.pad(bias, (0, out))
    rows: Tensor | None = None
    for tap, start in enumerate((first, None)):
        # (g, C, 2 O): how the channels are mixed, for each column tap and output channel.
        mixing = weight[:, :, :, tap].permute(0, 2, 3, 1).reshape(groups, channels, 2 * out)
        mixed: Tensor = _Mixed.apply(maps, mixing, start)  # type: ignore[no-untyped-call]
        matrix = down[tap].expand(groups * batch, -1, -1)
        mixed = mixed.view(groups * batch, height, width * 2 * out)
        rows = torch.bmm(matrix, mixed) if rows is None else torch.baddbmm(rows, matrix, mixed)
    assert rows is not None
    taps = rows.view(groups * batch * 2 * height, 2 * width, out)
    if out < NARROW:
        lines = taps.transpose(1, 2).reshape(-1, 2 * width) @ across[2].t()
        spread = lines.view(groups, batch, 2 * height, out, 2 * width).transpose(3, 4)
    else:
        spread = torch.bmm(across[2].expand(len(taps), -1, -1), taps)
        spread = spread.view(groups, batch, 2 * height, 2 * width, out)
    return spread[..., :wanted]


class _Mixed(torch.autograd.Function):
    """Mix channels: (g, B, H, W, C) by (g, C, O) and a first value (g, O).

    The slope of the mixture adds up over all pixels of all images; in one product it would keep as many processors
    busy as there are networks, so it is done in pieces of a few images.
    """

    @staticmethod
    def forward(ctx: Any, maps: Tensor, mixing: Tensor, first: Tensor | None) -> Tensor:
        ctx.save_for_backward(maps, mixing)
        ctx.biased = first is not None
        flat = maps.reshape(len(maps), -1, maps.shape[-1])
        mixed = torch.bmm(flat, mixing) if first is None else torch.baddbmm(first.unsqueeze(1), flat, mixing)
        return mixed.view(*maps.shape[:-1], mixing.shape[-1])

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        maps, mixing = ctx.saved_tensors
        groups, channels, out = mixing.shape
        flat = slope.reshape(groups, -1, out)
        onward = torch.bmm(flat, mixing.transpose(1, 2)).view(maps.shape)
        pieces = groups * maps.shape[1] // math.gcd(maps.shape[1], IMAGES)
        parts = maps.reshape(pieces, -1, channels).transpose(1, 2) @ flat.reshape(pieces, -1, out)
        total = parts.view(groups, -1, channels, out).sum(1)
        return onward, total, flat.sum(1) if ctx.biased else None


@lru_cache(maxsize=64)
def _spread(side: int, dtype: torch.dtype, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """Return the upsampling matrix (2 side, side), the same one row on (with padding at the end), and both as one.

    In the last, (2 side, 2 side), tap t of place w is column 2 w + t. They are kept, since a CUDA graph can be recorded
    only when no numbers come from the host.
    """
    matrix = upsampling_matrix(side)
    shifted = torch.cat([matrix[1:], torch.zeros_like(matrix[:1])])
    both = torch.stack([matrix, shifted], 2).flatten(1)
    return matrix.to(device, dtype), shifted.to(device, dtype), both.to(device, dtype)


def upsampling_matrix(side: int) -> Tensor:
    """Return the matrix (2 side, side) of bilinear upsampling by two along one axis, corners aligned.

    Examples
    --------
    >>> upsampling_matrix(2)[:, 0].round(decimals=4)
    tensor([1.0000, 0.6667, 0.3333, 0.0000], dtype=torch.float64)
    """
    places = torch.linspace(0, side - 1, 2 * side, dtype=torch.float64)
    return (1 - (places.unsqueeze(1) - torch.arange(side)).abs()).clamp_min(0)


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
