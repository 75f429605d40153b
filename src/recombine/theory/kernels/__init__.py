"""Kernels on overlaps: what models that compare cells by the factors they share say about unseen ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.theory.kernels import solvers as solvers
    from recombine.theory.kernels.activation_kernels import dual_of as dual_of
    from recombine.theory.kernels.activation_kernels import gaussian_kernel as gaussian_kernel
    from recombine.theory.kernels.activation_kernels import quadratic_kernel as quadratic_kernel
    from recombine.theory.kernels.activation_kernels import step_kernel as step_kernel
    from recombine.theory.kernels.estimators import KernelClassifier as KernelClassifier
    from recombine.theory.kernels.estimators import KernelRegressor as KernelRegressor
    from recombine.theory.kernels.given_kernels import kernel_of_salience as kernel_of_salience
    from recombine.theory.kernels.given_kernels import kernel_of_sets as kernel_of_sets
    from recombine.theory.kernels.given_kernels import kernel_of_values as kernel_of_values
    from recombine.theory.kernels.leak import AnchorAddition as AnchorAddition
    from recombine.theory.kernels.leak import anchor_addition as anchor_addition
    from recombine.theory.kernels.leak import slope as slope
    from recombine.theory.kernels.left_out import predict_left_out as predict_left_out
    from recombine.theory.kernels.network_shares import network_shares as network_shares
    from recombine.theory.kernels.overlap import OverlapKernel as OverlapKernel
    from recombine.theory.kernels.positivity import is_positive as is_positive
    from recombine.theory.kernels.representability import PassingShare as PassingShare
    from recombine.theory.kernels.representability import Representability as Representability
    from recombine.theory.kernels.representability import passing_share as passing_share
    from recombine.theory.kernels.representability import representability as representability
    from recombine.theory.kernels.shortcut import ContextMargin as ContextMargin
    from recombine.theory.kernels.shortcut import context_dependence_margin as context_dependence_margin
    from recombine.theory.kernels.shortcut import crossed_out as crossed_out
    from recombine.theory.kernels.slopes import expected_slopes as expected_slopes

lazy_package(__name__)
