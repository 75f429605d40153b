"""Solvers of kernel systems that use the structure of cells: spectra, orbits, group sums, margins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.theory.kernels.solvers.margin import logistic_dual as logistic_dual
    from recombine.theory.kernels.solvers.margin import margin_dual as margin_dual
    from recombine.theory.kernels.solvers.orbits import Quotient as Quotient
    from recombine.theory.kernels.solvers.orbits import Solutions as Solutions
    from recombine.theory.kernels.solvers.orbits import solve_kernels as solve_kernels
    from recombine.theory.kernels.solvers.solve import Solution as Solution
    from recombine.theory.kernels.solvers.solve import kernel_expansion as kernel_expansion
    from recombine.theory.kernels.solvers.solve import solve as solve
    from recombine.theory.kernels.solvers.spectrum import FullGrid as FullGrid
    from recombine.theory.kernels.solvers.spectrum import Spectrum as Spectrum

lazy_package(__name__)
