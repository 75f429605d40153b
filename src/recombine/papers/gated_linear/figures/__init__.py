"""All figures of the paper, in the order they are shown."""

from __future__ import annotations

from recombine.papers.gated_linear.figures import images, small_problems

FIGURES = (*small_problems.FIGURES, *images.FIGURES)
