"""Cells shown as images, one per component, side by side in channels: the image world of Lippl & Stachenfeld 2025.

``draws`` decides which image shows each component of each sample; here torch puts samples together on the device when
a network asks for them, so that no sample is ever stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from recombine.cells.arrays import IntArray
from recombine.checks import whole
from recombine.errors import InputError
from recombine.lab.worlds.images.noise import noise_bits

if TYPE_CHECKING:
    from recombine.lab.worlds.images.sources import Images

#: Black pixels around an image that a random crop may reach into.
BORDER_PIXELS = 4


class ImagePairs:
    """Samples of E networks that are put together from images on the device.

    Component c's image is padded with its border columns, by c * ``distance`` on the left and the rest on the right;
    components become separate channels, or their pixelwise maximum. Everything is normalised.

    Parameters
    ----------
    images : Images
        Only those that ``index`` names go to the device, as bytes.
    index : array of int, shape (E, N, C)
        Rows of the image set, one per component.
    distance : int
        Columns from one component to the next.
    separate_channels : bool
    augment : sequence of int, optional
        One noise seed per network. In training each component is then cropped at random from the image with a border of
        4 black pixels, and flipped left to right half of the time. The noise is a hash of seed, update, sample and
        component: a network meets the same crops alone and in a batch, on any device.
    device : str

    Attributes
    ----------
    shape : tuple of int
        (C * channels, height, width + (C - 1) * distance); without separate channels (channels, ...).

    Examples
    --------
    >>> from recombine.lab.worlds.images import Images
    >>> digits = Images("blank", np.zeros((10, 1, 8, 8), np.uint8), np.arange(10), (0.5,), (0.5,))
    >>> pairs = ImagePairs(digits, [[[0, 1], [2, 3], [4, 5]]], distance=5)
    >>> len(pairs), pairs.shape
    (3, (2, 8, 13))
    >>> pairs.take(torch.tensor([0]), torch.tensor([[2, 0]])).shape
    torch.Size([1, 2, 2, 8, 13])
    """

    shape: tuple[int, ...]

    def __init__(
        self,
        images: Images,
        index: IntArray | Sequence[Sequence[Sequence[int]]],
        *,
        distance: int = 0,
        separate_channels: bool = True,
        augment: Sequence[int] | None = None,
        device: str = "cpu",
    ) -> None:
        rows = _checked(np.asarray(index), images)
        whole(distance, "distance", at_least=0)
        seeds = np.arange(len(rows)) if augment is None else np.asarray(augment)
        if seeds.shape != (len(rows),) or seeds.dtype.kind not in "iu" or seeds.min() < 0 or seeds.max() >= 2**31:
            raise InputError(f"augment is {augment!r}; give each of the {len(rows)} networks a seed from 0 to 2^31 - 1")
        components, (channels, height, width) = rows.shape[2], images.pixels.shape[1:]
        self.separate_channels, self.distance, self.width = separate_channels, distance, width
        self.shape = (channels * (components if separate_channels else 1), height, width + (components - 1) * distance)
        self.seeds = None if augment is None else torch.tensor(list(augment), dtype=torch.int32, device=device)
        self._store(images, rows, device)
        self.component = torch.arange(components, device=device)
        self.row = torch.arange(height, device=device)
        columns = torch.arange(self.shape[-1], device=device) - distance * self.component.unsqueeze(1)
        self.column = columns.clamp(0, width - 1)  # (C, width + (C - 1) * distance)

    def _store(self, images: Images, rows: IntArray, device: str) -> None:
        """Keep the lines of all images that are used, numbered anew, and the number of each channel's first line."""
        used, ids = np.unique(rows, return_inverse=True)
        self.index = torch.from_numpy(ids.reshape(rows.shape)).to(device)
        # A border stored with the images makes a crop a mere choice of rows and columns.
        self.border = 0 if self.seeds is None else BORDER_PIXELS
        sides = (self.border, self.border)
        stored = np.pad(images.pixels[used], ((0, 0), (0, 0), sides, sides))
        count, channels, height, width = stored.shape
        self.lines = torch.from_numpy(stored.reshape(-1, width)).to(device)
        self.starts = torch.arange(0, count * channels * height, height, device=device).view(count, channels)
        mean, std = (np.array(numbers, dtype=np.float64).reshape(-1, 1, 1) for numbers in (images.mean, images.std))
        self.scale, self.shift = (torch.from_numpy(item).float().to(device) for item in (1 / (255 * std), -mean / std))

    def __len__(self) -> int:
        """Return the number of samples N of each network."""
        return self.index.shape[1]

    @property
    def networks(self) -> int:
        """The number of networks E that have samples here."""
        return self.index.shape[0]

    def take(self, networks: Tensor, rows: Tensor, steps: Tensor | None = None) -> Tensor:
        """Return samples of some networks, normalised float32.

        Parameters
        ----------
        networks : Tensor of int, shape (c,)
        rows : Tensor of int, shape (c, B)
            Which of each network's samples.
        steps : Tensor of int, shape (c,), optional
            Updates each network has taken, in training; only then are samples augmented.

        Returns
        -------
        Tensor, shape ``(c, B, *shape)``
        """
        images = self.index[networks.unsqueeze(1), rows]  # (c, B, C)
        row, column = self._window(networks, rows, steps)
        lines = self.starts[images].unsqueeze(-1) + row.unsqueeze(-2)  # (c, B, C, channels, height)
        pixels = self.lines.index_select(0, lines.flatten()).view(*lines.shape, -1)
        if self.distance or self.border:
            pixels = pixels.gather(-1, column[..., None, None, :].expand(*lines.shape, -1))
        values = pixels * self.scale + self.shift
        return values.flatten(2, 3) if self.separate_channels else values.amax(2)

    def _window(self, networks: Tensor, rows: Tensor, steps: Tensor | None) -> tuple[Tensor, Tensor]:
        """Return which rows (..., height) and columns (..., C, width) of the stored images are shown."""
        if self.seeds is None or steps is None:
            return self.row + self.border, self.column + self.border
        seeds = self.seeds[networks]
        bits = noise_bits(seeds.view(-1, 1, 1), steps.view(-1, 1, 1), rows.unsqueeze(-1), self.component).unsqueeze(-1)
        down = (bits & 0xFFFF) % (2 * BORDER_PIXELS + 1)
        right = ((bits >> 16) & 0x7FFF) % (2 * BORDER_PIXELS + 1)
        column = torch.where(bits < 0, self.width - 1 - self.column, self.column)
        return self.row + down, column + right


def _checked(index: IntArray, images: Images) -> IntArray:
    if index.ndim != 3 or index.size == 0 or index.dtype.kind not in "iu":
        raise InputError(
            f"index has shape {index.shape} and dtype {index.dtype}; give whole numbers, "
            "(networks, samples, components)"
        )
    if index.min() < 0 or index.max() >= len(images.pixels):
        raise InputError(
            f"index runs from {index.min()} to {index.max()} but {images.name} has {len(images.pixels)} images; "
            "draw from the same image set"
        )
    return index
