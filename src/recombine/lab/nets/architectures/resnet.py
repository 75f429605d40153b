"""The narrow ResNet-18 that Lippl & Stachenfeld 2025 train on CIFAR components, stacked over networks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from recombine.errors import InputError
from recombine.lab.nets.architecture import Architecture, Tensors, generator_for
from recombine.lab.nets.layers.dense import readout
from recombine.lab.nets.layers.first_weights import default_layers, norm_parameters, norm_statistics
from recombine.lab.nets.layers.side_by_side import (
    apart,
    convolve,
    fits_kernels,
    normalise,
    side_by_side,
    update_statistics,
)

#: Name, channels in, channels out, kernel and stride of one convolution and its normalisation.
Convolution = tuple[str, int, int, int, int]


@dataclass(frozen=True)
class ResNet(Architecture):
    """CIFAR layout of ResNet-18: 3x3 stem, stages of basic blocks, 4x4 average pool, linear readout.

    Weights and readout bias are uniform on +- 1 / sqrt(fan_in), torch's default, times ``scale``; convolutions have no
    bias.

    Parameters
    ----------
    shape : tuple of int
        Channels, height and width of an image; 32 x 32 leaves one feature vector of the last width.
    widths : tuple of int
        Channels of each stage; every stage after the first halves the image.
    blocks : int
        Basic blocks in a stage.
    outputs : int
        Width of the readout.

    Examples
    --------
    >>> network = ResNet(shape=(6, 32, 32))
    >>> sum(tensor.numel() for tensor in network.initial(seed=0, scale=1.0).values())
    700737
    """

    shape: tuple[int, int, int]
    widths: tuple[int, ...] = (16, 32, 64, 128)
    blocks: int = 2
    outputs: int = 1
    pool: int = 4

    input_axes = 3
    # Grouped convolutions take a quarter to a third longer on a CPU than one network after the other.
    cpu_stacked = False

    def __post_init__(self) -> None:
        if min(self._final(side) for side in self.shape[1:]) < 1:
            raise InputError(f"images of {self.shape[1]} x {self.shape[2]} are too small for {len(self.widths)} stages")

    def _final(self, side: int) -> int:
        for _ in self.widths[1:]:
            side = -(-side // 2)
        return side // self.pool

    @property
    def flat(self) -> int:
        """Number of features that enter the readout."""
        return self.widths[-1] * self._final(self.shape[1]) * self._final(self.shape[2])

    def _block_plan(self) -> Iterator[tuple[str, int, int, int]]:
        """Yield name, channels in, channels out and stride of each block."""
        channels = self.widths[0]
        for stage, width in enumerate(self.widths):
            for block in range(self.blocks):
                stride = 2 if stage and not block else 1
                yield f"stage{stage}.block{block}", channels, width, stride
                channels = width

    def _plan(self) -> Iterator[Convolution]:
        yield "stem", self.shape[0], self.widths[0], 3, 1
        for name, channels, width, stride in self._block_plan():
            yield f"{name}.first", channels, width, 3, stride
            yield f"{name}.second", width, width, 3, 1
            if stride != 1 or channels != width:
                yield f"{name}.shortcut", channels, width, 1, stride

    def initial(self, seed: int, scale: float) -> Tensors:
        """Draw one network's filters, gains and readout."""
        generator = generator_for(seed, purpose=0)
        parameters: Tensors = {}
        for name, channels, out, kernel, _ in self._plan():
            parameters |= default_layers({name: (out, channels, kernel, kernel)}, scale, generator, bias=False)
            parameters |= norm_parameters(f"{name}.norm", out)
        return parameters | default_layers({"readout": (self.outputs, self.flat)}, scale, generator)

    def statistics(self, seed: int) -> Tensors:
        """Return one network's running means and variances at the start."""
        still: Tensors = {}
        for name, _, out, _, _ in self._plan():
            still |= norm_statistics(f"{name}.norm", out)
        return still

    def forward(self, parameters: Tensors, statistics: Tensors, inputs: Tensor, training: bool) -> Tensor:
        """Map (c, B, channels, H, W) to (c, B, outputs)."""
        if fits_kernels(inputs, self.widths):
            images = self._fused_stages(parameters, statistics, inputs, training)
        else:
            images = self._stages(parameters, statistics, inputs, training)
        pooled = apart(functional.avg_pool2d(images, self.pool), len(inputs)).flatten(2)
        return readout(pooled, parameters["readout.weight"], parameters["readout.bias"])

    def _stages(self, parameters: Tensors, statistics: Tensors, inputs: Tensor, training: bool) -> Tensor:
        """Return the last features, lying side by side: (B, c * width, h, w)."""

        def layer(name: str, images: Tensor, stride: int = 1, padding: int = 1) -> Tensor:
            images = convolve(images, parameters[f"{name}.weight"], None, stride, padding)
            return normalise(images, f"{name}.norm", parameters, statistics, training)

        images = torch.relu(layer("stem", side_by_side(inputs)))
        for name, channels, width, stride in self._block_plan():
            inner = torch.relu(layer(f"{name}.first", images, stride))
            if stride != 1 or channels != width:
                images = layer(f"{name}.shortcut", images, stride, padding=0)
            images = torch.relu(layer(f"{name}.second", inner) + images)
        return images

    def _fused_stages(self, parameters: Tensors, statistics: Tensors, inputs: Tensor, training: bool) -> Tensor:
        """Return the same from our own kernels, which do a whole layer of all networks at once."""
        from recombine.lab.nets.layers.residual_kernels import add_frame, normalised_convolution

        def layer(name: str, images: Tensor, residual: Tensor | None = None, **how: Any) -> Tensor:
            weight, norm = parameters[f"{name}.weight"], f"{name}.norm"
            gain, shift = parameters[f"{norm}.gain"], parameters[f"{norm}.shift"]
            fixed = None if training else (statistics[f"{norm}.mean"], statistics[f"{norm}.variance"])
            result, mean, variance = normalised_convolution(images, weight, gain, shift, residual, running=fixed, **how)
            if training:
                update_statistics(norm, statistics, mean, variance, result[0, :, 1:-1, 1:-1, 0].numel())
            return result

        images = layer("stem", add_frame(inputs))
        for name, channels, width, stride in self._block_plan():
            inner = layer(f"{name}.first", images, stride=stride)
            if stride != 1 or channels != width:
                images = layer(f"{name}.shortcut", images, stride=stride, rectify=False)
            images = layer(f"{name}.second", inner, images)
        return side_by_side(images[:, :, 1:-1, 1:-1].permute(0, 1, 4, 2, 3))

    def activations(self, shape: Sequence[int]) -> int:
        """Return the numbers held after each convolution, before and after its normalisation."""
        total, (height, width) = 0, shape[1:]
        for name, _, out, _, stride in self._plan():
            if stride == 2 and not name.endswith("shortcut"):
                height, width = -(-height // 2), -(-width // 2)
            total += 3 * out * height * width
        return total
