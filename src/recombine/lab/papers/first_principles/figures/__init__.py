"""All figures of the paper, in the order they are shown."""

from __future__ import annotations

from recombine.lab.papers.first_principles.figures import decoders, error_maps, lost_slots, theory

FIGURES = (*decoders.FIGURES, *theory.FIGURES, *error_maps.FIGURES, *lost_slots.FIGURES)
