"""Diagonal linear networks trained by hand-written steps: nets that share their inputs are columns of one matrix.

With beta = w+ v+ - w- v- and the slope g of the loss in beta, a step of gradient descent multiplies w+ + v+ and w- - v-
by 1 - rate g, and w+ - v+ and w- + v- by 1 + rate g. Hence, with up^2 = [(w+ + v+)^2 + (w- - v-)^2] / 4 and down^2
likewise, the whole network is two arrays:

    beta = up^2 - down^2,    up <- up (1 - rate g),    down <- down (1 + rate g).

This is gradient descent on all four weights, exactly, for one output. Multi-task networks, whose outputs share w, are
trained with their weights.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from recombine.cells.arrays import as_numbers
from recombine.errors import InputError

DTYPES = {"float32": torch.float32, "float64": torch.float64}


class DiagonalNetworks(ABC):
    """Networks in training. Every array in ``state`` ends in the network axis, so one index selects in all of them.

    Attributes
    ----------
    state : dict of Tensor
    weights : tuple of str
        Which of the state's arrays a step changes.
    """

    weights: tuple[str, ...]

    def __init__(self, state: dict[str, Tensor]) -> None:
        self.state = state

    @abstractmethod
    def step(self, pace: Tensor) -> None:
        """Do one step of gradient descent with rates ``pace`` (E,)."""

    @abstractmethod
    def loss(self) -> Tensor:
        """Return the training losses (E,)."""

    @property
    @abstractmethod
    def beta(self) -> Tensor:
        """Coefficients of the main task, (D, E)."""

    @abstractmethod
    def like(self, state: dict[str, Tensor]) -> DiagonalNetworks:
        """Return columns with another state on the same inputs."""

    def test(self) -> Tensor:
        """Return |beta - teacher|^2, (E,): the test loss on inputs of unit covariance."""
        return (self.beta - self.state["teacher"]).square().sum(0)

    def select(self, keep: Tensor) -> DiagonalNetworks:
        """Go on with some of the networks."""
        return self.like({name: array[..., keep].contiguous() for name, array in self.state.items()})


class SingleTask(DiagonalNetworks):
    """Networks with one output: ``up`` and ``down`` (D, E), and the inputs (n, D) they share.

    Examples
    --------
    >>> X, teacher = torch.eye(2), torch.tensor([[1.0], [0.0]])
    >>> columns = SingleTask.start(X, teacher, torch.full((2, 1), 0.5), torch.full((2, 1), 0.5))
    >>> for _ in range(100):
    ...     columns.step(torch.tensor([0.1]))
    >>> columns.beta[:, 0].round(decimals=2) + 0.0
    tensor([1., 0.])
    """

    weights = ("up", "down")

    def __init__(self, inputs: Tensor, state: dict[str, Tensor]) -> None:
        super().__init__(state)
        self.inputs, self.turned = inputs, inputs.t().contiguous()

    @classmethod
    def start(cls, inputs: Tensor, teacher: Tensor, up: Tensor, down: Tensor) -> SingleTask:
        """Return networks before the first step."""
        return cls(inputs, {"up": up, "down": down, "teacher": teacher, "targets": inputs @ teacher})

    @property
    def beta(self) -> Tensor:
        """Coefficients (D, E)."""
        up, down = self.state["up"], self.state["down"]
        return (up - down).mul_(up + down)

    def _missing(self) -> Tensor:
        return torch.addmm(self.state["targets"], self.inputs, self.beta, beta=1, alpha=-1)

    def loss(self) -> Tensor:
        """Return the mean squared errors (E,)."""
        return self._missing().square().mean(0)

    def step(self, pace: Tensor) -> None:
        """Do one step: two matrix products and two passes over the weights."""
        slope = torch.mm(self.turned, self._missing().mul_(pace * (2 / len(self.inputs))))
        self.state["up"].addcmul_(self.state["up"], slope)
        self.state["down"].addcmul_(self.state["down"], slope, value=-1)

    def like(self, state: dict[str, Tensor]) -> SingleTask:
        """Return columns with another state on the same inputs."""
        return SingleTask(self.inputs, state)


class MultiTask(DiagonalNetworks):
    """Networks with a main and an auxiliary output on shared hidden weights.

    State: ``hidden`` weights, ``main`` and ``other`` readouts (2, D, E), plus path first. The loss is the mean squared
    error over all samples of both tasks. The auxiliary task enters by the Gram matrix of its inputs alone.
    """

    weights = ("hidden", "main", "other")

    def __init__(self, inputs: Tensor, gram: Tensor, samples: int, state: dict[str, Tensor]) -> None:
        super().__init__(state)
        self.inputs, self.gram, self.samples = inputs, gram, samples

    @classmethod
    def start(cls, inputs: Tensor, teacher: Tensor, others: Tensor, auxiliary: Tensor, alpha: float) -> MultiTask:
        """Return networks whose weights are all ``alpha``."""
        gram = others.t() @ others
        alike = torch.full((2, *teacher.shape), alpha, dtype=inputs.dtype, device=inputs.device)
        state = {"hidden": alike, "main": alike.clone(), "other": alike.clone(), "teacher": teacher}
        state |= {"targets": inputs @ teacher, "known": auxiliary.contiguous(), "wanted": gram @ auxiliary}
        return cls(inputs, gram, len(inputs) + len(others), state)

    def _product(self, readout: str) -> Tensor:
        products = self.state["hidden"] * self.state[readout]
        return products[0].sub_(products[1])

    @property
    def beta(self) -> Tensor:
        """Coefficients of the main task, (D, E)."""
        return self._product("main")

    @property
    def other(self) -> Tensor:
        """Coefficients of the auxiliary task, (D, E)."""
        return self._product("other")

    def _missing(self) -> tuple[Tensor, Tensor]:
        """Return what the main task's outputs lack (n, E), and what the auxiliary one's lack, times inputs: (D, E)."""
        main = torch.addmm(self.state["targets"], self.inputs, self.beta, beta=1, alpha=-1)
        return main, torch.addmm(self.state["wanted"], self.gram, self.other, beta=1, alpha=-1)

    def loss(self) -> Tensor:
        """Return the mean squared errors over both tasks (E,)."""
        main, auxiliary = self._missing()
        away = self.state["known"] - self.other
        return (main.square().sum(0) + (auxiliary * away).sum(0)) / self.samples

    def step(self, pace: Tensor) -> None:
        """Do one step on all weights; the minus path moves the other way."""
        missing, auxiliary = self._missing()
        share = pace * (2 / self.samples)
        main, auxiliary = (self.inputs.t() @ missing).mul_(share), auxiliary.mul_(share)
        for path, sign in ((0, 1.0), (1, -1.0)):
            hidden, first, second = (self.state[name][path] for name in self.weights)
            before = hidden.clone()
            hidden.addcmul_(first, main, value=sign).addcmul_(second, auxiliary, value=sign)
            first.addcmul_(before, main, value=sign)
            second.addcmul_(before, auxiliary, value=sign)

    def like(self, state: dict[str, Tensor]) -> MultiTask:
        """Return columns with another state on the same inputs."""
        return MultiTask(self.inputs, self.gram, self.samples, state)


def reduce_weights(w_plus: Any, w_minus: Any, v_plus: Any, v_minus: Any) -> tuple[Any, Any]:
    """Return up and down of weights of any shape.

    Examples
    --------
    >>> up, down = reduce_weights(np.array([0.3]), np.array([0.1]), np.array([0.2]), np.array([0.2]))
    >>> (up**2 - down**2).round(12)
    array([0.04])
    """
    up = ((w_plus + v_plus) ** 2 + (w_minus - v_minus) ** 2) ** 0.5 / 2
    return up, ((w_plus - v_plus) ** 2 + (w_minus + v_minus) ** 2) ** 0.5 / 2


@dataclass(frozen=True)
class Schedule:
    """How long to train.

    Attributes
    ----------
    rate : float
        Learning rate; a tenth, with a new start, for each network whose loss exceeds 100.
    steps : int
        Most updates of a network, rounded up to a multiple of 50: losses are looked at every 50 updates.
    stop : float
        Training loss to stop at.

    Examples
    --------
    >>> Schedule(steps=1000).stop
    1e-10
    """

    rate: float = 0.1
    steps: int = 100_000
    stop: float = 1e-10

    def __post_init__(self) -> None:
        counted = isinstance(self.steps, Integral) and self.steps >= 1
        if not (0 < self.rate < np.inf and counted and 0 <= self.stop < np.inf):
            raise InputError(f"{self} cannot be followed; give a rate above 0, at least one step, and a stop from 0 up")


def single_task(
    inputs: npt.ArrayLike,
    teachers: npt.ArrayLike,
    start: tuple[npt.ArrayLike, npt.ArrayLike],
    *,
    dtype: str = "float64",
    device: str = "cpu",
) -> SingleTask:
    """Return E networks on the same inputs, ready to train.

    Parameters
    ----------
    inputs : array (n, D)
    teachers : array (D, E)
        Coefficients that label the inputs of each network, and that it is tested against.
    start : pair of arrays (D, E) or (D, 1)
        Up and down at the start, from `reduce_weights`.
    dtype : {"float32", "float64"}
    device : str

    Examples
    --------
    >>> columns = single_task(np.eye(3), np.ones((3, 2)), reduce_weights(*[np.full((3, 1), 0.1)] * 4))
    >>> columns.beta.shape
    torch.Size([3, 2])
    """
    X, truth = _placed(inputs, dtype, device, "inputs"), _placed(teachers, dtype, device, "teachers")
    _check(X, truth)
    starts = [_placed(side, dtype, device, name) for side, name in zip(start, ("up", "down"), strict=True)]
    for side in starts:
        if tuple(side.shape) not in {(len(truth), 1), tuple(truth.shape)}:
            raise InputError(
                f"start has shape {tuple(side.shape)}; give {tuple(truth.shape)}, a column per network, or one for all"
            )
    up, down = (side.expand(truth.shape).clone() for side in starts)
    return SingleTask.start(X, truth, up, down)


def multi_task(
    inputs: npt.ArrayLike,
    teachers: npt.ArrayLike,
    others: npt.ArrayLike,
    auxiliary: npt.ArrayLike,
    *,
    alpha: float = 1e-3,
    dtype: str = "float64",
    device: str = "cpu",
) -> MultiTask:
    """Return E networks of two outputs, ready to train; all weights are ``alpha``.

    Parameters
    ----------
    inputs, teachers : array (n, D), array (D, E)
        Of the main task.
    others, auxiliary : array (n1, D), array (D,)
        Inputs and coefficients of the auxiliary task.
    alpha : float
        Above 0: weights of 0 would never move.

    Examples
    --------
    >>> columns = multi_task(np.eye(3)[:1], np.ones((3, 2)), np.eye(3), np.zeros(3))
    >>> columns.beta.shape, columns.other.shape
    (torch.Size([3, 2]), torch.Size([3, 2]))
    """
    arguments = {"inputs": inputs, "teachers": teachers, "others": others, "auxiliary": auxiliary}
    X, truth, X1, B = (_placed(values, dtype, device, name) for name, values in arguments.items())
    _check(X, truth)
    D = len(truth)
    if X1.ndim != 2 or X1.shape[1] != D or B.shape != (D,):
        raise InputError(
            f"others are {tuple(X1.shape)} and auxiliary {tuple(B.shape)}; give (n1, {D}) and ({D},), "
            "as wide as the inputs"
        )
    if not 0 < alpha < np.inf:
        raise InputError(f"alpha is {alpha}; give weights above 0")
    return MultiTask.start(X, truth, X1, B[:, None].expand(truth.shape), alpha)


def _check(inputs: Tensor, teachers: Tensor) -> None:
    if inputs.ndim != 2 or teachers.ndim != 2 or len(teachers) != inputs.shape[1] or not inputs.numel():
        raise InputError(
            f"inputs are {tuple(inputs.shape)} and teachers {tuple(teachers.shape)}; give (n, D), at least one, and "
            "(D, E), a column per network"
        )


def _placed(values: npt.ArrayLike, dtype: str, device: str, name: str = "values") -> Tensor:
    """Return finite numbers as a tensor; ``name`` is what messages call them.

    Examples
    --------
    >>> _placed([1, 2], "float64", "cpu").dtype
    torch.float64
    """
    if dtype not in DTYPES:
        raise InputError(f"dtype {dtype!r} is not one of {', '.join(DTYPES)}")
    tensor = torch.as_tensor(as_numbers(values, name), dtype=DTYPES[dtype], device=device)
    if not bool(tensor.isfinite().all()):
        raise InputError(f"{name} hold a number that is not finite in {dtype}; networks cannot learn from it")
    return tensor
