"""One theme, figures and the single-file HTML report. Importing this plugs the faces into `Audit`."""

from __future__ import annotations

from recombine.jobs.audit.audit import Audit
from recombine.report import inspection as _inspection  # noqa: F401 - plugs its words into Inspection
from recombine.report import probe as _probe  # noqa: F401 - plugs its words into Probe
from recombine.tables.table import Table


class Report:
    """The faces of an audit: HTML page, notebook summary and plain text.

    Examples
    --------
    >>> import recombine as rc
    >>> Report().notebook(rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]]))).startswith("<div")
    True
    """

    def page(
        self, audit: Audit, *, models: Table | None = None, suggestions: int | None = 5, command: str | None = None
    ) -> str:
        """Return the self-contained HTML report; see `recombine.report.audit.page.page`."""
        from recombine.report.audit.page import page

        return page(audit, models=models, suggestions=suggestions, command=command)

    def notebook(self, audit: Audit) -> str:
        """Return a short HTML summary without scripts; see `recombine.report.audit.notebook.notebook`."""
        from recombine.report.audit.notebook import notebook

        return notebook(audit)

    def text(self, audit: Audit) -> str:
        """Return the summary as plain text."""
        from recombine.report.audit.terminal import summary_text

        return summary_text(audit)


Audit.renderer = Report()
