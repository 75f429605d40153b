"""Two numbers, of which one decides: the 2-D problem of Li et al. 2020, section 6, in both of its readings.

The label is the sign of X_1. The quadrant where X_1 and X_2 are both positive is held out, so the sign of X_2 says
something about the label in training although X_1 says all of it. "text" is the problem as the paper writes it:
X_k = Y_k - U[0, 1] with (Y_1, Y_2) uniform on the three seen cells. "code" is the problem as its code draws it:
points uniform on [-5, 5]^2, pushed 0.3 away from both axes, of which those in the held-out quadrant are dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.cells.brief import brief_repr
from recombine.checks import whole
from recombine.errors import InputError, near_miss
from recombine.writing import listing

#: The cells (Y_1, Y_2) of training; (1, 1) is held out.
SEEN = ((0, 0), (0, 1), (1, 0))
#: What a generator is for; its number is part of the seed, so no draw depends on another.
PURPOSES = ("train", "held out", "redraw")


@dataclass(frozen=True)
class PlaneReading:
    """One reading of the problem.

    Attributes
    ----------
    name : str
    reach : float
        Points are uniform up to this far from the axes, before they are pushed.
    gap : float
        How far points are pushed away from both axes.
    count : int
        Training samples; where ``halved``, the draws of which the held-out quadrant and then one half are dropped.
    halved : bool
    """

    name: str
    reach: float
    gap: float
    count: int
    halved: bool

    @property
    def edge(self) -> float:
        """Largest size of a coordinate."""
        return self.reach + self.gap


READINGS = {
    reading.name: reading
    for reading in (
        # The paper gives no number of samples: as many as its code has on average.
        PlaneReading("text", reach=1.0, gap=0.0, count=187, halved=False),
        PlaneReading("code", reach=5.0, gap=0.3, count=500, halved=True),
    )
}


@dataclass(frozen=True, eq=False)
class PlaneSamples:
    """Training samples of one network, or of several stacked.

    Attributes
    ----------
    points : float array of shape (N, 2)
        X_1 and X_2, in the order in which they are visited. Of several networks: (E, N, 2).
    labels : float array of shape (N,)
        -1 or 1, and 0 for rows that only fill up a network with fewer samples. Of several networks: (E, N).
    """

    points: FloatArray
    labels: FloatArray

    __repr__ = brief_repr


def draw_training(reading: str, seed: int, count: int | None = None) -> PlaneSamples:
    """Draw one network's training samples.

    Parameters
    ----------
    reading : {"text", "code"}
    seed : int
    count : int, optional
        Samples of "text" (187 if not given), or draws of "code" (500), of which about 3/8 are left.

    Examples
    --------
    >>> samples = draw_training("text", seed=0)
    >>> samples.points.shape, bool((samples.points > 0).all(axis=1).any())
    ((187, 2), False)
    >>> bool((np.sign(samples.points[:, 0]) == samples.labels).all())
    True
    """
    kind = plane_reading(reading)
    total = whole(kind.count if count is None else count, "count", at_least=1)
    generator = _generator("train", seed)
    if kind.halved:
        points = _pushed(generator.uniform(-kind.reach, kind.reach, size=(total, 2)), kind)
        outside = generator.permutation(points[~(points > 0).all(axis=1)])
        points = outside[: len(outside) // 2]
    else:
        cells = np.array(SEEN)[generator.integers(len(SEEN), size=total)]
        points = cells - generator.random((total, 2))
    return PlaneSamples(points, np.where(points[:, 0] > 0, 1.0, -1.0))


def stack_samples(samples: Sequence[PlaneSamples]) -> PlaneSamples:
    """Put the samples of E networks together, filled up to the longest: points (E, N, 2) and labels (E, N).

    Examples
    --------
    >>> both = stack_samples([draw_training("text", 0, count=3), draw_training("text", 1, count=5)])
    >>> both.points.shape, (both.labels != 0).sum(axis=1).tolist()
    ((2, 5, 2), [3, 5])
    """
    if not samples:
        raise InputError("no samples were given; stack those of at least one network")
    longest = max(len(sample.labels) for sample in samples)
    points, labels = np.zeros((len(samples), longest, samples[0].points.shape[-1])), np.zeros((len(samples), longest))
    for index, sample in enumerate(samples):
        points[index, : len(sample.points)] = sample.points
        labels[index, : len(sample.labels)] = sample.labels
    return PlaneSamples(points, labels)


class Redraw:
    """Setting B: X_2 is drawn anew over its whole range, held-out part included, whenever a sample is visited.

    Parameters
    ----------
    reading : {"text", "code"}
    samples : PlaneSamples
        Stacked, (E, N, 2).
    seeds : sequence of int
        One for each of the E networks; a network meets the same draws alone and in a stack.

    Examples
    --------
    >>> samples = stack_samples([draw_training("text", 0)])
    >>> redraw = Redraw("text", samples, seeds=[0])
    >>> first, second = redraw(), redraw()
    >>> bool((first[..., 0] == second[..., 0]).all()), bool((first[..., 1] == second[..., 1]).any())
    (True, False)
    """

    def __init__(self, reading: str, samples: PlaneSamples, seeds: Sequence[int]) -> None:
        if samples.points.ndim != 3 or len(samples.points) != len(seeds):
            raise InputError(
                f"{len(seeds)} seeds for points of shape {samples.points.shape}; give one network per seed"
            )
        self.kind, self.points = plane_reading(reading), samples.points
        self.sizes = (samples.labels != 0).sum(axis=1)
        self.generators = [_generator("redraw", seed) for seed in seeds]

    def __call__(self) -> FloatArray:
        """Return the points (E, N, 2) of one pass over the samples."""
        points = self.points.copy()
        for rows, size, generator in zip(points, self.sizes, self.generators, strict=True):
            drawn = generator.uniform(-self.kind.reach, self.kind.reach, size=size)
            rows[:size, 1] = _pushed(drawn, self.kind)
        return points


def draw_held_out(reading: str, count: int = 1000, seed: int = 0) -> FloatArray:
    """Draw points (count, 2) of the held-out quadrant, where the right label is 1.

    Examples
    --------
    >>> draw_held_out("code", count=50).shape, bool(draw_held_out("code", count=50).min() >= 0.3)
    ((50, 2), True)
    """
    kind = plane_reading(reading)
    # 1 - U[0, 1) leaves out zero, which belongs to another quadrant.
    drawn = 1 - _generator("held out", seed).random((whole(count, "count", at_least=1), 2))
    return drawn * kind.reach + kind.gap


def square_centres(reading: str, side: int = 41) -> FloatArray:
    """Return the centres (side * side, 2) of equal squares that cover the plane, X_1 running fastest.

    Examples
    --------
    >>> square_centres("text", side=2).tolist()
    [[-0.5, -0.5], [0.5, -0.5], [-0.5, 0.5], [0.5, 0.5]]
    """
    kind = plane_reading(reading)
    centres = (np.arange(whole(side, "side", at_least=1)) + 0.5) * (2 * kind.edge / side) - kind.edge
    second, first = np.meshgrid(centres, centres, indexing="ij")
    return np.stack([first.reshape(-1), second.reshape(-1)], axis=1)


def plane_reading(name: str) -> PlaneReading:
    """Return a reading by its name.

    Examples
    --------
    >>> plane_reading("code").gap
    0.3
    """
    if name not in READINGS:
        raise InputError(f"reading {name!r} is not one of {listing(READINGS)};{near_miss(name, READINGS)}")
    return READINGS[name]


def _pushed(values: FloatArray, kind: PlaneReading) -> FloatArray:
    return values + np.where(values > 0, kind.gap, -kind.gap)


def _generator(purpose: str, seed: int) -> np.random.Generator:
    return np.random.default_rng([PURPOSES.index(purpose), whole(seed, "seed", at_least=0)])
