"""All figures of the paper, in the order they are shown."""

from __future__ import annotations

from recombine.papers.gradient_resists.figures import images, plane, scan

FIGURES = (*images.FIGURES, *scan.FIGURES, *plane.FIGURES)
