"""Why did a trained model miss? A design and predictions go in, a `Score` comes out: each model's error by cause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray
from recombine.design.design import Design
from recombine.errors import InputError
from recombine.jobs.audit.audit import Audit, audit
from recombine.jobs.findings.finding import Finding, ResultKind
from recombine.jobs.listing import level_columns
from recombine.jobs.outputs import Reported, widget
from recombine.jobs.score.held_out import HeldOutCells, held_out_cells
from recombine.jobs.score.model_score import ModelScore, mean_squares, model_scores
from recombine.jobs.score.predictions import (
    importance_of_cells,
    read_designs,
    read_predictions,
    structure_of_classes,
)
from recombine.table_spec import ColumnFields, asked_structure, make_spec
from recombine.tables.table import Table
from recombine.verdicts import Verdict
from recombine.writing import listing, plural, printable


@dataclass(frozen=True)
class FailedFold:
    """The fold in which a model stopped, numbered from 1, and why: what follows after the model's name."""

    fold: int
    folds: int
    training_rows: int
    problem: str


@dataclass(frozen=True, eq=False, repr=False)
class Score(HeldOutCells, Reported):
    """Several models' errors on held-out cells, by verdict and cause. Make one with `recombine.score`.

    Attributes
    ----------
    audits, codes, regressors, noise, classes, weights
        Of the held-out cells, see `HeldOutCells`.
    """

    models: tuple[ModelScore, ...] = ()  #: In the order given.
    #: Models that `recombine.examine` could not train, by name.
    failed: Mapping[str, FailedFold] = field(default_factory=dict)
    families: Mapping[str, str] = field(default_factory=dict)  #: Of the models whose error was forecast, by name.

    @cached_property
    def errors(self) -> Table:
        """Mean squared errors on the determined cells: of each model and of what stands beside them."""
        squares = mean_squares(self, self.models)
        return Table({"predictions": list(squares), "squared error": list(squares.values())})

    @property
    def causes(self) -> Table:
        """One row per model and cause on determined cells: amount, its range and share, and what undoing it removes."""
        rows = [
            {
                "model": model.name,
                "cause": name,
                "amount": amount.value,
                "low": amount.low,
                "high": amount.high,
                "share": model.share(amount.value),
                "removed alone": model.removals[name].value if name in model.removals else float("nan"),
            }
            for model in self.models
            for name, amount in model.causes.items()
        ]
        return Table.from_rows(rows)

    @property
    def slices(self) -> Table:
        """One row per model and level, or pair of levels, that carries its error beyond chance, worst first."""
        rows = [
            {
                "model": model.name,
                "slice": worst.name,
                "cells": worst.cells,
                "share of cells": worst.share_of_cells,
                "share of error": worst.share_of_error,
                "times others": worst.times.value,
                "low": worst.times.low,
                "high": worst.times.high,
            }
            for model in self.models
            for worst in model.slices
        ]
        return Table.from_rows(rows)

    @property
    def pairs(self) -> Table:
        """One row per two models: the better one, how much more the other misses, with range and adjusted p-value."""
        table: Table = widget(self, "pairs")
        return table

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is wrong with the models, as numbered findings, which ``--fail-on`` names."""
        from recombine.jobs.findings.registry import find_all  # loads every finding: only for who asks

        return find_all(self, ResultKind.SCORE)

    def worst(self, model: str, count: int = 10) -> Table:
        """Return the ``count`` determined cells that ``model`` misses by most: observed, predicted, and the main cause.

        Where cells matter more or less, those whose error counts most. A cause moves the cell's error furthest.
        """
        names = [scored.name for scored in self.models]
        if model not in names:
            raise InputError(f"no model is called {model!r}; models: {listing(names)}")
        scored, mask = self.models[names.index(model)], self.codes == Verdict.DETERMINED
        miss = (scored.predicted - self.observed)[mask]
        order = np.argsort(-self.counts[mask] * np.sum(miss**2, axis=1), kind="stable")[:count]
        columns: dict[str, npt.NDArray[Any]] = {"observed": self.observed, "predicted": scored.predicted}
        for column, values in columns.items():
            shown = values[mask][order]
            classes = np.array(self.classes, dtype=object)
            columns[column] = classes[shown.argmax(axis=1)] if self.classes else shown[:, 0]
        causes = np.full(len(order), "", dtype=object)
        if scored.attribution is not None:
            causes = scored.attribution.main_causes(miss)[order]
        cells = self.design.held_out[mask][order]
        return Table({**level_columns(self.design, cells, columns), **columns, "cause": causes})

    def plot(self, ax: Any = None) -> Any:
        """Draw each model's squared error by cause and return the matplotlib axes: those given as ``ax``, or new ones.

        Where too few cells tell causes apart, predicted against observed means of the first model.
        """
        return widget(self, "plot", ax)

    def __repr__(self) -> str:
        names = listing((model.name for model in self.models), 4)
        failed = f"; {listing(self.failed, 4)} failed" if self.failed else ""
        return printable(
            f"Score({names}; {plural(len(self.codes), 'held-out cell')}, {self.determined:,} determined{failed})"
        )


def score(
    data: object,
    predictions: object,
    columns: Sequence[str] = (),
    split: str | None = None,
    *,
    structure: str | None = None,
    order: int | None = None,
    importance: object = None,
    seed: int = 0,
    **fields: Unpack[ColumnFields],
) -> Score:
    """Say why models missed: their squared error on held-out cells by verdict, and on determined ones by cause.

    Parameters
    ----------
    data : path, dataframe, Design, Audit, or mapping of class to Design
        With an outcome, and with rows held out (``split``); of several classes as `class_designs` makes them. An audit
        is not made again, and says what is assumed.
    predictions : str, list of str, mapping of str to array (H,) or (H, K), array, path or dataframe
        Columns of the table ``data``; or one number per held-out cell (in the order of ``design.held_out``), model and
        class; or another table with the factor columns and ``columns`` of predictions. Chances, or classes, where the
        outcome has classes.
    columns : sequence of str
        The columns of a table that hold predictions, one per model; of several classes ``model`` holds the predicted
        class, or ``model:class`` its chance.
    split : str, optional
        ``"column"`` or ``"column=value"``, for a table that holds the training rows too; by default that of the
        design's spec if the table has such a column.
    structure, order
        What verdicts and determined values assume, as `recombine.audit` takes them; several classes add by default.
    importance : Importance, path or dataframe, optional
        How much cells matter where the model is used: factor columns and a column ``importance``, see
        `recombine.jobs.read_importance`. Means are weighted by it, and cells of importance 0 count for nothing.
    seed : int
        Fixes every random choice.
    **fields
        Of a table, how it is read: ``factors``, ``outcome`` and so on, those of `recombine.TableSpec`.

    Examples
    --------
    A model that carries half of the shape's effect:

    >>> import numpy as np
    >>> cells = np.indices((6, 6)).reshape(2, -1).T
    >>> train = cells.sum(axis=1) % 3 > 0
    >>> design = Design.from_cells(cells, cells @ [1.0, 2.0], train=train, names=["colour", "shape"])
    >>> scored = score(design, {"net": design.held_out @ [1.0, 1.0] + 2.5})
    >>> scored
    Score(net; 12 held-out cells, 12 determined)
    >>> round(scored.models[0].attribution.per_factor["leak"].coefficients["shape"].value, 2)
    0.5

    The same of a table that has the predictions in a column::

        rc.score("predicted.csv", "net", factors=["colour", "shape"], outcome="y", split="part=train")
    """
    design, predictions, columns, split = _read(data, predictions, columns, split, fields)
    classes = tuple(design) if isinstance(design, Mapping) else ()
    entries = list(design.values()) if isinstance(design, Mapping) else [design]
    designs = [entry.design if isinstance(entry, Audit) else entry for entry in entries]
    _check(designs)
    predicted = read_predictions(designs, predictions, columns, split, classes)
    structure, order = asked_structure(designs[0].spec, structure, order)
    if classes and structure == "auto":
        structure = structure_of_classes(order)
    audits = tuple(
        entry if isinstance(entry, Audit) else audit(entry, order, structure=structure, seed=seed) for entry in entries
    )
    codes = audits[0].decided.verdicts_of(designs[0].held_out)
    importance = designs[0].spec.importance if importance is None else importance
    weights = None if importance is None else importance_of_cells(importance, designs[0], codes)
    held_out = held_out_cells(audits, codes, classes, weights)
    return score_of(held_out, predicted, seed)


def score_of(held_out: HeldOutCells, predicted: Mapping[str, FloatArray], seed: int) -> Score:
    """Return the score of predictions, (H, K) by model, at held-out cells."""
    named = {field.name: getattr(held_out, field.name) for field in fields(HeldOutCells)}
    return Score(**named, models=model_scores(held_out, predicted, seed))


def _read(
    data: Any, predictions: object, columns: Sequence[str], split: str | None, fields: ColumnFields
) -> tuple[Design | Audit | Mapping[str, Design], object, Sequence[str], str | None]:
    """Return the design of a table, its predictions, the columns that hold them, and the split left to apply."""
    if isinstance(data, Design | Audit | Mapping):
        if fields:
            raise InputError(f"the design says already how its table is read; leave out {listing(fields)}")
        return data, predictions, columns, split
    names = [predictions] if isinstance(predictions, str) else predictions
    if not columns and isinstance(names, list | tuple) and names and all(isinstance(name, str) for name in names):
        predictions, columns = data, names
    return read_designs(data, make_spec(None, {**fields, "split": split})), predictions, columns, None


def _check(designs: Sequence[Design]) -> None:
    """Refuse what cannot be scored."""
    if not designs:
        raise InputError("no class is named; give a Design for each")
    design = designs[0]
    for each in designs:
        if not isinstance(each, Design):
            raise InputError(
                f"score takes a Design, not a {type(each).__name__}; build one with Design.from_frame(...)"
            )
        if each.outcome is None:
            raise InputError("score compares predictions with outcomes; name the outcome's column with --outcome")
        if not (np.array_equal(each.cells, design.cells) and np.array_equal(each.train, design.train)):
            raise InputError("the designs of two classes have other cells; make them with class_designs")
    if design.train.all():
        raise InputError("no row is held out, so nothing can be scored; name the split column with --split")
