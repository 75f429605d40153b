"""The low-rank pixel-embedding network of Liang et al. 2025: each value of each factor owns an image.

The image of a value is a sum of outer products, E = sum_j lambda_j u_j v_j^T, and two such images, one for x and one
for y, are combined by a few small filters. Two penalties push the images towards something simple: the entropy of
lambda_j^2 towards one product per value, and the variance of the vectors along their pixels towards vectors that are
constant, so that a value is painted as a stripe.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from recombine.errors import InputError
from recombine.lab.nets.architecture import Tensors, generator_for
from recombine.lab.nets.decoders.painting import ImageDecoder, transposed_filters
from recombine.lab.nets.layers.dense import PRELU_SLOPE, prelu

#: Shares of lambda^2 are clamped here before their logarithm is taken.
SMALLEST_SHARE = 1e-8
FACTORS = ("x", "y")


@dataclass(frozen=True)
class LowRankDecoder(ImageDecoder):
    """Images of two values, stacked as channels, then ``depth`` layers of PReLU and 3 x 3 filters and a last one.

    Parameters
    ----------
    side : int
        Pixels per side of the image, and levels of either factor; codes are one-hot, (2 * side,).
    depth : int
        Layers of two channels between the embedding and the last layer.
    entropy, variance : float
        Weights of the two penalties (0.1 and 0.01 in the released script).

    Examples
    --------
    >>> network = LowRankDecoder(side=32, entropy=0.1, variance=0.01)
    >>> sum(tensor.numel() for tensor in network.initial(seed=0, scale=1.0).values())
    133218
    """

    side: int = 32
    depth: int = 2
    entropy: float = 0.0
    variance: float = 0.0

    # A step is many small operations, so a stack of networks costs little more than one.
    cpu_networks = 8

    def __post_init__(self) -> None:
        if self.side < 2 or self.depth < 0 or min(self.entropy, self.variance) < 0:
            raise InputError(f"{self} cannot be built; give a side from 2 up, and a depth and weights from 0 up")

    @property
    def inputs(self) -> int:
        """Length of a code."""
        return 2 * self.side

    def initial(self, seed: int, scale: float) -> Tensors:
        """Draw one network's tables and filters."""
        generator, side = generator_for(seed, purpose=0), self.side
        parameters: Tensors = {}
        for factor in FACTORS:
            weights = torch.randn(side, side, generator=generator, dtype=torch.float64)
            parameters[f"{factor}.weights"] = weights * (scale / side**0.5)
            for side_name in ("columns", "rows"):
                drawn = torch.randn(side, side, side, generator=generator, dtype=torch.float64)
                # Unit vectors: a step of Adam then turns them far enough within the released number of epochs.
                parameters[f"{factor}.{side_name}"] = functional.normalize(drawn, dim=-1)
        for layer in range(self.depth + 1):
            parameters[f"slope{layer}"] = torch.full((1,), PRELU_SLOPE, dtype=torch.float64)
            out = 2 if layer < self.depth else 1
            parameters |= transposed_filters(f"paint{layer}", 2, out, 3, scale, generator)
        return parameters

    def features(self, parameters: Tensors, inputs: Tensor) -> list[Tensor]:
        """Return the two embeddings, every layer after them and the image, each (c, B, channels * side * side)."""
        side = self.side
        halves = (inputs[..., :side], inputs[..., side:])
        chosen = [half @ self.embedding(parameters, factor) for half, factor in zip(halves, FACTORS, strict=True)]
        images = torch.stack(chosen, dim=1).view(len(inputs), 2, -1, side, side)  # (c, channels, B, H, W)
        layers = [images]
        for layer in range(self.depth + 1):
            images = prelu(images, parameters[f"slope{layer}"])
            images = _filtered(images, parameters[f"paint{layer}.weight"], parameters[f"paint{layer}.bias"])
            layers.append(images)
        return [layer.transpose(1, 2).flatten(2) for layer in layers]

    def embedding(self, parameters: Tensors, factor: str) -> Tensor:
        """Return the image of every value of a factor, (c, side, side * side), row by row."""
        columns, rows = (functional.normalize(parameters[f"{factor}.{name}"], dim=-1) for name in ("columns", "rows"))
        weighted = columns * parameters[f"{factor}.weights"].unsqueeze(-1)
        # Vectors are (c, value, component, pixel): sum over components of column times row.
        return (weighted.transpose(2, 3) @ rows).flatten(2)

    def penalty(self, parameters: Tensors) -> Tensor | None:
        """Return the weighted entropies and variances, summed over values, components and factors, (c,)."""
        penalties = []
        for factor in FACTORS:
            if self.entropy:
                penalties.append(self.entropy * entropies(parameters[f"{factor}.weights"]).sum(1))
            if self.variance:
                vectors = [parameters[f"{factor}.{side_name}"] for side_name in ("columns", "rows")]
                penalties += [self.variance * vector.var(dim=-1).sum((1, 2)) for vector in vectors]
        return torch.stack(penalties).sum(0) if penalties else None

    def components(self, parameters: Tensors) -> Tensor:
        """Return how many products an embedding is made of, exp(entropy), mean over values and factors, (c,).

        This is not the rank of the image: products that share their column or row, as in a stripe, add up to rank one.
        """
        both = torch.cat([entropies(parameters[f"{factor}.weights"]) for factor in FACTORS], dim=1)
        return both.exp().mean(1)

    def activations(self, shape: Sequence[int]) -> int:
        """Return the numbers held for one code."""
        return 4 * (self.depth + 2) * self.side**2


def entropies(weights: Tensor) -> Tensor:
    """Return the entropy in nats of the shares of squared weights along the last axis, shape (...) of (..., K).

    Examples
    --------
    >>> entropies(torch.tensor([[1.0, 0.0], [1.0, -1.0]])).exp().round(decimals=3).tolist()
    [1.0, 2.0]
    """
    squares = weights.square()
    shares = (squares / squares.sum(-1, keepdim=True)).clamp_min(SMALLEST_SHARE)
    return -(shares * shares.log()).sum(-1)


def _filtered(images: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Transposed 3 x 3 filters (c, in, out, 3, 3) on images (c, in, B, H, W), of the same size: (c, out, B, H, W).

    With two channels a matrix product over shifted copies is far faster than a library's convolution.
    """
    networks, _, batch, height, width = images.shape
    padded = functional.pad(images, (1, 1, 1, 1))
    # A transposed filter reaches back: its first row meets the pixels below.
    shifted = [padded[..., 2 - i : 2 - i + height, 2 - j : 2 - j + width] for i in range(3) for j in range(3)]
    columns = torch.stack(shifted, dim=2).view(networks, -1, batch * height * width)
    rows = weight.flatten(3).transpose(1, 2).flatten(2)  # (c, out, in * 9)
    result = torch.baddbmm(bias.unsqueeze(-1), rows, columns)
    return result.view(networks, -1, batch, height, width)
