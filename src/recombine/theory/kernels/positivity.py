"""Whether a kernel is one: no direction in which its Gram matrix is negative."""

from __future__ import annotations

from collections.abc import Sequence

from recombine.theory.kernels.overlap import OverlapKernel
from recombine.theory.kernels.solvers.spectrum import Spectrum


def is_positive(kernel: OverlapKernel, sizes: Sequence[int]) -> bool:
    """Say whether the Gram matrix of ``kernel`` on the full product of ``sizes`` has no negative eigenvalue.

    Examples
    --------
    >>> from recombine.theory.kernels import kernel_of_values
    >>> is_positive(kernel_of_values([0.0, 0.6, 1.0]), (2, 2))
    False
    >>> is_positive(kernel_of_values([0.0, 0.4, 1.0]), (9, 9))
    True
    """
    return Spectrum.of(kernel, sizes).smallest >= -1e-12 * abs(kernel.table[-1])
