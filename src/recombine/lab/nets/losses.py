"""The losses and their closed slopes, for outputs of many networks at once.

Values are per sample; the trainer weighs and adds them. Slopes are derivatives with respect to the outputs, so both
the hand-written step and autograd start their backward pass from the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from recombine.errors import InputError, near_miss
from recombine.writing import listing

#: Weight of the absolute error in "squared-absolute", which keeps edges sharp (Liang et al. 2025, rotated digits).
ABSOLUTE_SHARE = 0.1


@dataclass(frozen=True)
class Loss:
    """One loss: what a sample costs and how the cost changes with the outputs.

    Attributes
    ----------
    name : str
    value : callable
        Outputs (c, B, K) and targets (c, B, K), or labels (c, B) where ``labels``, to costs (c, B).
    slope : callable
        The same arguments to derivatives (c, B, K).
    labels : bool
        Whether targets are integer labels.
    sequences : bool
        Whether targets are padded sequences of labels (c, B, T or more) and outputs, then, (c, B, T, K).
    """

    name: str
    value: Callable[[Tensor, Tensor], Tensor]
    slope: Callable[[Tensor, Tensor], Tensor]
    labels: bool = False
    sequences: bool = False


def _squared(outputs: Tensor, targets: Tensor) -> Tensor:
    return (outputs - targets).square().mean(-1)


def _squared_slope(outputs: Tensor, targets: Tensor) -> Tensor:
    return (outputs - targets) * (2 / outputs.shape[-1])


def _squared_absolute(outputs: Tensor, targets: Tensor) -> Tensor:
    return _squared(outputs, targets) + ABSOLUTE_SHARE * (outputs - targets).abs().mean(-1)


def _squared_absolute_slope(outputs: Tensor, targets: Tensor) -> Tensor:
    return _squared_slope(outputs, targets) + (outputs - targets).sign() * (ABSOLUTE_SHARE / outputs.shape[-1])


def _logistic(outputs: Tensor, targets: Tensor) -> Tensor:
    return functional.softplus(-outputs * targets).mean(-1)


def _logistic_slope(outputs: Tensor, targets: Tensor) -> Tensor:
    return torch.sigmoid(-outputs * targets) * targets * (-1 / outputs.shape[-1])


def _soft_logistic(outputs: Tensor, targets: Tensor) -> Tensor:
    return (functional.softplus(outputs) - outputs * (1 + targets) / 2).mean(-1)


def _soft_logistic_slope(outputs: Tensor, targets: Tensor) -> Tensor:
    return (torch.sigmoid(outputs) - (1 + targets) / 2) / outputs.shape[-1]


def _hinge(outputs: Tensor, targets: Tensor) -> Tensor:
    return (1 - outputs * targets).clamp_min(0).mean(-1)


def _hinge_slope(outputs: Tensor, targets: Tensor) -> Tensor:
    return torch.where(outputs * targets < 1, -targets, 0) / outputs.shape[-1]


def _cross_entropy(outputs: Tensor, labels: Tensor) -> Tensor:
    return torch.logsumexp(outputs, -1) - outputs.gather(-1, labels.unsqueeze(-1)).squeeze(-1)


def _cross_entropy_slope(outputs: Tensor, labels: Tensor) -> Tensor:
    hot = functional.one_hot(labels, outputs.shape[-1])
    return torch.softmax(outputs, -1) - hot


def _rivals(outputs: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Return the outputs with the true class set to 0, so that no competitor counts as less, and the classes."""
    hot = functional.one_hot(labels, outputs.shape[-1])
    return outputs * (1 - hot), hot


def _categorical_hinge(outputs: Tensor, labels: Tensor) -> Tensor:
    rivals, hot = _rivals(outputs, labels)
    return (1 + rivals.amax(-1) - (outputs * hot).sum(-1)).clamp_min(0)


def _categorical_hinge_slope(outputs: Tensor, labels: Tensor) -> Tensor:
    rivals, hot = _rivals(outputs, labels)
    best = functional.one_hot(rivals.argmax(-1), outputs.shape[-1]) * (1 - hot)
    short = _categorical_hinge(outputs, labels) > 0
    return ((best - hot) * short.unsqueeze(-1)).to(outputs.dtype)


def sequence_mask(symbols: Tensor) -> Tensor:
    """Return which places of padded sequences (..., T) count: all up to and including the first 0, which ends them.

    Examples
    --------
    >>> sequence_mask(torch.tensor([[3, 1, 0, 0], [0, 0, 0, 0]])).tolist()
    [[True, True, True, False], [True, False, False, False]]
    """
    return functional.pad(symbols[..., :-1] > 0, (1, 0), value=True)


def _sequence_cross_entropy(outputs: Tensor, symbols: Tensor) -> Tensor:
    symbols = symbols[..., : outputs.shape[-2]]
    return (_cross_entropy(outputs, symbols) * sequence_mask(symbols)).sum(-1)


def _sequence_cross_entropy_slope(outputs: Tensor, symbols: Tensor) -> Tensor:
    symbols = symbols[..., : outputs.shape[-2]]
    return _cross_entropy_slope(outputs, symbols) * sequence_mask(symbols).unsqueeze(-1)


LOSSES = {
    loss.name: loss
    for loss in (
        Loss("mse", _squared, _squared_slope),
        Loss("squared-absolute", _squared_absolute, _squared_absolute_slope),
        Loss("logistic", _logistic, _logistic_slope),
        Loss("soft-logistic", _soft_logistic, _soft_logistic_slope),
        Loss("hinge", _hinge, _hinge_slope),
        Loss("categorical-hinge", _categorical_hinge, _categorical_hinge_slope, labels=True),
        Loss("cross-entropy", _cross_entropy, _cross_entropy_slope, labels=True),
        Loss("sequence-cross-entropy", _sequence_cross_entropy, _sequence_cross_entropy_slope, True, True),
    )
}


def loss_named(name: str) -> Loss:
    """Return a loss by name.

    Examples
    --------
    >>> loss_named("logistic").labels, loss_named("cross-entropy").labels
    (False, True)
    >>> loss_named("mes")
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: loss 'mes' is unknown; did you mean 'mse'? Losses: mse, squared-absolute,
    logistic, soft-logistic, hinge, categorical-hinge, cross-entropy, sequence-cross-entropy
    """
    if name not in LOSSES:
        raise InputError(f"loss {name!r} is unknown;{near_miss(name, LOSSES, f'Losses: {listing(LOSSES)}')}")
    return LOSSES[name]
