"""ReLU multilayer perceptrons with the initialisation of Lippl & Stachenfeld 2025, stacked over networks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from recombine.errors import InputError
from recombine.lab.nets.architecture import Architecture, Tensors, generator_for
from recombine.lab.nets.layers.dense import dense, linear, readout


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
            parameters[f"weight{layer}"], parameters[f"bias{layer}"] = self._draw(fan_in, fan_out, scale, generator)
        return parameters

    def _draw(self, fan_in: int, fan_out: int, scale: float, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        return dense(fan_in, fan_out, scale, generator)

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
