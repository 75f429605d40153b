"""Every experiment of the paper: its unit function and its settings."""

from __future__ import annotations

from recombine.lab.papers.kernel_theory.grids import images, kernels, onehot

EXPERIMENTS = (
    *kernels.KERNEL_EXPERIMENTS,
    *kernels.STRUCTURE_EXPERIMENTS,
    *onehot.NETWORK_EXPERIMENTS,
    *images.IMAGE_EXPERIMENTS,
)
