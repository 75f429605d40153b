"""One theme, figures and the single-file HTML report. Importing this plugs the faces into `Audit`."""

from __future__ import annotations

from recombine.audit.audit import Audit
from recombine.tables import Table


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
        """Return the self-contained HTML report; see `recombine.report.page.page`."""
        from recombine.report.page import page

        return page(audit, models=models, suggestions=suggestions, command=command)

    def notebook(self, audit: Audit) -> str:
        """Return a short HTML summary without scripts; see `recombine.report.notebook.notebook`."""
        from recombine.report.notebook import notebook

        return notebook(audit)

    def text(self, audit: Audit) -> str:
        """Return the summary as plain text."""
        from recombine.report.terminal import summary_text

        return summary_text(audit)


Audit.renderer = Report()
