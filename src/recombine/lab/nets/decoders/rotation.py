"""The decoder that Liang et al. 2025 train to rotate a digit: an angle becomes an image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from recombine.errors import InputError
from recombine.lab.nets.architecture import Architecture, Tensors, generator_for
from recombine.lab.nets.decoders.painting import paint
from recombine.lab.nets.layers.dense import apply_layer, dense
from recombine.lab.nets.layers.first_weights import biases, filters, norm_parameters, norm_statistics
from recombine.lab.nets.layers.side_by_side import apart, convolve, normalise, side_by_side


@dataclass(frozen=True)
class RotationDecoder(Architecture):
    """A linear layer, two transposed convolutions with batch normalisation and ReLU, a convolution and a sigmoid.

    Weights are Kaiming-normal times ``scale``.

    Parameters
    ----------
    inputs : int
        Length of a code: 2 for the cosine and sine of an angle.
    side : int
        Pixels per side, a multiple of 4.
    channels : tuple of int
        Of the seed image, which is side/4 pixels per side, of the first and of the second doubling.

    Examples
    --------
    >>> network = RotationDecoder(inputs=1)
    >>> sum(tensor.numel() for tensor in network.initial(seed=0, scale=1.0).values())
    406913
    """

    inputs: int = 2
    side: int = 28
    channels: tuple[int, int, int] = (128, 128, 64)

    def __post_init__(self) -> None:
        if self.side % 4 or min(self.inputs, self.side, *self.channels) < 1:
            raise InputError(f"{self} cannot be built; give an image side that is a multiple of 4, and sizes from 1 up")

    @property
    def outputs(self) -> int:  # type: ignore[override]
        """Number of pixels."""
        return self.side**2

    @property
    def _seed_side(self) -> int:
        return self.side // 4

    def initial(self, seed: int, scale: float) -> Tensors:
        """Draw one network's layers."""
        generator = generator_for(seed, purpose=0)
        first, second, third = self.channels
        weight, bias = dense(self.inputs, first * self._seed_side**2, scale, generator)
        parameters = {"first.weight": weight, "first.bias": bias}
        for name, channels, out in (("up0", first, second), ("up1", second, third)):
            # Kaiming's fan-in of a transposed convolution counts its outputs.
            drawn = filters(out, channels, 4, scale, generator)
            parameters |= {f"{name}.weight": drawn, f"{name}.bias": biases(16 * out, out, scale, generator)}
            parameters |= norm_parameters(f"{name}.norm", out)
        parameters["last.weight"] = filters(third, 1, 3, scale, generator)
        return parameters | {"last.bias": biases(9 * third, 1, scale, generator)}

    def statistics(self, seed: int) -> Tensors:
        """Return one network's running means and variances at the start."""
        return norm_statistics("up0.norm", self.channels[1]) | norm_statistics("up1.norm", self.channels[2])

    def forward(self, parameters: Tensors, statistics: Tensors, inputs: Tensor, training: bool) -> Tensor:
        """Map codes (c, B, inputs) to images (c, B, side * side) between 0 and 1."""
        seeds = apply_layer(inputs, parameters, "first")
        shape = (self.channels[0], self._seed_side, self._seed_side)
        images = side_by_side(seeds.view(*inputs.shape[:2], *shape))
        for name in ("up0", "up1"):
            images = paint(images, name, parameters, stride=2)
            images = torch.relu(normalise(images, f"{name}.norm", parameters, statistics, training))
        images = convolve(images, parameters["last.weight"], parameters["last.bias"], padding=1)
        return torch.sigmoid(apart(images, len(inputs)).flatten(2))

    def activations(self, shape: Sequence[int]) -> int:
        """Return the numbers held for one code."""
        first, second, third = self.channels
        return (first + 3 * 4 * second + 3 * 16 * third + 32) * self._seed_side**2
