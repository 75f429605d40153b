"""All figures of the paper, in the order they are shown."""

from __future__ import annotations

from recombine.lab.papers.multitask.figures import (
    atlas,
    diagonal,
    hidden_units,
    images,
    norms,
    released,
    students,
    theory,
)

_PENALTIES, _GROUP_NORM = theory.FIGURES

FIGURES = (
    _PENALTIES,
    *diagonal.FIGURES,
    *atlas.FIGURES,
    _GROUP_NORM,
    *students.FIGURES,
    *hidden_units.FIGURES,
    *released.FIGURES,
    *images.FIGURES,
    *norms.FIGURES,
)
