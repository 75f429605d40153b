"""The comparison as one JSON document."""

from __future__ import annotations

from typing import Any

from recombine.jobs.comparison.audits import AuditComparison
from recombine.jobs.comparison.differences import Difference
from recombine.jobs.comparison.documents import AuditDocument, FindingRecord, ScoreDocument
from recombine.jobs.comparison.scores import AmountChange, ScoreComparison
from recombine.registry import help_address
from recombine.report.json_text import json_document
from recombine.words.comparison import OUTSIDE_RULE, comparison_headline, comparison_notes, forecast_rows
from recombine.writing import printable

#: Cells gained, and cells lost, that the document lists.
MAX_CELLS_RECORDED = 1_000
_FINDING_TEXTS = ("title", "severity", "message")


def comparison_json(comparison: AuditComparison | ScoreComparison, met: list[str] | None = None) -> str:
    """Return a comparison as JSON text; ``met`` is what of ``--fail-on`` is there.

    Examples
    --------
    >>> import json, recombine as rc
    >>> audit = rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]]))
    >>> json.loads(comparison_json(rc.compare(audit, audit)))["changed"]
    False
    """
    record = {
        "of": "audit" if isinstance(comparison, AuditComparison) else "score",
        "before": _side(comparison.before),
        "after": _side(comparison.after),
        "changed": comparison.changed,
        "answer": printable(comparison_headline(comparison)),
        "notes": list(map(printable, comparison_notes(comparison))),
        "failed": list(map(printable, met or [])),
        "settings": _pairs(comparison.settings),
    }
    more = _audit(comparison) if isinstance(comparison, AuditComparison) else _score(comparison)
    return json_document("comparison", record | more)


def _side(document: AuditDocument | ScoreDocument) -> dict[str, Any]:
    fields = {"source": document.source, "recombine": document.recombine, "seed": document.seed}
    return fields | ({"rows": document.rows} if isinstance(document, AuditDocument) else {})


def _pairs(changes: Any) -> list[dict[str, Any]]:
    return [{"what": what, "before": old, "after": new} for what, (old, new) in changes.items()]


def _audit(comparison: AuditComparison) -> dict[str, Any]:
    moved = comparison.transitions
    return {
        "counts": _pairs(comparison.counts),
        "transitions": None
        if moved is None
        else {
            "table": list(moved.table.rows()),
            "gained": comparison.gained,
            "lost": comparison.lost,
            "vanished": comparison.vanished,
            "only_before": int(moved.only_before.sum()),
            "only_after": int(moved.only_after.sum()),
            "gained_cells": moved.listed(moved.gained, MAX_CELLS_RECORDED),
            "lost_cells": moved.listed(moved.lost, MAX_CELLS_RECORDED),
        },
        "factors": _names(comparison.factors),
        "levels": {name: _names(change) for name, change in comparison.levels.items() if change.changed},
        "respelled": [{"factor": name, "gone": old, "new": new} for name, old, new in comparison.respelled],
        "renamed": comparison.renamed,
        "noisier": comparison.noisier,
        "findings": {
            "new": [_finding(item) for item in comparison.findings.new],
            "gone": [_finding(item) for item in comparison.findings.gone],
            "stay": [
                {**_finding(new), "message_before": printable(old.message)} for old, new in comparison.findings.stay
            ],
        },
        "structure": {"before": comparison.before.structure.name, "after": comparison.after.structure.name},
        "forecast": _pairs(forecast_rows(comparison)),
    }


def _names(change: Difference) -> dict[str, Any]:
    return {"new": change.new, "gone": change.gone}


def _finding(item: FindingRecord) -> dict[str, Any]:
    subject = item.subjects[0] if item.subjects else None
    named = {"code": item.code, "subject": subject, "help": help_address("finding", item.code) or None}
    return named | {name: printable(getattr(item, name)) for name in _FINDING_TEXTS}


def _score(comparison: ScoreComparison) -> dict[str, Any]:
    return {
        "rule": OUTSIDE_RULE,
        "same_cells": comparison.same_cells,
        "common_cells": comparison.common,
        "models": comparison.models,
        "better": comparison.better,
        "worse": comparison.worse,
        "changes": {name: [_change(change) for change in changes] for name, changes in comparison.changes.items()},
    }


def _change(change: AmountChange) -> dict[str, Any]:
    sides = {"before": change.before, "after": change.after, "rise per cell": change.rise}
    return {"what": change.what, **sides, "outside": change.outside}
