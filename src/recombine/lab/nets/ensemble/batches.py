"""Which samples each network meets at a step: shuffled anew every epoch, or drawn from a pool."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from recombine.cells.arrays import IntArray
from recombine.errors import InputError
from recombine.lab.nets.architecture import generator_for
from recombine.lab.nets.checkpoints import State

#: Rows for all networks, or a sequence for each.
Rows = Sequence[int] | Sequence[Sequence[int]] | Sequence[IntArray] | IntArray


class ShuffledRows:
    """The order in which each network meets its samples: a new permutation every epoch from its own generator."""

    def __init__(self, seeds: Sequence[int], samples: int, batch: int, device: torch.device) -> None:
        self.generators = [generator_for(seed, purpose=1) for seed in seeds]
        self.samples, self.batch, self.device = samples, batch, device
        self.per_epoch = math.ceil(samples / batch)
        self.order = torch.empty(len(seeds), 0, dtype=torch.int64, device=device)

    def rows(self, step: int) -> Tensor:
        """Return the rows (c, B) of one step; steps must be asked for in turn."""
        position = step % self.per_epoch
        if position == 0:
            orders = [torch.randperm(self.samples, generator=generator) for generator in self.generators]
            self.order = torch.stack(orders).to(self.device)
        return self.order[:, position * self.batch : (position + 1) * self.batch]

    def select(self, keep: Tensor) -> None:
        """Go on with some of the networks."""
        self.generators = [self.generators[i] for i in keep.tolist()]
        self.order = self.order[keep]

    def saved(self) -> State:
        """Return where the generators stand and the order of the present epoch."""
        return {"generators": _standing(self.generators), "order": self.order}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on where `saved` was called."""
        _set_standing(self.generators, state)
        self.order = torch.from_numpy(state["order"]).to(self.device)


class DrawnRows:
    """Samples drawn with replacement from each network's own pool of rows, with its own generator."""

    def __init__(self, seeds: Sequence[int], pools: Sequence[Tensor], batch: int, device: torch.device) -> None:
        self.generators = [generator_for(seed, purpose=1) for seed in seeds]
        self.pools, self.batch, self.device = pools, batch, device

    def rows(self, step: int) -> Tensor:
        """Return the rows (c, B) of one step; steps must be asked for in turn."""
        drawn = [
            pool[torch.randint(len(pool), (self.batch,), generator=generator)]
            for pool, generator in zip(self.pools, self.generators, strict=True)
        ]
        return torch.stack(drawn).to(self.device)

    def select(self, keep: Tensor) -> None:
        """Go on with some of the networks."""
        self.generators, self.pools = ([items[i] for i in keep.tolist()] for items in (self.generators, self.pools))

    def saved(self) -> State:
        """Return where the generators stand."""
        return {"generators": _standing(self.generators)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on where `saved` was called."""
        _set_standing(self.generators, state)


def _standing(generators: Sequence[torch.Generator]) -> Tensor:
    return torch.stack([generator.get_state() for generator in generators])


def _set_standing(generators: Sequence[torch.Generator], state: Mapping[str, Any]) -> None:
    for generator, standing in zip(generators, torch.from_numpy(state["generators"]), strict=True):
        # A copy: torch reads a state that is part of a larger tensor from the wrong place.
        generator.set_state(standing.clone())


def row_pools(draw_from: Rows, networks: int, samples: int) -> tuple[Tensor, ...]:
    """Return each network's pool of rows from one for all or one each.

    Examples
    --------
    >>> [len(pool) for pool in row_pools([[0, 1, 1], [2]], networks=2, samples=3)]
    [3, 1]
    """
    alike = len(draw_from) == 0 or np.ndim(draw_from[0]) == 0
    pools = [np.asarray(rows) for rows in ([draw_from] if alike else draw_from)]
    if len(pools) not in (1, networks):
        raise InputError(f"draw_from has {len(pools)} pools for {networks} networks; give one for all or one each")
    for pool in pools:
        if pool.ndim != 1 or len(pool) == 0 or pool.dtype.kind not in "iu" or pool.min() < 0 or pool.max() >= samples:
            raise InputError(
                f"draw_from must list rows of the {samples} samples, from 0 to {samples - 1}, at least one"
            )
    tensors = [torch.from_numpy(pool.astype(np.int64)) for pool in pools]
    return tuple(tensors * (networks if len(tensors) == 1 else 1))
