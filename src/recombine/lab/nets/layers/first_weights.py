"""How first weights are drawn: for one network, in float64, from a generator of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from recombine.lab.nets.architecture import Tensors


def uniform(fan_in: int, shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """Draw weights uniform on +- 1 / sqrt(fan_in), as torch's layers do by default.

    Examples
    --------
    >>> uniform(16, (8, 16), torch.Generator()).abs().max() <= 0.25
    tensor(True)
    """
    return (torch.rand(shape, generator=generator, dtype=torch.float64) * 2 - 1) / math.sqrt(fan_in)


def default_layers(
    shapes: Mapping[str, tuple[int, ...]], scale: float, generator: torch.Generator, *, bias: bool = True
) -> Tensors:
    """Draw weights (out, in, ...) and biases (out,) of layers by name, as torch's layers do by default, times a scale.

    Examples
    --------
    >>> {name: tuple(drawn.shape) for name, drawn in default_layers({"up": (5, 3)}, 1.0, torch.Generator()).items()}
    {'up.weight': (5, 3), 'up.bias': (5,)}
    """
    parameters: Tensors = {}
    for name, shape in shapes.items():
        fan_in = math.prod(shape[1:])
        parameters[f"{name}.weight"] = scale * uniform(fan_in, shape, generator)
        if bias:
            parameters[f"{name}.bias"] = scale * uniform(fan_in, shape[:1], generator)
    return parameters


def glorot(size: tuple[int, ...], scale: float, generator: torch.Generator) -> Tensor:
    """Draw weights (out, in, ...) uniform on +- scale * sqrt(6 / (fan_in + fan_out)).

    Examples
    --------
    >>> bool(glorot((4, 2), 1.0, torch.Generator()).abs().max() <= 1)
    True
    """
    field = math.prod(size[2:])
    bound = scale * math.sqrt(6 / (field * (size[0] + size[1])))
    return (torch.rand(size, generator=generator, dtype=torch.float64) * 2 - 1) * bound


def filters(channels: int, out: int, kernel: int, scale: float, generator: torch.Generator) -> Tensor:
    """Draw Kaiming-normal filters (out, channels, kernel, kernel): standard deviation scale * sqrt(2 / fan_in).

    Examples
    --------
    >>> filters(2, 32, 5, 1.0, torch.Generator()).shape
    torch.Size([32, 2, 5, 5])
    """
    drawn = torch.randn(out, channels, kernel, kernel, generator=generator, dtype=torch.float64)
    return drawn * (scale * math.sqrt(2 / (channels * kernel * kernel)))


def biases(fan_in: int, out: int, scale: float, generator: torch.Generator) -> Tensor:
    """Draw biases (out,) uniform on +- scale / sqrt(fan_in).

    Examples
    --------
    >>> bool(biases(25, 100, 1.0, torch.Generator()).abs().max() <= 0.2)
    True
    """
    return (torch.rand(out, generator=generator, dtype=torch.float64) * 2 - 1) * (scale / math.sqrt(fan_in))


def norm_parameters(name: str, channels: int) -> Tensors:
    """Return one network's gain and shift, each (channels,).

    Examples
    --------
    >>> norm_parameters("norm", 2)["norm.gain"]
    tensor([1., 1.], dtype=torch.float64)
    """
    ones = torch.ones(channels, dtype=torch.float64)
    return {f"{name}.gain": ones, f"{name}.shift": torch.zeros_like(ones)}


def norm_statistics(name: str, channels: int) -> Tensors:
    """Return one network's running mean and variance at the start, each (channels,).

    Examples
    --------
    >>> norm_statistics("norm", 2)["norm.mean"]
    tensor([0., 0.], dtype=torch.float64)
    """
    ones = torch.ones(channels, dtype=torch.float64)
    return {f"{name}.mean": torch.zeros_like(ones), f"{name}.variance": ones}
