"""All figures of the paper, in the order they are shown."""

from __future__ import annotations

from recombine.papers.multitask.figures.images import IMAGE_FIGURES as IMAGES
from recombine.papers.multitask.figures.theory import FIGURES as THEORY

FIGURES = (
    *THEORY,
    *IMAGES,
)
