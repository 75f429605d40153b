"""Many networks (seeds, scales, tasks, losses, learning rates) trained as one batched, chunked computation.

A chunk of networks is one set of stacked arrays. On a CPU a chunk is as large as the cache allows and chunks run side
by side in threads; on a GPU it is as large as memory allows and its step is replayed from a CUDA graph. Chunks, stops
and compaction never change what a network learns: each has its own generator, seeded by its own seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from recombine.checks import whole
from recombine.errors import InputError
from recombine.lab.nets.architecture import Architecture, Forward, Tensors, select_networks, stack_networks
from recombine.lab.nets.checkpoints import Checkpoint, next_checkpoint
from recombine.lab.nets.devices import usable_device, wake_backward
from recombine.lab.nets.ensemble.batches import Rows, row_pools
from recombine.lab.nets.ensemble.ledger import Ledger
from recombine.lab.nets.ensemble.loop import TrainingPlan, Watch, final_outputs, train_chunk
from recombine.lab.nets.ensemble.on_chip import OnChipChunk, why_not_on_chip
from recombine.lab.nets.ensemble.one_hidden import OneHiddenChunk, fits_one_hidden
from recombine.lab.nets.ensemble.optimisers import SGD, Optimiser
from recombine.lab.nets.ensemble.samples import Gather, Inputs, Samples, prepare_inputs, prepare_samples
from recombine.lab.nets.ensemble.schedules import Cosine
from recombine.lab.nets.ensemble.steps import AutogradChunk, Chunk, ChunkSetting, TrainingState
from recombine.lab.nets.losses import Loss, loss_named

#: Bytes of activations that stay close to a core (chunks of 8 networks of 1000 units on 60 samples did best), and the
#: share of a GPU's free memory to plan for.
CACHE_BYTES = 2**21
MEMORY_SHARE = 0.6

#: Arrays of the size of the activations that a backward pass keeps, and of the parameters that training holds.
ACTIVATION_COPIES = 4
PARAMETER_COPIES = 8

DTYPES = {"float32": torch.float32, "float64": torch.float64, "bfloat16": torch.bfloat16}


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Networks of one architecture, one for each seed.

    Parameters
    ----------
    architecture : Architecture
    seeds : sequence of int
        One for each of the E networks; equal seeds and scales give equal networks.
    scale : float or sequence of float
        Initial scale, for all networks or one each.
    dtype : {"float32", "float64", "bfloat16"}
        With bfloat16 the parameters stay in float32 and only the passes through the network are short.
    device : str
    chunk : int, optional
        Networks in one batched computation; chosen from cache or memory if not given.
    stacked : bool, optional
        Whether a chunk is one stacked forward pass (grouped convolutions) or a loop over its networks inside one step.
        By default what is faster: stacked on a GPU, and on a CPU unless the architecture's convolutions are better
        taken in turn. Either way gives the same bits every time, but not the bits of the other.
    replay : bool, optional
        Whether steps are replayed from a CUDA graph; by default, when there is one.
    compiled : bool
        Whether ``torch.compile`` fuses the forward and backward pass: most of a minute once, then about twice as fast
        for transformers. Rounding differs a little, so losses do too.
    on_chip : bool, optional
        Whether networks of one hidden layer and one output keep their weights on the chip of a GPU between records
        (full batches, SGD, float32); by default, where they fit.

    Examples
    --------
    >>> import numpy as np
    >>> from recombine.lab.nets.architectures import MLP
    >>> ensemble = Ensemble(MLP(inputs=2, hidden=(50,)), seeds=range(4))
    >>> ensemble
    Ensemble(4 networks of MLP(inputs=2, hidden=(50,), outputs=1), float32 on cpu)
    >>> trained = ensemble.train(np.eye(2), [1.0, -1.0], rate=0.05, steps=500, stop=1e-4)
    >>> bool(trained.stopped.all()), trained.outputs(np.eye(2)).shape
    (True, torch.Size([4, 2, 1]))
    """

    architecture: Architecture
    seeds: Sequence[int]
    scale: float | Sequence[float] = 1.0
    dtype: str = "float32"
    device: str = "cpu"
    chunk: int | None = None
    stacked: bool | None = None
    replay: bool | None = None
    compiled: bool = False
    on_chip: bool | None = None

    def __post_init__(self) -> None:
        if self.dtype not in DTYPES:
            raise InputError(f"dtype {self.dtype!r} is not one of the words {', '.join(DTYPES)}")
        if np.ndim(self.seeds) != 1 or len(self.seeds) == 0:
            raise InputError(f"seeds is {self.seeds!r}; give at least one seed, say range(3) for three networks")
        for seed in self.seeds:
            whole(seed, "a seed", at_least=0)
        if self.chunk is not None and self.chunk < 1:
            raise InputError(f"chunk is {self.chunk}; give at least 1, or leave it out")
        _per_network(self.scale, len(self), "scale")

    def __len__(self) -> int:
        return len(self.seeds)

    def __repr__(self) -> str:
        return f"Ensemble({len(self)} networks of {self.architecture}, {self.dtype} on {self.device})"

    @property
    def compute(self) -> torch.dtype:
        """The dtype of passes through the networks."""
        return DTYPES[self.dtype]

    @property
    def master(self) -> torch.dtype:
        """The dtype of parameters, losses and updates."""
        return torch.float64 if self.dtype == "float64" else torch.float32

    def initial(self) -> tuple[Tensors, Tensors]:
        """Draw all networks: stacked parameters and running statistics, on the device."""
        usable_device(self.device)
        scales = _per_network(self.scale, len(self), "scale")
        pairs = [(int(seed), scale) for seed, scale in zip(self.seeds, scales, strict=True)]
        drawn = [_placed(self.architecture.initial(seed, scale), self.device, self.master) for seed, scale in pairs]
        still = [_placed(self.architecture.statistics(seed), self.device, self.master) for seed, _ in pairs]
        return stack_networks(drawn), stack_networks(still)

    def outputs(self, parameters: Tensors, statistics: Tensors, inputs: Inputs) -> Tensor:
        """Return outputs (E, M, K) of networks with these stacked parameters on inputs (M, ...) or (E, M, ...)."""
        ready = prepare_inputs(inputs, self.architecture, len(self), self.master, torch.device(self.device))
        size = self._size(1, _shape(ready), parameters)
        networks = torch.arange(len(self), device=self.device)
        pieces = networks.tensor_split(-(-len(self) // size))
        return final_outputs(self.architecture, parameters, statistics, ready, pieces, self.compute)

    def train(
        self,
        inputs: Inputs,
        targets: npt.ArrayLike | Tensor,
        *,
        rate: float | npt.ArrayLike,
        steps: int,
        loss: str | Sequence[str] = "mse",
        optimiser: Optimiser | None = None,
        batch: int | None = None,
        draw_from: Rows | None = None,
        decay: tuple[float, int] | Cosine = (1.0, 1),
        weights: npt.ArrayLike | Tensor | None = None,
        stop: float | npt.ArrayLike | None = None,
        clip: float | None = None,
        record: Sequence[int] = (),
        watch: Inputs | Watch | None = None,
        compact: bool = True,
        threads: int | None = None,
    ) -> Trained:
        """Train every network from its own initial parameters.

        Parameters
        ----------
        inputs : array, Tensor or Gather
            (N, ...) shared by all networks, (E, N, ...) one set each, or an object that gathers them on the device.
        targets : array or Tensor
            (N,) or (E, N) for one output, (N, K) or (E, N, K) for several; integer labels for cross-entropy and
            categorical-hinge, padded sequences of them (N, T) or (E, N, T) for sequence-cross-entropy.
        rate : float or sequence of float
            Learning rate, for all networks or one each.
        steps : int
            Most updates a network takes.
        loss : str or sequence of str
            "mse", "logistic" (targets -1 and 1), "soft-logistic" (targets t from -1 to 1: the answer is +1 with
            probability (1 + t) / 2, so that smoothed labels are t = ± (1 - e)), "hinge", "categorical-hinge" (no
            competitor counts as less than 0), "cross-entropy" or "sequence-cross-entropy" (the sum over a sequence's
            symbols and its end), for all networks or one each.
        optimiser : SGD or Adam, optional
            Plain gradient descent if not given.
        batch : int, optional
            Samples in a mini-batch; every epoch each network shuffles anew with its own generator. Full batches if not
            given.
        draw_from : sequence of int, optional
            Rows of the samples, for all networks or a sequence each: mini-batches are then drawn from these with
            replacement, a row that is there twice being drawn twice as often.
        decay : tuple of float and int, or Cosine
            The rate is multiplied by the first every so many updates as the second says; or half a cosine.
        weights : array, optional
            (N,) or (E, N), from 0 up: how much each sample counts. Zero leaves it out, so that networks trained on
            different cells can share their inputs.
        stop : float or sequence of float, optional
            A network stops when its training loss falls below this.
        clip : float, optional
            Largest norm of a network's gradient.
        record : sequence of int
            Steps, from 0 to ``steps``, at which losses (and outputs on ``watch``) are written down.
        watch : array, Tensor, Gather or callable, optional
            Inputs (M, ...) or (E, M, ...) on which outputs are recorded; or a function of the parameters and
            statistics of some networks and their places (c,) that returns what to record of them, a tensor (c, ...).
        compact : bool
            Whether chunks shrink as their networks stop.
        threads : int, optional
            Chunks that train side by side on a CPU; as many as torch's threads if not given.

        Returns
        -------
        Trained
        """
        if not isinstance(optimiser or SGD(), Optimiser):
            raise InputError(f"optimiser is {optimiser!r}; give SGD() or Adam(), with their settings")
        losses = _losses(loss, len(self))
        device = wake_backward(usable_device(self.device))
        samples = prepare_samples(inputs, targets, weights, self.architecture, losses, self.master, device)
        watched = self._watch(watch)
        pools = None if draw_from is None else row_pools(draw_from, len(self), len(samples))
        plan = self._plan(samples, steps, batch, record, watched, compact, pools)
        parameters, statistics = self.initial()
        ledger = Ledger.empty(parameters, statistics, len(plan.record), self.master)
        rates, stops = (
            torch.tensor(_per_network(values, len(self), name), dtype=self.master, device=device)
            for values, name in ((rate, "rate"), (0.0 if stop is None else stop, "stop"))
        )
        size = self._size(min(batch or len(samples), len(samples)), _shape(samples.inputs), parameters)
        workers = self._workers(threads)
        passes = self.architecture.forward
        anneal, fixed = (decay, (1.0, 1)) if isinstance(decay, Cosine) else (None, decay)
        forward: Forward = torch.compile(passes, dynamic=False) if self.compiled else passes
        how = {"rate": rates, "stop": stops, "loss": [each.name for each in losses], "optimiser": optimiser}
        how |= {"decay": decay, "clip": clip, "dtype": self.dtype}
        checkpoint = _checkpoint(parameters, samples, plan, how)
        # Every worker should have something to do; an earlier attempt may have had more memory, or fewer workers.
        size = checkpoint.settle("networks in a chunk", min(size, -(-len(self) // workers)))
        groups = _groups(losses, size, device)
        routes: set[str] = set()

        def train_group(number: int) -> None:
            networks = groups[number]
            setting = ChunkSetting(
                self.architecture, forward, samples, losses[int(networks[0])], optimiser or SGD(), clip,
                self.compute, self._batched, anneal,
            )  # fmt: skip
            progress = TrainingState.start(networks, rates[networks], stops[networks], fixed)
            chunk = _chunk_on_route(setting, progress, ledger, plan, self.on_chip)
            routes.add(chunk.route)
            train_chunk(chunk, plan, ledger, checkpoint, number)

        _side_by_side(train_group, len(groups), workers)
        return self._trained(ledger, plan, groups, ", ".join(sorted(routes)))

    def _watch(self, watch: Inputs | Watch | None) -> Watch | None:
        if watch is None or callable(watch):
            return watch
        return prepare_inputs(watch, self.architecture, len(self), self.master, torch.device(self.device))

    def _plan(
        self,
        samples: Samples,
        steps: int,
        batch: int | None,
        record: Sequence[int],
        watch: Watch | None,
        compact: bool,
        pools: tuple[Tensor, ...] | None,
    ) -> TrainingPlan:
        steps = whole(steps, "steps", at_least=0)
        if any(not 0 <= number <= steps for number in record):
            raise InputError(f"record {list(record)} must lie between 0 and steps = {steps}")
        if batch is not None and batch < 1:
            raise InputError(f"batch is {batch}; give at least 1, or leave it out for full batches")
        if pools is not None and batch is None:
            raise InputError("draw_from says what mini-batches are drawn from; say how large they are with batch")
        if batch is not None and samples.weights is not None:
            raise InputError("weights and mini-batches do not go together; give each network its own samples instead")
        replay = torch.device(self.device).type == "cuda" if self.replay is None else self.replay
        seeds = tuple(int(seed) for seed in self.seeds)
        return TrainingPlan(steps, batch, tuple(sorted(set(record))), watch, seeds, compact, replay, pools)

    def _size(self, batch: int, shape: Sequence[int], parameters: Tensors) -> int:
        """Return the number of networks in a chunk."""
        if self.chunk is not None:
            return self.chunk
        numbers = self.architecture.activations(shape) * batch
        item = torch.empty(0, dtype=self.compute).element_size()
        device = torch.device(self.device)
        if device.type == "cpu":
            bound, few = self.architecture.cache_bound, self.architecture.cpu_networks
            return max(1, CACHE_BYTES // (numbers * item)) if bound else few
        owned = sum(tensor[0].numel() for tensor in parameters.values())
        each = (ACTIVATION_COPIES * numbers * item) + PARAMETER_COPIES * owned * 8
        free, _ = torch.cuda.mem_get_info(device)
        return max(1, int(free * MEMORY_SHARE) // each)

    @property
    def _batched(self) -> bool:
        if self.stacked is None:
            return self.architecture.cpu_stacked or torch.device(self.device).type != "cpu"
        return self.stacked

    def _workers(self, threads: int | None) -> int:
        if torch.device(self.device).type != "cpu" or not self.architecture.reentrant:
            return 1
        return torch.get_num_threads() if threads is None else max(1, threads)

    def _trained(self, ledger: Ledger, plan: TrainingPlan, groups: Sequence[Tensor], route: str) -> Trained:
        """Fill in what was not recorded because a network had already stopped: it stayed as it was."""
        recorded = torch.tensor(plan.record, dtype=torch.int64, device=ledger.steps.device)
        ended = (recorded.unsqueeze(1) >= ledger.steps) & (ledger.stopped | ledger.diverged)
        history = torch.where(ended, ledger.loss, ledger.history)
        watched = None
        if plan.watch is not None and plan.record:
            weights, states = ledger.parameters, ledger.statistics
            final = final_outputs(self.architecture, weights, states, plan.watch, groups, self.compute, observed=True)
            watched = final.expand(len(recorded), *final.shape).clone()
            for row, pieces in zip(watched, ledger.watched, strict=True):
                for networks, outputs in pieces:
                    row[networks] = outputs
        how = (ledger.loss, ledger.steps, ledger.stopped, ledger.diverged)
        return Trained(self, ledger.parameters, ledger.statistics, *how, plan.record, history, watched, route)


@dataclass(frozen=True, eq=False)
class Trained:
    """E trained networks and how they got there.

    Attributes
    ----------
    parameters, statistics : dict of Tensor
        Stacked on a leading axis of length E.
    loss : Tensor, shape (E,)
        Training loss of the final parameters (with mini-batches or batch normalisation: of the last batch).
    steps : Tensor of int, shape (E,)
        Updates each network took.
    stopped, diverged : Tensor of bool, shape (E,)
        Whether its loss fell below the threshold; whether its loss became infinite or not a number.
    recorded : tuple of int
        Steps at which the history was written, R of them; 0 is the untrained network.
    history : Tensor, shape (R, E)
        Training loss after that many updates.
    watched : Tensor or None, shape (R, E, M, K)
        Outputs on the watched inputs after that many updates, or what the architecture keeps of them; (R, E, ...) of
        what a watching function returned.
    route : str
        How the steps were computed: "on chip", "by hand" or "autograd".
    """

    ensemble: Ensemble
    parameters: Tensors
    statistics: Tensors
    loss: Tensor
    steps: Tensor
    stopped: Tensor
    diverged: Tensor
    recorded: tuple[int, ...]
    history: Tensor
    watched: Tensor | None
    route: str

    def __repr__(self) -> str:
        many, architecture = len(self.ensemble), self.ensemble.architecture
        return f"Trained({many} networks of {architecture}, {len(self.recorded)} records, {self.route})"

    def outputs(self, inputs: Inputs) -> Tensor:
        """Return the networks' outputs (E, M, K) on inputs (M, ...) or (E, M, ...)."""
        return self.ensemble.outputs(self.parameters, self.statistics, inputs)


def _per_network(value: float | npt.ArrayLike, networks: int, name: str) -> list[float]:
    """Return one number for each network from one for all or a sequence.

    Examples
    --------
    >>> _per_network(0.1, 3, "rate"), _per_network([1, 2], 2, "rate")
    ([0.1, 0.1, 0.1], [1.0, 2.0])
    """
    array = np.asarray(value, dtype=np.float64)
    if array.ndim > 1 or (array.ndim == 1 and len(array) != networks) or not np.all(np.isfinite(array) & (array >= 0)):
        raise InputError(f"{name} {value!r} does not fit {networks} networks; give one number from 0 up, or one each")
    return [float(number) for number in np.broadcast_to(array, (networks,))]


def _losses(loss: str | Sequence[str], networks: int) -> list[Loss]:
    losses = [loss_named(name) for name in ([loss] * networks if isinstance(loss, str) else loss)]
    if len(losses) != networks:
        raise InputError(f"loss has {len(losses)} entries for {networks} networks; give one or one each")
    return losses


def _placed(tensors: Tensors, device: str, dtype: torch.dtype) -> Tensors:
    return {
        name: tensor.to(device, dtype if tensor.is_floating_point() else tensor.dtype)
        for name, tensor in tensors.items()
    }


def _checkpoint(parameters: Tensors, samples: Samples, plan: TrainingPlan, how: dict[str, Any]) -> Checkpoint:
    """Return the checkpoint of a training: the same data, first weights and settings go on from it."""
    data = {"inputs": _told(samples.inputs), "targets": samples.targets, "weights": samples.weights}
    plan_told = {"plan": replace(plan, watch=None, pools=None), "draw_from": plan.pools}
    return next_checkpoint("ensemble", **{"first weights": parameters}, **data, **how, **plan_told)


def _told(inputs: Tensor | Gather) -> object:
    """Return what tells inputs from others; those that are put together when asked for have a kind and a number."""
    return inputs if isinstance(inputs, Tensor) else f"{len(inputs)} of {type(inputs).__name__}"


def _shape(inputs: Tensor | Gather) -> Sequence[int]:
    return inputs.shape[2:] if isinstance(inputs, Tensor) else inputs.shape


def _groups(losses: Sequence[Loss], size: int, device: torch.device) -> list[Tensor]:
    """Split the networks into chunks of one loss each and of about equal size."""
    groups: list[Tensor] = []
    for name in dict.fromkeys(loss.name for loss in losses):
        networks = torch.tensor([i for i, loss in enumerate(losses) if loss.name == name], device=device)
        groups += networks.tensor_split(-(-len(networks) // size))
    return groups


def _chunk_on_route(
    setting: ChunkSetting, progress: TrainingState, ledger: Ledger, plan: TrainingPlan, on_chip: bool | None
) -> Chunk:
    """Return the chunk that trains the networks of ``progress``: on the fastest route that fits, or on the chip."""
    parameters = select_networks(ledger.parameters, progress.networks)
    by_hand = fits_one_hidden(setting, plan.batch is not None, ledger.loss.dtype)
    reason = "it takes one hidden layer, one output, shared inputs and full batches"
    if by_hand:
        reason = "on_chip is off" if on_chip is False else why_not_on_chip(setting, len(progress.networks)) or ""
    if not reason:
        return OnChipChunk(setting, progress, parameters)
    if on_chip:
        raise InputError(f"on_chip does not fit this training: {reason}; leave it out for the next fastest route")
    if by_hand:
        return OneHiddenChunk(setting, progress, parameters)
    return AutogradChunk(setting, progress, parameters, select_networks(ledger.statistics, progress.networks))


def _side_by_side(train: Callable[[int], None], count: int, workers: int) -> None:
    """Train chunks in threads of one core each: torch lets go of the interpreter while it computes."""
    workers = min(workers, count)
    if workers <= 1:
        for number in range(count):
            train(number)
        return
    before = torch.get_num_threads()
    try:
        with ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            list(pool.map(train, range(count)))
    finally:
        torch.set_num_threads(before)
