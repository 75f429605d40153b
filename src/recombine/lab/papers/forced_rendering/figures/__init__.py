"""All figures of the paper, in the order they are shown."""

from __future__ import annotations

from recombine.lab.papers.forced_rendering.figures import controls, decoders, diagnosis, pictures, remedies

FIGURES = (*pictures.FIGURES, *decoders.FIGURES, *diagnosis.FIGURES, *remedies.FIGURES, *controls.FIGURES)
