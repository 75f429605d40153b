"""The audit as one JSON document, for scripts and dashboards."""

from __future__ import annotations

from dataclasses import asdict
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine import words
from recombine._version import __version__
from recombine.cells.possible import Possible
from recombine.design.design import Design, used_table
from recombine.jobs.advice.plan import Pick, Plan
from recombine.jobs.comparison.cell_maps import cells_record, named_levels
from recombine.jobs.comparison.documents import SCHEMAS
from recombine.jobs.structure.held_out_ranges import HeldOutRanges
from recombine.jobs.structure.limits import STRUCTURE_LIMITS
from recombine.report.json_text import json_text
from recombine.tables.table import Table
from recombine.theory.identification.counts import Counts
from recombine.verdicts import Verdict
from recombine.words.answer import answer

if TYPE_CHECKING:
    from recombine.jobs.audit.audit import Audit

#: Points of a curve in the document.
CURVE_POINTS = 41
#: Listed verdicts in the document; the rest go to a CSV file.
MAX_VERDICT_ROWS = 1_000


def audit_json(
    audit: Audit, plan: Plan | None = None, models: Table | None = None, explained: str | None = None
) -> str:
    """Return the whole audit as JSON text; numbers that do not exist are null.

    Examples
    --------
    >>> import json, recombine as rc
    >>> audit = rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]]))
    >>> json.loads(audit_json(audit))["counts"]["determined"]
    1
    """
    first = {} if explained is None else {"explained": explained}
    return json_text(first | audit_record(audit, plan, models))


def audit_record(audit: Audit, plan: Plan | None = None, models: Table | None = None) -> dict[str, Any]:
    """Return the audit as nested dictionaries."""
    design, coverage = audit.design, audit.coverage
    return {
        "recombine": __version__,
        "kind": "audit",
        "schema": SCHEMAS["audit"],
        "libraries": {name: version(name) for name in ("numpy", "scipy", "narwhals", "duckdb")},
        "source": design.reading.source,
        "table": used_table(design),
        "answer": answer(audit),
        "order": audit.order,
        "structure": _structure(audit),
        "structures": []
        if audit.choice.ladder is None
        else [
            {name: getattr(rung, name) for name in ("name", "r2", "error", "cells", "chosen")}
            for rung in audit.choice.ladder.rungs
        ],
        "seed": audit.seed,
        "factors": _factors(design),
        "levels": named_levels(audit),
        "symmetric": [[design.names[place] for place in group] for group in design.symmetric],
        "factors_guessed": bool(design.reading.proposals),
        "nesting": [asdict(item) for item in design.space.nesting],
        "possible": {
            "cells": design.possible.count,
            "impossible": _full(design) - design.possible.count,
            "list": design.space.listed_in,
        },
        "outcome": design.outcome_column.name,
        "rows": coverage.rows,
        "rows_are": design.observed.rows_are,
        "two_values": design.outcome_column.two_values,
        "counts": _counts(audit.decided.counts),
        "counts_order_1": _counts(audit.decided.first_counts),
        "importance": _importance(audit),
        "route": audit.decided.identification.route,
        "deficit": audit.decided.identification.deficit,
        "coverage": list(coverage.ways.rows()),
        "additivity": _additivity(audit),
        "ranges": _ranges(audit),
        "held_out": None if audit.values.held_out_errors is None else list(audit.values.held_out_errors.rows()),
        "forecast": _forecast(audit),
        "findings": [finding.record for finding in audit.findings],
        "suggestions": None if plan is None else _suggestions(plan),
        "models": None if models is None else list(models.rows()),
        "left_out": words.left_out_sentences(audit),
        "listing": {
            "note": words.listing_sentence(audit.decided.listing),
            "listed": len(audit.verdicts),
            "shown": min(len(audit.verdicts), MAX_VERDICT_ROWS),
        },
        "cells": cells_record(audit, words.unlisted_text(audit)),
        "verdicts": list(audit.verdicts.head(MAX_VERDICT_ROWS).rows()),
    }


def _structure(audit: Audit) -> dict[str, Any]:
    """What verdicts and values assume, and the curve where there is one: hidden sums and the outcome there."""
    choice, fit, curve = audit.choice, audit.choice.fit, None
    if fit is not None and fit.curve is not None and fit.seen_range is not None:
        sums = np.linspace(*fit.seen_range, CURVE_POINTS)
        curve = {"sum": sums.tolist(), "outcome": fit.curve(sums).tolist()}
    return {
        "name": choice.name,
        "assumes": choice.assumption,
        "asked": choice.asked,
        "statement": words.choice_statement(choice) or None,
        "ceiling": None if choice.ladder is None else choice.ladder.ceiling,
        "not_tried": {} if choice.ladder is None else choice.ladder.skipped,
        "curve": curve,
    }


def _importance(audit: Audit) -> dict[str, Any] | None:
    """What matters: sums of importance by verdict, their shares of what is unseen, and how many cells each concerns."""
    found = audit.decided.matters
    if found is None:
        return None
    return {
        "statement": words.importance_statement(found),
        "scope": found.scope,
        "unseen": found.unseen,
        "sums": {verdict.word: found.sums[verdict] for verdict in Verdict},
        "shares": {verdict.word: found.share(verdict) for verdict in Verdict if verdict is not Verdict.SEEN},
        "cells": {verdict.word: found.count(verdict) for verdict in Verdict},
    }


def _ranges(audit: Audit) -> dict[str, Any] | None:
    """What the columns low and high of the verdicts are; the standard deviations are null where no range is given."""
    found = audit.values.ranges
    if found is None:
        return None
    told = {
        "statement": words.ranges_sentence(audit),
        "share": STRUCTURE_LIMITS.covered_share,
        "of": words.range_of(found),
        "cells": len(found.misses),
    }
    if isinstance(found, HeldOutRanges):
        return {**told, "departure": None, "noise": None, "residual": None}
    given = not found.obstacle
    return {
        **told,
        "departure": float(np.sqrt(found.spread.departure)) if given and found.replicated else None,
        "noise": float(np.sqrt(found.spread.noise)) if given and found.replicated else None,
        "residual": found.residual,
    }


def _forecast(audit: Audit) -> dict[str, Any]:
    found = audit.forecast
    return {
        "error": None if found.error is None else asdict(found.error),
        "depths": list(found.depths.rows()),
        "slopes": list(found.slopes.rows()),
        "cells": found.unseen,
        "shortcuts": [{**asdict(item), "misleads": item.misleads} for item in found.shortcuts],
        "accuracy": None if found.accuracy is None else list(found.accuracy.rows()),
        "obstacle": words.why_not_forecast(found) or None,
        "left_out": words.shallow_sentence(found) or None,
    }


def _suggestions(plan: Plan) -> dict[str, Any]:
    cells = [
        {
            "cell": _labels(plan, pick),
            "reason": pick.reason,
            "gain": pick.gain,
            "text": words.gain_text(plan, pick),
            "cost": pick.cost,
            "importance": pick.importance,
        }
        for pick in plan.picks
    ]
    return {
        "needed": plan.needed,
        "beyond": plan.beyond,
        "several": plan.several,
        "sampled": plan.sampled,
        "enough": plan.enough,
        "gain": plan.gain,
        "text": words.plan_sentence(plan),
        "cells": cells,
    }


def _factors(design: Design) -> list[dict[str, Any]]:
    """Name, number of levels and kind of each factor; of ordered and numeric ones the seen range and the knots."""
    found: list[dict[str, Any]] = []
    for place, factor in enumerate(design.factors):
        found.append({"name": factor.name, "levels": len(factor.levels), "scale": factor.scale})
        if design.scales and (scale := design.scales[place]) is not None:
            found[-1]["seen_range"] = [factor.labels[end] for end in scale.ends]
            found[-1]["knots"] = [factor.labels[knot] for knot in scale.knots.tolist()]
    return found


def _full(design: Design) -> int:
    return Possible.product(design.sizes, design.symmetric).count


def _labels(plan: Plan, pick: Pick) -> dict[str, str]:
    return {name: str(labels[0]) for name, labels in plan.design.space.decode(np.array([pick.cell])).items()}


def _counts(counts: Counts) -> dict[str, Any]:
    shown: dict[str, Any] = {verdict.word: counts[verdict] for verdict in Verdict}
    shown |= {"total": counts.total, "exact": counts.exact, "sampled": counts.sampled}
    if not counts.exact:
        shown["interval"] = {verdict.word: [counts.low[verdict], counts.high[verdict]] for verdict in Verdict}
    return shown


def _additivity(audit: Audit) -> dict[str, Any] | None:
    check = audit.structure.additivity
    if check is None:
        return None
    asked = check.at(audit.order)
    test = None if asked is None else asked.lack_of_fit
    return {
        "state": check.state_at(audit.order),
        "statement": words.additivity_statement(check, audit.order),
        "method": words.method_phrase(check),
        "noise": None if check.noise is None else check.noise.source,
        "out_of_range": int(audit.values.beyond.sum()),
        "orders": list(check.table.rows()),
        "lack_of_fit": None if test is None else asdict(test),
        "breakers": list(check.breakers().rows()),
    }
