"""Squared errors of single held-out cells, kept so that two scores of the same cells are compared cell by cell."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray
from recombine.errors import InputError
from recombine.jobs.comparison.cell_maps import KEY_BYTES, CellMap, cell_keys, ordered_cells
from recombine.jobs.comparison.documents import AmountRecord, ScoreDocument
from recombine.jobs.score.amounts import mean_amount
from recombine.jobs.score.score import Score
from recombine.verdicts import Verdict

#: Held-out cells whose errors are kept; of more only means are.
MAX_CELLS_KEPT = 100_000
#: Held-out cells that two splits share, from which on a model is compared on these.
MIN_CELLS_PAIRED = 20
#: How far the mean of kept errors may be off the mean beside it, and how small a difference is rounding, as a share.
ROUNDING_SHARE = 1e-5


def cell_errors_record(score: Score) -> dict[str, object] | None:
    """Return the verdict and each model's squared error of every held-out cell, in the order of `ordered_cells`.

    Verdicts are runs as `CellMap` writes them, errors float32 in base64. None where there are too many cells, or where
    cells matter differently, so that plain means are not what is scored.
    """
    cells = score.design.held_out
    if score.weights is not None or not 0 < len(cells) <= MAX_CELLS_KEPT:
        return None
    order = ordered_cells(score.design, cells)
    if len(order) < len(cells):
        return None
    verdicts = CellMap(np.arange(len(order))[:, None], score.codes[order].astype(np.int64)).runs((len(order),))
    errors = {}
    for model in score.models:
        squares = np.sum((model.predicted - score.observed) ** 2, axis=1)[order]
        errors[model.name] = base64.b64encode(squares.astype("<f4").tobytes()).decode()
    return {"verdicts": verdicts, "errors": errors, "cells": base64.b64encode(cell_keys(score.design, cells)).decode()}


def paired_differences(before: ScoreDocument, after: ScoreDocument, name: str) -> dict[str, AmountRecord]:
    """Return by how much a model's errors rise cell by cell, with 95 % ranges; empty where cells cannot be paired.

    They can where both documents keep the errors of the same cells, of which the same were unseen (or determined).
    Where not the same cells were held out, those are paired that both did, if they are enough.
    """
    old, new = (_cell_errors(document, name) for document in (before, after))
    common = common_cells(before, after)
    if common is None or old is None or new is None or len(old[1]) != before.held_out_cells:
        return {}
    other_cells = before.held_out_digest != after.held_out_digest
    rises = {}
    for what, unseen in (("error on unseen cells", True), ("error on determined cells", False)):
        masks = [codes != Verdict.SEEN if unseen else codes == Verdict.DETERMINED for codes in (old[0], new[0])]
        values = [_stated(document, name, unseen) for document in (before, after)]
        means = [
            float(side[mask].mean()) if mask.any() else np.nan
            for side, mask in zip((old[1], new[1]), masks, strict=True)
        ]
        sides = [mask[places] for mask, places in zip(masks, common, strict=True)]
        both = sides[0] & sides[1]
        same = other_cells or np.array_equal(*sides)
        least = MIN_CELLS_PAIRED if other_cells else 2
        if same and both.sum() >= least and np.allclose(values, means, rtol=ROUNDING_SHARE, atol=0.0):
            rise = mean_amount(new[1][common[1][both]] - old[1][common[0][both]])
            low, high = rise.low, rise.high
            if abs(rise.value) <= ROUNDING_SHARE * max(means):
                low, high = min(low, 0.0), max(high, 0.0)
            rises[what] = AmountRecord(rise.value, low, high)
    return rises


def common_cells(before: ScoreDocument, after: ScoreDocument) -> tuple[IntArray, IntArray] | None:
    """Return places of the cells that both held out, before and after; None where documents do not keep them."""
    if before.cell_errors is None or after.cell_errors is None:
        return None
    if before.held_out_digest == after.held_out_digest:
        every = np.arange(min(before.held_out_cells, after.held_out_cells))
        return None if before.held_out_cells != after.held_out_cells else (every, every)
    earlier, later = _keys(before), _keys(after)
    if not (len(earlier) and len(later)):
        return None
    _, old, new = np.intersect1d(earlier, later, return_indices=True)
    return old, new


def _keys(document: ScoreDocument) -> npt.NDArray[Any]:
    """Return by what the held-out cells (H,) of a document are known again, if it keeps that."""
    assert document.cell_errors is not None
    try:
        content = base64.b64decode(document.cell_errors.cells, validate=True)
    except ValueError:
        content = b""
    held_out = len(content) == KEY_BYTES * document.held_out_cells
    return np.frombuffer(content if held_out else b"", dtype=f"V{KEY_BYTES}").view(f"S{KEY_BYTES}")


def _stated(document: ScoreDocument, name: str, unseen: bool) -> float:
    model = next(record for record in document.models if record.name == name)
    amount = model.error_on_unseen_cells if unseen else model.error_on_determined_cells
    return np.nan if amount is None or amount.value is None else amount.value


def _cell_errors(document: ScoreDocument, name: str) -> tuple[IntArray, FloatArray] | None:
    """Return verdicts and squared errors (H,) of the held-out cells as a document keeps them, if it does."""
    record, count = document.cell_errors, document.held_out_cells
    if record is None or name not in record.errors:
        return None
    try:
        if not 0 < count <= MAX_CELLS_KEPT:
            raise InputError("it has another number of held-out cells")
        verdicts = CellMap.read(record.verdicts, (count,)).codes
        errors = _decoded(record.errors[name], count)
        if len(verdicts) != count:
            raise InputError("not every held-out cell has a verdict")
    except InputError as error:
        raise InputError(f"the cell errors of {document.source} are damaged: {error}; write the score anew") from None
    return verdicts, errors.astype(np.float64)


def _decoded(text: str, count: int) -> npt.NDArray[np.float32]:
    try:
        content = base64.b64decode(text, validate=True)
    except ValueError:
        raise InputError("they are not base64") from None
    if len(content) != 4 * count:
        raise InputError(f"they are {len(content)} bytes, not {4 * count}")
    errors = np.frombuffer(content, dtype="<f4").astype(np.float32)
    if not (np.isfinite(errors) & (errors >= 0)).all():
        raise InputError("an error is no number of 0 or more")
    return errors
