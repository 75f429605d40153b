"""The audit as one JSON document, for scripts and dashboards."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine import words
from recombine.cells.possible import Possible
from recombine.design.design import used_spec, used_table
from recombine.design.notes import NoteKind
from recombine.jobs.audit.ranges import Ranges
from recombine.jobs.comparison.cell_maps import cells_record, named_levels
from recombine.jobs.comparison.outcomes_kept import level_digests, noise_record
from recombine.jobs.limits import STRUCTURE_LIMITS
from recombine.report.json_text import json_document
from recombine.table_spec import spec_command
from recombine.verdicts import Verdict
from recombine.writing import printable

if TYPE_CHECKING:
    from recombine.design.design import Design
    from recombine.jobs.advice.plan import Plan
    from recombine.jobs.audit.audit import Audit
    from recombine.jobs.audit.forecast import Forecast
    from recombine.jobs.training.expected_range import ExpectedRange
    from recombine.tables.table import Table
    from recombine.theory.identification.counts import Counts
    from recombine.words.answer import Answer

#: Points of a curve in the document.
CURVE_POINTS = 41
#: Listed verdicts in the document; the rest go to a CSV file.
MAX_VERDICT_ROWS = 1_000
_version = cache(version)  # to read one from disk takes longer than the rest of a document


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
    return json_document("audit", first | audit_record(audit, plan, models))


def audit_record(audit: Audit, plan: Plan | None = None, models: Table | None = None) -> dict[str, Any]:
    """Return the audit as nested dictionaries."""
    decided, coverage, errors = audit.decided, audit.coverage, audit.values.held_out_errors
    return {
        **_table(audit, words.audit_answer.audit_answer(audit, plan)),
        "rows": coverage.rows,
        "rows_are": audit.design.observed.rows_are,
        "two_values": audit.design.outcome_column.two_values,
        "counts": _counts(decided.counts),
        "counts_order_1": _counts(decided.first_counts),
        "importance": _importance(audit),
        "route": decided.identification.route,
        "deficit": decided.identification.deficit,
        "coverage": list(coverage.ways.rows()),
        "additivity": _additivity(audit),
        "ranges": _ranges(audit),
        "shares": _shares(audit),
        "held_out": None if errors is None else list(errors.rows()),
        "forecast": _forecast(audit),
        "noise": noise_record(audit),
        "findings": [finding.record for finding in audit.findings],
        "plan": None if plan is None else _plan_record(plan),
        "models": None if models is None else list(models.rows()),
        "left_out": list(map(printable, words.verdicts.left_out_sentences(audit))),
        "listing": {
            "note": words.table.listing_sentence(decided.listing),
            "listed": len(audit.verdicts),
            "shown": min(len(audit.verdicts), MAX_VERDICT_ROWS),
        },
        "cells": cells_record(audit, printable(words.comparison.unlisted_text(audit))),
        "verdicts": list(audit.verdicts.head(MAX_VERDICT_ROWS).rows()),
    }


def _table(audit: Audit, answer: Answer) -> dict[str, Any]:
    """By what the audit was made, how the table was read, and what is assumed."""
    design, ladder, rung_fields = audit.design, audit.choice.ladder, ("name", "r2", "error", "cells", "chosen")
    impossible = Possible.product(design.sizes, design.symmetric).count - design.possible.count
    rungs = () if ladder is None else ladder.rungs
    return {
        "libraries": {name: _version(name) for name in ("numpy", "scipy", "narwhals", "duckdb")},
        "source": design.reading.source,
        "table": used_table(design),
        "answer": answer.sentences,
        "numbers": answer.numbers,
        "order": audit.order,
        "structure": _structure(audit),
        "structures": [{name: getattr(rung, name) for name in rung_fields} for rung in rungs],
        "seed": audit.seed,
        "factors": _factors(design),
        "levels": (levels := named_levels(audit)),
        "digests": None if levels is None else level_digests(design),
        "symmetric": [[design.names[member] for member in group] for group in design.symmetric],
        "factors_guessed": bool(design.reading.proposals),
        "reading": _reading(design),
        "nesting": [asdict(item) for item in design.space.nesting],
        "possible": {"cells": design.possible.count, "impossible": impossible, "list": design.space.listed_in},
        "outcome": design.outcome_column.name,
    }


def _reading(design: Design) -> dict[str, Any]:
    """How the table was read: rows, why some are left out, what was guessed and merged, and all of it in words."""
    (table, used), (spec, guessed) = design.reading.rows, used_spec(design)
    left_out = (note.numbers for note in design.reading.notes if note.kind is NoteKind.ROWS_LEFT_OUT)
    return {
        "rows": {"table": table, "used": used, "left_out": dict(next(left_out, {}))},
        "guessed": [name for name in ("factors", "outcome") if name in guessed],
        "merged": {factor.name: factor.merged for factor in design.factors if factor.merged},
        "notes": list(map(asdict, design.reading.sheet)),
        "sentences": list(map(printable, words.reading.reading_sentences(design))),
        "command": spec_command("audit", design.reading.path, spec) or None,
    }


def _structure(audit: Audit) -> dict[str, Any]:
    """What verdicts and values assume, and the curve where there is one: hidden sums and the outcome there."""
    choice = audit.choice
    fit, ladder, curve = choice.fit, choice.ladder, None
    if fit is not None and fit.curve is not None and fit.seen_range is not None:
        sums = np.linspace(*fit.seen_range, CURVE_POINTS)
        curve = {"sum": sums.tolist(), "outcome": fit.curve(sums).tolist()}
    return {
        "name": choice.name,
        "assumes": choice.assumption,
        "help": choice.structure.address or None,
        "asked": choice.asked or choice.order_asked,
        "statement": words.structure.structures_statement(audit) or None,
        "ceiling": None if ladder is None else ladder.ceiling,
        "not_tried": {} if ladder is None else ladder.skipped,
        "curve": curve,
    }


def _importance(audit: Audit) -> dict[str, Any] | None:
    """What matters: sums of importance by verdict, their shares of what is unseen, and how many cells each concerns."""
    matters = audit.decided.matters
    if matters is None:
        return None
    return {
        "statement": printable(words.importance.importance_statement(matters)),
        "scope": matters.scope,
        "unseen": matters.unseen,
        "sums": {verdict.word: matters.sums[verdict] for verdict in Verdict},
        "shares": {verdict.word: matters.share(verdict) for verdict in Verdict if verdict is not Verdict.SEEN},
        "cells": {verdict.word: matters.count(verdict) for verdict in Verdict},
    }


def _shares(audit: Audit) -> dict[str, Any] | None:
    """Return what carries the outcome, by sets of factors and by their size."""
    shares = audit.values.shares
    if shares is None:
        return None
    outcome = audit.design.outcome_column.name or "the outcome"
    return {
        "noise_is_alone": shares.shares.noise_is_alone,
        "sets": [{**row, "set": printable(str(row["set"]))} for row in shares.table.rows()],
        "by_size": list(shares.by_size.rows()),
        "sentence": words.values.shares_sentence(shares, outcome),
    }


def _ranges(audit: Audit) -> dict[str, Any] | None:
    """What the columns low and high of the verdicts are; the standard deviations are null where no range is given."""
    ranges = audit.values.ranges
    if ranges is None:
        return None
    spread = ranges.spread if isinstance(ranges, Ranges) and not ranges.obstacle and ranges.replicated else None
    return {
        "source": audit.values.source,
        "statement": words.values.ranges_sentence(audit),
        "share": STRUCTURE_LIMITS.covered_share,
        "of": words.values.range_of(ranges),
        "cells": len(ranges.misses),
        "departure": None if spread is None else float(np.sqrt(spread.departure)),
        "noise": None if spread is None else float(np.sqrt(spread.noise)),
        "residual": ranges.residual if isinstance(ranges, Ranges) else None,
    }


def _forecast(audit: Audit) -> dict[str, Any]:
    forecast = audit.forecast
    return {
        "error": None if forecast.error is None else asdict(forecast.error),
        "network": _expected(forecast.range_of()),
        "right": _expected(forecast.accuracy_range),
        "trained": _trained(forecast),
        "depths": list(forecast.depths.rows()),
        "slopes": list(forecast.slopes.rows()),
        "cells": forecast.unseen,
        "shortcuts": [{**asdict(item), "misleads": item.misleads} for item in forecast.expected_shortcuts],
        "obstacle": printable(words.forecast.why_not_forecast(forecast)) or None,
        "left_out": words.forecast.shallow_sentence(forecast) or None,
    }


def _expected(expected: ExpectedRange | None) -> dict[str, Any] | None:
    """What is expected of the next network, and how often such ranges held."""
    return None if expected is None else {**asdict(expected), "kind": expected.kind or "all"}


def _trained(forecast: Forecast) -> dict[str, Any] | None:
    """What was trained, and what each model missed by; null where theory alone forecasts."""
    training = forecast.trained
    if training is None:
        return None
    models = []
    for model in training.models:
        expected = forecast.range_of(model.name)
        low, high = (None, None) if expected is None else (expected.low, expected.high)
        errors = {"model": model.name, "error": model.error, "low": low, "high": high}
        models.append(errors | {"right": model.accuracy})
    return {
        "models": models,
        "cells": int(training.scored.sum()),
        "folds": training.folds,
        "theory": forecast.theory,
        "left_out": list(training.left_out),
        "slopes": forecast.trained_slopes,
    }


def _plan_record(plan: Plan) -> dict[str, Any]:
    cells = [
        {
            "cell": {name: str(labels[0]) for name, labels in plan.design.space.decode(np.array([pick.cell])).items()},
            "text": printable(words.plan.gain_text(plan, pick)),
            **{name: getattr(pick, name) for name in ("reason", "gain", "cost", "importance")},
        }
        for pick in plan.picks
    ]
    names = ("needed", "beyond", "several", "sampled", "enough", "gain")
    return {
        **{name: getattr(plan, name) for name in names},
        "text": printable(words.plan.plan_sentence(plan)),
        "cells": cells,
    }


def _factors(design: Design) -> list[dict[str, Any]]:
    """Name, number of levels and kind of each factor; of ordered and numeric ones the seen range and the knots."""
    records: list[dict[str, Any]] = []
    for position, factor in enumerate(design.factors):
        records.append({"name": factor.name, "levels": len(factor.levels), "scale": factor.scale})
        if design.scales and (scale := design.scales[position]) is not None:
            records[-1]["seen_range"] = [factor.labels[end] for end in scale.ends]
            records[-1]["knots"] = [factor.labels[knot] for knot in scale.knots.tolist()]
    return records


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
    tried = check.at(audit.order)
    test = None if tried is None else tried.lack_of_fit
    return {
        "state": check.state_at(audit.order),
        "statement": words.additivity.additivity_statement(check, audit.order),
        "method": words.additivity.method_phrase(check),
        "noise": None if check.noise is None else check.noise.source,
        "out_of_range": int(audit.values.beyond.sum()),
        "orders": list(check.table.rows()),
        "lack_of_fit": None if test is None else asdict(test),
        "breakers": list(check.breakers().rows()),
    }
