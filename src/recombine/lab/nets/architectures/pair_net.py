"""The convolutional network of Li et al. 2020 for two images side by side, stacked over networks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor
from torch.nn import functional

from recombine.errors import InputError
from recombine.lab.nets.architecture import Architecture, Tensors, generator_for
from recombine.lab.nets.layers.dense import linear, perceptron
from recombine.lab.nets.layers.first_weights import glorot


@dataclass(frozen=True)
class PairNet(Architecture):
    """Convolutions with ReLU and no padding, a max-pool after each but the last; dense ReLU layers; readout.

    Weights are Glorot-uniform (times ``scale``) and biases zero, as Keras draws them; nothing is normalised.

    Parameters
    ----------
    shape : tuple of int
        Channels, height and width of an image.
    channels : tuple of int
        Filters of each convolution.
    kernel, pool : int
        Sides of the filters and of the max-pools.
    dense : tuple of int
        Widths of the dense hidden layers.
    outputs : int
        Number of classes.

    Examples
    --------
    >>> network = PairNet(shape=(1, 28, 56))
    >>> network.flat
    17600
    >>> {name: tuple(tensor.shape) for name, tensor in network.initial(seed=0, scale=1.0).items() if "w" in name}
    {'conv0.weight': (32, 1, 3, 3), 'conv1.weight': (64, 32, 3, 3), 'dense0.weight': (64, 17600), \
'dense1.weight': (64, 64), 'dense2.weight': (10, 64)}
    """

    shape: tuple[int, int, int]
    channels: tuple[int, ...] = (32, 64)
    kernel: int = 3
    pool: int = 2
    dense: tuple[int, ...] = (64, 64)
    outputs: int = 10

    input_axes = 3
    cpu_networks = 4

    def __post_init__(self) -> None:
        if not self.channels or min(self._areas(self.shape)[-1]) < 1:
            raise InputError(
                f"images of {self.shape[1]} x {self.shape[2]} do not last for {len(self.channels)} convolutions of "
                f"side {self.kernel}; use larger images, a smaller kernel or fewer convolutions, but at least one"
            )

    def _areas(self, shape: Sequence[int]) -> list[tuple[int, int]]:
        """Return height and width after each convolution, before its pool."""
        areas: list[tuple[int, int]] = []
        height, width = shape[1], shape[2]
        for _ in self.channels:
            areas.append((height - self.kernel + 1, width - self.kernel + 1))
            height, width = (side // self.pool for side in areas[-1])
        return areas

    @property
    def flat(self) -> int:
        """Number of features that enter the dense layers."""
        return self.channels[-1] * math.prod(self._areas(self.shape)[-1])

    def initial(self, seed: int, scale: float) -> Tensors:
        """Draw one network's filters and weights."""
        generator = generator_for(seed, purpose=0)
        sizes: dict[str, tuple[int, ...]] = {
            f"conv{layer}": (out, channels, self.kernel, self.kernel)
            for layer, (channels, out) in enumerate(pairwise((self.shape[0], *self.channels)))
        }
        widths = pairwise((self.flat, *self.dense, self.outputs))
        sizes |= {f"dense{layer}": (out, fan_in) for layer, (fan_in, out) in enumerate(widths)}
        parameters: Tensors = {}
        for name, size in sizes.items():
            parameters[f"{name}.weight"] = glorot(size, scale, generator)
            parameters[f"{name}.bias"] = torch.zeros(size[0], dtype=torch.float64)
        return parameters

    def forward(self, parameters: Tensors, statistics: Tensors, inputs: Tensor, training: bool) -> Tensor:
        """Map (c, B, channels, H, W) to (c, B, outputs)."""
        images = inputs.movedim(2, -1)
        for layer in range(len(self.channels)):
            images = _filtered(images, parameters[f"conv{layer}.weight"], parameters[f"conv{layer}.bias"])
            if layer < len(self.channels) - 1:
                images = _pooled(images, self.pool)
            # The largest of rectified numbers is the largest number, rectified; after the pool there are fewer.
            images = torch.relu(images)
        return perceptron(images.flatten(2), parameters, len(self.dense))

    def activations(self, shape: Sequence[int]) -> int:
        """Return the numbers held after each convolution and dense layer."""
        images = zip(self.channels, self._areas(shape), strict=True)
        return sum(out * math.prod(area) for out, area in images) + sum(self.dense)


@dataclass(frozen=True)
class PairHeads(PairNet):
    """The same network with one readout per image: outputs (c, B, 2, classes + 1), the first class an end of sequence.

    So shaped, the loss "sequence-cross-entropy" of labels from 1 on is the sum of both readouts' cross-entropies.

    Examples
    --------
    >>> network = PairHeads(shape=(1, 8, 16))
    >>> parameters = {name: tensor[None] for name, tensor in network.initial(seed=0, scale=1.0).items()}
    >>> network.forward(parameters, {}, torch.zeros(1, 5, 1, 8, 16, dtype=torch.float64), False).shape
    torch.Size([1, 5, 2, 11])
    """

    outputs: int = 22

    def forward(self, parameters: Tensors, statistics: Tensors, inputs: Tensor, training: bool) -> Tensor:
        """Map (c, B, channels, H, W) to (c, B, 2, outputs / 2)."""
        flat = super().forward(parameters, statistics, inputs, training)
        return flat.reshape(*flat.shape[:-1], 2, -1)


def _filtered(images: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Apply each network's filters (c, out, in, k, k) and biases (c, out) to images with channels last, unpadded.

    One product of matrices for all networks; on a CPU several times faster than grouped convolutions of few filters.

    Examples
    --------
    >>> _filtered(torch.zeros(3, 5, 8, 16, 2), torch.zeros(3, 4, 2, 3, 3), torch.zeros(3, 4)).shape
    torch.Size([3, 5, 6, 14, 4])
    """
    side = weight.shape[-1]
    height, width = images.shape[2] - side + 1, images.shape[3] - side + 1
    windows = [images[:, :, i : i + height, j : j + width] for i in range(side) for j in range(side)]
    columns = torch.cat(windows, dim=-1)  # (c, B, height, width, k * k * in)
    rows = weight.permute(0, 1, 3, 4, 2).flatten(2)
    return linear(columns.flatten(1, 3), rows, bias).view(*columns.shape[:-1], -1)


def _pooled(images: Tensor, side: int) -> Tensor:
    """Take maxima over squares of images (c, B, H, W, channels)."""
    pooled = functional.max_pool2d(images.flatten(0, 1).permute(0, 3, 1, 2), side)
    smaller = pooled.permute(0, 2, 3, 1)
    return smaller.reshape(*images.shape[:2], *smaller.shape[1:])
