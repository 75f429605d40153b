"""The small vision transformer that Lippl & Stachenfeld 2025 train on CIFAR components, stacked over networks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import torch
from torch import Tensor
from torch.nn import functional

from recombine.errors import InputError
from recombine.lab.nets.architecture import Architecture, Tensors, generator_for
from recombine.lab.nets.layers.dense import apply_layer, layer_norm, readout
from recombine.lab.nets.layers.first_weights import default_layers, norm_parameters
from recombine.lab.worlds.images.noise import scramble


@dataclass(frozen=True)
class ViT(Architecture):
    """Pre-norm transformer on image patches with a class token, learned positions, GELU and dropout.

    Weights and biases are uniform on +- 1 / sqrt(fan_in), torch's default, times ``scale``; token and positions are
    standard normal. Dropout noise is a hash of the network's seed, step and place, so a network meets the same noise
    alone and in a batch, on any device.

    Parameters
    ----------
    shape : tuple of int
        Channels, height and width of an image; the sides are multiples of ``patch``.
    patch, depth, heads, head, width, hidden : int
        Side of a patch, blocks, attention heads and their size, width of a token, width of a block's hidden layer.
    dropout : float
        Share of values dropped after embedding, in attention and after each linear layer of a block.
    outputs : int

    Examples
    --------
    >>> network = ViT(shape=(6, 32, 32))
    >>> network.tokens
    17
    """

    shape: tuple[int, int, int]
    patch: int = 8
    depth: int = 4
    heads: int = 6
    head: int = 64
    width: int = 256
    hidden: int = 256
    dropout: float = 0.1
    outputs: int = 1

    input_axes = 3

    def __post_init__(self) -> None:
        if any(side % self.patch for side in self.shape[1:]):
            raise InputError(f"images of {self.shape[1]} x {self.shape[2]} do not split into patches of {self.patch}")

    @property
    def tokens(self) -> int:
        """Number of patches and the class token."""
        return prod(side // self.patch for side in self.shape[1:]) + 1

    def _layers(self) -> dict[str, tuple[int, int]]:
        """Return the shape of every linear layer's weight."""
        inner = self.heads * self.head
        layers = {"embed": (self.width, self.shape[0] * self.patch**2)}
        for block in range(self.depth):
            layers[f"block{block}.attend"] = (3 * inner, self.width)
            layers[f"block{block}.mix"] = (self.width, inner)
            layers[f"block{block}.up"] = (self.hidden, self.width)
            layers[f"block{block}.down"] = (self.width, self.hidden)
        return layers | {"readout": (self.outputs, self.width)}

    def initial(self, seed: int, scale: float) -> Tensors:
        """Draw one network's tokens, gains, weights and biases."""
        generator = generator_for(seed, purpose=0)
        normal = torch.randn(1 + self.tokens, self.width, generator=generator, dtype=torch.float64)
        parameters: Tensors = {"token": normal[0], "positions": normal[1:]}
        for name, shape in self._layers().items():
            # Queries, keys and values have no bias.
            parameters |= default_layers({name: shape}, scale, generator, bias=not name.endswith("attend"))
        for block in range(self.depth):
            for norm in ("first", "second"):
                parameters |= norm_parameters(f"block{block}.{norm}", self.width)
        return parameters | norm_parameters("last", self.width)

    def statistics(self, seed: int) -> Tensors:
        """Return the state of one network's noise."""
        return {"noise": torch.randint(2**31 - 1, (), generator=generator_for(seed, purpose=2), dtype=torch.int32)}

    def forward(self, parameters: Tensors, statistics: Tensors, inputs: Tensor, training: bool) -> Tensor:
        """Map (c, B, channels, H, W) to (c, B, outputs)."""
        noise = Noise(statistics["noise"], self.dropout if training else 0.0)
        values = noise.drop(self._embedded(parameters, inputs))
        for block in range(self.depth):
            values = values + self._attention(parameters, f"block{block}", values, noise)
            inner = layer_norm(values, parameters, f"block{block}.second")
            inner = noise.drop(functional.gelu(apply_layer(inner, parameters, f"block{block}.up")))
            values = values + noise.drop(apply_layer(inner, parameters, f"block{block}.down"))
        noise.advance()
        token = layer_norm(values[:, :, :1], parameters, "last")[:, :, 0]
        return readout(token, parameters["readout.weight"], parameters["readout.bias"])

    def _embedded(self, parameters: Tensors, inputs: Tensor) -> Tensor:
        """Cut images into patches; return tokens (c, B, T, width), the class token first."""
        networks, batch, channels = inputs.shape[:3]
        rows, columns = (side // self.patch for side in self.shape[1:])
        cut = inputs.reshape(networks, batch, channels, rows, self.patch, columns, self.patch)
        patches = cut.permute(0, 1, 3, 5, 4, 6, 2).reshape(networks, batch, rows * columns, -1)
        values = apply_layer(patches, parameters, "embed")
        token = parameters["token"].view(networks, 1, 1, -1).expand(-1, batch, -1, -1)
        return torch.cat([token, values], dim=2) + parameters["positions"].unsqueeze(1)

    def _attention(self, parameters: Tensors, block: str, values: Tensor, noise: Noise) -> Tensor:
        inner = apply_layer(layer_norm(values, parameters, f"{block}.first"), parameters, f"{block}.attend")
        split = inner.reshape(*inner.shape[:3], 3, self.heads, self.head).permute(3, 0, 1, 4, 2, 5)
        query, key, value = split.unbind(0)  # each (c, B, heads, T, head)
        weights = torch.softmax(query @ key.transpose(-1, -2) * self.head**-0.5, dim=-1)
        mixed = (noise.drop(weights) @ value).transpose(2, 3).flatten(3)
        return noise.drop(apply_layer(mixed, parameters, f"{block}.mix"))

    def activations(self, shape: Sequence[int]) -> int:
        """Return the numbers that the blocks hold for one image."""
        inner = self.heads * self.head
        return self.depth * self.tokens * (8 * self.width + 5 * inner + 3 * self.hidden + 4 * self.heads * self.tokens)


class Noise:
    """Dropout of many networks: each has its own state (c,), which ``advance`` moves on in place."""

    def __init__(self, state: Tensor, share: float) -> None:
        self.state, self.share, self.calls = state, share, 0

    def drop(self, values: Tensor) -> Tensor:
        """Set a share of ``values`` (c, ...) to zero and scale up the rest."""
        if self.share == 0:
            return values
        self.calls += 1
        positions = torch.arange(values[0].numel(), dtype=torch.int32, device=values.device)
        key = scramble(self.state + 0x3C6EF372 * self.calls % 2**31)
        mask = (scramble(positions ^ key.unsqueeze(1)) & 0xFFFFFF) >= self.share * 2**24
        return values * (mask.view(values.shape) / (1 - self.share)).to(values.dtype)

    def advance(self) -> None:
        """Move on to the next step's noise."""
        if self.share:
            self.state.copy_(scramble(self.state + 0x1E3779B9))
