"""The loop around the steps of one chunk: records, stopping, checkpoints, compaction when most networks are done."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from recombine.lab.nets.architecture import (
    Architecture,
    Tensors,
    global_generators,
    select_networks,
    set_global_generators,
)
from recombine.lab.nets.checkpoints import Checkpoint, State
from recombine.lab.nets.ensemble.batches import DrawnRows, ShuffledRows
from recombine.lab.nets.ensemble.ledger import Ledger
from recombine.lab.nets.ensemble.samples import Gather, inputs_count, take_inputs
from recombine.lab.nets.ensemble.steps import Chunk
from recombine.lab.nets.replay import ReplayedStep

#: What to look at while training: inputs, or a function of parameters, statistics and the networks' numbers (c,).
Watch = Tensor | Gather | Callable[[Tensors, Tensors, Tensor], Tensor]

#: A chunk is made smaller when no more than this share of its networks is still training.
COMPACT_AT_SHARE = 0.5

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


def _orders(chunk: Chunk, plan: TrainingPlan) -> ShuffledRows | DrawnRows | None:
    if plan.batch is None:
        return None
    networks = chunk.progress.networks.tolist()
    seeds, device = [plan.seeds[i] for i in networks], chunk.progress.networks.device
    if plan.pools is not None:
        return DrawnRows(seeds, [plan.pools[i] for i in networks], plan.batch, device)
    return ShuffledRows(seeds, len(chunk.setting.samples), plan.batch, device)


class ChunkTraining:
    """One chunk on its way through a plan: what `train_chunk` moves on, saves and takes up again."""

    def __init__(self, chunk: Chunk, plan: TrainingPlan, ledger: Ledger) -> None:
        self.chunk, self.plan, self.ledger = chunk, plan, ledger
        self.places = chunk.progress.networks.clone()
        self.orders = _orders(chunk, plan)
        self.number = 0
        self.done = False

    def keep(self, keep: Tensor) -> None:
        """Go on with some of the networks."""
        self.chunk = self.chunk.select(keep)
        if self.orders is not None:
            self.orders.select(keep)

    def saved(self) -> State:
        """Return all that the rest of the training depends on, and what it has left behind."""
        training = self.chunk.progress.networks[:0] if self.done else self.chunk.progress.networks
        state = {"number": self.number, "done": self.done, **self.ledger.saved(self.places, training)}
        if not self.done:
            state |= {"training": training, "chunk": self.chunk.state()}
            state |= {} if self.orders is None else self.orders.saved()
            state |= {} if self.chunk.setting.architecture.reentrant else global_generators(self.places.device)
        return state

    @torch.no_grad()
    def restore(self, state: Mapping[str, Any]) -> None:
        """Stand where `saved` was called."""
        self.number, self.done = state["number"], state["done"]
        self.ledger.restore(self.places, state)
        if self.done:
            return
        training = torch.from_numpy(state["training"]).to(self.places.device)
        if len(training) < len(self.places):
            self.keep(torch.isin(self.places, training).nonzero().squeeze(1))
        for mine, theirs in zip(self.chunk.state(), state["chunk"], strict=True):
            mine.copy_(torch.from_numpy(theirs))
        if self.orders is not None:
            self.orders.restore(state)
        set_global_generators(state, self.places.device)


def train_chunk(chunk: Chunk, plan: TrainingPlan, ledger: Ledger, checkpoint: Checkpoint, number: int = 0) -> None:
    """Train one chunk to the end of the plan and write the outcome into the ledger."""
    run = ChunkTraining(chunk, plan, ledger)
    saved = checkpoint.load(number)
    if saved is not None:
        run.restore(saved)
    if run.done:
        return
    step = _stepper(run.chunk, plan)
    while run.number < plan.steps:
        checkpoint.offer(run.number, run.saved, number)
        start, run.number = run.number, plan.uneventful(run.number, run.chunk.longest)
        rows = None if run.orders is None else run.orders.rows(start)
        _watch(run.chunk, plan, ledger, start)
        if run.number == start + 1:
            step(rows)
        else:
            run.chunk.advance(run.number - start)
        _record(run.chunk, plan, ledger, run.number - 1)
        if run.number // plan.check_every > start // plan.check_every:
            keep = run.chunk.progress.remaining()
            if len(keep) == 0:
                break
            if (
                plan.compact
                and run.chunk.longest == 1
                and len(keep) <= COMPACT_AT_SHARE * len(run.chunk.progress.active)
            ):
                ledger.collect(run.chunk)
                run.keep(keep)
                step = _stepper(run.chunk, plan)
    _finish(run.chunk, plan, ledger)
    run.done = True
    checkpoint.finish(run.number, run.saved, number)


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
    >>> from recombine.lab.nets import stack_networks
    >>> from recombine.lab.nets.architectures import MLP
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
        values_out = architecture.forward(cast, statistics, values, False).to(master)
        outputs.append(architecture.observed(values_out, values) if observed else values_out)
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
