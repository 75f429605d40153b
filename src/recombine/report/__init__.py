"""Outputs: a result as text for a terminal, HTML for a notebook, one self-contained page, JSON, and figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package
from recombine.jobs.outputs import OUTPUTS

if TYPE_CHECKING:
    from recombine.report import audit as audit
    from recombine.report import comparison as comparison
    from recombine.report import score as score
    from recombine.report.figure import Figure as Figure
    from recombine.report.inspection import inspection_json as inspection_json
    from recombine.report.inspection import inspection_text as inspection_text
    from recombine.report.inspection import show_inspection as show_inspection
    from recombine.report.probe import probe_json as probe_json
    from recombine.report.probe import probe_text as probe_text
    from recombine.report.probe import show_probe as show_probe
    from recombine.report.split import check_json as check_json
    from recombine.report.split import check_text as check_text
    from recombine.report.split import show_check as show_check
    from recombine.report.split import show_split as show_split
    from recombine.report.split import split_json as split_json
    from recombine.report.split import split_text as split_text
    from recombine.report.theme import theme as theme

lazy_package(__name__)

OUTPUTS |= {
    "Audit": {
        "json": "recombine.report.audit.record:audit_json",
        "text": "recombine.report.audit.terminal:audit_text",
        "notebook": "recombine.report.audit.notebook:notebook",
        "page": "recombine.report.audit.page:page",
        "explorer": "recombine.explore.notebook:explorer",
        "explanation": "recombine.words.certificates:explanation",
    },
    **{
        f"{kind}Comparison": {
            "json": "recombine.report.comparison.record:comparison_json",
            "markdown": "recombine.report.comparison.markdown:comparison_markdown",
            "text": "recombine.report.comparison.terminal:comparison_text",
        }
        for kind in ("Audit", "Score")
    },
    "Inspection": {"text": "recombine.report.inspection:inspection_text"},
    "Probe": {"text": "recombine.report.probe:probe_text"},
    "Score": {
        "json": "recombine.report.score.record:score_json",
        "text": "recombine.report.score.terminal:score_text",
        "notebook": "recombine.report.score.notebook:score_notebook",
        "page": "recombine.report.score.page:score_page",
    },
    "SplitCheck": {"json": "recombine.report.split:check_json", "text": "recombine.report.split:check_text"},
    "TableSplit": {"json": "recombine.report.split:split_json", "text": "recombine.report.split:split_text"},
}
