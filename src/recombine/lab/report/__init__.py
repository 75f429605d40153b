"""A paper's reproduction as a page, a table for the terminal, and figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.lab.report.figure import PaperFigure as PaperFigure
    from recombine.lab.report.page import paper_page as paper_page
    from recombine.lab.report.page_text import page_text as page_text
    from recombine.lab.report.terminal import claim_grid as claim_grid
    from recombine.lab.report.terminal import tally as tally
    from recombine.lab.report.terminal import tally_by_whose as tally_by_whose

lazy_package(__name__)
