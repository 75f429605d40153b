"""Closed form of overlap kernels on full products: 2**C eigenvalues, and every function of the Gram matrix.

On the full product the Gram matrix of sum_T w_T [z_T = z'_T] is a sum of Kronecker products of identities (factors in
T) and all-ones matrices (factors outside). Its eigenspaces are the analysis-of-variance parts: T collects the factors
that vary with zero mean. A function of the Gram matrix is again an overlap kernel, so ridge, interpolation and
leave-one-out are one multiplication by a kernel whose weights follow from 2**C numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, product_size
from recombine.cells.brief import record
from recombine.cells.conjunctions import Subset
from recombine.errors import InputError
from recombine.theory.kernels.overlap import OverlapKernel
from recombine.theory.kernels.solvers.gram import GridGram, eigenvalues_from_weights


@record
class Spectrum:
    """Eigenvalues of an overlap kernel on the full product of ``sizes``, n_c levels of each factor.

    Parameters
    ----------
    eigenvalues : ndarray of shape (2,)*C
        lambda_T = sum over U containing T of w_U times the product of n_c outside U; index 1 along axis c where c is
        in T.
    multiplicities : ndarray of shape (2,)*C
        Product over T of (n_c - 1), as floats: they outgrow integers.

    Examples
    --------
    >>> spectrum = Spectrum.of(OverlapKernel(3, (0.0, 0.2, 0.5, 1.0)), (2, 6, 6))
    >>> [round(spectrum[subset], 6) for subset in [(), (0,), (1,), (0, 1), (1, 2), (0, 1, 2)]]
    [13.5, 8.5, 3.3, 0.7, 0.3, 0.1]
    """

    sizes: tuple[int, ...]
    eigenvalues: FloatArray
    multiplicities: FloatArray

    @classmethod
    def of(cls, kernel: OverlapKernel, sizes: Sequence[int]) -> Spectrum:
        """Return the spectrum of ``kernel`` on the product of ``sizes``."""
        levels = tuple(int(size) for size in sizes)
        if len(levels) != kernel.factors or min(levels) < 1:
            raise InputError(
                f"sizes {levels} do not fit a kernel on {kernel.factors} factors; give a count >= 1 for each"
            )
        return cls(levels, eigenvalues_from_weights(kernel.cube, levels), _multiplicities(levels))

    def __getitem__(self, subset: Subset) -> float:
        """Return lambda_T of the subset T of factors."""
        return float(self.eigenvalues[tuple(int(factor in subset) for factor in range(len(self.sizes)))])

    @property
    def smallest(self) -> float:
        """Smallest eigenvalue that occurs (a factor with one level has no contrasts)."""
        return float(self.eigenvalues[self.multiplicities > 0].min())


def _multiplicities(sizes: Sequence[int]) -> FloatArray:
    result = np.ones((2,) * len(sizes))
    for axis, size in enumerate(sizes):
        np.moveaxis(result, axis, 0)[1] *= size - 1
    return result


@dataclass(frozen=True, eq=False)
class FullGrid:
    """Kernel regression on a full product, where everything is known in closed form.

    Outcomes are arrays of shape ``sizes``, last factor fastest. A solve costs about as much as adding the marginals of
    the grid back together: hundredths of a second for 1e6 cells.

    Examples
    --------
    >>> grid = FullGrid(OverlapKernel.relu(depth=1, factors=2), (3, 4))
    >>> outcome = np.add.outer([0.0, 1.0, 2.0], [0.0, 1.0, 0.0, 1.0])
    >>> dual = grid.solve(outcome)
    >>> bool(np.allclose(grid.multiply(dual), outcome))
    True
    """

    kernel: OverlapKernel
    sizes: tuple[int, ...]

    @cached_property
    def spectrum(self) -> Spectrum:
        """The closed-form spectrum on this product."""
        return Spectrum.of(self.kernel, self.sizes)

    @cached_property
    def _gram(self) -> GridGram:
        return GridGram(self.kernel.cube, self.sizes)

    @property
    def cells(self) -> int:
        """Number of cells of the product."""
        return product_size(self.sizes)

    def multiply(self, vector: FloatArray) -> FloatArray:
        """Return the Gram matrix times ``vector`` (shape ``sizes``)."""
        return self._gram.apply(self._shaped(vector))

    def solve(self, y: npt.ArrayLike, ridge: float = 0.0) -> FloatArray:
        """Return the dual weights (K + ridge)^-1 y, or the pseudo-inverse's, shape ``sizes``."""
        return self._gram.solve(self._shaped(y), ridge)

    def leave_one_out(self, y: npt.ArrayLike, ridge: float = 0.0) -> FloatArray:
        """Return each cell's outcome minus its prediction from all the others, shape ``sizes``.

        All diagonal entries of a function of the Gram matrix are equal, so every residual is a dual weight divided by
        one number. Where the kernel is singular and ``ridge`` is zero, this is the limit of a vanishing ridge.
        """
        null = self._gram.null(ridge) & (self.spectrum.multiplicities > 0)
        inverse = null.astype(float) if null.any() else self._gram.inverse(ridge)  # up to scale: what is infinite stays
        diagonal = float(np.sum(self.spectrum.multiplicities * inverse)) / self.cells
        return self._gram.filtered(inverse / diagonal, self._shaped(y))

    def _shaped(self, array: npt.ArrayLike) -> FloatArray:
        values = np.asarray(array, dtype=float)
        if values.size != self.cells:
            raise InputError(
                f"the outcome has {values.size} entries but the product {self.sizes} has {self.cells} cells"
            )
        return values.reshape(self.sizes)
