"""Stochastic gradient descent on gated networks with the logistic loss, as published, for many of them at once.

Networks of one shape share their inputs; each has its own training samples, order of samples and momentum. Gradients
are written by hand: with slope g of the loss in f, the weights in use get g v x and the readout g times what units pass
on. Where there are many contexts, only rows that some training sample uses are kept at work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from recombine.cells.arrays import FloatArray, IntArray, as_numbers
from recombine.checks import real, whole
from recombine.errors import InputError, SolverError
from recombine.lab.nets.by_hand.gated import FEW_CONTEXTS, GatedNetworks, activities, look_up, row_numbers
from recombine.lab.nets.checkpoints import State, next_checkpoint
from recombine.sample_checks import wholes
from recombine.theory.gated.contexts import as_points
from recombine.theory.gated.features import as_signs
from recombine.writing import listing

#: Part of every seed, so that the order of samples does not depend on draws of weights.
ORDER = 11
#: At half time the rate is multiplied by this, as published.
RATE_DROP_FACTOR = 0.25


def train_gated(
    networks: GatedNetworks,
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    schedule: IntArray,
    *,
    rate: float = 0.04,
    momentum: float | Sequence[float] = 0.0,
) -> GatedNetworks:
    """Return the networks after training on the logistic loss.

    Parameters
    ----------
    networks : GatedNetworks
    X : array (N, d)
        Inputs shared by all networks.
    y : array (N,)
        Labels -1 and +1.
    schedule : array of int (E, steps, batch)
        Rows of ``X`` that each network sees at each step, as `schedule_of` shuffles them.
    rate : float
        Learning rate, a quarter of it from half time on.
    momentum : float or sequence of float
        For all networks or one each, from 0 to below 1.

    Raises
    ------
    SolverError
        If training diverges: weights that are not finite belong to no network.

    Examples
    --------
    >>> from recombine.theory.gated import HalfSpaces
    >>> rng = np.random.default_rng(0)
    >>> X = np.column_stack([rng.normal(size=(40, 2)), np.ones(40)])
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
    >>> contexts = [HalfSpaces(np.eye(2, 3)[:, None], np.zeros((2, 1)))]
    >>> start = GatedNetworks.initial("contexts", [0], 3, contexts=contexts)
    >>> trained = train_gated(start, X, y, schedule_of([np.arange(40)], seeds=[0], steps=500, batch=20), rate=0.5)
    >>> float((np.sign(trained.outputs(X)) == y).mean()) > 0.95
    True
    """
    points, signs = as_points(X, networks.weights.shape[-1]), as_signs(y)
    if len(points) != len(signs) or len(schedule) != len(networks):
        raise InputError(
            f"{len(points)} inputs, {len(signs)} labels; {len(schedule)} sets of rows for {len(networks)} networks; "
            "give a label for each input, and rows and a seed for each network"
        )
    rate, (_, steps, batch) = real(rate, "rate", above=0), schedule.shape
    if schedule.max(initial=-1) >= len(points):
        raise InputError(f"row {schedule.max()} is asked for but X has {len(points)}; give rows of X")
    many = networks.weights.shape[2] > FEW_CONTEXTS
    kind = _OneLayerTrainer if networks.kind == "one-layer" else _RowTrainer if many else _Trainer
    trainer = kind(networks, points, signs, schedule, _as_momentum(momentum, len(networks)))
    # What is always so stands here too: checkpoints of earlier versions name it.
    settings = {"steps": steps, "rate": rate, "momentum": momentum, "batch": batch}
    settings |= {"drop": RATE_DROP_FACTOR, "biased": True}
    checkpoint = next_checkpoint("gated", weights=networks.weights, X=points, y=signs, schedule=schedule, **settings)
    start = trainer.restore(checkpoint.load())
    for step in range(start, steps):
        checkpoint.offer(step, partial(trainer.saved, step))
        trainer.step(step, rate * (RATE_DROP_FACTOR if step >= steps // 2 else 1.0))
    checkpoint.finish(steps, partial(trainer.saved, steps))
    return trainer.result()


def _as_momentum(momentum: float | Sequence[float], networks: int) -> FloatArray:
    """Return the momentum of each network, shape (E,)."""
    values = as_numbers(momentum, "momentum")
    if values.ndim > 1 or (values.ndim == 1 and len(values) != networks):
        raise InputError(f"momentum has shape {values.shape}; give one number, or one for each of {networks} networks")
    if not ((values >= 0) & (values < 1)).all():
        raise InputError(f"momentum is {momentum}; give numbers from 0 to below 1")
    return np.broadcast_to(values, networks).astype(np.float64)


def schedule_of(rows: Sequence[npt.ArrayLike], seeds: Sequence[int], steps: int = 3200, batch: int = 128) -> IntArray:
    """Return the samples of each network's steps, (E, steps, batch), -1 where the last batch of an epoch is short.

    Each network has rows to train on, whose numbers may differ, and a seed, by which they are shuffled every epoch. The
    published 200 epochs at n = 2000, 400 at 1000 and 800 at 500 are all 3200 updates.

    Examples
    --------
    >>> plan = schedule_of([np.arange(5)], [0], steps=4, batch=3)
    >>> plan.shape, sorted(plan[0, :2].ravel().tolist())
    ((1, 4, 3), [-1, 0, 1, 2, 3, 4])
    """
    steps, batch = whole(steps, "steps", 0), whole(batch, "batch")
    if len(rows) != len(seeds):
        raise InputError(f"{len(rows)} sets of rows for {len(seeds)} seeds; give rows and a seed for each network")
    plan = np.full((len(rows), steps, batch), -1, dtype=np.int64)
    for network, (listed, seed) in enumerate(zip(rows, wholes(seeds, "seeds", 0), strict=True)):
        samples = np.array(wholes(listed, f"rows[{network}]", 0), dtype=np.int64)
        generator = np.random.default_rng(np.random.SeedSequence([seed, ORDER]))
        length = -(-len(samples) // batch)
        if not length:
            raise InputError(f"network {network} has no rows to train on; give at least one")
        for epoch in range(-(-steps // length)):
            padded = np.full(length * batch, -1, dtype=np.int64)
            padded[: len(samples)] = generator.permutation(samples)
            epoch_plan = plan[network, epoch * length : (epoch + 1) * length]
            epoch_plan[:] = padded.reshape(length, batch)[: len(epoch_plan)]
    return plan


class _Trainer:
    """Weights, their momentum, and one step of descent."""

    def __init__(
        self,
        networks: GatedNetworks,
        points: FloatArray,
        signs: FloatArray,
        schedule: IntArray,
        momentum: FloatArray,
    ) -> None:
        self.networks = networks
        device = networks.device
        self.X = torch.tensor(points, dtype=torch.float32, device=device)
        self.y = torch.tensor(signs, dtype=torch.float32, device=device)
        self.schedule = torch.tensor(schedule, device=device)
        self.ids = networks.ids(points)
        self.weights, self.readout, self.bias = (
            tensor.clone(memory_format=torch.contiguous_format)
            for tensor in (networks.weights, networks.readout, networks.bias)
        )
        self.momentum = torch.tensor(momentum, dtype=torch.float32, device=device) if momentum.any() else None
        self.trains_readout = networks.kind != "one-layer"
        self.trains_bias = networks.kind == "contexts"
        self.slots: dict[str, Tensor] = {}

    def moving(self) -> dict[str, Tensor]:
        """Return the tensors that a step changes in place, momentum aside."""
        return {"weights": self.weights, "readout": self.readout, "bias": self.bias}

    def saved(self, step: int) -> State:
        """Return what the steps from this one on depend on."""
        return {"step": step, **self.moving(), **{f"slots/{name}": slot for name, slot in self.slots.items()}}

    def restore(self, state: Mapping[str, Any] | None) -> int:
        """Take back what `saved` returned, where there is something; return the step to go on with."""
        if state is None:
            return 0
        moving = self.moving()
        for name, tensor in moving.items():
            tensor.copy_(torch.from_numpy(state[name]))
        for name in moving:
            if f"slots/{name}" in state:
                self.slots[name] = torch.from_numpy(state[f"slots/{name}"]).to(self.networks.device)
        return int(state["step"])

    def step(self, number: int, rate: float) -> None:
        """Descend on the mean loss of the samples of a step."""
        index = self.schedule[:, number]
        there = (index >= 0).float()
        index = index.clamp_min(0)
        inputs = self.X.index_select(0, index.flatten()).view(*index.shape, -1)
        labels = self.y[index]
        ids = None if self.ids is None else self.ids.gather(1, index.unsqueeze(2).expand(-1, -1, self.ids.shape[2]))
        active, gates = self.activities(inputs, ids)
        f = torch.einsum("ebh,eh->eb", active, self.readout) + self.bias.unsqueeze(1)
        slope = -labels * torch.sigmoid(-labels * f) * there / there.sum(1, keepdim=True)
        onward = slope.unsqueeze(2) * self.readout.unsqueeze(1)
        if self.trains_readout:
            self.move("readout", self.readout, torch.einsum("ebh,eb->eh", active, slope), rate)
        if self.trains_bias:
            self.move("bias", self.bias, slope.sum(1), rate)
        self.move_weights(inputs, ids, gates, onward, rate)

    def activities(self, inputs: Tensor, ids: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Return what units pass on (E, B, H), and gates."""
        return activities(self.networks.kind, self.weights, inputs, ids)

    def move(self, name: str, tensor: Tensor, gradient: Tensor, rate: float) -> None:
        """Take a step down a gradient whose leading axis is networks."""
        self.descend(name, tensor, lambda target, share: target.add_(gradient, alpha=share), rate)

    def descend(
        self, name: str, tensor: Tensor, add: Callable[[Tensor, float], Any], rate: float, owner: Tensor | None = None
    ) -> None:
        """Take a step down a gradient, ``add(target, share)`` adding a share of it, by way of momentum where there is.

        ``owner`` says which network each entry of the leading axis belongs to, if that axis is not networks.
        """
        if self.momentum is None:
            add(tensor, -rate)
            return
        if name not in self.slots:
            self.slots[name] = torch.zeros_like(tensor)
        slot, speeds = self.slots[name], self.momentum if owner is None else self.momentum[owner]
        slot.mul_(speeds.view(-1, *[1] * (tensor.ndim - 1)))
        add(slot, 1.0)
        tensor.add_(slot, alpha=-rate)

    def move_weights(
        self, inputs: Tensor, ids: Tensor | None, gates: Tensor | None, onward: Tensor, rate: float
    ) -> None:
        """Take a step with hidden weights, given slopes by unit (E, B, H)."""
        networks, units, contexts, width = self.weights.shape
        if gates is not None:
            spread = onward * gates
        else:
            assert ids is not None
            spread = onward.new_zeros(*onward.shape, contexts).scatter_(3, ids.unsqueeze(3), onward.unsqueeze(3))
        flat = spread.reshape(networks, -1, units * contexts).transpose(1, 2)
        gradient = torch.bmm(flat, inputs).view(networks, units, contexts, width)
        self.move("weights", self.weights, gradient, rate)

    def result(self) -> GatedNetworks:
        """Return the trained networks, or say which of them diverged."""
        tensors = (self.weights, self.readout, self.bias.unsqueeze(1))
        finite = torch.stack([torch.isfinite(tensor).flatten(1).all(1) for tensor in tensors]).all(0)
        if not bool(finite.all()):
            lost = (~finite).nonzero().flatten().tolist()
            raise SolverError(f"training diverged in networks {listing(lost)}; lower the rate or the momentum")
        return replace(self.networks, weights=self.weights, readout=self.readout, bias=self.bias)


class _RowTrainer(_Trainer):
    """The same for many contexts: a table of the rows that some training sample uses; no other row ever moves."""

    def __init__(self, networks: GatedNetworks, points: FloatArray, signs: FloatArray, *settings: Any) -> None:
        super().__init__(networks, points, signs, *settings)
        assert self.ids is not None
        rows = row_numbers(self.ids, self.weights.shape[2])
        seen = torch.zeros(rows.shape[:2], dtype=torch.bool, device=rows.device)
        seen.scatter_(1, self.schedule.flatten(1).clamp_min(0), True)
        self.used: Tensor = rows[seen].unique()  # type: ignore[no-untyped-call]
        self.ids = torch.searchsorted(self.used, rows).clamp_max(len(self.used) - 1)
        self.table = self.weights.view(-1, self.weights.shape[3])[self.used]
        self.owner = self.used // (self.weights.shape[1] * self.weights.shape[2])

    def moving(self) -> dict[str, Tensor]:
        """Return the tensors that a step changes in place, momentum aside."""
        return {"table": self.table, "readout": self.readout, "bias": self.bias}

    def activities(self, inputs: Tensor, ids: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Return what units pass on (E, B, H): each input meets its own rows alone."""
        assert ids is not None
        return look_up(self.table, inputs, ids), None

    def move_weights(
        self, inputs: Tensor, ids: Tensor | None, gates: Tensor | None, onward: Tensor, rate: float
    ) -> None:
        """Add shares of the inputs to the rows in use; with momentum, all rows of the table keep moving."""
        assert ids is not None
        rows_by_unit = ids.unbind(2)

        def add(target: Tensor, share: float) -> None:
            for unit, rows in enumerate(rows_by_unit):
                added = (share * onward[:, :, unit, None] * inputs).flatten(0, 1)
                target.index_add_(0, rows.flatten(), added)

        self.descend("table", self.table, add, rate, self.owner)

    def result(self) -> GatedNetworks:
        """Put the rows back where they belong."""
        self.weights.view(-1, self.weights.shape[3])[self.used] = self.table
        return super().result()


class _OneLayerTrainer(_RowTrainer):
    """One unit, nothing but its rows to train: what a step needs is laid out before the first one."""

    def __init__(self, networks: GatedNetworks, points: FloatArray, signs: FloatArray, *settings: Any) -> None:
        super().__init__(networks, points, signs, *settings)
        assert self.ids is not None
        there = (self.schedule >= 0).float()
        samples = self.schedule.clamp_min(0)
        rows = self.ids[:, :, 0].gather(1, samples.flatten(1)).view_as(samples)
        # Steps lead, and networks follow each other within a step.
        labels = self.y[samples]
        shares = -labels * there / there.sum(2, keepdim=True)
        self.samples, self.rows, self.labels, self.shares = (
            tensor.transpose(0, 1).flatten(1).contiguous() for tensor in (samples, rows, labels, shares)
        )

    def step(self, number: int, rate: float) -> None:
        """Descend on the mean loss of the samples of a step."""
        rows, labels = self.rows[number], self.labels[number]
        inputs = self.X.index_select(0, self.samples[number])
        f = self.table.index_select(0, rows).mul_(inputs).sum(1)
        slope = self.shares[number] * torch.sigmoid(-labels * f)
        added = inputs.mul_(slope.unsqueeze(1))

        def add(target: Tensor, share: float) -> None:
            target.index_add_(0, rows, added, alpha=share)

        self.descend("table", self.table, add, rate, self.owner)
