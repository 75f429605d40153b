"""All figures of the paper, in the order they are shown."""

from __future__ import annotations

from recombine.lab.papers.gradient_resists.figures import heads, images, plane, scan, without_gradient

FIGURES = (*plane.FIGURES, *images.FIGURES, *heads.FIGURES, *scan.FIGURES, *without_gradient.FIGURES)
