"""The score as JSON."""

from __future__ import annotations

from typing import Any

from recombine.design.design import used_table
from recombine.jobs.comparison.cell_maps import cells_digest
from recombine.jobs.comparison.documents import BY_FACTOR
from recombine.jobs.comparison.paired_errors import cell_errors_record
from recombine.jobs.score import ModelScore, Score, Slice
from recombine.jobs.score.attribution import Attribution
from recombine.jobs.score.causes import CAUSES
from recombine.report.json_text import json_document
from recombine.words.score import (
    below_noise_sentence,
    calibration_sentence,
    model_sentences,
    score_answers,
    unclear_sentences,
)
from recombine.words.structure import search_sentences
from recombine.writing import printable


def score_json(score: Score) -> str:
    """Return the score as JSON text.

    Examples
    --------
    >>> import json, numpy as np, recombine as rc
    >>> cells = np.indices((6, 6)).reshape(2, -1).T
    >>> design = rc.Design.from_cells(cells, cells @ [1.0, 2.0], train=cells.sum(axis=1) % 3 > 0)
    >>> scored = rc.score(design, {"net": design.held_out @ [1.0, 1.0]})
    >>> json.loads(score_json(scored))["models"][0]["name"]
    'net'
    """
    design = score.design
    record = {
        "source": design.reading.source,
        "table": used_table(design) | {"outcome": score.outcome_name},
        "outcome": score.outcome_name,
        "classes": list(score.classes),
        "factors": list(design.names),
        "structure": score.audit.choice.name,
        "assumption": score.audit.choice.assumption,
        "seen cells": len(design.seen),
        "held-out cells": len(score.codes),
        "determined cells": score.determined,
        "held-out digest": cells_digest(design, design.held_out),
        "answers": list(map(printable, score_answers(score))),
        "models": [_model_record(score, model) for model in score.models],
        "beside": list(score.errors.rows()),
        "pairs": list(score.pairs.rows()),
        "failed": {name: stop.problem for name, stop in score.failed.items()},
        "unclear": list(map(printable, unclear_sentences(score))),
        "help": {cause.name: cause.address or None for cause in CAUSES},
        "left_out": list(map(printable, search_sentences(score.audit.choice))),
        "seed": score.audit.seed,
        "cell errors": cell_errors_record(score),
    }
    return json_document("score", record)


def _model_record(score: Score, model: ModelScore) -> dict[str, Any]:
    attribution = model.attribution
    record: dict[str, Any] = {
        "name": model.name,
        "error on unseen cells": model.unseen_error,
        "by verdict": list(model.by_verdict.rows()),
    }
    if model.below_noise is not None:
        record["below noise"] = {**vars(model.below_noise), "sentence": printable(below_noise_sentence(model))}
    if model.slices:
        record["slices"] = [_slice_record(worst) for worst in model.slices]
    if model.calibration is not None:
        record["calibration"] = _calibration_record(model)
    if attribution is None or model.gain is None:
        return record
    return record | {
        "error on determined cells": attribution.error,
        "causes": model.causes,
        "removed alone": model.removals,
        "got right by": attribution.by,
        **_by_factor(attribution),
        "gain over adding": model.gain,
        "explained": model.explained,
        "sentences": list(map(printable, model_sentences(score, model))),
    }


def _slice_record(worst: Slice) -> dict[str, Any]:
    fields = {name.replace("_", " "): value for name, value in vars(worst).items()}
    return {"name": worst.name, **fields, "levels": dict(worst.levels)}


def _calibration_record(model: ModelScore) -> dict[str, Any]:
    """Return how far chances are from right, without what has no meaning for several classes."""
    told = model.calibration
    assert told is not None
    record: dict[str, Any] = {
        "slope": told.slope,
        "cells": told.cells,
        "clipped": told.clipped,
        "over-confident": told.over_confident,
        "under-confident": told.under_confident,
        "too high": told.too_high,
        "too low": told.too_low,
        "sentence": printable(calibration_sentence(model)),
    }
    return record if told.intercept is None else record | {"intercept": told.intercept}


def _by_factor(attribution: Attribution) -> dict[str, Any]:
    """Return the amounts of causes, and their coefficients under the names that the causes give them, by factor."""
    tables = {f"{name}{BY_FACTOR}": table.amounts for name, table in attribution.per_factor.items()}
    coefficients = {
        f"{coefficient.name}{BY_FACTOR}": table.coefficients
        for name, table in attribution.per_factor.items()
        if (coefficient := CAUSES[name].coefficient) is not None
    }
    return tables | coefficients
