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
from recombine.lab.nets.architecture import Tensors, generator_for
from recombine.lab.nets.decoders.painting import ImageDecoder
from recombine.lab.nets.layers.dense import PRELU_SLOPE, apply_layer, layer_norm, prelu
from recombine.lab.nets.layers.first_weights import default_layers, glorot, norm_parameters


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
class PixelMLP(ImageDecoder):
    """Token-wise linear layers with PReLU, then one output per token: a function of a pixel's place and the code.

    Parameters
    ----------
    inputs : int
        Length of a code.
    side : int
        Pixels per side of the image.
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

    def initial(self, seed: int, scale: float) -> Tensors:
        """Draw one network's layers."""
        generator = generator_for(seed, purpose=0)
        shapes = {"context": (self.width, self.inputs)}
        shapes |= {f"layer{layer}": (self.width, self.width) for layer in range(self.depth)}
        parameters = default_layers({**shapes, "last": (1, self.width)}, scale, generator)
        slope = torch.full((1,), PRELU_SLOPE, dtype=torch.float64)
        return parameters | {f"layer{layer}.slope": slope.clone() for layer in range(self.depth)}

    def features(self, parameters: Tensors, inputs: Tensor) -> list[Tensor]:
        """Return the activations of every layer, the image last, each (c, B, units)."""
        values = self._first(parameters, inputs)
        layers = [prelu(values, parameters["layer0.slope"])]
        for layer in range(1, self.depth):
            values = apply_layer(layers[-1], parameters, f"layer{layer}")
            layers.append(prelu(values, parameters[f"layer{layer}.slope"]))
        image = apply_layer(layers[-1], parameters, "last")
        return [tokens.flatten(2) for tokens in [*layers, image]]

    def _first(self, parameters: Tensors, inputs: Tensor) -> Tensor:
        """The first layer (c, B, T, width), a linear map of a sum: mapped apart and then added, it is far cheaper."""
        context = apply_layer(inputs, parameters, "context")
        positions = _places(self.side, self.width, inputs.device, inputs.dtype)
        from_place = positions @ parameters["layer0.weight"].transpose(1, 2)
        return apply_layer(context, parameters, "layer0").unsqueeze(2) + from_place.unsqueeze(1)

    def activations(self, shape: Sequence[int]) -> int:
        """Return the numbers held for one code."""
        return 2 * self.depth * self.width * self.side**2


@dataclass(frozen=True)
class TransformerDecoder(ImageDecoder):
    """Post-norm transformer layers over pixel tokens, without dropout, then one output per token.

    Parameters
    ----------
    inputs : int
        Length of a code.
    side : int
        Pixels per side of the image.
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

    def initial(self, seed: int, scale: float) -> Tensors:
        """Draw one network's layers, as torch draws those of ``TransformerEncoderLayer``."""
        generator, width = generator_for(seed, purpose=0), self.width
        shapes = {"context": (width, self.inputs)}
        for layer in range(self.depth):
            shapes |= {f"layer{layer}.up": (self.hidden, width), f"layer{layer}.down": (width, self.hidden)}
            shapes[f"layer{layer}.mix"] = (width, width)
        parameters = default_layers({**shapes, "last": (1, width)}, scale, generator)
        for layer in range(self.depth):
            # Queries, keys and values are drawn as one matrix.
            parameters[f"layer{layer}.attend.weight"] = glorot((3 * width, width), scale, generator)
            parameters[f"layer{layer}.attend.bias"] = torch.zeros(3 * width, dtype=torch.float64)
            parameters[f"layer{layer}.mix.bias"].zero_()
            parameters |= norm_parameters(f"layer{layer}.first", width) | norm_parameters(f"layer{layer}.second", width)
        return parameters

    def features(self, parameters: Tensors, inputs: Tensor) -> list[Tensor]:
        """Return the activations of every layer, the image last, each (c, B, units)."""
        context = apply_layer(inputs, parameters, "context")
        values = context.unsqueeze(2) + _places(self.side, self.width, inputs.device, inputs.dtype)
        layers = []
        for layer in range(self.depth):
            name = f"layer{layer}"
            values = layer_norm(values + self._attended(parameters, name, values), parameters, f"{name}.first")
            inner = torch.relu(apply_layer(values, parameters, f"{name}.up"))
            values = layer_norm(values + apply_layer(inner, parameters, f"{name}.down"), parameters, f"{name}.second")
            layers.append(values)
        return [tokens.flatten(2) for tokens in [*layers, apply_layer(values, parameters, "last")]]

    def _attended(self, parameters: Tensors, name: str, values: Tensor) -> Tensor:
        """What the tokens (c, B, T, width) read from one another."""
        joined = apply_layer(values, parameters, f"{name}.attend")
        split = joined.view(*joined.shape[:3], 3, self.heads, self.width // self.heads)
        query, key, value = split.permute(3, 0, 1, 4, 2, 5).flatten(1, 2)  # each (c * B, heads, T, head)
        mixed = functional.scaled_dot_product_attention(query, key, value)
        return apply_layer(mixed.transpose(1, 2).reshape(values.shape), parameters, f"{name}.mix")

    def activations(self, shape: Sequence[int]) -> int:
        """Return the numbers held for one code."""
        return self.depth * self.side**2 * (12 * self.width + 2 * self.hidden)
