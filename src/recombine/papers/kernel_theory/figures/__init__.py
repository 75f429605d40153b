"""All figures of the paper, in the order they are shown."""

from __future__ import annotations

from recombine.papers.kernel_theory.figures import images, kernels, onehot

FIGURES = (*kernels.FIGURES, *onehot.FIGURES, *images.FIGURES)
