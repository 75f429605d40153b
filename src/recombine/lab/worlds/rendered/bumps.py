"""Two numbers become a picture: bumps at (x, y) from disentangled codes, with some pairs held out (Liang et al. 2025).

A cell is the place of a Gaussian bump on a square image, and the code of a cell keeps x and y in separate units. A hole
in the square of places leaves out pairs, not values: every x and every y is seen. Anything on the grid of cells is
indexed [x, y]; an image is indexed [row, column] = [y, x].
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, as_numbers
from recombine.cells.brief import brief_repr
from recombine.checks import whole
from recombine.errors import InputError, near_miss
from recombine.writing import listing

#: How x and y become input units; each uses its own units for either factor.
ENCODINGS = ("one-hot", "bump", "ramp", "scaled-ramp", "positional")
#: Octaves of the positional code: sin and cos of 2**k pi x / side.
OCTAVES = 6
#: What a hole leaves out: pairs of levels (square, corner), or whole levels (cross).
SHAPES = ("square", "corner", "cross", "none")


@dataclass(frozen=True)
class Hole:
    """Which places are held out. Build one with `square`, `corner`, `cross`, `centred` or `none`.

    Attributes
    ----------
    shape : {"square", "corner", "cross", "none"}
    low, high : float
        The interval [low, high) of either coordinate; a corner has no high end.

    Examples
    --------
    >>> Hole.square(6, 22).mask(28).sum()
    np.int64(289)
    >>> Hole.corner(12).mask(32).sum(), Hole.centred(28, 0.5).mask(28).sum()
    (np.int64(400), np.int64(196))
    """

    shape: str = "none"
    low: float = 0.0
    high: float = 0.0

    def __post_init__(self) -> None:
        if self.shape not in SHAPES:
            raise InputError(f"hole {self.shape!r} is not one of {listing(SHAPES)};{near_miss(self.shape, SHAPES)}")
        if self.shape in ("square", "cross") and not self.low < self.high:
            raise InputError(f"a hole from {self.low:g} to {self.high:g} is empty; give a low end below the high end")

    @classmethod
    def square(cls, low: int, high: int) -> Hole:
        """Hold out the pairs with both coordinates from level ``low`` to level ``high``, both included."""
        return cls("square", low, high + 1)

    @classmethod
    def corner(cls, low: float) -> Hole:
        """Hold out the pairs with both coordinates at ``low`` or beyond."""
        return cls("corner", low)

    @classmethod
    def cross(cls, low: int, high: int) -> Hole:
        """Hold out the levels from ``low`` to ``high`` of either factor: no composition can help (a control)."""
        return cls("cross", low, high + 1)

    @classmethod
    def centred(cls, side: int, share: float) -> Hole:
        """Hold out a square of floor(share * side) levels around the middle."""
        # The guard keeps 0.3 * 40 = 12 from becoming 11.
        length = math.floor(share * side + 1e-9)
        if not 0 < length < side:
            raise InputError(f"a hole of {share:g} of {side} pixels has {length} levels; give a share between 0 and 1")
        low = (side - length) // 2
        return cls("square", low, low + length)

    @classmethod
    def none(cls) -> Hole:
        """Hold out nothing."""
        return cls()

    def __call__(self, centres: npt.ArrayLike) -> BoolArray:
        """Return whether each of ``centres`` (..., 2) is held out, shape (...)."""
        points = np.asarray(centres, dtype=float)
        if self.shape == "none":
            return np.zeros(points.shape[:-1], dtype=bool)
        inside = (points >= self.low) & ((points < self.high) | (self.shape == "corner"))
        either = np.logical_or if self.shape == "cross" else np.logical_and
        return np.asarray(either(inside[..., 0], inside[..., 1]))

    def mask(self, side: int) -> BoolArray:
        """Return whether each integer place [x, y] is held out, shape (side, side)."""
        return self(places(side))


@dataclass(frozen=True, eq=False)
class BumpSamples:
    """Codes and the images to be painted from them.

    Attributes
    ----------
    centres : float array of shape (K, 2)
        (x, y); NaN for the factor that a stripe does not show.
    codes : float array of shape (K, units)
    images : float array of shape (K, side, side)
        Indexed [row = y, column = x].
    """

    centres: FloatArray
    codes: FloatArray
    images: FloatArray

    __repr__ = brief_repr

    def __len__(self) -> int:
        return len(self.centres)

    def __add__(self, other: BumpSamples) -> BumpSamples:
        """Return these samples followed by ``other``."""
        pairs = [(getattr(self, name), getattr(other, name)) for name in ("centres", "codes", "images")]
        return BumpSamples(*(np.concatenate(pair) for pair in pairs))


@dataclass(frozen=True)
class BumpWorld:
    """Bumps of one width on images of one side, the code of their places, and the hole in the training set.

    Parameters
    ----------
    side : int
        Pixels per side (N); pixel centres are the integers 0..side-1, and so are the levels of both factors.
    width : float
        Standard deviation of a bump in pixels (sigma).
    hole : Hole
    encoding : {"one-hot", "bump", "ramp", "scaled-ramp", "positional"}
    spread : float
        For "bump" codes: the variance of the code over that of the image (m).
    inverted : bool
        Paint 1 - image: a dark spot on white, as the released scripts mostly do.
    margin : int
        Levels beyond each edge of the image. A bump centred there paints little or nothing, so samples drawn from the
        wider canvas are nearly blank; the released "stripe" scripts do this, with 6 around 28, and nothing else.

    Examples
    --------
    >>> world = BumpWorld(side=28, hole=Hole.square(6, 22), encoding="bump")
    >>> world.units, int(world.seen().sum()), round(world.blank_error, 6)
    (56, 495, 0.004007)
    >>> data = world.draw(100, seed=0) + world.stripes()
    >>> data.codes.shape, data.images.shape
    ((156, 56), (156, 28, 28))
    """

    side: int = 28
    width: float = 1.0
    hole: Hole = Hole()
    encoding: str = "one-hot"
    spread: float = 1.0
    inverted: bool = False
    margin: int = 0

    def __post_init__(self) -> None:
        whole(self.side, "side", at_least=2)
        whole(self.margin, "margin", at_least=0)
        for name in ("width", "spread"):
            if not 0 < getattr(self, name) < math.inf:
                raise InputError(f"{name} is {getattr(self, name)}; give a positive number")
        if self.encoding not in ENCODINGS:
            hint = near_miss(self.encoding, ENCODINGS)
            raise InputError(f"encoding {self.encoding!r} is not one of {listing(ENCODINGS)};{hint}")

    @property
    def levels(self) -> int:
        """Levels of either factor: the side, and the margins beyond it."""
        return self.side + 2 * self.margin

    @property
    def units(self) -> int:
        """Length of a code."""
        halves = {"ramp": 1, "scaled-ramp": 1, "positional": 2 * OCTAVES}
        return 2 * halves.get(self.encoding, self.levels)

    @property
    def blank_error(self) -> float:
        """Mean square of one interior bump, pi width² / side²: the error of painting nothing."""
        return math.pi * self.width**2 / self.side**2

    def seen(self) -> BoolArray:
        """Return whether each integer place [x, y] on the image may be trained on, shape (side, side)."""
        return ~self.hole.mask(self.side)

    def codes(self, centres: npt.ArrayLike) -> FloatArray:
        """Return the codes (K, units) of ``centres`` (K, 2); a factor that is NaN has all its units at zero."""
        points = _points(centres) + self.margin
        halves = np.stack([self._code(points[:, factor]) for factor in (0, 1)], axis=1)
        halves[np.isnan(points)] = 0.0
        return halves.reshape(len(points), -1)

    def _code(self, values: FloatArray) -> FloatArray:
        """Code (K, units / 2) of one factor, counted from the first level of the canvas."""
        if self.encoding == "one-hot":
            return _one_hot(values, self.levels)
        column = values[:, None]
        if self.encoding == "bump":
            distance = np.arange(self.levels) - column
            return np.exp(-(distance**2) / (2 * self.spread * self.width**2))
        if self.encoding == "positional":
            angles = column * (math.pi / self.levels) * 2.0 ** np.arange(OCTAVES)
            return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
        return column.copy() if self.encoding == "ramp" else 2 * column / (self.levels - 1) - 1

    def images(self, centres: npt.ArrayLike) -> FloatArray:
        """Return the images (K, side, side) of ``centres`` (K, 2); a factor that is NaN is not shown: a stripe."""
        points = _points(centres)
        squared = (np.arange(self.side) - points[..., None]) ** 2
        profile = np.exp(-squared / (2 * self.width**2))
        profile[np.isnan(points)] = 1.0
        images: FloatArray = profile[:, 1, :, None] * profile[:, 0, None, :]
        return 1.0 - images if self.inverted else images

    def samples(self, centres: npt.ArrayLike) -> BumpSamples:
        """Return the codes and images of ``centres`` (K, 2)."""
        points = _points(centres)
        return BumpSamples(points, self.codes(points), self.images(points))

    def grid(self) -> BumpSamples:
        """Return all integer places on the image, x slowest: ``reshape(side, side, -1)`` gives [x, y]."""
        return self.samples(places(self.side).reshape(-1, 2))

    def draw(self, count: int, seed: int, *, held_out: bool = False, real: bool = False) -> BumpSamples:
        """Draw places uniformly with replacement, outside the hole, or inside it if ``held_out``.

        Parameters
        ----------
        count : int
        seed : int
        held_out : bool
        real : bool
            Draw real numbers of [0, side) instead of integers (with a margin: of the whole canvas).

        Examples
        --------
        >>> world = BumpWorld(side=16, hole=Hole.square(4, 11), encoding="ramp")
        >>> bool(world.hole(world.draw(200, seed=1, held_out=True, real=True).centres).all())
        True
        """
        number = whole(count, "count", at_least=1)
        generator = np.random.default_rng([int(held_out), whole(seed, "seed", at_least=0)])
        if real and self.encoding == "one-hot":
            raise InputError("a one-hot code has no units between its levels; use integer centres or another encoding")
        canvas = places(self.levels).reshape(-1, 2) - float(self.margin)
        allowed = canvas[self.hole(canvas) == held_out]
        if not len(allowed):
            side = "inside" if held_out else "outside"
            raise InputError(f"no place lies {side} the hole {self.hole}; choose another hole")
        if not real:
            return self.samples(allowed[generator.integers(len(allowed), size=number)])
        return self.samples(self._real(number, generator, held_out))

    def _real(self, count: int, generator: np.random.Generator, held_out: bool) -> FloatArray:
        accepted = np.empty((0, 2))
        while len(accepted) < count:
            drawn = generator.uniform(-self.margin, self.side + self.margin, size=(4 * count, 2))
            accepted = np.concatenate([accepted, drawn[self.hole(drawn) == held_out]])
        return accepted[:count]

    def stripes(self, repeats: int = 1) -> BumpSamples:
        """Return every level of x alone and every level of y alone, as stripes, each ``repeats`` times.

        The units of the factor that is not shown are zero. All levels appear, also those inside the hole.

        Examples
        --------
        >>> data = BumpWorld(side=4, encoding="one-hot").stripes()
        >>> len(data), data.codes[1].astype(int).tolist()
        (8, [0, 1, 0, 0, 0, 0, 0, 0])
        >>> bool((data.images[1] == data.images[1][0]).all())
        True
        """
        centres = np.full((2 * self.side, 2), np.nan)
        centres[: self.side, 0] = centres[self.side :, 1] = np.arange(self.side)
        return self.samples(np.repeat(centres, whole(repeats, "repeats", at_least=1), axis=0))


def places(side: int) -> FloatArray:
    """Return all integer places (side, side, 2), indexed [x, y].

    Examples
    --------
    >>> places(2).reshape(-1, 2).tolist()
    [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    """
    return np.stack(np.meshgrid(np.arange(side), np.arange(side), indexing="ij"), axis=-1).astype(float)


def _points(centres: npt.ArrayLike) -> FloatArray:
    points = as_numbers(centres, "centres").astype(np.float64, copy=False)
    if points.ndim != 2 or points.shape[1] != 2:
        raise InputError(f"centres have shape {points.shape}; give one row (x, y) per sample")
    return points


def _one_hot(values: FloatArray, levels: int) -> FloatArray:
    shown = ~np.isnan(values)
    wrong = shown & ~((values >= 0) & (values < levels) & (values == np.floor(values)))
    if wrong.any():
        raise InputError(
            f"centre {values[wrong][0]:g} is not one of the levels 0 to {levels - 1} of a one-hot code; "
            "use integer centres or another encoding"
        )
    code = np.zeros((len(values), levels))
    code[np.flatnonzero(shown), values[shown].astype(np.int64)] = 1.0
    return code
