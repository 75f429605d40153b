"""Predictions in: one number per held-out cell and model, from arrays or from a table with rows of any order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.conjunctions import canonical, distinct
from recombine.design.design import Design
from recombine.design.naming import split_parts
from recombine.design.parts import with_levels
from recombine.errors import InputError, near_miss
from recombine.tables.columns import classes_of
from recombine.tables.frames import Source, open_table
from recombine.tables.grouping import training_rows
from recombine.writing import listing, plural

#: What a model is called whose predictions come without a name.
UNNAMED = "prediction"
#: What stands between a model's name and a class in the names of columns of chances.
BETWEEN = (":", "_", ".", " ", "-")
#: Chances may sum to so much more or less than 1.
OFF = 1e-3


def read_predictions(
    designs: Sequence[Design],
    predictions: object,
    columns: Sequence[str] = (),
    split: str | None = None,
    classes: Sequence[str] = (),
) -> dict[str, FloatArray]:
    """Return model -> mean prediction at each held-out cell, (H, K), in the designs' order.

    Parameters
    ----------
    designs : sequence of Design
        One, or one per class; all have the same cells.
    predictions : mapping of str to array (H,) or (H, K), array, path or dataframe
        Arrays hold one number per row of ``design.held_out``, and per class; a table has the design's factor columns.
    columns : sequence of str
        The columns of a table that hold predictions, one per model. Chances of classes stand in columns
        ``model:class``, or a column ``model`` holds the predicted class.
    split : str, optional
        ``"column"`` or ``"column=value"`` of a table whose training rows are to be left out.
    classes : sequence of str
        Of the K designs, where there are several.

    Examples
    --------
    >>> design = Design.from_cells([[0, 0], [0, 1], [1, 0], [1, 1]], [1, 2, 3, 4], train=[True, True, True, False])
    >>> read_predictions([design], {"sum": [4.5]})
    {'sum': array([[4.5]])}
    """
    if isinstance(columns, str):
        raise InputError(f"columns is the text {columns!r}; give a list of column names")
    design = designs[0]
    if isinstance(predictions, Mapping):
        found = {str(name): _array(design, values, str(name), classes) for name, values in predictions.items()}
    elif isinstance(predictions, np.ndarray | list | tuple):
        found = {UNNAMED: _array(design, predictions, UNNAMED, classes)}
    else:
        found = _from_table(design, open_table(predictions), columns, split, classes)
    if not found:
        raise InputError("no model is named; give predictions of at least one")
    for name, values in found.items():
        _refuse_odd(designs, name, values)
        if classes:
            _refuse_no_chances(design, name, values)
    return found


def _array(design: Design, values: Any, name: str, classes: Sequence[str]) -> FloatArray:
    try:
        found = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"predictions {name!r} hold something that is no number; give numbers") from None
    count = len(design.held_out)
    if found.shape not in ([(count, len(classes))] if classes else [(count,), (count, 1)]):
        each = f" and each of the {len(classes)} classes" if classes else ""
        raise InputError(
            f"predictions {name!r} have shape {found.shape}; give one number for each of the {count:,} held-out "
            f"cells{each}, in the order of design.held_out"
        )
    found = found.reshape(count, -1)
    wrong = np.flatnonzero(~np.isfinite(found).all(axis=1))
    if len(wrong):
        cell = design.label(design.held_out[wrong[0]])
        raise InputError(
            f"predictions {name!r} hold no finite number for {plural(len(wrong), 'held-out cell')}, such as {cell}; "
            "predict every one"
        )
    return found


def _refuse_odd(designs: Sequence[Design], name: str, values: FloatArray) -> None:
    """Refuse predictions that are the same everywhere, or the outcomes themselves."""
    if len(values) < 2:
        return
    if (np.ptp(values, axis=0) == 0).all():
        raise InputError(
            f"prediction {name!r} is {listing(f'{value:g}' for value in values[0])} in every held-out cell; a constant "
            "is shown beside every score already, so give predictions that vary"
        )
    two = designs[0].two_values if len(designs) == 1 else None
    if two is not None:
        reach = two[1] - two[0]
        wrong = np.flatnonzero((values[:, 0] < two[0] - reach) | (values[:, 0] > two[1] + reach))
        if len(wrong):
            cell = designs[0].label(designs[0].held_out[wrong[0]])
            raise InputError(
                f"prediction {name!r} is {values[wrong[0], 0]:g} for {cell}, and the outcome is {two[0]:g} or "
                f"{two[1]:g}; turn logits or percentages into chances first"
            )
    outcome = observed_outcomes(designs)
    several = all(design.two_values is None for design in designs)
    if several and np.allclose(values, outcome, rtol=0.0, atol=1e-9 * float(np.ptp(outcome))):
        raise InputError(
            f"prediction {name!r} equals the outcome {designs[0].outcome_name!r} in every held-out cell; name the "
            "model's predictions"
        )


def _refuse_no_chances(design: Design, name: str, values: FloatArray) -> None:
    """Refuse numbers (H, K) that are no chances of K classes."""
    wrong = np.flatnonzero(((values < -OFF) | (values > 1 + OFF)).any(axis=1))
    if len(wrong):
        cell, value = design.label(design.held_out[wrong[0]]), values[wrong[0]]
        odd = value[(value < -OFF) | (value > 1 + OFF)][0]
        raise InputError(
            f"prediction {name!r} gives {cell} the chance {odd:g} of a class; chances lie between 0 and 1 (turn "
            "logits or percentages into chances first)"
        )
    off = np.flatnonzero(np.abs(values.sum(axis=1) - 1) > OFF)
    if len(off):
        cell, total = design.label(design.held_out[off[0]]), values[off[0]].sum()
        raise InputError(
            f"prediction {name!r} gives {cell} chances that sum to {total:.4g}, not 1, and so in "
            f"{plural(len(off), 'held-out cell')}; name the chances of every class"
        )


def observed_outcomes(designs: Sequence[Design]) -> FloatArray:
    """Return the mean outcome of each held-out cell, (H, K), one column per design."""
    found = []
    for design in designs:
        assert design.outcome is not None
        found.append(design.outcome[~design.train])
    return np.stack(found, axis=1)


def _from_table(
    design: Design, source: Source, columns: Sequence[str], split: str | None, classes: Sequence[str]
) -> dict[str, FloatArray]:
    if not columns:
        raise InputError(
            f"which columns of {source.name} hold predictions? Name them with --prediction (columns in Python)"
        )
    column, value = split_parts(split, source)
    if split is None and design.spec.split is not None:
        column, value = split_parts(design.spec.split, source)
        column, value = (column, value) if column in source.columns else (None, None)
    for name in design.columns:
        source.require(name, "factor")
    named = [_named_columns(design, source, name, classes) for name in columns]
    for place, name in enumerate(columns):
        if name in columns[:place]:
            raise InputError(f"prediction {name!r} is named twice; name each model once")
        outcome = str(design.outcome_name).removesuffix(f"={classes[0]}") if classes else design.outcome_name
        role = {column: "the split", outcome: "the outcome"} | dict.fromkeys(design.columns, "a factor")
        for one in named[place]:
            if one in role:
                raise InputError(f"column {one!r} is both a prediction and {role[one]}; give it one part")
    parts = {
        (model, place): (one, _number(design, source, one, classes, place if len(used) == 1 and classes else None))
        for model, used in zip(columns, named, strict=True)
        for place, one in enumerate(used * len(classes) if len(used) == 1 and classes else used)
    }
    groups = _grouped(design, source, dict(enumerate(parts.values())), column)
    keep = np.ones(len(groups["rows"]), dtype=bool)
    if column is not None:
        keep = ~training_rows(groups[column], column, value)
    cells = _coded(design, source, {name: groups[name][keep] for name in design.columns})
    where = _matched(design, source, cells)
    rows = np.bincount(where[where >= 0], groups["rows"][keep][where >= 0], minlength=len(design.held_out))
    found: dict[str, list[FloatArray]] = {name: [] for name in columns}
    for place, ((model, _), (name, _)) in enumerate(parts.items()):
        sums, absent = groups[f"sum {place}"][keep], groups[f"absent {place}"][keep]
        lacking = np.flatnonzero((absent > 0) & (where >= 0))
        if len(lacking):
            cell, count = design.label(cells[lacking[0]]), int(absent[lacking].sum())
            raise InputError(
                f"prediction {name!r} of {source.name} is no finite number in {plural(count, 'held-out row')}, such as "
                f"one of {cell}; predict every one"
            )
        found[model].append(np.bincount(where[where >= 0], sums[where >= 0], minlength=len(rows)) / rows)
    return {name: np.stack(some, axis=1) for name, some in found.items()}


def _named_columns(design: Design, source: Source, model: str, classes: Sequence[str]) -> list[str]:
    """Return the column of a model's predictions, or the columns of its chances of every class."""
    if model in source.columns or not classes:
        return [source.require(model, "prediction")]
    for between in BETWEEN:
        each = [f"{model}{between}{name}" for name in classes]
        lacking = [name for name in each if name not in source.columns]
        if not lacking:
            return each
        if len(lacking) < len(each):
            there = next(name for name in each if name in source.columns)
            raise InputError(
                f"prediction {model!r} has no column {lacking[0]!r} in {source.name} beside {there!r}; give the "
                f"chances of all {len(each)} classes"
            )
    raise InputError(
        f"prediction {model!r} is not a column of {source.name}, nor are {model}:{classes[0]}, {model}:{classes[1]}, "
        f"...;{near_miss(model, source.columns)} Name a column of predicted classes, or chances of every class"
    )


def _grouped(
    design: Design, source: Source, columns: Mapping[int, tuple[str, Any]], split: str | None
) -> dict[str, npt.NDArray[Any]]:
    """Return rows, sums and numbers of absent predictions by factors (and split), in one pass."""
    import narwhals as nw

    keys = [*design.columns, *([split] if split else [])]
    if split is not None:
        source.require(split, "split")
    source = source.kept([*keys, *(name for name, _ in columns.values())])
    frame = source.frame
    for name in keys:
        present = ~source.col(name).is_null()
        if source.reader.typed and source.kind(name) == "number":
            present = present & ~source.col(name).is_nan()
        frame = frame.filter(present)
    parts = {}
    for place, (name, number) in columns.items():
        value = number(source.col(name)).cast(nw.Float64)
        finite = ~source.col(name).is_null() & value.is_finite()
        parts[f"__sum{place}"] = nw.when(finite).then(value).otherwise(0.0)
        parts[f"__absent{place}"] = nw.when(finite).then(0).otherwise(1)
    by = [source.keys[name] for name in keys]
    frame = frame.select(*by, *[expression.alias(name) for name, expression in parts.items()])
    found = source.fetch(frame.group_by(*by).agg(nw.len().alias("__rows"), *[nw.col(name).sum() for name in parts]))
    named = {name: found[source.keys[name]] for name in keys} | {"rows": found["__rows"].astype(float)}
    for place in columns:
        named[f"sum {place}"] = found[f"__sum{place}"].astype(float)
        named[f"absent {place}"] = found[f"__absent{place}"].astype(float)
    return named


def _number(
    design: Design, source: Source, name: str, classes: Sequence[str], chosen: int | None
) -> Callable[[Any], Any]:
    """Return what makes a number of a column's values: a class is 1 where it is the ``chosen`` one, or the second."""
    if chosen is None and source.kind(name) in ("integer", "number", "flag"):
        return lambda column: column
    known = tuple(classes) if chosen is not None else design.outcome_labels
    values = classes_of(source, name, "prediction")
    if known is None or not set(values) <= set(known):
        odd = [text for text in values if known is None or text not in known]
        rather = "" if known is None else f" or one of {listing(known)}"
        raise InputError(
            f"prediction {name!r} of {source.name} holds {listing(odd, 3)}; give numbers{rather}, as the outcome has"
        )
    wanted = known[1] if chosen is None else known[chosen]
    if wanted not in values:
        return lambda column: column.is_null()
    return lambda column: column == values[wanted]


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
