"""ReLU multilayer perceptrons with the initialisation of Lippl & Stachenfeld 2025, stacked over networks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from recombine.errors import InputError
from recombine.nets.architecture import Architecture, Tensors, generator_for


@dataclass(frozen=True)
class MLP(Architecture):
    """Fully connected ReLU network: one to many hidden layers of any width, then a linear readout.

    In every layer weights are normal with standard deviation scale * sqrt(2 / fan_in) and biases uniform on
    +- scale / sqrt(fan_in). A small scale gives the rich regime, scale 1 and many units the lazy one.

    Parameters
    ----------
    inputs : int
        Length of an input vector.
    hidden : tuple of int
        Width of each hidden layer.
    outputs : int
        Width of the readout.

    Examples
    --------
    >>> network = MLP(inputs=18, hidden=(1000,))
    >>> {name: tuple(tensor.shape) for name, tensor in network.initial(seed=0, scale=1.0).items()}
    {'weight0': (1000, 18), 'bias0': (1000,), 'weight1': (1, 1000), 'bias1': (1,)}
    """

    inputs: int
    hidden: tuple[int, ...] = (1000,)
    outputs: int = 1

    cache_bound = True

    def __post_init__(self) -> None:
        if not self.hidden or min(self.inputs, self.outputs, *self.hidden) < 1:
            raise InputError(f"{self} has an empty layer; give at least one hidden width, all sizes from 1 up")

    @property
    def widths(self) -> tuple[int, ...]:
        """Sizes of all layers, input and readout included."""
        return (self.inputs, *self.hidden, self.outputs)

    def initial(self, seed: int, scale: float) -> Tensors:
        """Draw one network's weights and biases, layer by layer."""
        generator = generator_for(seed, purpose=0)
        parameters: Tensors = {}
        for layer, (fan_in, fan_out) in enumerate(pairwise(self.widths)):
            weight, bias = dense(fan_in, fan_out, scale, generator)
            parameters |= {f"weight{layer}": weight, f"bias{layer}": bias}
        return parameters

    def forward(self, parameters: Tensors, statistics: Tensors, inputs: Tensor, training: bool) -> Tensor:
        """Map (c, B, inputs) to (c, B, outputs)."""
        last = len(self.hidden)
        values = self.hidden_layers(parameters, inputs)[-1]
        return readout(values, parameters[f"weight{last}"], parameters[f"bias{last}"])

    def hidden_layers(self, parameters: Tensors, inputs: Tensor) -> list[Tensor]:
        """Return the activations of each hidden layer, shapes (c, B, width)."""
        layers: list[Tensor] = []
        values = inputs
        for layer in range(len(self.hidden)):
            values = torch.relu(linear(values, parameters[f"weight{layer}"], parameters[f"bias{layer}"]))
            layers.append(values)
        return layers

    def activations(self, shape: Sequence[int]) -> int:
        """Return the number of hidden and output units."""
        return sum(self.widths[1:])


def dense(fan_in: int, fan_out: int, scale: float, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw a layer's weight (fan_out, fan_in) and bias (fan_out,) in float64.

    Examples
    --------
    >>> weight, bias = dense(50, 2000, 1.0, torch.Generator().manual_seed(0))
    >>> bool((weight.std() - 0.2).abs() < 0.01), bool(bias.abs().max() <= 50**-0.5)
    (True, True)
    """
    weight = torch.randn(fan_out, fan_in, generator=generator, dtype=torch.float64) * (scale * math.sqrt(2 / fan_in))
    bias = (torch.rand(fan_out, generator=generator, dtype=torch.float64) * 2 - 1) * (scale / math.sqrt(fan_in))
    return weight, bias


def linear(values: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Apply each network's own layer: (c, B, i), (c, o, i), (c, o) -> (c, B, o).

    Examples
    --------
    >>> linear(torch.ones(2, 3, 4), torch.ones(2, 5, 4), torch.zeros(2, 5)).shape
    torch.Size([2, 3, 5])
    """
    if values.device.type != "cpu":
        return torch.baddbmm(bias.unsqueeze(1), values, weight.transpose(1, 2))
    result: Tensor = _LinearOnCPU.apply(values, weight, bias)  # type: ignore[no-untyped-call]
    return result


def readout(values: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Apply the last layer, whose outputs are compared with targets: short floats would round an 8 to its 32nd part.

    Examples
    --------
    >>> readout(*(torch.ones(shape, dtype=torch.bfloat16) for shape in ((2, 3, 4), (2, 5, 4), (2, 5)))).dtype
    torch.float32
    """
    if values.dtype in (torch.bfloat16, torch.float16):
        values, weight, bias = values.float(), weight.float(), bias.float()
    return linear(values, weight, bias)


class _LinearOnCPU(torch.autograd.Function):
    """The same without a product by a transposed second matrix, which OpenBLAS does three times slower when small."""

    generate_vmap_rule = True

    @staticmethod
    def forward(values: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        return torch.baddbmm(bias.unsqueeze(1), values, weight.transpose(1, 2).contiguous())

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs[:2])

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor | None, Tensor, Tensor]:
        values, weight = ctx.saved_tensors
        onward = slope @ weight if ctx.needs_input_grad[0] else None
        return onward, slope.transpose(1, 2) @ values, slope.sum(1)
