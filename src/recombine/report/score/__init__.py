"""The score for terminals, notebooks and scripts, and as one self-contained page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.report.notebook import score_notebook as score_notebook
    from recombine.report.score.figures import CausesFigure as CausesFigure
    from recombine.report.score.figures import PredictionsFigure as PredictionsFigure
    from recombine.report.score.page import score_page as score_page
    from recombine.report.score.record import score_json as score_json
    from recombine.report.score.sections import score_sections as score_sections

lazy_package(__name__)
