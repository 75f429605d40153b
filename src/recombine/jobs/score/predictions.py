"""Predictions in: one number per held-out cell and model, from arrays or from a table with rows of any order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.conjunctions import canonical, distinct
from recombine.design.design import Design
from recombine.design.naming import split_parts
from recombine.design.parts import with_levels
from recombine.errors import InputError, listing, near_miss, plural
from recombine.tables.frames import Source, open_table
from recombine.tables.grouping import training_rows

#: What a model is called whose predictions come without a name.
UNNAMED = "prediction"


def read_predictions(
    design: Design, predictions: object, columns: Sequence[str] = (), split: str | None = None
) -> dict[str, FloatArray]:
    """Return model -> mean prediction at each held-out cell of ``design``, (H,), in its order.

    Parameters
    ----------
    design : Design
    predictions : mapping of str to array (H,), array (H,), path or dataframe
        Arrays hold one number per row of ``design.held_out``; a table has the design's factor columns.
    columns : sequence of str
        The columns of a table that hold predictions, one per model.
    split : str, optional
        ``"column"`` or ``"column=value"`` of a table whose training rows are to be left out.

    Examples
    --------
    >>> design = Design.from_cells([[0, 0], [0, 1], [1, 0], [1, 1]], [1, 2, 3, 4], train=[True, True, True, False])
    >>> read_predictions(design, {"sum": [4.5]})
    {'sum': array([4.5])}
    """
    if isinstance(columns, str):
        raise InputError(f"columns is the text {columns!r}; give a list of column names")
    if isinstance(predictions, Mapping):
        found = {str(name): _array(design, values, str(name)) for name, values in predictions.items()}
    elif isinstance(predictions, np.ndarray | list | tuple):
        found = {UNNAMED: _array(design, predictions, UNNAMED)}
    else:
        found = _from_table(design, open_table(predictions), columns, split)
    if not found:
        raise InputError("no model is named; give predictions of at least one")
    for name, values in found.items():
        _refuse_odd(design, name, values)
    return found


def _array(design: Design, values: Any, name: str) -> FloatArray:
    try:
        found = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"predictions {name!r} hold something that is no number; give numbers") from None
    count = len(design.held_out)
    if found.shape != (count,):
        raise InputError(
            f"predictions {name!r} have shape {found.shape}; give one number for each of the {count:,} held-out cells, "
            "in the order of design.held_out"
        )
    wrong = np.flatnonzero(~np.isfinite(found))
    if len(wrong):
        cell = design.label(design.held_out[wrong[0]])
        raise InputError(
            f"predictions {name!r} hold no finite number for {plural(len(wrong), 'held-out cell')}, such as {cell}; "
            "predict every one"
        )
    return found


def _refuse_odd(design: Design, name: str, values: FloatArray) -> None:
    """Refuse predictions that are the same everywhere, or the outcomes themselves."""
    assert design.outcome is not None
    if len(values) > 1 and np.ptp(values) == 0:
        raise InputError(
            f"prediction {name!r} is {values[0]:g} in every held-out cell; a constant is shown beside every score "
            "already, so give predictions that vary"
        )
    outcome = design.outcome[~design.train]
    if (
        design.two_values is None
        and len(values) > 1
        and np.allclose(values, outcome, rtol=0.0, atol=1e-9 * float(np.ptp(outcome)))
    ):
        raise InputError(
            f"prediction {name!r} equals the outcome {design.outcome_name!r} in every held-out cell; name the model's "
            "predictions"
        )


def _from_table(design: Design, source: Source, columns: Sequence[str], split: str | None) -> dict[str, FloatArray]:
    if not columns:
        raise InputError(f"which columns of {source.name} hold predictions? Name them with --prediction")
    column, value = split_parts(split, source)
    for name in design.columns:
        source.require(name, "factor")
    for place, name in enumerate(columns):
        source.require(name, "prediction")
        if name in columns[:place]:
            raise InputError(f"prediction {name!r} is named twice; name each model once")
        role = {column: "split", design.outcome_name: "outcome"} | dict.fromkeys(design.columns, "factor")
        if name in role:
            raise InputError(f"column {name!r} is both a prediction and the {role[name]}; give it one part")
    groups = _grouped(design, source, columns, column)
    keep = np.ones(len(groups["rows"]), dtype=bool)
    if column is not None:
        keep = ~training_rows(groups[column], column, value)
    cells = _coded(design, source, {name: groups[name][keep] for name in design.columns})
    where = _matched(design, source, cells)
    rows = np.bincount(where[where >= 0], groups["rows"][keep][where >= 0], minlength=len(design.held_out))
    found = {}
    for place, name in enumerate(columns):
        sums, absent = groups[f"sum {place}"][keep], groups[f"absent {place}"][keep]
        lacking = np.flatnonzero((absent > 0) & (where >= 0))
        if len(lacking):
            cell, count = design.label(cells[lacking[0]]), int(absent[lacking].sum())
            raise InputError(
                f"prediction {name!r} of {source.name} is no finite number in {plural(count, 'held-out row')}, such as "
                f"one of {cell}; predict every one"
            )
        found[name] = np.bincount(where[where >= 0], sums[where >= 0], minlength=len(rows)) / rows
    return found


def _grouped(design: Design, source: Source, columns: Sequence[str], split: str | None) -> dict[str, npt.NDArray[Any]]:
    """Return rows, sums and numbers of absent predictions by factors (and split), in one pass."""
    import narwhals as nw

    keys = [*design.columns, *([split] if split else [])]
    if split is not None:
        source.require(split, "split")
    source = source.kept([*keys, *columns])
    frame = source.frame
    for name in keys:
        present = ~source.col(name).is_null()
        if source.reader.typed and source.kind(name) == "number":
            present = present & ~source.col(name).is_nan()
        frame = frame.filter(present)
    parts = {}
    for place, name in enumerate(columns):
        value = _number(design, source, name)
        finite = ~source.col(name).is_null() & value.is_finite()
        parts[f"__sum{place}"] = nw.when(finite).then(value).otherwise(0.0)
        parts[f"__absent{place}"] = nw.when(finite).then(0).otherwise(1)
    by = [source.keys[name] for name in keys]
    frame = frame.select(*by, *[expression.alias(name) for name, expression in parts.items()])
    found = source.fetch(frame.group_by(*by).agg(nw.len().alias("__rows"), *[nw.col(name).sum() for name in parts]))
    named = {name: found[source.keys[name]] for name in keys} | {"rows": found["__rows"].astype(float)}
    for place in range(len(columns)):
        named[f"sum {place}"] = found[f"__sum{place}"].astype(float)
        named[f"absent {place}"] = found[f"__absent{place}"].astype(float)
    return named


def _number(design: Design, source: Source, name: str) -> Any:
    """Return the narwhals expression of a prediction as a number; classes are those of the outcome."""
    import narwhals as nw

    if source.kind(name) in ("integer", "number", "flag"):
        return source.col(name).cast(nw.Float64)
    part = source.only([name])
    values = sorted(map(str, part.fetch(part.frame.drop_nulls().unique().head(5))["c0"].tolist()))
    if design.outcome_labels is None or not set(values) <= set(design.outcome_labels):
        classes = "" if design.outcome_labels is None else f" or one of {listing(design.outcome_labels)}"
        raise InputError(
            f"prediction {name!r} of {source.name} holds {listing(values, 3)}; give numbers{classes}, as the outcome "
            "has"
        )
    return (source.col(name) == design.outcome_labels[1]).cast(nw.Float64)


def _coded(design: Design, source: Source, levels: Mapping[str, npt.NDArray[Any]]) -> IntArray:
    """Return cells (N, C) of the grouped rows, whose levels must all be levels of the design."""
    plain = with_levels(design.parts, levels, source.name)
    for factor in design.factors:
        fresh = factor.unknown(plain[factor.name])
        if fresh:
            raise InputError(
                f"{source.name}: {fresh[0]!r} is not a level of factor {factor.name!r} in {design.source};"
                f"{near_miss(fresh[0], factor.labels)} Score the cells that were held out"
            )
    codes = np.stack([factor.codes(plain[factor.name]) for factor in design.factors], axis=1)
    return canonical(codes, design.symmetric)


def _matched(design: Design, source: Source, cells: IntArray) -> IntArray:
    """Return for each of ``cells`` (N, C) its place among the held-out cells, -1 if it is none of them."""
    held = design.held_out
    rows, where = distinct(np.vstack([held, cells]))
    place = np.full(len(rows), -1)
    place[where[: len(held)]] = np.arange(len(held))
    found: IntArray = place[where[len(held) :]]
    missing = np.setdiff1d(np.arange(len(held)), found)
    if len(missing):
        raise InputError(
            f"{source.name} has no prediction for {len(missing):,} of {plural(len(held), 'held-out cell')}, such as "
            f"{design.label(held[missing[0]])}; predict every one"
        )
    return found
