"""All figures of the paper, in the order they are shown."""

from __future__ import annotations

from recombine.papers.first_principles.figures.decoders import FIGURES as DECODERS
from recombine.papers.first_principles.figures.theory import FIGURES as THEORY

FIGURES = (
    *DECODERS,
    *THEORY,
)
