"""One training step of a chunk of networks: what all routes share, and the route that autograd takes.

Nothing in a step waits for the device: losses, stop masks and step counts are tensors, so a whole step can be captured
in a CUDA graph and the host looks at the masks only now and then.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Self

import torch
from torch import Tensor

from recombine.lab.nets.architecture import Architecture, Forward, Tensors, select_networks
from recombine.lab.nets.devices import takes_kernels
from recombine.lab.nets.ensemble.optimisers import Optimiser, clip_gradients
from recombine.lab.nets.ensemble.samples import Samples, take_inputs
from recombine.lab.nets.ensemble.schedules import Cosine
from recombine.lab.nets.losses import Loss


@dataclass(frozen=True, eq=False)
class ChunkSetting:
    """What the networks of a chunk have in common; ``forward`` is the architecture's, or a compiled one."""

    architecture: Architecture
    forward: Forward
    samples: Samples
    loss: Loss
    optimiser: Optimiser
    clip: float | None
    compute: torch.dtype
    batched: bool
    anneal: Cosine | None = None


@dataclass(eq=False)
class TrainingState:
    """Where each network of a chunk stands; every field has shape (c,).

    Its operations are few, because they are paid at every step.
    """

    networks: Tensor
    rate: Tensor
    threshold: Tensor
    active: Tensor
    latest: Tensor
    worst: Tensor
    taken: Tensor
    decay: Tensor
    every: Tensor

    @classmethod
    def start(cls, networks: Tensor, rate: Tensor, threshold: Tensor, decay: tuple[float, int] = (1.0, 1)) -> Self:
        """Return the state before the first step; the rate is multiplied by ``decay[0]`` every ``decay[1]`` updates."""
        active = torch.ones_like(networks, dtype=torch.bool)
        latest = torch.full_like(rate, torch.nan)
        factor, every = torch.full_like(rate, decay[0]), torch.full_like(networks, decay[1])
        none = torch.zeros_like(networks)
        return cls(networks, rate, threshold, active, latest, torch.zeros_like(rate), none, factor, every)

    def __post_init__(self) -> None:
        self.stopping = bool((self.threshold > 0).any())
        self.decaying = bool((self.decay != 1).any())

    def note(self, loss: Tensor) -> None:
        """Take in the losses of the present parameters: networks below their threshold stop here."""
        torch.maximum(self.worst, loss, out=self.worst)
        if self.stopping:
            torch.where(self.active, loss, self.latest, out=self.latest)
            self.active.logical_and_(loss >= self.threshold)
        else:
            self.latest.copy_(loss)

    @property
    def diverged(self) -> Tensor:
        """Whether a loss was ever infinite or not a number; the maximum so far remembers both."""
        return ~torch.isfinite(self.worst)

    @property
    def stopped(self) -> Tensor:
        """Whether the loss fell below the threshold."""
        return ~self.active & ~self.diverged

    def remaining(self) -> Tensor:
        """Give up on networks that have diverged; return the places of those still in training (this waits)."""
        self.active.logical_and_(~self.diverged)
        return self.active.nonzero().squeeze(1)

    def pace(self) -> Tensor:
        """Return the learning rates, zero for networks that have stopped."""
        rate = self.rate * self.decay ** (self.taken // self.every) if self.decaying else self.rate
        return rate * self.active if self.stopping else rate

    def select(self, keep: Tensor) -> TrainingState:
        """Return the same for some of the networks."""
        return TrainingState(*(getattr(self, field.name)[keep] for field in fields(self)))


class Chunk(ABC):
    """Some networks in training. ``step`` notes the loss of the present parameters and then updates them in place.

    Attributes
    ----------
    route : str
        How steps are computed, as a result tells it.
    longest : int
        Most steps of full batches that are taken at once where nothing is to be written down in between; with more
        than one, networks that have stopped cost nothing.
    """

    route: str
    longest = 1

    def __init__(self, setting: ChunkSetting, progress: TrainingState) -> None:
        self.setting = setting
        self.progress = progress
        self.blocks: list[Tensor] = []
        self.slots: list[list[Tensor]] = []

    @abstractmethod
    def step(self, rows: Tensor | None, update: bool = True) -> None:
        """Do one step on rows (c, B) of the samples, or on all of them."""

    def advance(self, steps: int) -> None:
        """Do several steps on all samples."""
        for _ in range(steps):
            self.step(None)

    @abstractmethod
    def parameters(self) -> Tensors:
        """Return the parameters by name, stacked on a leading axis."""

    @abstractmethod
    def select(self, keep: Tensor) -> Chunk:
        """Return a smaller chunk that goes on with some of the networks."""

    def statistics(self) -> Tensors:
        """Return the running statistics by name, stacked on a leading axis."""
        return {}

    def state(self) -> list[Tensor]:
        """Return every tensor that a step changes."""
        progress = [getattr(self.progress, field.name) for field in fields(self.progress)]
        return [*self.blocks, *(slot for slots in self.slots for slot in slots), *progress, *self.statistics().values()]

    def remember(self, blocks: list[Tensor], slots: list[list[Tensor]] | None = None) -> None:
        """Hold blocks of parameters and what the optimiser remembers about them."""
        self.blocks = blocks
        self.slots = [self.setting.optimiser.slots(block) for block in blocks] if slots is None else slots

    def pace(self) -> Tensor:
        """Return the learning rates (c,) of this update."""
        rate, anneal = self.progress.pace(), self.setting.anneal
        return rate if anneal is None else rate * anneal.share(self.progress.taken).to(rate.dtype)

    def descend(self, gradients: list[Tensor]) -> None:
        """Update the blocks of all active networks."""
        if self.setting.clip is not None:
            clip_gradients(gradients, self.setting.clip)
        rate = self.pace().unsqueeze(-1)
        count = (self.progress.taken + 1).to(rate.dtype).unsqueeze(-1) if self.setting.optimiser.counts else rate
        for block, gradient, slots in zip(self.blocks, gradients, self.slots, strict=True):
            self.setting.optimiser.update(block, gradient, slots, rate, count)
        self.progress.taken.add_(self.progress.active)


class AutogradChunk(Chunk):
    """Any architecture: stacked forward pass, closed slope of the loss, autograd backwards.

    Parameters of a network lie side by side in one row of a (c, P) block, so an optimiser is a handful of operations
    whatever the number of layers.
    """

    route = "autograd"

    def __init__(
        self,
        setting: ChunkSetting,
        progress: TrainingState,
        parameters: Tensors,
        statistics: Tensors,
        slots: list[list[Tensor]] | None = None,
    ) -> None:
        super().__init__(setting, progress)
        block = torch.cat([tensor.flatten(1) for tensor in parameters.values()], dim=1)
        self.remember([block], slots)
        # Passes in short floats see a rounded copy of the block, made in one go.
        self.rounded = block.to(setting.compute)
        self.leaves = {name: view.requires_grad_() for name, view in _views(self.rounded, parameters).items()}
        self._parameters = _views(block, parameters)
        self._statistics = statistics
        # Full batches of plain arrays never change, so they are gathered once.
        self.everything: tuple[Tensor, Tensor, Tensor] | None = None

    def step(self, rows: Tensor | None, update: bool = True) -> None:
        """Run forward, note the loss, run backward and update."""
        self._round()
        if rows is not None and update and self._has_own_error():
            return self._step_from_own_error(rows)
        inputs, targets, weights = self._batch(rows)
        restorable = self._statistics if self.progress.stopping else {}
        before = {name: tensor.clone() for name, tensor in restorable.items()}
        with torch.set_grad_enabled(update):
            outputs = self._forward(inputs)
        plain = outputs.detach().to(targets.dtype if targets.is_floating_point() else weights.dtype)
        self.progress.note((self.setting.loss.value(plain, targets) * weights).sum(1))
        if update:
            slope = self.setting.loss.slope(plain, targets)
            slope = slope * weights.view(*weights.shape, *[1] * (slope.ndim - 2))
            self._descend_from(outputs, slope.to(outputs.dtype))
            self._restore(before)

    def _has_own_error(self) -> bool:
        """Say whether the loss is the squared error and the architecture has its own way to it on a GPU."""
        setting, samples = self.setting, self.setting.samples
        alike = setting.loss.name == "mse" and samples.weights is None and isinstance(samples.inputs, Tensor)
        fits = takes_kernels(samples.targets) and samples.targets.dtype is torch.float32 and setting.batched
        return setting.architecture.own_error and alike and fits

    def _step_from_own_error(self, rows: Tensor) -> None:
        """Run forward, note the loss, run backward and update, without outputs and gathered targets."""
        samples, networks = self.setting.samples, self.progress.networks
        inputs, find = take_inputs(samples.inputs, networks, rows), self.setting.architecture.squared_error
        with torch.enable_grad():
            loss, root, slope = find(self.leaves, inputs, samples.targets, networks, rows)
        self.progress.note(loss)
        self._descend_from(root, slope)

    def _descend_from(self, root: Tensor, slope: Tensor) -> None:
        joined = torch.cat([gradient.flatten(1) for gradient in self._gradients(root, slope)], dim=1)
        self.descend([joined.to(self.blocks[0].dtype)])

    @torch.no_grad()
    def _round(self) -> None:
        if self.rounded is not self.blocks[0]:
            self.rounded.copy_(self.blocks[0])

    def _gradients(self, outputs: Tensor, slope: Tensor) -> tuple[Tensor, ...]:
        """Run backward from the slope of the loss, and from what the networks pay for their parameters."""
        penalty = self.setting.architecture.penalty(self.leaves)
        roots = [(outputs, slope)] + ([] if penalty is None else [(penalty, torch.ones_like(penalty))])
        ends, slopes = zip(*roots, strict=True)
        return torch.autograd.grad(ends, list(self.leaves.values()), slopes)

    def _batch(self, rows: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        samples, progress = self.setting.samples, self.progress
        if rows is not None or not isinstance(samples.inputs, Tensor):
            return samples.take(progress.networks, rows, progress.taken)
        if self.everything is None:
            self.everything = samples.take(progress.networks, None)
        return self.everything

    def _forward(self, inputs: Tensor) -> Tensor:
        parameters = self.leaves
        inputs = inputs if self.setting.architecture.exact_inputs else inputs.to(self.setting.compute)
        forward = self.setting.forward
        if self.setting.batched or len(inputs) == 1:
            return forward(parameters, self._statistics, inputs, True)
        alone = [slice(i, i + 1) for i in range(len(inputs))]
        return torch.cat(
            [
                forward(select_networks(parameters, i), select_networks(self._statistics, i), inputs[i], True)
                for i in alone
            ]
        )

    def _restore(self, before: Tensors) -> None:
        """Networks that have stopped keep the statistics they stopped with (the backward pass needs the new ones)."""
        for name, old in before.items():
            now = self._statistics[name]
            active = self.progress.active.view(-1, *[1] * (now.ndim - 1))
            now.copy_(torch.where(active, now, old))

    def parameters(self) -> Tensors:
        """Return the parameters by name, stacked on a leading axis."""
        return self._parameters

    def statistics(self) -> Tensors:
        """Return the running statistics by name, stacked on a leading axis."""
        return self._statistics

    def select(self, keep: Tensor) -> AutogradChunk:
        """Return a smaller chunk that goes on with some of the networks."""
        slots = [[slot[keep] for slot in slots] for slots in self.slots]
        parameters, statistics = select_networks(self.parameters(), keep), select_networks(self._statistics, keep)
        return AutogradChunk(self.setting, self.progress.select(keep), parameters, statistics, slots)


def _views(block: Tensor, parameters: Tensors) -> Tensors:
    """Return tensors that share memory with ``block`` (c, P) and have the shapes of ``parameters``."""
    views: Tensors = {}
    start = 0
    for name, tensor in parameters.items():
        size = tensor[0].numel()
        view = block[:, start : start + size].view(len(block), *tensor.shape[1:])
        views[name] = view.detach()
        start += size
    return views
