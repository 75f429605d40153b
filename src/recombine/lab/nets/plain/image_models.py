"""ResNet-18 and a vision transformer as plain torch modules, as Lippl & Lindsey 2024 train them on CIFAR-100.

`recombine.lab.nets.architectures` has those of another paper, stacked over networks.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from recombine.errors import InputError

#: Channels -> the module that normalises them.
Norms = Callable[[int], nn.Module]


class ResidualBlock(nn.Module):
    """Two 3x3 convolutions, each normalised, and a shortcut."""

    def __init__(self, channels: int, width: int, stride: int, norm: Norms = nn.BatchNorm2d) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, width, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.norm1, self.norm2 = norm(width), norm(width)
        same = stride == 1 and channels == width
        self.shortcut: nn.Module = (
            nn.Identity() if same else nn.Sequential(nn.Conv2d(channels, width, 1, stride, bias=False), norm(width))
        )

    def forward(self, images: Tensor) -> Tensor:
        """Map (B, channels, H, W) to (B, width, H / stride, W / stride)."""
        inner = torch.relu(self.norm1(self.first(images)))
        return torch.relu(self.norm2(self.second(inner)) + self.shortcut(images))


class ResNet18(nn.Module):
    """ResNet-18 with the layout for large photographs: 7x7 stem and pooling, so that 32x32 images end as one place.

    Convolutions are normal with variance 2 / fan_out, as in torchvision.

    Parameters
    ----------
    channels, classes : int
    widths : tuple of int
        Channels of each stage; every stage after the first halves the image.
    large_stem : bool
        The 7x7 stem with stride 2 and pooling, or a 3x3 stem that keeps the size, for smaller images.
    norm : callable
        Channels -> a module that normalises them; ``functools.partial(nn.GroupNorm, 2)`` has no running statistics.

    Examples
    --------
    >>> model = ResNet18(classes=100)
    >>> sum(parameter.numel() for parameter in model.parameters())
    11227812
    >>> model(torch.zeros(2, 3, 32, 32)).shape
    torch.Size([2, 100])
    """

    def __init__(
        self,
        channels: int = 3,
        classes: int = 100,
        widths: tuple[int, ...] = (64, 128, 256, 512),
        large_stem: bool = True,
        norm: Norms = nn.BatchNorm2d,
    ) -> None:
        super().__init__()
        first = nn.Conv2d(channels, widths[0], *((7, 2, 3) if large_stem else (3, 1, 1)), bias=False)
        pool: nn.Module = nn.MaxPool2d(3, 2, 1) if large_stem else nn.Identity()
        self.stem = nn.Sequential(first, norm(widths[0]), nn.ReLU(), pool)
        before = widths[0]
        for number, width in enumerate(widths, start=1):
            stride = 1 if number == 1 else 2
            setattr(
                self,
                f"stage{number}",
                nn.Sequential(ResidualBlock(before, width, stride, norm), ResidualBlock(width, width, 1, norm)),
            )
            before = width
        self.stages = len(widths)
        self.layers = ("stem", *(f"stage{number}" for number in range(1, self.stages + 1)), "readout")
        self.readout = nn.Linear(before, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, images: Tensor) -> Tensor:
        """Map (B, channels, H, W) to logits (B, classes)."""
        values = self.stem(images)
        for number in range(1, self.stages + 1):
            values = getattr(self, f"stage{number}")(values)
        logits: Tensor = self.readout(values.mean((2, 3)))
        return logits


class EncoderBlock(nn.Module):
    """Pre-norm attention and a two-layer perceptron with GELU after both of its layers."""

    def __init__(self, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attend, self.mix = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def forward(self, tokens: Tensor) -> Tensor:
        """Map tokens (B, T, width) to the same shape."""
        split = self.attend(self.norm1(tokens)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        query, key, value = split.unbind(0)
        # Scores are divided by the root of the width, not of a head's.
        mixed = functional.scaled_dot_product_attention(query, key, value, scale=tokens.shape[-1] ** -0.5)
        tokens = tokens + self.mix(mixed.transpose(1, 2).flatten(2))
        return tokens + functional.gelu(self.down(functional.gelu(self.up(self.norm2(tokens)))))


class SmallViT(nn.Module):
    """Vision transformer on 4x4 patches of 32x32 images, with a class token and learned positions.

    Examples
    --------
    >>> model = SmallViT(classes=100, depth=2)
    >>> model(torch.zeros(2, 3, 32, 32)).shape, model.layers
    (torch.Size([2, 100]), ('blocks.0', 'blocks.1', 'readout'))
    """

    def __init__(
        self,
        channels: int = 3,
        classes: int = 100,
        side: int = 32,
        patch: int = 4,
        width: int = 384,
        depth: int = 7,
        heads: int = 8,
        hidden: int = 1536,
    ) -> None:
        super().__init__()
        if side % patch or width % heads:
            raise InputError(f"patches of {patch} do not fill {side} pixels, or {heads} heads a width of {width}")
        self.patch = patch
        self.embed = nn.Linear(channels * patch**2, width)
        self.token = nn.Parameter(torch.randn(1, 1, width))
        self.positions = nn.Parameter(torch.randn(1, (side // patch) ** 2 + 1, width))
        self.blocks = nn.Sequential(*(EncoderBlock(width, heads, hidden) for _ in range(depth)))
        self.readout = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, classes))
        self.layers = (*(f"blocks.{number}" for number in range(depth)), "readout")

    def forward(self, images: Tensor) -> Tensor:
        """Map (B, channels, side, side) to logits (B, classes)."""
        # (B, channels, rows, patch, columns, patch) to a patch a token; functional.unfold goes image by image.
        batch, channels, side, _ = images.shape
        grid = images.reshape(batch, channels, side // self.patch, self.patch, side // self.patch, self.patch)
        patches = grid.permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)
        tokens = torch.cat([self.token.expand(len(images), -1, -1), self.embed(patches)], dim=1) + self.positions
        logits: Tensor = self.readout(self.blocks(tokens)[:, 0])
        return logits
