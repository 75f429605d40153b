"""Ranks of many stacked Jacobians at once, without keeping the stacks.

A stack W of Jacobians (q N rows, M columns) is folded into its triangular factor R, with R^T R = W^T W. That is as
small as the Gram matrix, but keeps the singular values themselves: a Gram matrix would lose all below 1e-8 of the
largest, and ranks with them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.errors import InputError

#: Numbers in the triangular factors beyond which a composition should be split into blocks.
MAX_FACTOR_ENTRIES = 2**27


@dataclass(frozen=True, eq=False)
class JacobianStack:
    """Jacobians stacked block by block.

    Attributes
    ----------
    factor : float array, (*blocks, min(rows, M), M)
        Triangular factor of each block's stack.
    rows : int
        Rows of each stack.
    columns : int
        M, the unknowns of a block.

    Examples
    --------
    >>> both = JacobianStack.of(np.array([[[1.0, 0.0]], [[0.0, 2.0]]]))
    >>> both.ranks().tolist(), both.smallest
    (2, 1.0)
    """

    factor: FloatArray
    rows: int
    columns: int

    @classmethod
    def empty(cls, blocks: tuple[int, ...], columns: int) -> JacobianStack:
        """Return the stack of nothing."""
        require_small(blocks, columns)
        return cls(np.zeros((*blocks, 0, columns)), 0, columns)

    @classmethod
    def of(cls, jacobians: FloatArray) -> JacobianStack:
        """Stack Jacobians (points, *blocks, N, M)."""
        return cls.empty(jacobians.shape[1:-2], jacobians.shape[-1]).plus(jacobians)

    def plus(self, jacobians: FloatArray) -> JacobianStack:
        """Return the stack with further Jacobians (points, *blocks, N, M) below."""
        blocks, (height, columns) = jacobians.shape[1:-2], jacobians.shape[-2:]
        rows = np.moveaxis(jacobians, 0, -3).reshape(*blocks, len(jacobians) * height, columns)
        return self._absorbing(rows, len(jacobians) * height)

    def _absorbing(self, rows: FloatArray, count: int) -> JacobianStack:
        joined = np.concatenate([self.factor, rows], axis=-2)
        factor = np.asarray(np.linalg.qr(joined, mode="r")) if joined.shape[-2] > self.columns else joined
        return JacobianStack(factor, self.rows + count, self.columns)

    def joined(self, other: JacobianStack) -> JacobianStack:
        """Return both stacks as one."""
        return self._absorbing(other.factor, other.rows)

    def singular_values(self) -> FloatArray:
        """Singular values of each block, largest first, padded with zeros to (*blocks, M)."""
        values = np.linalg.svd(self.factor, compute_uv=False)
        missing = self.columns - values.shape[-1]
        return np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, missing)])

    @property
    def smallest(self) -> float:
        """Smallest singular value of all blocks; its inverse is the amplification of errors."""
        return float(self.singular_values().min())

    def ranks(self, precision: float = float(np.finfo(float).eps), scale: float | None = None) -> IntArray:
        """Return the rank of each block, (*blocks,).

        Singular values above max(rows, M) times ``precision`` times ``scale`` count; ``scale`` is by default the
        largest of all blocks, since they make up one matrix.
        """
        values = self.singular_values()
        largest = float(values.max(initial=0.0)) if scale is None else scale
        ranks: IntArray = (values > max(self.rows, self.columns) * precision * largest).sum(axis=-1)
        return ranks


def require_small(blocks: tuple[int, ...], columns: int) -> None:
    """Raise where triangular factors of so many blocks and unknowns would not fit."""
    if np.prod(blocks, dtype=float) * columns**2 > MAX_FACTOR_ENTRIES:
        raise InputError(
            f"a block of {columns} unknowns needs {columns**2:,} numbers (times {blocks} blocks), too many; "
            "let the composition act on its last axis only, as (points, pixels, channels)"
        )
