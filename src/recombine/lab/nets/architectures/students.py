"""One-hidden-layer ReLU students without biases: a readout per task on shared units, and starts from given weights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Integral

import torch
from torch import Tensor

from recombine.cells.brief import brief_repr
from recombine.errors import InputError
from recombine.lab.nets.architecture import Architecture, Tensors, generator_for
from recombine.lab.nets.layers.dense import linear


@dataclass(frozen=True)
class ReluStudent(Architecture):
    """f_o(x) = sum_h v_oh relu(<w_h, x>); weights are normal with standard deviation scale * sqrt(2 / fan_in).

    With several tasks, an input ends in a one-hot vector that says which task it belongs to, and the output is that
    task's; so samples of all tasks can share a batch.

    Parameters
    ----------
    inputs : int
        Length of an input without the task.
    hidden : int
    tasks : int

    Examples
    --------
    >>> student = ReluStudent(inputs=15, hidden=100, tasks=2)
    >>> {name: tuple(tensor.shape) for name, tensor in student.initial(seed=0, scale=1e-3).items()}
    {'hidden': (100, 15), 'readouts': (2, 100)}
    """

    inputs: int
    hidden: int = 1000
    tasks: int = 1

    outputs = 1
    cache_bound = True

    def __post_init__(self) -> None:
        sizes = (self.inputs, self.hidden, self.tasks)
        if not all(isinstance(size, Integral) and size >= 1 for size in sizes):
            raise InputError(f"{self} has an empty layer; give whole numbers from 1 up")

    @property
    def shape(self) -> tuple[int]:
        """Shape of one input, the task included where there are several."""
        return (self.inputs + (self.tasks if self.tasks > 1 else 0),)

    def initial(self, seed: int, scale: float) -> Tensors:
        """Draw one network's weights."""
        generator = generator_for(seed, purpose=0)
        shapes = {"hidden": (self.hidden, self.inputs), "readouts": (self.tasks, self.hidden)}
        return {
            name: torch.randn(shape, generator=generator, dtype=torch.float64) * (scale * math.sqrt(2 / shape[1]))
            for name, shape in shapes.items()
        }

    def forward(self, parameters: Tensors, statistics: Tensors, inputs: Tensor, training: bool) -> Tensor:
        """Map (c, B, inputs [+ tasks]) to (c, B, 1)."""
        outputs = _product(self.features(parameters, inputs), parameters["readouts"])
        if self.tasks == 1:
            return outputs
        return (outputs * inputs[..., self.inputs :]).sum(-1, keepdim=True)

    def features(self, parameters: Tensors, inputs: Tensor) -> Tensor:
        """Return hidden activations (c, B, hidden)."""
        return torch.relu(_product(inputs[..., : self.inputs], parameters["hidden"]))

    def activations(self, shape: Sequence[int]) -> int:
        """Return the number of hidden and output units."""
        return self.hidden + self.tasks


def _product(values: Tensor, weight: Tensor) -> Tensor:
    return linear(values, weight, weight.new_zeros(weight.shape[:2]))


@dataclass(frozen=True, eq=False)
class Continued(Architecture):
    """An architecture whose networks start from given weights instead of drawn ones.

    Parameters
    ----------
    architecture : Architecture
    seeds : tuple of int
        One per network, all different: the seeds that the ensemble is given.
    parameters : dict of Tensor
        Stacked on a leading axis in the order of the seeds.

    Examples
    --------
    >>> student = ReluStudent(inputs=3, hidden=4)
    >>> given = {name: tensor[None] for name, tensor in student.initial(0, 1.0).items()}
    >>> again = Continued(student, (7,), given)
    >>> bool((again.initial(7, scale=1.0)["hidden"] == given["hidden"][0]).all())
    True
    """

    architecture: Architecture
    seeds: tuple[int, ...]
    parameters: Tensors = field(repr=False)

    __repr__ = brief_repr

    def __post_init__(self) -> None:
        if len(set(self.seeds)) != len(self.seeds) or any(len(t) != len(self.seeds) for t in self.parameters.values()):
            raise InputError("give one set of parameters for each seed, and every seed once")
        shapes, expected = ({n: tuple(t.shape[1:]) for n, t in self.parameters.items()}, _shapes(self.architecture))
        if shapes != expected:
            raise InputError(f"parameters of one network have shapes {shapes}; the architecture has {expected}")
        for name in ("outputs", "input_axes", "reentrant", "cache_bound", "cpu_networks", "exact_inputs"):
            object.__setattr__(self, name, getattr(self.architecture, name))

    def initial(self, seed: int, scale: float) -> Tensors:
        """Return the given weights of one network."""
        if seed not in self.seeds:
            raise InputError(f"there are no weights for seed {seed}; there are for {self.seeds}")
        index = self.seeds.index(seed)
        return {name: tensor[index].detach().double().cpu() for name, tensor in self.parameters.items()}

    def forward(self, parameters: Tensors, statistics: Tensors, inputs: Tensor, training: bool) -> Tensor:
        """Pass through the architecture."""
        return self.architecture.forward(parameters, statistics, inputs, training)

    def activations(self, shape: Sequence[int]) -> int:
        """Return the architecture's number."""
        return self.architecture.activations(shape)

    def observed(self, outputs: Tensor, inputs: Tensor) -> Tensor:
        """Keep what the architecture keeps."""
        return self.architecture.observed(outputs, inputs)

    def statistics(self, seed: int) -> Tensors:
        """Return what the architecture carries along, from its beginning."""
        return self.architecture.statistics(seed)

    def penalty(self, parameters: Tensors) -> Tensor | None:
        """Return what the architecture pays."""
        return self.architecture.penalty(parameters)


def _shapes(architecture: Architecture) -> dict[str, tuple[int, ...]]:
    """Return the shape of each parameter of one network."""
    while isinstance(architecture, Continued):
        architecture = architecture.architecture
    return {name: tuple(tensor.shape) for name, tensor in architecture.initial(seed=0, scale=1.0).items()}
