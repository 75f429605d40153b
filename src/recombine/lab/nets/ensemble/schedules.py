"""How a learning rate changes while networks train."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from recombine.errors import InputError


@dataclass(frozen=True)
class Cosine:
    """Half a cosine from the full rate down to a share of it (Loshchilov & Hutter 2017), in steps of an epoch.

    Parameters
    ----------
    periods : int
        Epochs until the floor is reached; the rate stays there.
    every : int
        Updates in an epoch, during which the rate does not change.
    floor : float
        Share of the rate at the end.

    Examples
    --------
    >>> Cosine(periods=4, floor=0.2).share(torch.tensor([0, 2, 4, 9])).round(decimals=4)
    tensor([1.0000, 0.6000, 0.2000, 0.2000], dtype=torch.float64)
    """

    periods: int
    every: int = 1
    floor: float = 0.0

    def __post_init__(self) -> None:
        if self.periods < 1 or self.every < 1 or not 0 <= self.floor <= 1:
            raise InputError(f"{self} is no schedule; give periods and every from 1 up, and a floor from 0 to 1")

    def share(self, taken: Tensor) -> Tensor:
        """Return the share of the rate after so many updates; nothing here waits for the device."""
        angle = (taken // self.every).clamp(max=self.periods).double() * (math.pi / self.periods)
        return self.floor + (1 - self.floor) * (1 + torch.cos(angle)) / 2
