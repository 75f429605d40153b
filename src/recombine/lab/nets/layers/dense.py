"""Dense layers of many networks at once: how they are drawn, and how they are applied."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from recombine.lab.nets.architecture import Tensors

#: On a GPU, slopes of layers with fewer inputs than the first are added up in as many pieces as the second, if the
#: batch divides: one product would keep few processors busy.
MIN_WHOLE_INPUTS, BATCH_PIECES = 16, 16
#: First slope of a PReLU on negative values, torch's default.
PRELU_SLOPE = 0.25


def dense(fan_in: int, fan_out: int, scale: float, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw a layer's weight (fan_out, fan_in) and bias (fan_out,) in float64.

    Examples
    --------
    >>> weight, bias = dense(50, 2000, 1.0, torch.Generator().manual_seed(0))
    >>> bool((weight.std() - 0.2).abs() < 0.01), bool(bias.abs().max() <= 50**-0.5)
    (True, True)
    """
    weight = torch.randn(fan_out, fan_in, generator=generator, dtype=torch.float64) * (scale * math.sqrt(2 / fan_in))
    bias = (torch.rand(fan_out, generator=generator, dtype=torch.float64) * 2 - 1) * (scale / math.sqrt(fan_in))
    return weight, bias


def linear(values: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Apply each network's own layer: (c, B, i), (c, o, i), (c, o) -> (c, B, o).

    Examples
    --------
    >>> linear(torch.ones(2, 3, 4), torch.ones(2, 5, 4), torch.zeros(2, 5)).shape
    torch.Size([2, 3, 5])
    """
    if values.device.type != "cpu":
        return _LinearOnGPU.apply(values, weight, bias)  # type: ignore[no-any-return, no-untyped-call]
    result: Tensor = _LinearOnCPU.apply(values, weight, bias)  # type: ignore[no-untyped-call]
    return result


def readout(values: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Apply the last layer in float32 at least: in bfloat16 the rounding error at 8 is 1/32, too much beside a target.

    Examples
    --------
    >>> readout(*(torch.ones(shape, dtype=torch.bfloat16) for shape in ((2, 3, 4), (2, 5, 4), (2, 5)))).dtype
    torch.float32
    """
    if values.dtype in (torch.bfloat16, torch.float16):
        values, weight, bias = values.float(), weight.float(), bias.float()
    return linear(values, weight, bias)


def apply_layer(values: Tensor, parameters: Tensors, name: str) -> Tensor:
    """Apply each network's own layer ``name`` to (c, B, ..., i): (c, B, ..., o); some layers have no bias.

    Examples
    --------
    >>> weights = {"up.weight": torch.ones(2, 5, 4), "up.bias": torch.zeros(2, 5)}
    >>> apply_layer(torch.ones(2, 3, 7, 4), weights, "up").shape
    torch.Size([2, 3, 7, 5])
    """
    flat, weight, bias = values.flatten(1, -2), parameters[f"{name}.weight"], parameters.get(f"{name}.bias")
    result = flat @ weight.transpose(1, 2) if bias is None else linear(flat, weight, bias)
    return result.view(*values.shape[:-1], -1)


def perceptron(values: Tensor, parameters: Tensors, hidden: int) -> Tensor:
    """Apply the ReLU layers "dense0", "dense1", ... to (c, B, i), as many as are hidden, and the one after as readout.

    Examples
    --------
    >>> weights = {"dense0.weight": torch.ones(2, 5, 4), "dense0.bias": torch.zeros(2, 5)}
    >>> perceptron(torch.ones(2, 3, 4), weights, hidden=0).shape
    torch.Size([2, 3, 5])
    """
    for layer in range(hidden):
        values = torch.relu(apply_layer(values, parameters, f"dense{layer}"))
    return readout(values, parameters[f"dense{hidden}.weight"], parameters[f"dense{hidden}.bias"])


def layer_norm(values: Tensor, parameters: Tensors, name: str) -> Tensor:
    """Normalise each token of (c, B, T, width) with each network's own gain and shift ``name``.

    Examples
    --------
    >>> gain = {"norm.gain": torch.ones(2, 4), "norm.shift": torch.zeros(2, 4)}
    >>> bool(layer_norm(torch.randn(2, 3, 5, 4), gain, "norm").mean(-1).abs().max() < 1e-6)
    True
    """
    gain, shift = (parameters[f"{name}.{kind}"][:, None, None] for kind in ("gain", "shift"))
    return functional.layer_norm(values, values.shape[-1:]) * gain + shift


def prelu(values: Tensor, slope: Tensor) -> Tensor:
    """Multiply what is negative in (c, ...) by each network's own slope (c, 1).

    Examples
    --------
    >>> prelu(torch.tensor([[-2.0, 2.0]]), torch.tensor([[0.25]])).tolist()
    [[-0.5, 2.0]]
    """
    return values.clamp_min(0) + slope.view(-1, *[1] * (values.ndim - 1)) * values.clamp_max(0)


class _LinearOnCPU(torch.autograd.Function):
    """`linear` without a product by a transposed second matrix, which OpenBLAS does three times slower when small."""

    generate_vmap_rule = True

    @staticmethod
    def forward(values: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        return torch.baddbmm(bias.unsqueeze(1), values, weight.transpose(1, 2).contiguous())

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs[:2])

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor | None, Tensor, Tensor]:
        values, weight = ctx.saved_tensors
        onward = slope @ weight if ctx.needs_input_grad[0] else None
        return onward, slope.transpose(1, 2) @ values, slope.sum(1)


class _LinearOnGPU(torch.autograd.Function):
    """`linear` whose sums over a batch are products, with as many processors at work as a product has."""

    generate_vmap_rule = True

    @staticmethod
    def forward(values: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        return torch.baddbmm(bias.unsqueeze(1), values, weight.transpose(1, 2))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs[:2])

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor | None, Tensor, Tensor]:
        values, weight = ctx.saved_tensors
        networks, batch, inputs = values.shape
        onward = slope @ weight if ctx.needs_input_grad[0] else None
        by_bias = (slope.new_ones(networks, 1, batch) @ slope).squeeze(1)
        pieces = BATCH_PIECES if inputs < MIN_WHOLE_INPUTS and batch % BATCH_PIECES == 0 else 1
        by_weight = slope.reshape(networks * pieces, -1, slope.shape[2]).transpose(1, 2) @ values.reshape(
            networks * pieces, -1, inputs
        )
        if pieces > 1:
            by_weight = by_weight.new_ones(networks, 1, pieces) @ by_weight.view(networks, pieces, -1)
        return onward, by_weight.view(weight.shape), by_bias
