"""What the trainer asks of an architecture: first weights for one seed, and a forward pass for many networks at once.

Parameters of c networks are stacked on a leading axis, so one network is simply c = 1. Autograd through a stacked
forward pass gives every network its own gradient, because no network's output depends on another's parameters.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

Tensors = dict[str, Tensor]
#: Parameters, statistics, inputs and whether this is training -> outputs.
Forward = Callable[[Tensors, Tensors, Tensor, bool], Tensor]


class Architecture(ABC):
    """A family of networks that differ only in seed and initial scale.

    Attributes
    ----------
    outputs : int
        Width K of the last layer.
    input_axes : int
        Number of axes of one input: 1 for vectors, 3 for images (channels, height, width).
    reentrant : bool
        Whether ``forward`` may run in several threads at once.
    cache_bound : bool
        Whether a CPU chunk should hold as many networks as fit its cache.
    cpu_networks : int
        Networks in a CPU chunk where the cache does not decide.
    cpu_stacked : bool
        Whether the networks of a CPU chunk are one stacked pass; else they take turns.
    exact_inputs : bool
        Whether inputs keep their precision where passes are in short floats (a position in 256 steps is a coarse one).
    own_error : bool
        Whether ``squared_error`` does on a GPU with less traffic what comparing outputs with gathered targets does.
    """

    outputs: int
    input_axes: int = 1
    reentrant: bool = True
    cache_bound: bool = False
    cpu_networks: int = 1
    cpu_stacked: bool = True
    exact_inputs: bool = False
    own_error: bool = False

    @abstractmethod
    def initial(self, seed: int, scale: float) -> Tensors:
        """Draw one network's parameters, in float64 on the CPU so that every dtype and device starts from them."""

    @abstractmethod
    def forward(self, parameters: Tensors, statistics: Tensors, inputs: Tensor, training: bool) -> Tensor:
        """Map inputs (c, B, ...) to outputs (c, B, K); in training, running ``statistics`` are updated in place."""

    @abstractmethod
    def activations(self, shape: Sequence[int]) -> int:
        """Return how many numbers one network's forward pass holds for one input of ``shape``."""

    def observed(self, outputs: Tensor, inputs: Tensor) -> Tensor:
        """Return what a record keeps of outputs on watched inputs (c, B, ...): everything, unless that is too much."""
        return outputs

    def statistics(self, seed: int) -> Tensors:
        """Return what one network carries along besides parameters: running statistics, the state of its noise."""
        return {}

    def penalty(self, parameters: Tensors) -> Tensor | None:
        """Return what each network pays (c,) for its parameters alone; losses are noted without it. None: nothing."""
        return None

    def squared_error(
        self, parameters: Tensors, inputs: Tensor, targets: Tensor, networks: Tensor, rows: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the mean squared errors (c,) of a batch, what to go backward from, and the slope with respect to it.

        Asked of an architecture with its ``own_error`` alone. ``targets`` are (1 or E, N, K), on a GPU and in float32;
        ``networks`` (c,) and ``rows`` (c, B) say which of them belong to ``inputs``.
        """
        raise NotImplementedError


def generator_for(seed: int, purpose: int) -> torch.Generator:
    """Return the generator of one network for one purpose (0: first weights, 1: order of samples, 2: noise).

    Examples
    --------
    >>> import torch
    >>> one, same, other = (generator_for(3, purpose) for purpose in (0, 0, 1))
    >>> draws = [torch.rand(1, generator=generator).item() for generator in (one, same, other)]
    >>> draws[0] == draws[1], draws[0] == draws[2]
    (True, False)
    """
    state = np.random.SeedSequence([seed, purpose]).generate_state(1, dtype=np.uint64)[0]
    return torch.Generator().manual_seed(int(state >> np.uint64(1)))


def stack_networks(networks: Sequence[Tensors]) -> Tensors:
    """Stack equal sets of tensors on a new leading axis.

    Examples
    --------
    >>> import torch
    >>> stack_networks([{"w": torch.zeros(3)}, {"w": torch.ones(3)}])["w"].shape
    torch.Size([2, 3])
    """
    return {name: torch.stack([network[name] for network in networks]) for name in networks[0]}


def select_networks(tensors: Tensors, networks: Tensor | slice) -> Tensors:
    """Return the parameters of some of the networks.

    Examples
    --------
    >>> import torch
    >>> select_networks({"w": torch.arange(6).reshape(3, 2)}, torch.tensor([2]))
    {'w': tensor([[4, 5]])}
    """
    return {name: tensor[networks] for name, tensor in tensors.items()}


def global_generators(device: torch.device) -> Tensors:
    """Return where torch's own generators stand, from which dropout in a module of the user's draws.

    Examples
    --------
    >>> list(global_generators(torch.device("cpu")))
    ['dropout']
    """
    state = {"dropout": torch.get_rng_state()}
    return state | {"dropout on GPU": torch.cuda.get_rng_state(device)} if device.type == "cuda" else state


def set_global_generators(state: Mapping[str, Any], device: torch.device) -> None:
    """Let torch's own generators go on where `global_generators` was called, if a state says so."""
    if "dropout" in state:
        torch.set_rng_state(torch.from_numpy(state["dropout"]))
    if "dropout on GPU" in state and device.type == "cuda":
        torch.cuda.set_rng_state(torch.from_numpy(state["dropout on GPU"]), device)
