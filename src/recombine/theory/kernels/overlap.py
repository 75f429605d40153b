"""Overlap kernels: similarity of two cells that depends only on which factors they share.

K(z, z') = kappa_o with o the number of factors on which the cells agree (or kappa_A with A the set of those factors).
Moebius inversion rewrites it as a sum over conjunctions, K(z, z') = sum_T w_T [z_T = z'_T], and w_T, divided by
kappa_C - kappa_0, is the salience of a conjunction: how much of the representation it owns. Wide random networks keep
this form layer after layer, so a depth and an activation are all it takes to know the salience of every order
(Lippl & Stachenfeld 2025, Def. 3.1 and Prop. 4.1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, as_cells
from recombine.cells.conjunctions import Subset, subsets
from recombine.errors import InputError
from recombine.theory.kernels.layer_maps import LayerMap, arc_cosine_1, input_cosines, tangent
from recombine.writing import listing

#: Sums over all subsets of factors are given up beyond this many factors.
MAX_FACTORS_OF_SUBSETS = 20


@dataclass(frozen=True)
class OverlapKernel:
    """A kernel on cells that depends only on which factors agree.

    That of a wide random network is built by `relu`, `ntk` or `depth_map`, any other by `step_kernel`,
    `quadratic_kernel`, `gaussian_kernel`, `kernel_of_values`, `kernel_of_salience` or `kernel_of_sets` of
    `recombine.theory.kernels`.

    Parameters
    ----------
    factors : int
        Number of factors C.
    table : tuple of float
        kappa_0..kappa_C, by the number of agreeing factors; or 2**C values by the set of agreeing factors, factor 0 the
        most significant bit.

    Examples
    --------
    >>> kernel = OverlapKernel.relu(depth=1, factors=2)
    >>> kernel
    OverlapKernel.relu(depth=1, factors=2)
    >>> kernel.salience.round(6).tolist()
    [0.426422, 0.147155]
    >>> kernel([[0, 0]], [[0, 0], [0, 1], [1, 1]]).round(4).tolist()
    [[1.0, 0.609, 0.3183]]
    """

    factors: int
    table: tuple[float, ...]
    _origin: str = field(default="", compare=False)

    def __repr__(self) -> str:
        return f"OverlapKernel{self._origin or f'(factors={self.factors}, table=({listing(self.table)}))'}"

    def __post_init__(self) -> None:
        if self.factors < 1:
            raise InputError(f"a kernel needs at least one factor, not {self.factors}")
        allowed = {self.factors + 1, 2**self.factors} if self.factors <= MAX_FACTORS_OF_SUBSETS else {self.factors + 1}
        if len(self.table) not in allowed:
            raise InputError(
                f"{len(self.table)} kernel values do not fit {self.factors} factors; "
                f"give {self.factors + 1} (by overlap count) or 2**{self.factors} (by set of agreeing factors)"
            )
        if not all(math.isfinite(value) for value in self.table):
            raise InputError(f"kernel values must be finite numbers; got {listing(self.table)}")

    @classmethod
    def depth_map(
        cls,
        layer: LayerMap,
        depth: int,
        factors: int | None = None,
        bias: float = 0.0,
        *,
        inputs: OverlapKernel | None = None,
    ) -> OverlapKernel:
        """Return the kernel of a wide random network whose layer sends a cosine to the inner product ``layer(cosine)``.

        `recombine.theory.kernels.dual_of` gives the ``layer`` of any activation.
        Unless ``inputs`` says otherwise, the input is one-hot per factor, so cells that share o of C factors start at
        cosine (o + r) / (C + r), with r the bias variance of the first layer relative to one active input (``bias``).
        Each layer's kernel is divided by its value on identical cells before the next one, and at the end.

        ``inputs`` are inner products of inputs of your own and of one length; then ``factors`` is left out.

        Examples
        --------
        >>> OverlapKernel.depth_map(lambda cosine: cosine**2, depth=1, factors=2).values.tolist()
        [0.0, 0.25, 1.0]
        >>> uneven = OverlapKernel(2, (0.0, 0.25, 0.5, 1.0))
        >>> OverlapKernel.depth_map(lambda cosine: cosine**2, depth=1, inputs=uneven).table
        (0.0, 0.0625, 0.25, 1.0)
        >>> from recombine.theory.kernels import dual_of
        >>> OverlapKernel.depth_map(dual_of(np.tanh), depth=1, factors=2).salience.round(4).tolist()
        [0.4726, 0.0549]
        """
        custom = None if inputs is None else (inputs.factors, inputs.table)
        values = input_cosines(depth, factors, bias, custom)
        for _ in range(depth):
            values = layer(np.clip(values, -1.0, 1.0))
            values = values / values[-1]
        return cls(inputs.factors if inputs else len(values) - 1, tuple(values.tolist()))

    @classmethod
    def relu(
        cls,
        depth: int,
        factors: int | None = None,
        leak: float = 0.0,
        bias: float = 0.0,
        *,
        inputs: OverlapKernel | None = None,
    ) -> OverlapKernel:
        """Return the kernel of ``depth`` random ReLU layers (slope ``leak`` below zero); ``inputs`` as in `depth_map`.

        Examples
        --------
        >>> OverlapKernel.relu(depth=3, factors=3).salience.round(6).tolist()
        [0.203501, 0.094238, 0.106783]
        """

        def layer(x: FloatArray) -> FloatArray:
            return (1 - leak) ** 2 * arc_cosine_1(x) / 2 + leak * x

        kernel = cls.depth_map(layer, depth, factors, bias, inputs=inputs)
        return kernel if inputs else _made_by(kernel, "relu", depth, leak=leak, bias=bias)

    @classmethod
    def ntk(
        cls, depth: int, factors: int | None = None, bias: float = 0.0, *, inputs: OverlapKernel | None = None
    ) -> OverlapKernel:
        """Return the neural tangent kernel of ``depth`` ReLU layers, all trained; ``bias`` as in `layer_maps.tangent`.

        Examples
        --------
        >>> OverlapKernel.ntk(depth=1, factors=2).salience.round(6).tolist()
        [0.371068, 0.257864]
        """
        custom = None if inputs is None else (inputs.factors, inputs.table)
        values = tangent(input_cosines(depth, factors, 0.0, custom), depth, bias)
        kernel = cls(inputs.factors if inputs else len(values) - 1, tuple(values.tolist()))
        return kernel if inputs else _made_by(kernel, "ntk", depth, bias=bias)

    @property
    def values(self) -> FloatArray:
        """kappa_0..kappa_C by overlap count, shape (C+1,)."""
        _need_counts(self, "values", "weights")
        return np.array(self.table)

    @cached_property
    def _by_order(self) -> FloatArray:
        """Weight s_k of one conjunction of order k, shape (C+1,): the Moebius inversion of the values."""
        orders = range(self.factors + 1)
        signed = np.array([[(-1) ** (k - j) * math.comb(k, j) for j in orders] for k in orders], dtype=float)
        return _snap(signed @ self.values, np.abs(signed) @ np.abs(self.values))

    @property
    def spread(self) -> float:
        """kappa_C - kappa_0: what identical cells share beyond the constant."""
        spread = self.table[-1] - self.table[0]
        if spread <= 0:
            raise InputError(
                f"identical cells have similarity {self.table[-1]} and cells that share nothing {self.table[0]}; "
                "salience needs the first to be larger"
            )
        return spread

    @property
    def salience(self) -> FloatArray:
        """Normalised salience S(1..C;C), shape (C,); sum_k binom(C,k) S(k;C) = 1."""
        _need_counts(self, "salience", "salience_by_set")
        return self._by_order[1:] / self.spread

    @property
    def constant(self) -> float:
        """S0 = kappa_0 / (kappa_C - kappa_0): weight of the constant conjunction."""
        return self.table[0] / self.spread

    @cached_property
    def cube(self) -> FloatArray:
        """Weight w_T of each subset T, shape (2,)*C: index 1 along axis c where c is in T."""
        if self.factors > MAX_FACTORS_OF_SUBSETS:
            raise InputError(
                f"{self.factors} factors have too many subsets to weigh; use at most {MAX_FACTORS_OF_SUBSETS}"
            )
        if _counts_only(self):
            orders = np.zeros((2,) * self.factors, dtype=np.int64)
            for bits in np.ix_(*[np.arange(2)] * self.factors):
                orders += bits
            return np.asarray(self._by_order[orders])
        kappa = np.array(self.table).reshape((2,) * self.factors)
        weights, bound = kappa.copy(), np.abs(kappa)
        for axis in range(self.factors):
            front = np.moveaxis(weights, axis, 0)
            front[1] -= front[0]
            edge = np.moveaxis(bound, axis, 0)
            edge[1] += edge[0]
        return _snap(weights, bound)

    @property
    def whole(self) -> float:
        """Weight of whole cells, the conjunctions of all factors: what the kernel can memorise with."""
        return float(self._by_order[-1] if _counts_only(self) else self.cube.flat[-1])

    @property
    def weights(self) -> dict[Subset, float]:
        """Moebius weight w_T of every subset T, so that K(z, z') = sum_T w_T [z_T = z'_T]."""
        return {
            subset: float(self.cube[tuple(int(factor in subset) for factor in range(self.factors))])
            for order in range(self.factors + 1)
            for subset in subsets(self.factors, order)
        }

    @property
    def salience_by_set(self) -> dict[Subset, float]:
        """Normalised salience w_T / (kappa_C - kappa_0) of every non-empty subset T."""
        return {subset: weight / self.spread for subset, weight in self.weights.items() if subset}

    def __call__(self, cells_a: npt.ArrayLike, cells_b: npt.ArrayLike) -> FloatArray:
        """Return the dense Gram block of ``cells_a`` (N, C) and ``cells_b`` (M, C), shape (N, M)."""
        rows = as_cells(cells_a, "cells_a", self.factors)
        columns = as_cells(cells_b, "cells_b", self.factors)
        # The place in the table of each pair: a count of agreeing factors, or their bits. Small numbers pass through
        # memory several times faster than large ones.
        by_count = _counts_only(self)
        index = np.zeros((len(rows), len(columns)), dtype=np.min_scalar_type(len(self.table)))
        row_levels, column_levels = (np.ascontiguousarray(cells.T) for cells in (rows, columns))
        for factor in range(self.factors):
            agree = row_levels[factor, :, None] == column_levels[factor]
            index += agree if by_count else agree * index.dtype.type(2 ** (self.factors - 1 - factor))
        return np.array(self.table)[index]


def _counts_only(kernel: OverlapKernel) -> bool:
    """Say whether a kernel depends only on how many factors agree, not on which."""
    return len(kernel.table) == kernel.factors + 1


def _need_counts(kernel: OverlapKernel, name: str, instead: str) -> None:
    if not _counts_only(kernel):
        raise InputError(f"this kernel depends on which factors agree, so it has no .{name}; use .{instead}")


def _made_by(kernel: OverlapKernel, name: str, depth: int, **options: float) -> OverlapKernel:
    """Remember how a network's kernel was made, with the options that were not left out."""
    more = "".join(f", {key}={value}" for key, value in options.items() if value)
    return replace(kernel, _origin=f".{name}(depth={depth}, factors={kernel.factors}{more})")


def _snap(weights: FloatArray, bound: FloatArray) -> FloatArray:
    # An alternating sum leaves rounding dust where the exact weight is zero; dust would turn a purely additive kernel
    # into one that memorises, and a singular Gram matrix into an ill-conditioned one.
    return np.where(np.abs(weights) <= 4 * np.finfo(float).eps * bound, 0.0, weights)
