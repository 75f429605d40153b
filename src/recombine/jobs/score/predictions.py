"""Predictions in: one number per held-out cell and model, from arrays or from a table with rows of any order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.conjunctions import canonical, places_among
from recombine.design.design import Design
from recombine.design.naming import NO_OUTCOME, split_parts
from recombine.errors import InputError, near_miss
from recombine.jobs.importance import read_importance
from recombine.table_spec import TableFields, TableSpec, make_spec
from recombine.tables.columns import classes_of
from recombine.tables.frames import Source, open_table
from recombine.tables.grouping import training_rows
from recombine.theory.structures.all_structures import sum_of
from recombine.verdicts import Verdict
from recombine.writing import listing, plural

#: What stands between a model's name and a class in the names of columns of chances.
CLASS_SEPARATORS = (":", "_", ".", " ", "-")
#: Chances may sum to so much more or less than 1.
MAX_CHANCES_OFF = 1e-3


def structure_of_classes(order: int | None) -> str:
    """Return what effects do on the chances of several classes, unless a structure is asked for: they add."""
    return sum_of(order or 1).name


def first_class(source: Source, spec: TableSpec) -> str | None:
    """Return the outcome that stands for all classes where there are several, the first one's chance; else None."""
    if spec.outcome not in source.columns or not (spec.classes or has_classes(source, spec.outcome)):
        return None
    return f"{spec.outcome}={next(iter(classes_of(source, spec.outcome)))}"


def has_classes(source: Source, outcome: str) -> bool:
    """Say whether an outcome column is text with three values or more."""
    is_text = outcome in source.columns and source.kind(outcome) == "text"
    return is_text and len(classes_of(source, outcome)) > 2


def class_designs(
    data: object, spec: TableSpec | None = None, *, held_out: object = None, **fields: Unpack[TableFields]
) -> dict[str, Design]:
    """Return class -> design whose outcome is the chance of that class, in order.

    What is given is what `Design.from_frame` takes; the outcome is the column of classes, text or numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"a": list("xxyy"), "b": list("pqpq"), "kind": ["cat", "dog", "owl", "cat"]})
    >>> designs = class_designs(frame, factors=["a", "b"], outcome="kind")
    >>> {name: design.outcome.tolist() for name, design in designs.items()}
    {'cat': [1.0, 0.0, 0.0, 1.0], 'dog': [0.0, 1.0, 0.0, 0.0], 'owl': [0.0, 0.0, 1.0, 0.0]}
    """
    spec = make_spec(spec, fields)
    if spec.outcome is None:
        raise InputError("which column holds the classes? Name it with --outcome")
    source = open_table(data, spec)
    classes = classes_of(source, spec.outcome)
    if len(classes) < 2:
        raise InputError(
            f"outcome {spec.outcome!r} of {source.name} has one value only; there is no class to tell it from"
        )
    each = {name: make_spec(spec, {"outcome": f"{spec.outcome}={name}"}) for name in classes}
    return {name: Design.from_frame(data, named, held_out=held_out) for name, named in each.items()}


def read_designs(data: object, spec: TableSpec, held_out: object = None) -> Design | dict[str, Design]:
    """Return the design of a table to score, or one for each class where the outcome has several."""
    if spec.outcome is None:  # what a model predicts is not guessed
        spec = make_spec(spec, {"outcome": NO_OUTCOME})
    elif spec.classes or has_classes(open_table(data, spec), spec.outcome):
        return class_designs(data, spec, held_out=held_out)
    return Design.from_frame(data, spec, held_out=held_out)


def read_predictions(
    designs: Sequence[Design],
    predictions: object,
    columns: Sequence[str] = (),
    split: str | None = None,
    classes: Sequence[str] = (),
) -> dict[str, FloatArray]:
    """Return model -> mean prediction at each held-out cell, (H, K), in the order of ``design.held_out``.

    ``designs`` are one, or one for each of K ``classes``, all with the same cells; the others are those of
    `recombine.score`.

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
        by_model = {str(name): _array(design, values, str(name), classes) for name, values in predictions.items()}
    elif isinstance(predictions, np.ndarray | list | tuple):
        by_model = {"prediction": _array(design, predictions, "prediction", classes)}
    else:
        by_model = _from_table(design, open_table(predictions, design.spec), columns, split, classes)
    if not by_model:
        raise InputError("no model is named; give predictions of at least one")
    if all(len(values) > 1 and not np.ptp(values, axis=0).any() for values in by_model.values()):
        _refuse_constant(*next(iter(by_model.items())))
    for name, values in by_model.items():
        _refuse_odd(designs, name, values)
        if classes:
            _refuse_no_chances(design, name, values)
    return by_model


def _array(design: Design, values: Any, name: str, classes: Sequence[str]) -> FloatArray:
    try:
        numbers = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"predictions {name!r} hold something that is no number; give numbers") from None
    count = len(design.held_out)
    if numbers.shape not in ([(count, len(classes))] if classes else [(count,), (count, 1)]):
        each = f", one per class ({len(classes)})" if classes else ""
        raise InputError(
            f"predictions {name!r} have shape {numbers.shape}; give one number for each of the {count:,} held-out "
            f"cells{each}, in the order of design.held_out"
        )
    numbers = numbers.reshape(count, -1)
    unfinite = np.flatnonzero(~np.isfinite(numbers).all(axis=1))
    if len(unfinite):
        cell = design.label(design.held_out[unfinite[0]])
        raise InputError(
            f"predictions {name!r} hold no finite number for {plural(len(unfinite), 'held-out cell')}, such as {cell}; "
            "predict every one"
        )
    return numbers


def _refuse_constant(name: str, values: FloatArray) -> None:
    raise InputError(
        f"prediction {name!r} is {listing(f'{value:g}' for value in values[0])} in every held-out cell; a constant is "
        "shown beside every score already, so give predictions that vary"
    )


def _refuse_odd(designs: Sequence[Design], name: str, values: FloatArray) -> None:
    """Refuse predictions that are no chances of two values, or the outcomes themselves."""
    design, bounds = designs[0], designs[0].outcome_column.two_values if len(designs) == 1 else None
    if len(values) < 2:
        return
    if bounds is not None:
        width = bounds[1] - bounds[0]
        outside = np.flatnonzero((values[:, 0] < bounds[0] - width) | (values[:, 0] > bounds[1] + width))
        if len(outside):
            raise InputError(
                f"prediction {name!r} is {values[outside[0], 0]:g} for {design.label(design.held_out[outside[0]])}, "
                f"and the outcome is {bounds[0]:g} or {bounds[1]:g}; turn logits or percentages into chances first"
            )
    outcome = observed_outcomes(designs)
    several = all(design.outcome_column.two_values is None for design in designs)
    if several and np.allclose(values, outcome, rtol=0.0, atol=1e-9 * float(np.ptp(outcome))):
        raise InputError(
            f"prediction {name!r} equals the outcome {design.outcome_column.name!r} in every held-out cell; name the "
            "model's predictions"
        )


def _refuse_no_chances(design: Design, name: str, values: FloatArray) -> None:
    """Refuse numbers (H, K) that are no chances of K classes."""
    outside = np.argwhere((values < -MAX_CHANCES_OFF) | (values > 1 + MAX_CHANCES_OFF))
    if len(outside):
        row, column = outside[0]
        raise InputError(
            f"prediction {name!r} gives {design.label(design.held_out[row])} the chance {values[row, column]:g} of a "
            "class; chances lie between 0 and 1 (turn logits or percentages into chances first)"
        )
    unsummed = np.flatnonzero(np.abs(values.sum(axis=1) - 1) > MAX_CHANCES_OFF)
    if len(unsummed):
        cell, total = design.label(design.held_out[unsummed[0]]), values[unsummed[0]].sum()
        raise InputError(
            f"prediction {name!r} gives {cell} chances that sum to {total:.4g}, not 1, and so in "
            f"{plural(len(unsummed), 'held-out cell')}; name the chances of every class"
        )


def observed_outcomes(designs: Sequence[Design], *, seen: bool = False) -> FloatArray:
    """Return the mean outcome of each held-out cell, or of each that is ``seen``, (H, K), one column per design."""
    outcomes = [design.outcome[design.train == seen] for design in designs if design.outcome is not None]
    return np.stack(outcomes, axis=1)


def importance_of_cells(importance: object, design: Design, codes: IntArray) -> FloatArray:
    """Return how much each held-out cell matters, (H,); ``codes`` (H,) are their verdicts."""
    weighting = read_importance(importance, design)
    weights = weighting.of(design.held_out)
    if not weights[codes != Verdict.SEEN].sum() > 0:
        raise InputError(
            f"no held-out cell that was never seen has an importance in {weighting.name} over 0, so nothing that "
            "matters is scored; give them one"
        )
    return weights


def _from_table(
    design: Design, source: Source, columns: Sequence[str], split: str | None, classes: Sequence[str]
) -> dict[str, FloatArray]:
    if not columns:
        raise InputError(
            f"which columns of {source.name} hold predictions? Name them with --prediction (columns in Python)"
        )
    column, value = split_parts(split or design.spec.split, source)
    if split is None and column not in source.columns:
        column = None
    for name in design.space.columns:
        source.require(name, "factor")
    named = {model: _named_columns(source, model, classes) for model in columns}
    _refuse_roles(design, columns, named, column, classes)
    # One column of predicted classes is read once per class, as a chance of 0 or 1.
    readings = [
        (model, name, code)
        for model, names in named.items()
        for code in (range(len(classes)) if classes and len(names) == 1 else [None])
        for name in names
    ]
    levels, rows, sums, absent = _grouped(design, source, [reading[1:] for reading in readings], column, classes)
    tested = slice(None) if column is None else ~training_rows(levels[column], column, value)
    positions = _positions(design, source, {name: levels[name][tested] for name in design.space.columns})
    matched = positions >= 0
    positions, rows, sums, absent = positions[matched], *(values[tested][matched] for values in (rows, sums, absent))
    for column_read, group in np.argwhere(absent.T > 0)[:1]:
        raise InputError(
            f"prediction {readings[column_read][1]!r} of {source.name} is no finite number in "
            f"{plural(int(absent[:, column_read].sum()), 'held-out row')}, such as one of "
            f"{design.label(design.held_out[positions[group]])}; predict every one"
        )
    totals, counts = np.zeros((len(design.held_out), len(readings))), np.zeros((len(design.held_out), 1))
    np.add.at(totals, positions, sums)
    np.add.at(counts, positions, rows[:, None])
    return {model: (totals / counts)[:, [reading[0] == model for reading in readings]] for model in columns}


def _refuse_roles(
    design: Design, models: Sequence[str], named: Mapping[str, list[str]], split: str | None, classes: Sequence[str]
) -> None:
    """Refuse a model that is named twice, and columns of predictions that are something else, too."""
    outcome = str(design.outcome_column.name).removesuffix(f"={classes[0]}") if classes else design.outcome_column.name
    roles = {split: "the split", outcome: "the outcome"} | dict.fromkeys(design.space.columns, "a factor")
    for position, model in enumerate(models):
        if model in models[:position]:
            raise InputError(f"prediction {model!r} is named twice; name each model once")
        for name in named[model]:
            if name in roles:
                raise InputError(f"column {name!r} is both a prediction and {roles[name]}; give it one part")


def _named_columns(source: Source, model: str, classes: Sequence[str]) -> list[str]:
    """Return the column of a model's predictions, or the columns of its chances of every class."""
    if model in source.columns or not classes:
        return [source.require(model, "prediction")]
    for between in CLASS_SEPARATORS:
        each = [f"{model}{between}{name}" for name in classes]
        lacking = [name for name in each if name not in source.columns]
        if not lacking:
            return each
        if len(lacking) < len(each):
            present = next(name for name in each if name in source.columns)
            raise InputError(
                f"prediction {model!r} has no column {lacking[0]!r} in {source.name} beside {present!r}; give the "
                f"chances of all {len(each)} classes"
            )
    raise InputError(
        f"prediction {model!r} is not a column of {source.name}, nor are {model}:{classes[0]}, {model}:{classes[1]}, "
        f"...;{near_miss(model, source.columns, 'Name a column of predicted classes, or chances of every class')}"
    )


def _grouped(
    design: Design,
    source: Source,
    readings: Sequence[tuple[str, int | None]],
    split: str | None,
    classes: Sequence[str],
) -> tuple[dict[str, npt.NDArray[Any]], FloatArray, FloatArray, FloatArray]:
    """Return levels by factor (and split), rows (G,), sums and rows without a value (G, readings) of the groups."""
    import narwhals as nw

    keys = [*design.space.columns, *([source.require(split, "split")] if split else [])]
    source = source.kept([*keys, *(name for name, _ in readings)])
    frame = source.rows_with(keys)
    sums, absent = ([f"__{what}{position}" for position in range(len(readings))] for what in ("sum", "absent"))
    values = []
    for position, (name, code) in enumerate(readings):
        number = _number(design, source, name, classes, code).cast(nw.Float64)
        finite = nw.when(~source.col(name).is_null() & number.is_finite())
        values += [finite.then(number).otherwise(0.0).alias(sums[position])]
        values += [finite.then(0).otherwise(1).alias(absent[position])]
    group_keys = [source.keys[name] for name in keys]
    grouped = frame.select(*group_keys, *values).group_by(*group_keys)
    groups = source.fetch(grouped.agg(nw.len().alias("__rows"), *[nw.col(name).sum() for name in (*sums, *absent)]))
    totals, missing = (np.stack([groups[name].astype(float) for name in names], axis=1) for names in (sums, absent))
    return {name: groups[source.keys[name]] for name in keys}, groups["__rows"].astype(float), totals, missing


def _number(design: Design, source: Source, name: str, classes: Sequence[str], code: int | None) -> Any:
    """Return a column as a number: a class is 1 where it is the one with this ``code``, or the second of two."""
    if code is None and source.kind(name) in ("integer", "number", "flag"):
        return source.col(name)
    labels = design.outcome_column.labels if code is None else tuple(classes)
    values = classes_of(source, name, "prediction")
    odd = [text for text in values if labels is None or text not in labels]
    if labels is None or odd:
        rather = "" if labels is None else f" or one of {listing(labels)}"
        raise InputError(
            f"prediction {name!r} of {source.name} holds {listing(odd, 3)}; give numbers{rather}, as the outcome has"
        )
    wanted = labels[1 if code is None else code]
    return source.col(name) == values[wanted] if wanted in values else source.col(name).is_null()


def _positions(design: Design, source: Source, levels: Mapping[str, npt.NDArray[Any]]) -> IntArray:
    """Return the position of each of N groups of rows among the held-out cells, (N,), -1 where it is none of them."""
    plain = design.space.by_factor(levels, source.name)
    for factor in design.factors:
        fresh = factor.unknown(plain[factor.name])
        if fresh:
            raise InputError(
                f"{source.name}: {fresh[0]!r} is not a level of factor {factor.name!r} in {design.reading.source};"
                f"{near_miss(fresh[0], factor.labels, 'Score the cells that were held out')}"
            )
    codes = np.stack([factor.codes(plain[factor.name]) for factor in design.factors], axis=1)
    count = len(design.held_out)
    positions = places_among(design.held_out, canonical(codes, design.symmetric))
    missing = np.setdiff1d(np.arange(count), positions)
    if len(missing):
        raise InputError(
            f"{source.name} has no prediction for {len(missing):,} of {plural(count, 'held-out cell')}, such "
            f"as {design.label(design.held_out[missing[0]])}; predict every one"
        )
    return positions
