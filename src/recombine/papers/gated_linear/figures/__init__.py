"""All figures of the paper, in the order they are shown."""

from __future__ import annotations

from recombine.papers.gated_linear.figures.images import FIGURES as IMAGES
from recombine.papers.gated_linear.figures.small_problems import FIGURES as SMALL_PROBLEMS

FIGURES = (
    *SMALL_PROBLEMS,
    *IMAGES,
)
