"""Any ``torch.nn.Module`` as an architecture: ``torch.func.vmap`` over stacked parameters, a plain call for one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from math import prod

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap

from recombine.lab.nets.architecture import Architecture, Tensors


@dataclass(frozen=True, eq=False)
class Module(Architecture):
    """Networks of your own, built by a function that returns a ``torch.nn.Module``, to be trained together.

    Initial parameters are what the function draws from torch's global generator, seeded for each network, times
    ``scale``. Random layers (dropout) draw from torch's global generator while training, so networks that have them do
    not repeat from batch to batch; everything else does.

    Parameters
    ----------
    build : callable
        Returns a new module that maps (B, ...) to (B, outputs).
    outputs : int
    input_axes : int
        Number of axes of one input.
    held : int, optional
        Numbers one forward pass holds for one input; by default 50 times the input's size.

    Examples
    --------
    Twenty networks that learn "exclusive or", each from its own seed:

    >>> from recombine.lab.nets.ensemble import Adam, Ensemble
    >>> def build():
    ...     return nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
    >>> cells, targets = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0.0, 1.0, 1.0, 0.0]
    >>> ensemble = Ensemble(Module(build), seeds=range(20))
    >>> trained = ensemble.train(cells, targets, rate=0.05, steps=500, optimiser=Adam(), stop=1e-3)
    >>> bool(trained.stopped.all()), trained.outputs(cells).shape
    (True, torch.Size([20, 4, 1]))
    """

    build: Callable[[], nn.Module]
    outputs: int = 1
    input_axes: int = 1
    held: int | None = None

    # A functional call swaps the module's parameters for its duration, so two threads would mix them up.
    reentrant = False

    @cached_property
    def _template(self) -> dict[bool, nn.Module]:
        module = self.build()
        return {True: deepcopy(module).train(), False: deepcopy(module).eval()}

    def initial(self, seed: int, scale: float) -> Tensors:
        """Build one module after seeding torch's generator, which is put back afterwards."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            module = self.build()
        return {name: tensor.detach().double() * scale for name, tensor in module.named_parameters()}

    def statistics(self, seed: int) -> Tensors:
        """Return the module's buffers."""
        return {name: tensor.clone() for name, tensor in self._template[True].named_buffers()}

    def forward(self, parameters: Tensors, statistics: Tensors, inputs: Tensor, training: bool) -> Tensor:
        """Map (c, B, ...) to (c, B, outputs), one module call for all networks."""
        module = self._template[training]

        def one(weights: Tensors, buffers: Tensors, values: Tensor) -> Tensor:
            result: Tensor = functional_call(module, (weights, buffers), (values,))
            return result

        if len(inputs) == 1:
            return one(_first(parameters), _first(statistics), inputs[0]).unsqueeze(0)
        many: Tensor = vmap(one, randomness="different")(parameters, statistics, inputs)
        return many

    def activations(self, shape: Sequence[int]) -> int:
        """Return how many numbers one forward pass holds for one input."""
        return 50 * prod(shape) if self.held is None else self.held


def _first(tensors: Tensors) -> Tensors:
    return {name: tensor[0] for name, tensor in tensors.items()}
