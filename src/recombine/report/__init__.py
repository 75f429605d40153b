"""Outputs: a result as text for a terminal, HTML for a notebook, one self-contained page, JSON, and figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package
from recombine.jobs.outputs import OUTPUTS

if TYPE_CHECKING:
    from recombine.report import audit as audit
    from recombine.report import comparison as comparison
    from recombine.report import score as score
    from recombine.report.screen import result_text as result_text
    from recombine.report.theme import theme as theme

lazy_package(__name__)

#: Result -> output -> function; a terminal draws the sections.
_FUNCTIONS = {
    "Audit": {
        "json": "report.audit.record:audit_json",
        "sections": "report.audit.sections:audit_sections",
        "notebook": "report.notebook:notebook",
        "page": "report.audit.page:page",
        "explorer": "explore.notebook:explorer",
        "explanation": "words.certificates:explanation",
        "answer": "words.audit_answer:audit_answer",
        "plot": "report.plots:plot_audit",
    },
    **{
        f"{kind}Comparison": {
            "json": "report.comparison.record:comparison_json",
            "markdown": "report.comparison.markdown:comparison_markdown",
            "sections": "report.comparison.sections:comparison_sections",
            "answer": "words.comparison:comparison_answer",
        }
        for kind in ("Audit", "Score")
    },
    "Plan": {"notebook": "report.notebook:plan_notebook", "plot": "report.plots:plot_plan"},
    "Probe": {"sections": "report.probe:probe_sections"},
    "Score": {
        "json": "report.score.record:score_json",
        "sections": "report.score.sections:score_sections",
        "notebook": "report.notebook:score_notebook",
        "page": "report.score.page:score_page",
        "answer": "words.score_answer:score_answer",
        "plot": "report.plots:plot_score",
        "pairs": "jobs.comparison.model_pairs:pairs_table",
    },
    "SplitCheck": {
        "json": "report.split:check_json",
        "sections": "report.split:check_sections",
        "answer": "words.split:check_answer",
    },
    "TableSplit": {"json": "report.split:split_json", "sections": "report.split:split_sections"},
}
for _result, _outputs in _FUNCTIONS.items():
    OUTPUTS[_result] = {name: f"recombine.{path}" for name, path in _outputs.items()}
    OUTPUTS[_result]["text"] = "recombine.report.screen:result_text"
