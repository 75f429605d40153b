"""Two images side by side whose labels are related: the redundancy rule of Li et al. 2020, section 5.1.

The label Y_1 of the left image is to be learnt. A relation says how the label Y_2 of the right one is drawn given Y_1:
with ``OFFSETS["A"]`` the right image tells most of the answer in training, with ``OFFSETS["B"]`` nothing.
Samples are drawn as numbers of images, in NumPy, and put together by torch when a network asks for them. One
epoch over a stream of steps * batch draws is training on fresh samples at every step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.brief import brief_repr
from recombine.checks import whole
from recombine.errors import InputError
from recombine.lab.worlds.images.sources import Images

if TYPE_CHECKING:
    from torch import Tensor

#: Y_2 - Y_1 (mod 10), equally likely: in training in settings A and B, when tested in both, and when probed.
OFFSETS = {"A": (0, 1), "B": tuple(range(10)), "test": tuple(range(2, 10)), "probe": tuple(range(10))}
#: What a generator is for; its number is part of the seed, so no draw depends on another.
PURPOSES = ("halves", "stream", "train", "test", "probe", "grid")


@dataclass(frozen=True, eq=False)
class PairDraws:
    """Which images make up samples, and their labels.

    Attributes
    ----------
    index : array of int, shape (N, 2)
        Rows of the image set, left and right. Of several networks: (E, N, 2).
    labels : array of int, shape (N, 2)
        Y_1 and Y_2. Of several networks: (E, N, 2).
    """

    index: IntArray
    labels: IntArray

    __repr__ = brief_repr


def relation(offsets: Sequence[int], classes: int = 10) -> FloatArray:
    """Return P(Y_2 | Y_1), shape (classes, classes): Y_2 - Y_1 modulo ``classes`` is uniform on the offsets.

    Examples
    --------
    >>> relation((0, 1), classes=3)
    array([[0.5, 0.5, 0. ],
           [0. , 0.5, 0.5],
           [0.5, 0. , 0.5]])
    """
    shifts = {int(offset) % classes for offset in offsets}
    if not shifts:
        raise InputError("a relation needs an offset; give the values that Y_2 - Y_1 may take, for instance (0, 1)")
    row = np.isin(np.arange(classes), list(shifts)) / len(shifts)
    return np.stack([np.roll(row, label) for label in range(classes)])


def draw_pairs(images: Images, rule: FloatArray, count: int, seed: int, purpose: str = "stream") -> PairDraws:
    """Draw one network's samples: Y_1 uniform, Y_2 by the rule, and for each an image of that label.

    Parameters
    ----------
    images : Images
    rule : array of float, shape (K, K)
        P(Y_2 | Y_1), rows adding up to 1; labels run from 0 to K - 1. Make one with `relation`.
    count : int
        Number N of samples.
    seed : int
        Equal seeds give equal draws, whatever else is drawn.
    purpose : str
        "stream" (to train on), "train", "test", "probe" or "grid": draws for one are independent of those for another.

    Returns
    -------
    PairDraws

    Examples
    --------
    >>> from recombine.lab.worlds.images import load_images
    >>> draws = draw_pairs(load_images("digits"), relation(OFFSETS["A"]), 1000, seed=0)
    >>> sorted(set(((draws.labels[:, 1] - draws.labels[:, 0]) % 10).tolist()))
    [0, 1]
    """
    whole(count, "count", at_least=1)
    generator = _generator(purpose, seed)
    rule, rows = _checked(rule), _rows_of_labels(images, len(rule))
    first = generator.integers(len(rule), size=count)
    # The last edge is 1 whatever rounding says, so that no draw falls beyond it.
    edges = np.cumsum(rule, axis=1)
    second = (generator.random(count)[:, None] * edges[first, -1:] >= edges[first]).sum(axis=1)
    labels = np.stack([first, second], axis=1)
    return PairDraws(_picked(rows, labels, generator), labels)


def draw_grid(images: Images, firsts: int, seconds: int, seed: int, classes: int = 10) -> PairDraws:
    """Draw samples in which only the right image changes: each of ``firsts`` left ones meets ``seconds`` right ones.

    Returns
    -------
    PairDraws
        ``firsts * seconds`` samples, those of one left image in a row. Labels are independent and uniform.

    Examples
    --------
    >>> from recombine.lab.worlds.images import load_images
    >>> grid = draw_grid(load_images("digits"), 3, 4, seed=0)
    >>> [len(set(part.tolist())) for part in grid.index[:, 0].reshape(3, 4)]
    [1, 1, 1]
    """
    whole(firsts, "firsts", at_least=1)
    whole(seconds, "seconds", at_least=1)
    draws = draw_pairs(images, relation(range(classes), classes), firsts * seconds, seed, "grid")
    index, labels = draws.index.copy(), draws.labels.copy()
    for array in (index, labels):
        array[:, 0] = np.repeat(array[::seconds, 0], seconds)
    return PairDraws(index, labels)


def split_images(images: Images, train: int, seed: int = 0) -> tuple[Images, Images]:
    """Split a set that has no test images at random: ``train`` to train on, and the others.

    Examples
    --------
    >>> from recombine.lab.worlds.images import load_images
    >>> [len(part) for part in split_images(load_images("digits"), 1300)]
    [1300, 497]
    """
    if not 0 < train < len(images):
        raise InputError(f"train is {train} of {len(images)} images; leave at least one on either side")
    order = _generator("halves", seed).permutation(len(images))
    first, second = (
        replace(images, pixels=images.pixels[rows], labels=images.labels[rows])
        for rows in (np.sort(order[:train]), np.sort(order[train:]))
    )
    return first, second


def stack_pairs(draws: Sequence[PairDraws]) -> PairDraws:
    """Put the draws of E networks together: index and labels (E, N, 2).

    Examples
    --------
    >>> one = PairDraws(np.zeros((5, 2), int), np.zeros((5, 2), int))
    >>> stack_pairs([one, one, one]).labels.shape
    (3, 5, 2)
    """
    counts = {len(draw.index) for draw in draws}
    if len(counts) != 1:
        raise InputError(f"draws of {sorted(counts)} samples do not stack; give every network equally many")
    return PairDraws(np.stack([draw.index for draw in draws]), np.stack([draw.labels for draw in draws]))


class LabelPairs:
    """Samples of E networks, left and right image in one picture, pixels from 0 to 1, put together on the device.

    Parameters
    ----------
    images : Images
    index : array of int, shape (E, N, 2)
        Rows of the image set, left and right.
    device : str

    Attributes
    ----------
    shape : tuple of int
        (channels, height, 2 * width).

    Examples
    --------
    >>> import torch
    >>> from recombine.lab.worlds.images import load_images
    >>> pairs = LabelPairs(load_images("digits"), np.array([[[0, 1], [2, 3], [4, 5]]]))
    >>> len(pairs), pairs.shape, pairs.take(torch.tensor([0]), torch.tensor([[2, 0]])).shape
    (3, (1, 8, 16), torch.Size([1, 2, 1, 8, 16]))
    """

    shape: tuple[int, ...]

    def __init__(self, images: Images, index: IntArray, *, device: str = "cpu") -> None:
        from recombine.lab.worlds.images.pairs import ImagePairs

        plain = replace(images, mean=(0.0,) * images.channels, std=(1.0,) * images.channels)
        self.apart = ImagePairs(plain, index, device=device)
        self.channels, height, width = images.shape
        self.shape = (self.channels, height, width * index.shape[-1])

    def __len__(self) -> int:
        """Return the number of samples N of each network."""
        return len(self.apart)

    def take(self, networks: Tensor, rows: Tensor, steps: Tensor | None = None) -> Tensor:
        """Return samples ``rows`` (c, B) of ``networks`` (c,), shape ``(c, B, *shape)``."""
        pixels = self.apart.take(networks, rows)
        apart = pixels.view(*pixels.shape[:2], -1, self.channels, *pixels.shape[3:])
        return apart.permute(0, 1, 3, 4, 2, 5).flatten(4)


def _generator(purpose: str, seed: int) -> np.random.Generator:
    if purpose not in PURPOSES:
        raise InputError(f"purpose {purpose!r} is unknown; give one of {', '.join(PURPOSES[1:])}")
    return np.random.default_rng([PURPOSES.index(purpose), seed])


def _checked(rule: FloatArray) -> FloatArray:
    table = np.asarray(rule, dtype=np.float64)
    square = table.ndim == 2 and 0 < len(table) == table.shape[1]
    if not square or (table < 0).any() or not np.allclose(table.sum(axis=1), 1):
        raise InputError(
            f"a relation of shape {table.shape} is not P(Y_2 | Y_1); give a square table of chances from 0 up whose "
            "rows add up to 1"
        )
    return table


def _rows_of_labels(images: Images, classes: int) -> list[IntArray]:
    rows = [np.flatnonzero(images.labels == label) for label in range(classes)]
    empty = [label for label, members in enumerate(rows) if not len(members)]
    if empty:
        raise InputError(f"{images.name} has no image of label {empty[0]}; use a relation of {images.classes} classes")
    return rows


def _picked(rows: Sequence[IntArray], labels: IntArray, generator: np.random.Generator) -> IntArray:
    """Return a random row of the image set for each label (N, 2)."""
    counts = np.array([len(members) for members in rows])
    starts = np.cumsum(counts) - counts
    picked: IntArray = np.concatenate(rows)[starts[labels] + generator.integers(counts[labels])]
    return picked
