"""The ConvNet of Lippl & Stachenfeld 2025 for pairs of MNIST digits, stacked over networks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor
from torch.nn import functional

from recombine.errors import InputError
from recombine.lab.nets.architecture import Architecture, Tensors, generator_for
from recombine.lab.nets.layers.dense import dense, perceptron
from recombine.lab.nets.layers.first_weights import biases, filters, norm_parameters, norm_statistics
from recombine.lab.nets.layers.side_by_side import apart, convolve, fits_kernels, normalise, normaliser, side_by_side


@dataclass(frozen=True)
class ConvNet(Architecture):
    """Convolutions without padding, each with ReLU, batch normalisation and max-pool; dense ReLU layers; readout.

    Weights are Kaiming-normal (times ``scale``); biases are uniform on +- scale / sqrt(fan_in), as torch draws them.

    Parameters
    ----------
    shape : tuple of int
        Channels, height and width of an image.
    channels : tuple of int
        Filters of each convolution.
    kernel : int
        Side of the filters.
    dense : tuple of int
        Widths of the dense hidden layers.
    outputs : int
        Width of the readout.
    pools : tuple of int
        Side of the max-pool at the end of each convolution; 1 is none.

    Examples
    --------
    >>> network = ConvNet(shape=(2, 28, 28))
    >>> network.flat
    2304
    >>> parameters = network.initial(seed=0, scale=1.0)
    >>> tuple(parameters["conv0.weight"].shape), tuple(parameters["dense0.weight"].shape)
    ((32, 2, 5, 5), (512, 2304))
    """

    shape: tuple[int, int, int]
    channels: tuple[int, ...] = (32, 32, 64, 64)
    kernel: int = 5
    dense: tuple[int, ...] = (512, 1024)
    outputs: int = 1
    pools: tuple[int, ...] = (1, 1, 1, 2)

    input_axes = 3
    # Grouped convolutions take a quarter to a third longer on a CPU than one network after the other.
    cpu_stacked = False

    def __post_init__(self) -> None:
        sizes = (*self.shape, *self.channels, self.kernel, *self.dense, self.outputs, *self.pools)
        if len(self.shape) != 3 or not self.channels or min(sizes) < 1:
            raise InputError(
                f"{self} cannot be built; give channels, height and width as the shape, at least one convolution, "
                "and all sizes from 1 up"
            )
        if len(self.pools) != len(self.channels):
            raise InputError(
                f"{len(self.pools)} pools for {len(self.channels)} convolutions; give one each, 1 for none"
            )
        if min(self._sides(self.shape[1])[-1] + self._sides(self.shape[2])[-1]) < 1:
            raise InputError(
                f"images of {self.shape[1]} x {self.shape[2]} vanish after {len(self.channels)} convolutions of side "
                f"{self.kernel}; use larger images, a smaller kernel or fewer convolutions"
            )

    def _sides(self, side: int) -> list[tuple[int, int]]:
        """Return the side of an image after each convolution, before and after its pool."""
        sides: list[tuple[int, int]] = []
        for pool in self.pools:
            side = max(0, side - self.kernel + 1)
            sides.append((side, side // pool))
            side //= pool
        return sides

    @property
    def flat(self) -> int:
        """Number of features that enter the dense layers."""
        return self.channels[-1] * self._sides(self.shape[1])[-1][1] * self._sides(self.shape[2])[-1][1]

    def initial(self, seed: int, scale: float) -> Tensors:
        """Draw one network's filters, gains, weights and biases."""
        generator = generator_for(seed, purpose=0)
        parameters: Tensors = {}
        for layer, (channels, out) in enumerate(pairwise((self.shape[0], *self.channels))):
            parameters[f"conv{layer}.weight"] = filters(channels, out, self.kernel, scale, generator)
            parameters[f"conv{layer}.bias"] = biases(channels * self.kernel**2, out, scale, generator)
            parameters |= norm_parameters(f"norm{layer}", out)
        for layer, (fan_in, fan_out) in enumerate(pairwise((self.flat, *self.dense, self.outputs))):
            weight, bias = dense(fan_in, fan_out, scale, generator)
            parameters |= {f"dense{layer}.weight": weight, f"dense{layer}.bias": bias}
        return parameters

    def statistics(self, seed: int) -> Tensors:
        """Return one network's running means and variances at the start."""
        still: Tensors = {}
        for layer, out in enumerate(self.channels):
            still |= norm_statistics(f"norm{layer}", out)
        return still

    def forward(self, parameters: Tensors, statistics: Tensors, inputs: Tensor, training: bool) -> Tensor:
        """Map (c, B, channels, H, W) to (c, B, outputs)."""
        if fits_kernels(inputs, self.channels):
            images = self._fused_convolutions(parameters, statistics, inputs, training)
        else:
            *_, side_by_side_images = self._convolutions(parameters, statistics, inputs, training)
            images = apart(side_by_side_images, len(inputs))
        return perceptron(images.flatten(2), parameters, len(self.dense))

    def features(self, parameters: Tensors, statistics: Tensors, inputs: Tensor) -> list[Tensor]:
        """Return each convolution's activations after ReLU and before normalisation, (c, B, out, H, W).

        The last of them is where the paper reads the representational salience.
        """
        images = self._convolutions(parameters, statistics, inputs, training=False)
        return [apart(image, len(inputs)) for image in images[:-1]]

    def _convolutions(self, parameters: Tensors, statistics: Tensors, inputs: Tensor, training: bool) -> list[Tensor]:
        """Return the ReLU activations of every convolution, and at the end what enters the dense layers."""
        images = side_by_side(inputs)
        rectified: list[Tensor] = []
        for layer in range(len(self.channels)):
            weight, bias = parameters[f"conv{layer}.weight"], parameters[f"conv{layer}.bias"]
            rectified.append(torch.relu(convolve(images, weight, bias)))
            images = normalise(rectified[-1], f"norm{layer}", parameters, statistics, training)
            if self.pools[layer] > 1:
                images = functional.max_pool2d(images, self.pools[layer])
        return [*rectified, images]

    def _fused_convolutions(self, parameters: Tensors, statistics: Tensors, inputs: Tensor, training: bool) -> Tensor:
        """Return what enters the dense layers, (c, B, out, H, W).

        Normalisation between two convolutions is folded into the second one's filters: exact, since nothing is padded.
        """
        from recombine.lab.nets.layers.convolution_kernels import rectified_convolution
        from recombine.lab.nets.layers.pooling_kernels import normalised_pool

        images, fold = inputs.permute(0, 1, 3, 4, 2), None
        for layer, pool in enumerate(self.pools):
            weight, bias = (parameters[f"conv{layer}.{kind}"].float() for kind in ("weight", "bias"))
            if fold is not None:
                gain, shift = fold
                bias = bias + (weight.sum((3, 4)) @ shift.unsqueeze(-1)).squeeze(-1)
                weight = weight * gain[:, None, :, None, None]
            images, sums, squares = rectified_convolution(images, weight, bias)
            count = images[0, ..., 0].numel()
            fold = normaliser(sums, squares, count, f"norm{layer}", parameters, statistics, training)
            if layer == len(self.pools) - 1:
                return normalised_pool(images, *fold, pool)
            if pool > 1:
                images, fold = normalised_pool(images, *fold, pool).permute(0, 1, 3, 4, 2), None
        return images

    def activations(self, shape: Sequence[int]) -> int:
        """Return the numbers held after each convolution (before and after its normalisation) and dense layer."""
        sides = zip(self.channels, self._sides(shape[1]), self._sides(shape[2]), strict=True)
        images = sum(out * 2 * height[0] * width[0] for out, height, width in sides)
        return images + self.flat + sum(self.dense)
