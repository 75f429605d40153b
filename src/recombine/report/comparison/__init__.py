"""The comparison of two audits or scores: a screenful, JSON, and Markdown for a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.report.comparison.markdown import markdown_code as markdown_code
    from recombine.report.comparison.markdown import markdown_prose as markdown_prose
    from recombine.report.comparison.record import comparison_json as comparison_json

lazy_package(__name__)
