"""Figures of an audit: whether effects add, which structure holds, what networks and other models will do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.report.audit.figures.additivity_figure import AdditivityFigure as AdditivityFigure
    from recombine.report.audit.figures.models_figure import ModelsFigure as ModelsFigure
    from recombine.report.audit.figures.structure_figure import StructureFigure as StructureFigure

lazy_package(__name__)
