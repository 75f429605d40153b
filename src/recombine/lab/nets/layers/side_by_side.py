"""Layers of many networks at once for images: the networks' channels lie side by side, (B, c * channels, H, W).

In this layout a grouped convolution applies each network's own filters, and batch normalisation, which works channel
by channel, keeps each network's own statistics.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from recombine.lab.nets.architecture import Tensors

#: Torch's defaults for batch normalisation: weight of the newest batch, and what keeps a variance from zero.
MOMENTUM, EPSILON = 0.1, 1e-5


def side_by_side(images: Tensor) -> Tensor:
    """Lay networks' images (c, B, channels, H, W) side by side: (B, c * channels, H, W).

    Examples
    --------
    >>> side_by_side(torch.zeros(3, 5, 2, 8, 8)).shape
    torch.Size([5, 6, 8, 8])
    """
    return images.transpose(0, 1).flatten(1, 2)


def apart(images: Tensor, networks: int) -> Tensor:
    """Undo ``side_by_side``: (B, c * channels, H, W) to (c, B, channels, H, W).

    Examples
    --------
    >>> apart(torch.zeros(5, 6, 8, 8), 3).shape
    torch.Size([3, 5, 2, 8, 8])
    """
    return images.reshape(len(images), networks, -1, *images.shape[2:]).transpose(0, 1)


def convolve(images: Tensor, weight: Tensor, bias: Tensor | None, stride: int = 1, padding: int = 0) -> Tensor:
    """Apply each network's filters (c, out, in, k, k) and biases (c, out) to images lying side by side.

    Examples
    --------
    >>> convolve(torch.zeros(5, 6, 8, 8), torch.zeros(3, 4, 2, 3, 3), None).shape
    torch.Size([5, 12, 6, 6])
    """
    flat = None if bias is None else bias.flatten()
    return functional.conv2d(images, weight.flatten(0, 1), flat, stride, padding, groups=len(weight))


def convolve_transposed(
    images: Tensor, weight: Tensor, bias: Tensor | None, stride: int = 1, padding: int = 0
) -> Tensor:
    """Apply each network's transposed filters (c, in, out, k, k) and biases (c, out) to images lying side by side.

    Examples
    --------
    >>> convolve_transposed(torch.zeros(5, 6, 8, 8), torch.zeros(3, 2, 4, 4, 4), None, stride=2, padding=1).shape
    torch.Size([5, 12, 16, 16])
    """
    flat = None if bias is None else bias.flatten()
    return functional.conv_transpose2d(images, weight.flatten(0, 1), flat, stride, padding, groups=len(weight))


def normalise(images: Tensor, name: str, parameters: Tensors, statistics: Tensors, training: bool) -> Tensor:
    """Batch normalisation with each network's own gain, shift and running statistics ``name`` (torch's defaults).

    Examples
    --------
    >>> from recombine.lab.nets.layers import norm_parameters, norm_statistics
    >>> gain = norm_parameters("norm", 2)
    >>> still = norm_statistics("norm", 2)
    >>> many = [{name: torch.stack([tensor] * 3) for name, tensor in some.items()} for some in (gain, still)]
    >>> normalise(torch.randn(5, 6, 8, 8).double(), "norm", *many, training=True).mean((0, 2, 3)).abs().max() < 1e-9
    tensor(True)
    """
    mean, variance = statistics[f"{name}.mean"], statistics[f"{name}.variance"]
    gain, shift = (parameters[f"{name}.{kind}"].flatten().to(mean.dtype) for kind in ("gain", "shift"))
    return functional.batch_norm(images, mean.view(-1), variance.view(-1), gain, shift, training)


def normaliser(
    sums: Tensor, squares: Tensor, count: int, name: str, parameters: Tensors, statistics: Tensors, training: bool
) -> tuple[Tensor, Tensor]:
    """Return gain and shift (c, channels) that do what `normalise` does, from sums over ``count`` pixels.

    Examples
    --------
    >>> from recombine.lab.nets.layers import norm_parameters, norm_statistics
    >>> values = torch.randn(1, 50, 2).double()
    >>> gain, still = norm_parameters("norm", 2), norm_statistics("norm", 2)
    >>> many = [{name: tensor[None] for name, tensor in some.items()} for some in (gain, still)]
    >>> scale, shift = normaliser(values.sum(1), values.square().sum(1), 50, "norm", *many, training=True)
    >>> bool((values * scale + shift).mean().abs() < 1e-9)
    True
    """
    mean, variance = statistics[f"{name}.mean"], statistics[f"{name}.variance"]
    if training:
        batch_mean = sums / count
        batch_variance = (squares / count - batch_mean.square()).clamp_min(0)
        update_statistics(name, statistics, batch_mean, batch_variance, count)
        mean, variance = batch_mean, batch_variance
    gain, shift = (parameters[f"{name}.{kind}"].to(mean.dtype) for kind in ("gain", "shift"))
    scale = gain * torch.rsqrt(variance + EPSILON)
    return scale, shift - mean * scale


@torch.no_grad()
def update_statistics(name: str, statistics: Tensors, mean: Tensor, variance: Tensor, count: int) -> None:
    """Move the running statistics ``name`` towards a batch's mean and variance (c, channels) over ``count`` pixels.

    Examples
    --------
    >>> from recombine.lab.nets.layers import norm_statistics
    >>> still = {name: tensor[None] for name, tensor in norm_statistics("norm", 1).items()}
    >>> update_statistics("norm", still, torch.tensor([[2.0]]), torch.tensor([[1.0]]), count=2)
    >>> float(still["norm.mean"]), float(still["norm.variance"])
    (0.2, 1.1)
    """
    statistics[f"{name}.mean"].lerp_(mean.to(statistics[f"{name}.mean"].dtype), MOMENTUM)
    unbiased = variance * (count / (count - 1))
    statistics[f"{name}.variance"].lerp_(unbiased.to(statistics[f"{name}.variance"].dtype), MOMENTUM)


def fits_kernels(inputs: Tensor, channels: Sequence[int]) -> bool:
    """Say whether our own GPU kernels take these images: filters in powers of two from 16 to 256, no float64.

    Products of float32 are then rounded to TF32, as torch's convolutions do unless they were told not to.

    Examples
    --------
    >>> fits_kernels(torch.zeros(1, 4, 2, 28, 28), (32, 64))
    False
    """
    short = inputs.dtype in (torch.bfloat16, torch.float16)
    rounded = inputs.dtype is torch.float32 and torch.backends.cudnn.allow_tf32
    return inputs.is_cuda and (short or rounded) and all(16 <= out <= 256 and out & (out - 1) == 0 for out in channels)
