"""Teachers for an auxiliary and a main task that share features: sparse linear ones, and one-hidden-layer ReLU ones.

Inputs are Gaussian rows rescaled to mean square one, so they lie on a sphere and have unit covariance (Lippl & Lindsey
2024). Every draw has its own generator, so that teachers of one seed meet the same inputs whatever they share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray
from recombine.cells.brief import brief_repr
from recombine.checks import real, reals, whole
from recombine.errors import InputError

#: What a generator is for; its number is part of the seed.
PURPOSES = ("teachers", "auxiliary inputs", "main inputs", "test inputs")


def _generator(seed: int, purpose: str) -> np.random.Generator:
    """Return the generator of one seed for one purpose.

    Examples
    --------
    >>> draws = [_generator(0, purpose).random() for purpose in PURPOSES[:2]]
    >>> draws[0] == draws[1]
    False
    """
    if purpose not in PURPOSES:
        raise InputError(f"purpose {purpose!r} is unknown; give one of {', '.join(PURPOSES)}")
    return np.random.default_rng([whole(seed, "seed", at_least=0), PURPOSES.index(purpose)])


def sphere_inputs(seed: int, purpose: str, samples: int, dimension: int) -> FloatArray:
    """Draw inputs (samples, dimension) of mean square one; fewer samples are the first of more.

    Examples
    --------
    >>> few, many = (sphere_inputs(0, "main inputs", n, 5) for n in (2, 10))
    >>> bool((few == many[:2]).all()), bool(np.allclose((many**2).mean(axis=1), 1))
    (True, True)
    """
    shape = whole(samples, "samples", at_least=0), whole(dimension, "dimension", at_least=1)
    drawn = _generator(seed, purpose).standard_normal(shape)
    return np.asarray(drawn / np.sqrt((drawn**2).mean(axis=1, keepdims=True)))


@dataclass(frozen=True, eq=False)
class LinearTeachers:
    """Coefficients (D,) of an auxiliary and of a main task.

    Examples
    --------
    >>> pair = linear_teachers(seed=0, dimension=50, active=10, main=4, shared=3)
    >>> int(np.count_nonzero(pair.auxiliary)), int(np.count_nonzero(pair.auxiliary * pair.main))
    (10, 3)
    """

    auxiliary: FloatArray
    main: FloatArray

    __repr__ = brief_repr

    @property
    def power(self) -> float:
        """Mean square of the main task's targets."""
        return float(np.sum(self.main**2))


def linear_teachers(
    seed: int,
    *,
    dimension: int = 1000,
    active: int = 40,
    main: int = 40,
    shared: int = 40,
    magnitude: float | None = None,
) -> LinearTeachers:
    """Draw two sparse linear teachers.

    Parameters
    ----------
    seed : int
    dimension : int
        Number D of inputs.
    active, main : int
        Coordinates that the auxiliary and the main task use.
    shared : int
        Of the main task's, how many the auxiliary task uses too; those keep their sign.
    magnitude : float, optional
        Size of a main coefficient; 1 / sqrt(main) if not given. Auxiliary ones have 1 / sqrt(active).

    Examples
    --------
    >>> round(linear_teachers(seed=1, main=5, shared=0, magnitude=1 / 5).power, 6)
    0.2
    """
    for name, count in (("dimension", dimension), ("active", active), ("main", main)):
        whole(count, name, at_least=1)
    size = main**-0.5 if magnitude is None else real(magnitude, "magnitude")
    if whole(shared, "shared", at_least=0) > min(active, main):
        raise InputError(
            f"shared is {shared}, but the auxiliary task uses {active} coordinates (active) and the main one {main} "
            f"(main); share at most {min(active, main)}"
        )
    if active + main - shared > dimension:
        raise InputError(
            f"{active} and {main} coordinates with {shared} in common do not fit into {dimension}; lower one of them"
        )
    draw = _generator(seed, "teachers")
    coordinates = draw.permutation(dimension)
    signs = draw.choice([-1.0, 1.0], dimension)
    auxiliary, main_task = np.zeros(dimension), np.zeros(dimension)
    auxiliary[coordinates[:active]] = signs[:active] * active**-0.5
    # Shared coordinates come first, new ones from after the auxiliary task's.
    chosen = np.r_[0:shared, active : active + main - shared]
    main_task[coordinates[chosen]] = signs[chosen] * size
    return LinearTeachers(auxiliary, main_task)


@dataclass(frozen=True, eq=False)
class ReluTeacher:
    """A sum of ReLU units: weights (U, D), readouts (U,).

    Examples
    --------
    >>> ReluTeacher(np.eye(2), np.array([1.0, -1.0]))([[3.0, 1.0], [-1.0, 2.0]])
    array([ 2., -2.])
    """

    weights: FloatArray
    readouts: FloatArray

    __repr__ = brief_repr

    def __call__(self, inputs: npt.ArrayLike) -> FloatArray:
        """Return targets (N,) of inputs (N, D)."""
        X = reals(inputs, "inputs")
        if X.ndim != 2 or X.shape[1] != self.weights.shape[1]:
            raise InputError(f"inputs have shape {X.shape}; give (N, {self.weights.shape[1]}), a row per sample")
        return np.asarray(np.maximum(X @ self.weights.T, 0) @ self.readouts)


def relu_teachers(
    seed: int, correlations: Sequence[float], *, dimension: int = 15, units: int = 6, magnitude: float | None = None
) -> tuple[ReluTeacher, ReluTeacher]:
    """Draw an auxiliary teacher of orthonormal units and a main one whose units are correlated with them.

    Parameters
    ----------
    seed : int
    correlations : sequence of float
        One per unit of the main teacher: its cosine with the auxiliary teacher's unit of the same number.
    dimension, units : int
        Inputs, and units of the auxiliary teacher.
    magnitude : float, optional
        Size of a main readout; 1 / sqrt of their number if not given. Signs are drawn anew for each teacher.

    Examples
    --------
    >>> first, second = relu_teachers(0, [1.0, 0.9, 0.0])
    >>> np.sum(first.weights[:3] * second.weights, axis=1).round(6) + 0.0
    array([1. , 0.9, 0. ])
    """
    cosines = reals(correlations, "correlations")
    if cosines.ndim != 1 or np.any(np.abs(cosines) > 1):
        raise InputError(f"correlations are {correlations!r}; give a list, one per unit, each from -1 to 1")
    count = len(cosines)
    if not 1 <= count <= whole(units, "units", at_least=1) or units + count > whole(dimension, "dimension", at_least=1):
        raise InputError(
            f"{count} correlations do not fit {units} units in {dimension} dimensions; give one to as many as there "
            "are units, and a dimension to each unit of both teachers"
        )
    size = count**-0.5 if magnitude is None else real(magnitude, "magnitude")
    draw = _generator(seed, "teachers")
    rows = _orthogonal(draw, dimension)
    signs = draw.choice([-1.0, 1.0], (2, units))
    turned = cosines[:, None] * rows[:count] + np.sqrt(1 - cosines**2)[:, None] * rows[units : units + count]
    return ReluTeacher(rows[:units], signs[0] * units**-0.5), ReluTeacher(turned, signs[1, :count] * size)


def _orthogonal(draw: np.random.Generator, dimension: int) -> FloatArray:
    """Return a rotation that is uniform: the signs of the factor's diagonal would otherwise favour some."""
    basis, factor = np.linalg.qr(draw.standard_normal((dimension, dimension)))
    return np.asarray(basis * np.sign(np.diag(factor)))
