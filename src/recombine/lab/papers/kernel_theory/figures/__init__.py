"""All figures of the paper, in the order they are shown."""

from __future__ import annotations

from recombine.lab.papers.kernel_theory.figures import (
    designs,
    feature_learning,
    images,
    kernels,
    onehot,
    smoothing,
    structures,
)

FIGURES = (
    *kernels.FIGURES,
    *smoothing.FIGURES,
    *designs.FIGURES,
    *structures.FIGURES,
    *onehot.FIGURES,
    *feature_learning.FIGURES,
    *images.FIGURES,
)
