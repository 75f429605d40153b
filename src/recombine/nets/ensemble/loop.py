"""The loop around the steps of one chunk: batches, records, stopping, and compaction when most networks are done."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from recombine.cells.arrays import IntArray
from recombine.errors import InputError
from recombine.nets.architecture import Architecture, Tensors, generator_for, select_networks
from recombine.nets.ensemble.samples import Gather, inputs_count, take_inputs
from recombine.nets.ensemble.steps import Chunk
from recombine.nets.replay import ReplayedStep

#: Rows for all networks, or a sequence for each.
Rows = Sequence[int] | Sequence[Sequence[int]] | Sequence[IntArray] | IntArray

#: What to look at while training: inputs, or a function of parameters, statistics and the networks' numbers (c,).
Watch = Tensor | Gather | Callable[[Tensors, Tensors, Tensor], Tensor]

#: A chunk is made smaller when no more than this share of its networks is still training.
COMPACT_AT = 0.5

#: Numbers one evaluation pass may hold, by kind of device; larger sets of inputs are evaluated in pieces.
EVALUATION_NUMBERS = {"cpu": 2**24, "cuda": 2**30}


@dataclass(frozen=True, eq=False)
class TrainingPlan:
    """How long to train, in which batches, and what to write down on the way."""

    steps: int
    batch: int | None
    record: tuple[int, ...]
    watch: Watch | None
    seeds: tuple[int, ...]
    compact: bool
    replay: bool
    pools: tuple[Tensor, ...] | None = None

    @cached_property
    def rows(self) -> dict[int, int]:
        """Row of the history for each recorded step."""
        return {step: row for row, step in enumerate(self.record)}

    @property
    def check_every(self) -> int:
        """Steps between two looks at the stop masks, which make the host wait for the device."""
        return max(1, min(100, self.steps // 20))

    @cached_property
    def events(self) -> list[int]:
        """Step numbers at which something is written down: losses after a step, outputs before it."""
        marks = (0, 1) if self.watch is not None else (1,)
        return sorted({step + mark for step in self.record for mark in marks} | {self.steps})

    def uneventful(self, start: int, longest: int) -> int:
        """Return the end of the steps from ``start`` on, at most ``longest``, that can be taken at once."""
        return min(start + longest, self.events[bisect_right(self.events, start)])


@dataclass(eq=False)
class Ledger:
    """What training leaves behind, for all E networks; chunks write their own columns."""

    history: Tensor
    loss: Tensor
    steps: Tensor
    stopped: Tensor
    diverged: Tensor
    parameters: Tensors
    statistics: Tensors
    watched: list[list[tuple[Tensor, Tensor]]] = field(default_factory=list)

    @classmethod
    def empty(cls, parameters: Tensors, statistics: Tensors, records: int, dtype: torch.dtype) -> Ledger:
        """Return a ledger for networks that start from these stacked parameters."""
        one = next(iter(parameters.values()))
        networks, device = len(one), one.device
        no = torch.zeros(networks, dtype=torch.bool, device=device)
        unknown = torch.full((records + 1, networks), torch.nan, dtype=dtype, device=device)
        counts = torch.zeros(networks, dtype=torch.int64, device=device)
        watched: list[list[tuple[Tensor, Tensor]]] = [[] for _ in range(records)]
        return cls(unknown[:-1], unknown[-1].clone(), counts, no, no.clone(), parameters, statistics, watched)

    def collect(self, chunk: Chunk) -> None:
        """Copy a chunk's present state into the ledger."""
        progress = chunk.progress
        places = progress.networks
        self.loss[places] = progress.latest
        self.steps[places] = progress.taken
        self.stopped[places] = progress.stopped
        self.diverged[places] = progress.diverged
        for mine, theirs in ((self.parameters, chunk.parameters()), (self.statistics, chunk.statistics())):
            for name, tensor in theirs.items():
                mine[name][places] = tensor.to(mine[name].dtype)


class ShuffledRows:
    """The order in which each network meets its samples: a new permutation every epoch from its own generator."""

    def __init__(self, seeds: Sequence[int], samples: int, batch: int, device: torch.device) -> None:
        self.generators = [generator_for(seed, purpose=1) for seed in seeds]
        self.samples, self.batch, self.device = samples, batch, device
        self.per_epoch = math.ceil(samples / batch)

    def rows(self, step: int) -> Tensor:
        """Return the rows (c, B) of one step; steps must be asked for in turn."""
        place = step % self.per_epoch
        if place == 0:
            orders = [torch.randperm(self.samples, generator=generator) for generator in self.generators]
            self.order = torch.stack(orders).to(self.device)
        return self.order[:, place * self.batch : (place + 1) * self.batch]

    def select(self, keep: Tensor) -> None:
        """Go on with some of the networks."""
        self.generators = [self.generators[i] for i in keep.tolist()]
        self.order = self.order[keep]


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


def row_pools(draw_from: Rows, networks: int, samples: int) -> tuple[Tensor, ...]:
    """Return each network's pool of rows from one for all or one each.

    Examples
    --------
    >>> [len(pool) for pool in row_pools([[0, 1, 1], [2]], networks=2, samples=3)]
    [3, 1]
    """
    alike = len(draw_from) == 0 or np.ndim(draw_from[0]) == 0
    pools = [np.asarray(part) for part in ([draw_from] if alike else draw_from)]
    if len(pools) not in (1, networks):
        raise InputError(f"draw_from has {len(pools)} pools for {networks} networks; give one for all or one each")
    for pool in pools:
        if pool.ndim != 1 or len(pool) == 0 or pool.dtype.kind not in "iu" or pool.min() < 0 or pool.max() >= samples:
            raise InputError(
                f"draw_from must list rows of the {samples} samples, from 0 to {samples - 1}, at least one"
            )
    tensors = [torch.from_numpy(pool.astype(np.int64)) for pool in pools]
    return tuple(tensors * (networks if len(tensors) == 1 else 1))


def _orders(chunk: Chunk, plan: TrainingPlan) -> ShuffledRows | DrawnRows | None:
    if plan.batch is None:
        return None
    places = chunk.progress.networks.tolist()
    seeds, device = [plan.seeds[i] for i in places], chunk.progress.networks.device
    if plan.pools is not None:
        return DrawnRows(seeds, [plan.pools[i] for i in places], plan.batch, device)
    return ShuffledRows(seeds, len(chunk.setting.samples), plan.batch, device)


def train_chunk(chunk: Chunk, plan: TrainingPlan, ledger: Ledger) -> None:
    """Train one chunk to the end of the plan and write the outcome into the ledger."""
    orders = _orders(chunk, plan)
    step = _stepper(chunk, plan)
    number = 0
    while number < plan.steps:
        start, number = number, plan.uneventful(number, chunk.longest)
        rows = None if orders is None else orders.rows(start)
        _watch(chunk, plan, ledger, start)
        if number == start + 1:
            step(rows)
        else:
            chunk.advance(number - start)
        _record(chunk, plan, ledger, number - 1)
        if number // plan.check_every > start // plan.check_every:
            keep = chunk.progress.remaining()
            if len(keep) == 0:
                break
            if plan.compact and chunk.longest == 1 and len(keep) <= COMPACT_AT * len(chunk.progress.active):
                ledger.collect(chunk)
                chunk = chunk.select(keep)
                step = _stepper(chunk, plan)
                if orders is not None:
                    orders.select(keep)
    _finish(chunk, plan, ledger)


def _stepper(chunk: Chunk, plan: TrainingPlan) -> Callable[[Tensor | None], None]:
    return ReplayedStep(chunk.step, chunk.state) if plan.replay and chunk.longest == 1 else chunk.step


def _finish(chunk: Chunk, plan: TrainingPlan, ledger: Ledger) -> None:
    """Note the loss of the final parameters, which full batches can give without touching the running statistics."""
    _watch(chunk, plan, ledger, plan.steps)
    if plan.batch is None and not chunk.statistics():
        chunk.step(None, update=False)
    _record(chunk, plan, ledger, plan.steps)
    ledger.collect(chunk)


def _record(chunk: Chunk, plan: TrainingPlan, ledger: Ledger, number: int) -> None:
    if number in plan.rows:
        ledger.history[plan.rows[number], chunk.progress.networks] = chunk.progress.latest


def _watch(chunk: Chunk, plan: TrainingPlan, ledger: Ledger, number: int) -> None:
    if plan.watch is None or number not in plan.rows:
        return
    networks = chunk.progress.networks
    setting = chunk.setting
    outputs = _seen(
        setting.architecture, chunk.parameters(), chunk.statistics(), plan.watch, networks, setting.compute, True
    )
    ledger.watched[plan.rows[number]].append((networks.clone(), outputs))


def _seen(
    architecture: Architecture,
    parameters: Tensors,
    statistics: Tensors,
    watch: Watch,
    networks: Tensor,
    compute: torch.dtype,
    observed: bool,
) -> Tensor:
    """Return what a watching function makes of the networks (c, ...), or their outputs on watched inputs."""
    if isinstance(watch, Tensor | Gather):
        return evaluate(architecture, parameters, statistics, watch, networks, compute, observed)
    return watch(parameters, statistics, networks)


@torch.no_grad()
def evaluate(
    architecture: Architecture,
    parameters: Tensors,
    statistics: Tensors,
    inputs: Tensor | Gather,
    networks: Tensor,
    compute: torch.dtype,
    observed: bool = False,
) -> Tensor:
    """Return outputs (c, M, K) of trained networks, with their running statistics, in pieces that fit in memory.

    With ``observed`` they are what the architecture keeps of outputs.

    Examples
    --------
    >>> from recombine.nets import stack_networks
    >>> from recombine.nets.architectures import MLP
    >>> network = MLP(3, (4,))
    >>> one = stack_networks([network.initial(seed=0, scale=1.0)])
    >>> evaluate(network, one, {}, torch.eye(3).double()[None], torch.tensor([0]), torch.float64).shape
    torch.Size([1, 3, 1])
    """
    count = inputs_count(inputs)
    shape = inputs.shape[2:] if isinstance(inputs, Tensor) else inputs.shape
    limit = EVALUATION_NUMBERS.get(networks.device.type, EVALUATION_NUMBERS["cpu"])
    piece = max(1, limit // max(1, architecture.activations(shape) * len(networks)))
    cast = {name: tensor.to(compute) for name, tensor in parameters.items()}
    master = next(iter(parameters.values())).dtype
    outputs = []
    for start in range(0, count, piece):
        rows = torch.arange(start, min(start + piece, count), device=networks.device).expand(len(networks), -1)
        values = take_inputs(inputs, networks, rows).to(master if architecture.exact_inputs else compute)
        found = architecture.forward(cast, statistics, values, False).to(master)
        outputs.append(architecture.observed(found, values) if observed else found)
    return torch.cat(outputs, dim=1)


def final_outputs(
    architecture: Architecture,
    parameters: Tensors,
    statistics: Tensors,
    watch: Watch,
    pieces: Sequence[Tensor],
    compute: torch.dtype,
    observed: bool = False,
) -> Tensor:
    """Return outputs (E, M, K) of all networks with these parameters, evaluated in the given groups of networks."""
    outputs = []
    for piece in pieces:
        weights, states = select_networks(parameters, piece), select_networks(statistics, piece)
        outputs.append(_seen(architecture, weights, states, watch, piece, compute, observed))
    return torch.cat(outputs)[torch.argsort(torch.cat(list(pieces)))]
