"""First principles: the networks of the authors' numerical simulation, which read latents off observations."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from recombine.lab.nets.architecture import Tensors
from recombine.lab.nets.architectures.mlp import MLP
from recombine.lab.nets.layers.dense import linear

#: Slope of units below 0, in the networks that render observations as in those that read them.
LEAKY_SLOPE = 0.2


@dataclass(frozen=True)
class LatentReader(MLP):
    """Leaky units in every layer, the last one included, drawn as torch draws linear layers.

    ``shown`` is the length of the vector that the first layer is drawn for: a reader of one block in the authors'
    notebook is given zeros for the other blocks, which leaves its first weights smaller.

    Examples
    --------
    >>> reader = LatentReader(inputs=10, hidden=(30,), outputs=2, shown=40)
    >>> bool(reader.initial(seed=0, scale=1.0)["weight0"].abs().max() <= 40**-0.5)
    True
    """

    shown: int = 0

    def _draw(self, fan_in: int, fan_out: int, scale: float, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        bound = scale / (self.shown if self.shown and fan_in == self.inputs else fan_in) ** 0.5
        weight = torch.rand(fan_out, fan_in, generator=generator, dtype=torch.float64)
        bias = torch.rand(fan_out, generator=generator, dtype=torch.float64)
        return bound * (2 * weight - 1), bound * (2 * bias - 1)

    def forward(self, parameters: Tensors, statistics: Tensors, inputs: Tensor, training: bool) -> Tensor:
        """Map (c, B, inputs) to (c, B, outputs)."""
        values = inputs
        for layer in range(len(self.hidden) + 1):
            values = linear(values, parameters[f"weight{layer}"], parameters[f"bias{layer}"])
            values = functional.leaky_relu(values, LEAKY_SLOPE)
        return values
