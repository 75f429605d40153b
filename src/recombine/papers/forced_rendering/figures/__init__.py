"""All figures of the paper, in the order they are shown."""

from __future__ import annotations

from recombine.papers.forced_rendering.figures import decoders, pictures, remedies

FIGURES = (*pictures.FIGURES, *decoders.FIGURES, *remedies.FIGURES)
