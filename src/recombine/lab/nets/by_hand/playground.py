"""The network of TensorFlow Playground and its trainer, which Li et al. 2020 use in two dimensions, for many seeds.

Hidden layers are ReLU with derivative 0 at z <= 0, the output is a tanh. One step visits every training sample in an
order that never changes; weights move after every tenth sample by the mean gradient since they last moved. The samples
left over at the end of a pass therefore join the first batch of the next one, and since weights have not moved in
between, a batch of up to 19 samples is the same thing.

Matrices of 8 x 8 are too small for a framework: everything is stacked over networks and hand-written in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.brief import brief_repr
from recombine.errors import InputError
from recombine.lab.nets.checkpoints import State, next_checkpoint

#: First bias of every unit.
BIAS = 0.1
#: Part of every seed, so that first weights do not depend on draws of samples with the same seed.
WEIGHTS_SEED = 1010
LOSSES = ("squared", "logistic")


@dataclass(frozen=True, eq=False)
class Playground:
    """E networks of the same shape with one output node, or with two: one for each class.

    Of two nodes the first is to say 1 and the second -1 for a label of 1, and the reverse for a label of -1; what is
    called the output is half the first less half the second.

    Attributes
    ----------
    weights : tuple of float arrays, each of shape (E, inputs, units)
    biases : tuple of float arrays, each of shape (E, 1, units)

    Examples
    --------
    >>> networks = Playground.initial(seeds=range(3))
    >>> [weight.shape for weight in networks.weights]
    [(3, 2, 8), (3, 8, 8), (3, 8, 8), (3, 8, 1)]
    >>> networks.outputs(np.zeros((5, 2))).shape, networks.slopes(np.zeros((5, 2))).shape
    ((3, 5), (3, 5, 2))
    """

    weights: tuple[FloatArray, ...]
    biases: tuple[FloatArray, ...]

    __repr__ = brief_repr

    @classmethod
    def initial(
        cls, seeds: Sequence[int], hidden: Sequence[int] = (8, 8, 8), inputs: int = 2, nodes: int = 1
    ) -> Playground:
        """Draw weights uniform on [-0.5, 0.5), one network per seed; biases are 0.1."""
        if not len(seeds):
            raise InputError("no seeds were given; give one for each network")
        if nodes not in (1, 2):
            raise InputError(f"{nodes} output nodes are not trained here; give 1, or 2 for one per class")
        sizes = [inputs, *hidden, nodes]
        shapes = list(pairwise(sizes))
        generators = [np.random.default_rng([WEIGHTS_SEED, seed]) for seed in seeds]
        drawn = [[generator.random(shape) - 0.5 for shape in shapes] for generator in generators]
        weights = tuple(np.stack(layer) for layer in zip(*drawn, strict=True))
        return cls(weights, tuple(np.full((len(seeds), 1, units), BIAS) for _, units in shapes))

    @classmethod
    def zero(cls, count: int, inputs: int = 2) -> Playground:
        """Return linear models with weights and bias of zero: no hidden layer.

        Examples
        --------
        >>> Playground.zero(4).outputs(np.ones((1, 2))).tolist()
        [[0.0], [0.0], [0.0], [0.0]]
        """
        return cls((np.zeros((count, inputs, 1)),), (np.zeros((count, 1, 1)),))

    def __len__(self) -> int:
        return len(self.weights[0])

    def copy(self) -> Playground:
        """Return networks that do not change when these are trained on."""
        return Playground(tuple(array.copy() for array in self.weights), tuple(array.copy() for array in self.biases))

    def outputs(self, points: FloatArray) -> FloatArray:
        """Return outputs (E, N), between -1 and 1, on points (N, inputs) or (E, N, inputs)."""
        outputs: FloatArray = np.tanh(self._activities(points)[-1]) @ self._signs / len(self._signs)
        return outputs

    @property
    def _signs(self) -> FloatArray:
        """What each output node is to say for a label of 1, shape (nodes,)."""
        return np.array([1.0, -1.0][: self.weights[-1].shape[-1]])

    def slopes(self, points: FloatArray) -> FloatArray:
        """Return derivatives (E, N, inputs) of the output by each input, on points (N, inputs) or (E, N, inputs)."""
        activities = self._activities(points)
        delta = (1 - np.tanh(activities[-1]) ** 2) * self._signs / len(self._signs)
        for layer in reversed(range(len(self.weights))):
            delta = delta @ self.weights[layer].swapaxes(1, 2)
            if layer:
                delta *= activities[layer] > 0
        return delta

    def _activities(self, points: FloatArray) -> list[FloatArray]:
        """Inputs, activities (E, N, units) of each hidden layer, and z of the output nodes (E, N, nodes)."""
        activities = [points]
        for weight, bias in zip(self.weights, self.biases, strict=True):
            z = activities[-1] @ weight
            z += bias
            activities.append(np.maximum(z, 0.0, out=z) if len(activities) < len(self.weights) else z)
        return activities

    def gradients(
        self, points: FloatArray, labels: FloatArray, shares: FloatArray, loss: str = "squared"
    ) -> tuple[list[FloatArray], list[FloatArray]]:
        """Return the gradient of the loss summed over samples by each weight and bias.

        Parameters
        ----------
        points : float array of shape (E, B, inputs)
        labels, shares : float arrays of shape (E, B)
            -1 or 1, and how much each sample counts.
        loss : {"squared", "logistic"}
            (tanh(z) - label)^2 / 2, or log(1 + exp(-label z)); of two nodes their sum.
        """
        activities = self._activities(points)
        delta = _slope(activities[-1], labels[..., np.newaxis] * self._signs, loss)
        delta *= shares[..., np.newaxis]
        by_weight, by_bias = [], []
        for layer in reversed(range(len(self.weights))):
            by_weight.append(activities[layer].swapaxes(1, 2) @ delta)
            by_bias.append(delta.sum(axis=1, keepdims=True))
            if layer:
                delta = delta @ self.weights[layer].swapaxes(1, 2)
                delta *= activities[layer] > 0
        return by_weight[::-1], by_bias[::-1]

    def move(
        self, points: FloatArray, labels: FloatArray, shares: FloatArray, rate: float, loss: str = "squared"
    ) -> None:
        """Take one step down the gradient, in place."""
        by_weight, by_bias = self.gradients(points, labels, shares, loss)
        for array, gradient in zip((*self.weights, *self.biases), (*by_weight, *by_bias), strict=True):
            gradient *= rate
            array -= gradient


def train_playground(
    networks: Playground,
    points: FloatArray | Callable[[], FloatArray],
    labels: FloatArray,
    *,
    record: Sequence[int],
    rate: float = 0.1,
    batch: int = 10,
    loss: str = "squared",
) -> dict[int, Playground]:
    """Train networks as Playground does and return them as they were after some epochs.

    Parameters
    ----------
    networks : Playground
        Left as they are.
    points : float array of shape (E, N, inputs), or a function that returns it
        The function is called once per epoch, for samples that change from visit to visit.
    labels : float array of shape (E, N)
        -1 or 1, in the order of visits; 0 at the end of a row fills up a network with fewer samples.
    record : sequence of int
        Epochs (passes over the samples) after which networks are kept; training ends with the last.
    rate : float
    batch : int
        Samples after which weights move.
    loss : {"squared", "logistic"}

    Returns
    -------
    dict of int to Playground
        The networks after each epoch of ``record``.

    Examples
    --------
    >>> from recombine.lab.worlds import draw_training, stack_samples
    >>> samples = stack_samples([draw_training("code", seed) for seed in range(3)])
    >>> kept = train_playground(Playground.initial(range(3)), samples.points, samples.labels, record=[0, 16])
    >>> right = np.sign(kept[16].outputs(samples.points)) == samples.labels
    >>> float(right[samples.labels != 0].mean()) > 0.99
    True
    """
    if loss not in LOSSES:
        raise InputError(f"loss {loss!r} is not one of {', '.join(LOSSES)}")
    if not len(record) or min(record) < 0:
        raise InputError(f"record is {list(record)}; give at least one epoch, from 0 up")
    batches = _Batches.of(labels, batch, len(networks))
    moving, epochs = networks.copy(), sorted(set(record))
    recorded = {0: moving.copy()} if epochs[0] == 0 else {}
    before = None
    checkpoint = next_checkpoint(
        "playground",
        **{"weights": networks.weights, "points": "drawn" if callable(points) else points, "labels": labels},
        **{"record": epochs, "rate": rate, "batch": batch, "loss": loss},
    )
    done = _restore(checkpoint.load(), moving, recorded)
    for epoch in range(1, epochs[-1] + 1):
        now = points() if callable(points) else points
        if epoch <= done:
            # Samples that change from visit to visit come from elsewhere: those that were seen are asked for again.
            before = now
            continue
        checkpoint.offer(epoch - 1, partial(_saved, epoch - 1, moving, recorded))
        for inputs, targets, shares in batches.visit(now, before):
            moving.move(inputs, targets, shares, rate, loss)
        before = now
        if epoch in epochs:
            recorded[epoch] = moving.copy()
    checkpoint.finish(epochs[-1], partial(_saved, epochs[-1], moving, recorded))
    return recorded


def _saved(done: int, moving: Playground, recorded: Mapping[int, Playground]) -> State:
    """Return the state after some epochs: the networks as they are, and those that were kept."""
    state: dict[str, Any] = {"done": done, "kept": list(recorded)}
    for name, networks in (("moving", moving), *((str(epoch), copy) for epoch, copy in recorded.items())):
        state[name] = [*networks.weights, *networks.biases]
    return state


def _restore(state: State | None, moving: Playground, recorded: dict[int, Playground]) -> int:
    """Take back what `_saved` returned, where there is something; return how many epochs are done."""
    if state is None:
        return 0
    layers = len(moving.weights)
    for mine, theirs in zip((*moving.weights, *moving.biases), state["moving"], strict=True):
        mine[...] = theirs
    for epoch in state["kept"]:
        arrays = state[str(epoch)]
        recorded[epoch] = Playground(tuple(arrays[:layers]), tuple(arrays[layers:]))
    return int(state["done"])


@dataclass(frozen=True, eq=False)
class _Batches:
    """Which samples of each network share an update, with weights of 0 where a network has none to share."""

    labels: FloatArray
    size: int
    sizes: IntArray  # (E,) samples of each network
    left: IntArray  # (E, size - 1) rows left over at the end of a pass, then any row
    carried: FloatArray  # (E, size - 1) 1 for a row left over, else 0

    @classmethod
    def of(cls, labels: FloatArray, size: int, networks: int) -> _Batches:
        if labels.ndim != 2 or len(labels) != networks:
            raise InputError(f"labels have shape {labels.shape} for {networks} networks; give one row each")
        sizes = (labels != 0).sum(axis=1)
        if size < 1 or sizes.min() < size:
            raise InputError(f"a network has {sizes.min()} samples for batches of {size}; give at least one batch")
        if (labels != 0)[np.arange(labels.shape[1]) >= sizes[:, np.newaxis]].any():
            raise InputError("a label of 0 comes before another label; rows that fill up go to the end")
        rows = (sizes // size * size)[:, np.newaxis] + np.arange(size - 1)
        inside = rows < sizes[:, np.newaxis]
        return cls(labels, size, sizes, np.where(inside, rows, 0), inside.astype(np.float64))

    def visit(
        self, points: FloatArray, before: FloatArray | None
    ) -> Iterator[tuple[FloatArray, FloatArray, FloatArray]]:
        """Yield points, labels and shares of every update of one pass, ``before`` being the points of the last one."""
        full = self.sizes // self.size
        for number in range(int(full.max())):
            rows = slice(number * self.size, (number + 1) * self.size)
            inputs, labels = points[:, rows], self.labels[:, rows]
            shares = np.repeat((number < full)[:, np.newaxis] / self.size, inputs.shape[1], axis=1)
            if number == 0 and before is not None and self.carried.any():
                yield self._joined(inputs, labels, before)
            else:
                yield inputs, labels, shares

    def _joined(
        self, inputs: FloatArray, labels: FloatArray, before: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The first batch with what was left over before it."""
        late = np.take_along_axis(before, self.left[..., np.newaxis], axis=1)
        counts = np.concatenate([self.carried, np.ones_like(labels)], axis=1)
        return (
            np.concatenate([late, inputs], axis=1),
            np.concatenate([np.take_along_axis(self.labels, self.left, axis=1), labels], axis=1),
            counts / counts.sum(axis=1, keepdims=True),
        )


def _slope(z: FloatArray, labels: FloatArray, loss: str) -> FloatArray:
    """Derivative of a sample's loss by z of each output node."""
    slope: FloatArray
    if loss == "logistic":
        # 1 / (1 + exp(label z)), which would overflow for a large margin.
        slope = -labels * np.exp(-np.logaddexp(0.0, labels * z))
    else:
        output = np.tanh(z)
        slope = (output - labels) * (1 - output * output)
    return slope
