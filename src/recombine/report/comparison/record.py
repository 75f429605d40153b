"""The comparison as one JSON document."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from recombine._version import __version__
from recombine.jobs.comparison.audits import AuditComparison
from recombine.jobs.comparison.documents import AmountRecord, AuditDocument, FindingRecord, ScoreDocument
from recombine.jobs.comparison.scores import AmountChange, ScoreComparison
from recombine.report.json_text import json_text
from recombine.words.comparison import OUTSIDE_RULE, comparison_headline, comparison_notes

#: Cells gained, and cells lost, that the document lists.
MOST_CELLS = 1_000


def comparison_json(found: AuditComparison | ScoreComparison, met: list[str] | None = None) -> str:
    """Return a comparison as JSON text; ``met`` is what of ``--fail-on`` is there.

    Examples
    --------
    >>> import json, recombine as rc
    >>> audit = rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]]))
    >>> json.loads(comparison_json(rc.compare(audit, audit)))["changed"]
    False
    """
    record = {
        "recombine": __version__,
        "kind": "comparison",
        "schema": 1,
        "of": "audit" if isinstance(found, AuditComparison) else "score",
        "before": _side(found.before),
        "after": _side(found.after),
        "changed": found.changed,
        "answer": comparison_headline(found),
        "notes": comparison_notes(found),
        "failed": met or [],
        "settings": _pairs(found.settings),
    }
    return json_text(record | (_audit(found) if isinstance(found, AuditComparison) else _score(found)))


def _side(one: AuditDocument | ScoreDocument) -> dict[str, Any]:
    known = {"source": one.source, "recombine": one.recombine, "seed": one.seed}
    return known | ({"rows": one.rows} if isinstance(one, AuditDocument) else {})


def _pairs(found: Any) -> list[dict[str, Any]]:
    return [{"what": what, "before": old, "after": new} for what, (old, new) in found.items()]


def _audit(found: AuditComparison) -> dict[str, Any]:
    moved = found.transitions
    return {
        "counts": _pairs(found.counts),
        "transitions": None
        if moved is None
        else {
            "table": list(moved.table.rows()),
            "gained": found.gained,
            "lost": found.lost,
            "vanished": found.vanished,
            "only_before": int(moved.only_before.sum()),
            "only_after": int(moved.only_after.sum()),
            "gained_cells": list(map(asdict, moved.listed(moved.gained, MOST_CELLS))),
            "lost_cells": list(map(asdict, moved.listed(moved.lost, MOST_CELLS))),
        },
        "factors": {"new": found.factors.new, "gone": found.factors.gone},
        "levels": {
            name: {"new": change.new, "gone": change.gone} for name, change in found.levels.items() if change.changed
        },
        "respelled": [{"factor": name, "gone": old, "new": new} for name, old, new in found.respelled],
        "findings": {
            "new": [_finding(item) for item in found.findings.new],
            "gone": [_finding(item) for item in found.findings.gone],
            "stay": [{**_finding(new), "message_before": old.message} for old, new in found.findings.stay],
        },
        "structure": {"before": found.before.structure.name, "after": found.after.structure.name},
        "forecast": _pairs(found.forecast),
    }


def _finding(item: FindingRecord) -> dict[str, Any]:
    return {
        "code": item.code,
        "subject": item.subjects[0] if item.subjects else None,
        "title": item.title,
        "severity": item.severity,
        "message": item.message,
    }


def _score(found: ScoreComparison) -> dict[str, Any]:
    return {
        "rule": OUTSIDE_RULE,
        "same_cells": found.same_cells,
        "models": {"new": found.models.new, "gone": found.models.gone, "stay": found.models.stay},
        "better": found.better,
        "worse": found.worse,
        "changes": {name: [_change(one) for one in changes] for name, changes in found.changes.items()},
    }


def _change(one: AmountChange) -> dict[str, Any]:
    sides = {"before": _amount(one.before), "after": _amount(one.after), "rise per cell": _amount(one.rise)}
    return {"what": one.what, **sides, "outside": one.outside}


def _amount(amount: AmountRecord | None) -> dict[str, Any] | None:
    return None if amount is None else {"value": amount.value, "low": amount.low, "high": amount.high}
