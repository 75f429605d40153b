"""Decoders with a token for each pixel: every pixel compares its own place with the code (Liang et al. 2025).

A token is a linear map of the code plus a fixed sinusoidal code of the pixel's place. In the pixel MLP tokens never
meet; in the transformer they attend to one another.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor
from torch.nn import functional

from recombine.errors import InputError
from recombine.nets.architecture import Architecture, Tensors, generator_for
from recombine.nets.layers.dense import linear
from recombine.nets.layers.side_by_side import norm_parameters, uniform

#: First slope of a PReLU on negative values, torch's default.
PRELU_SLOPE = 0.25


def place_code(side: int, width: int) -> Tensor:
    """Return the sinusoidal code (side * side, width) of every pixel, row by row: half of it for the row.

    Examples
    --------
    >>> code = place_code(4, 8)
    >>> code.shape, bool((code[0] == torch.tensor([0.0, 1, 0, 1, 0, 1, 0, 1])).all())
    (torch.Size([16, 8]), True)
    """
    if width < 4 or width % 4:
        raise InputError(f"width is {width}; a sine and a cosine for row and column need a multiple of 4")
    rates = torch.exp(torch.arange(0, width // 2, 2, dtype=torch.float64) * (-math.log(10_000.0) / (width // 2)))
    angles = torch.arange(side, dtype=torch.float64).unsqueeze(1) * rates
    line = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
    rows, columns = line.repeat_interleave(side, dim=0), line.repeat(side, 1)
    return torch.cat([rows, columns], dim=1)


@lru_cache(maxsize=16)
def _places(side: int, width: int, device: torch.device, dtype: torch.dtype) -> Tensor:
    """The code on a device: kept there, because a step that is recorded may not copy from the host."""
    return place_code(side, width).to(device, dtype)


@dataclass(frozen=True)
class PixelMLP(Architecture):
    """Token-wise linear layers with PReLU, then one output a token: a function of a pixel's place and the code.

    Parameters
    ----------
    inputs : int
        Length of a code.
    side : int
        Pixels a side of the image.
    width : int
        Length of a token, a multiple of 4.
    depth : int
        Layers with PReLU.

    Examples
    --------
    >>> network = PixelMLP(inputs=8, side=4, width=16)
    >>> parameters = {name: tensor[None] for name, tensor in network.initial(seed=0, scale=1.0).items()}
    >>> network.forward(parameters, {}, torch.zeros(1, 5, 8).double(), False).shape
    torch.Size([1, 5, 16])
    """

    inputs: int
    side: int = 28
    width: int = 256
    depth: int = 2

    def __post_init__(self) -> None:
        if min(self.inputs, self.side, self.depth) < 1 or self.width < 4 or self.width % 4:
            raise InputError(f"{self} cannot be built; give sizes from 1 up and a width that is a multiple of 4")

    @property
    def outputs(self) -> int:  # type: ignore[override]
        """Number of pixels."""
        return self.side**2

    def initial(self, seed: int, scale: float) -> Tensors:
        """Draw one network's layers."""
        generator = generator_for(seed, purpose=0)
        sizes = {"context": (self.inputs, self.width)}
        sizes |= {f"layer{layer}": (self.width, self.width) for layer in range(self.depth)}
        parameters = linear_layers({**sizes, "last": (self.width, 1)}, scale, generator)
        slope = torch.full((1,), PRELU_SLOPE, dtype=torch.float64)
        return parameters | {f"layer{layer}.slope": slope.clone() for layer in range(self.depth)}

    def forward(self, parameters: Tensors, statistics: Tensors, inputs: Tensor, training: bool) -> Tensor:
        """Map codes (c, B, inputs) to images (c, B, side * side)."""
        return self.features(parameters, inputs)[-1]

    def features(self, parameters: Tensors, inputs: Tensor) -> list[Tensor]:
        """Return the activations of every layer, the image last, each (c, B, units)."""
        values = self._first(parameters, inputs)
        layers = [_prelu(values, parameters["layer0.slope"])]
        for layer in range(1, self.depth):
            values = _tokenwise(layers[-1], parameters, f"layer{layer}")
            layers.append(_prelu(values, parameters[f"layer{layer}.slope"]))
        image = _tokenwise(layers[-1], parameters, "last")
        return [tokens.flatten(2) for tokens in [*layers, image]]

    def _first(self, parameters: Tensors, inputs: Tensor) -> Tensor:
        """The first layer (c, B, T, width), a linear map of a sum: mapped apart and then added, it is far cheaper."""
        context = linear(inputs, parameters["context.weight"], parameters["context.bias"])
        weight, bias = parameters["layer0.weight"], parameters["layer0.bias"]
        places = _places(self.side, self.width, inputs.device, inputs.dtype)
        from_code = linear(context, weight, bias)
        from_place = places @ weight.transpose(1, 2)
        return from_code.unsqueeze(2) + from_place.unsqueeze(1)

    def activations(self, shape: Sequence[int]) -> int:
        """Return the numbers held for one code."""
        return 2 * self.depth * self.width * self.side**2


@dataclass(frozen=True)
class TransformerDecoder(Architecture):
    """Post-norm transformer layers over pixel tokens, without dropout, then one output a token.

    Parameters
    ----------
    inputs : int
        Length of a code.
    side : int
        Pixels a side of the image.
    width, heads, hidden, depth : int
        Length of a token (a multiple of 4), attention heads, units of a layer's hidden layer, and layers.

    Examples
    --------
    >>> network = TransformerDecoder(inputs=8, side=4, width=16, hidden=32)
    >>> parameters = {name: tensor[None] for name, tensor in network.initial(seed=0, scale=1.0).items()}
    >>> network.forward(parameters, {}, torch.zeros(1, 5, 8).double(), False).shape
    torch.Size([1, 5, 16])
    """

    inputs: int
    side: int = 28
    width: int = 128
    heads: int = 4
    hidden: int = 2048
    depth: int = 2

    def __post_init__(self) -> None:
        sizes = (self.inputs, self.side, self.heads, self.hidden, self.depth)
        if min(sizes) < 1 or self.width < 4 or self.width % 4 or self.width % self.heads:
            raise InputError(f"{self} cannot be built; give a width that is a multiple of 4 and of the heads")

    @property
    def outputs(self) -> int:  # type: ignore[override]
        """Number of pixels."""
        return self.side**2

    def initial(self, seed: int, scale: float) -> Tensors:
        """Draw one network's layers, as torch draws those of ``TransformerEncoderLayer``."""
        generator, width = generator_for(seed, purpose=0), self.width
        sizes = {"context": (self.inputs, width)}
        for layer in range(self.depth):
            sizes |= {f"layer{layer}.up": (width, self.hidden), f"layer{layer}.down": (self.hidden, width)}
            sizes[f"layer{layer}.mix"] = (width, width)
        parameters = linear_layers({**sizes, "last": (width, 1)}, scale, generator)
        for layer in range(self.depth):
            parameters |= _attention_layer(f"layer{layer}", width, scale, generator)
            parameters[f"layer{layer}.mix.bias"].zero_()
            parameters |= norm_parameters(f"layer{layer}.first", width) | norm_parameters(f"layer{layer}.second", width)
        return parameters

    def forward(self, parameters: Tensors, statistics: Tensors, inputs: Tensor, training: bool) -> Tensor:
        """Map codes (c, B, inputs) to images (c, B, side * side)."""
        return self.features(parameters, inputs)[-1]

    def features(self, parameters: Tensors, inputs: Tensor) -> list[Tensor]:
        """Return the activations of every layer, the image last, each (c, B, units)."""
        context = linear(inputs, parameters["context.weight"], parameters["context.bias"])
        values = context.unsqueeze(2) + _places(self.side, self.width, inputs.device, inputs.dtype)
        layers = []
        for layer in range(self.depth):
            name = f"layer{layer}"
            values = _normed(values + self._attended(parameters, name, values), parameters, f"{name}.first")
            inner = torch.relu(_tokenwise(values, parameters, f"{name}.up"))
            values = _normed(values + _tokenwise(inner, parameters, f"{name}.down"), parameters, f"{name}.second")
            layers.append(values)
        return [tokens.flatten(2) for tokens in [*layers, _tokenwise(values, parameters, "last")]]

    def _attended(self, parameters: Tensors, name: str, values: Tensor) -> Tensor:
        """What the tokens (c, B, T, width) read from one another."""
        joined = _tokenwise(values, parameters, f"{name}.attend")
        split = joined.view(*joined.shape[:3], 3, self.heads, self.width // self.heads)
        query, key, value = split.permute(3, 0, 1, 4, 2, 5).flatten(1, 2)  # each (c * B, heads, T, head)
        mixed = functional.scaled_dot_product_attention(query, key, value)
        return _tokenwise(mixed.transpose(1, 2).reshape(values.shape), parameters, f"{name}.mix")

    def activations(self, shape: Sequence[int]) -> int:
        """Return the numbers held for one code."""
        return self.depth * self.side**2 * (12 * self.width + 2 * self.hidden)


def linear_layers(sizes: dict[str, tuple[int, int]], scale: float, generator: torch.Generator) -> Tensors:
    """Draw weights (out, in) and biases (out,) of layers given by name and (in, out), as torch's linear layers are.

    Examples
    --------
    >>> {name: tuple(drawn.shape) for name, drawn in linear_layers({"up": (3, 5)}, 1.0, torch.Generator()).items()}
    {'up.weight': (5, 3), 'up.bias': (5,)}
    """
    parameters: Tensors = {}
    for name, (fan_in, fan_out) in sizes.items():
        parameters[f"{name}.weight"] = scale * uniform(fan_in, (fan_out, fan_in), generator)
        parameters[f"{name}.bias"] = scale * uniform(fan_in, (fan_out,), generator)
    return parameters


def _attention_layer(name: str, width: int, scale: float, generator: torch.Generator) -> Tensors:
    """Queries, keys and values: Glorot-uniform as one matrix, biases zero."""
    drawn = torch.rand(3 * width, width, generator=generator, dtype=torch.float64) * 2 - 1
    weight = drawn * (scale * math.sqrt(6 / (4 * width)))
    return {f"{name}.attend.weight": weight, f"{name}.attend.bias": torch.zeros(3 * width, dtype=torch.float64)}


def _tokenwise(values: Tensor, parameters: Tensors, name: str) -> Tensor:
    """Apply a linear layer to tokens (c, B, T, i)."""
    flat = linear(values.flatten(1, 2), parameters[f"{name}.weight"], parameters[f"{name}.bias"])
    return flat.view(*values.shape[:3], -1)


def _prelu(values: Tensor, slope: Tensor) -> Tensor:
    """PReLU with each network's own slope (c, 1)."""
    return values.clamp_min(0) + slope.view(-1, 1, 1, 1) * values.clamp_max(0)


def _normed(values: Tensor, parameters: Tensors, name: str) -> Tensor:
    gain, shift = (parameters[f"{name}.{part}"][:, None, None] for part in ("gain", "shift"))
    return functional.layer_norm(values, values.shape[-1:]) * gain + shift
