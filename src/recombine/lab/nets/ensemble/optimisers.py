"""Optimisers on stacked parameters: every network has its own learning rate and its own step count.

Blocks of parameters have the network axis second from the end, so that rates of shape (c, 1) broadcast against them:
(c, P) for flat parameters, (rows, c, H) for the hand-written one-hidden-layer step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from recombine.lab.nets.devices import takes_kernels


@dataclass(frozen=True)
class SGD:
    """Gradient descent, with heavy-ball momentum and weight decay if asked for (the update of ``torch.optim.SGD``).

    Examples
    --------
    >>> SGD().plain, SGD(momentum=0.9).plain
    (True, False)
    """

    momentum: float = 0.0
    weight_decay: float = 0.0

    counts = False

    @property
    def plain(self) -> bool:
        """Whether an update is the rate times the gradient and nothing else."""
        return self.momentum == 0 and self.weight_decay == 0

    def slots(self, block: Tensor) -> list[Tensor]:
        """Return what the optimiser remembers about a block of parameters."""
        return [torch.zeros_like(block)] if self.momentum else []

    def update(self, block: Tensor, gradient: Tensor, slots: list[Tensor], rate: Tensor, count: Tensor) -> None:
        """Change ``block`` in place; ``rate`` has shape (c, 1), ``count`` is not used."""
        if self.weight_decay:
            gradient.add_(block, alpha=self.weight_decay)
        if self.momentum:
            gradient = torch.add(gradient, slots[0], alpha=self.momentum, out=slots[0])
        block.addcmul_(gradient, rate, value=-1)


@dataclass(frozen=True)
class Adam:
    """Adam with bias correction; ``decoupled`` weight decay makes it AdamW (the updates of ``torch.optim``).

    Examples
    --------
    >>> Adam().plain
    False
    """

    betas: tuple[float, float] = (0.9, 0.999)
    epsilon: float = 1e-8
    weight_decay: float = 0.0
    decoupled: bool = False

    plain = False
    counts = True

    def slots(self, block: Tensor) -> list[Tensor]:
        """Return the running means of the gradient and of its square."""
        return [torch.zeros_like(block), torch.zeros_like(block)]

    def update(self, block: Tensor, gradient: Tensor, slots: list[Tensor], rate: Tensor, count: Tensor) -> None:
        """Change ``block`` in place; ``rate`` and ``count`` (1 at the first update) have shape (c, 1)."""
        if takes_kernels(block) and block.ndim == 2:
            from recombine.lab.nets.ensemble.optimiser_kernels import adam

            decay = (self.weight_decay, self.decoupled)
            return adam(block, gradient, slots, rate, count, self.betas, self.epsilon, decay)
        if self.decoupled:
            block.mul_(1 - rate * self.weight_decay)
        elif self.weight_decay:
            gradient.add_(block, alpha=self.weight_decay)
        first, second = slots
        first.lerp_(gradient, 1 - self.betas[0])
        second.mul_(self.betas[1]).addcmul_(gradient, gradient, value=1 - self.betas[1])
        scale = second.sqrt().div_((1 - self.betas[1] ** count).sqrt_()).add_(self.epsilon)
        block.addcmul_(first / scale, rate / (1 - self.betas[0] ** count), value=-1)


def AdamW(  # noqa: N802 - named like the class it makes
    betas: tuple[float, float] = (0.9, 0.999), epsilon: float = 1e-8, weight_decay: float = 0.01
) -> Adam:
    """Return Adam with decoupled weight decay.

    Examples
    --------
    >>> AdamW().decoupled
    True
    """
    return Adam(betas, epsilon, weight_decay, decoupled=True)


Optimiser = SGD | Adam


def clip_gradients(gradients: Sequence[Tensor], largest: float) -> None:
    """Shrink each network's gradient, in place, to a norm of at most ``largest`` over all its blocks.

    Examples
    --------
    >>> gradient = torch.tensor([[3.0, 4.0], [0.3, 0.4]])
    >>> clip_gradients([gradient], 1.0)
    >>> gradient.norm(dim=1).round(decimals=3)
    tensor([1.0000, 0.5000])
    """
    squares = torch.stack([_per_network(gradient.square()) for gradient in gradients]).sum(0)
    # The small number is torch.nn.utils.clip_grad_norm_'s.
    factor = (largest / (squares.sqrt() + 1e-6)).clamp_max(1.0).unsqueeze(-1)
    for gradient in gradients:
        gradient.mul_(factor)


def _per_network(values: Tensor) -> Tensor:
    """Sum (c, P) or (rows, c, H) over everything but the network axis."""
    return values.sum(-1) if values.ndim == 2 else values.sum((0, 2))
