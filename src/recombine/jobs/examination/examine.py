"""`rc.examine`: every combination left out once, predicted by the model that has not seen it, and scored by cause."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from recombine.cells.arrays import BoolArray
from recombine.jobs.audit.audit import Audit, audit
from recombine.jobs.examination.foretold import family_of, foretold_error
from recombine.jobs.examination.inputs import classes_of_outcome, read_inputs, read_outcome
from recombine.jobs.examination.pooled import pool_folds
from recombine.jobs.examination.rows import ExaminedRows
from recombine.jobs.examination.training import as_models, predict_by_fold
from recombine.jobs.score.held_out import HeldOutCells, held_out_cells
from recombine.jobs.score.predictions import read_predictions, structure_of_classes
from recombine.jobs.score.score import Score, score_of
from recombine.jobs.split.splitter import CellKFold
from recombine.progress import each
from recombine.table_spec import TableSpec, asked_structure


def examine(
    models: Any,
    X: Any,
    y: Any = None,
    *,
    factors: Any = None,
    groups: Any = None,
    folds: int | CellKFold = 5,
    store: str | Path | None = None,
    spec: TableSpec | None = None,
) -> Score:
    """Train models on all combinations but some, in turn, and say why they miss those that were left out.

    Parameters
    ----------
    models : estimator, function, pair, list, or mapping of str to one of these
        Anything with ``fit`` and ``predict`` (``predict_proba`` where ``y`` holds classes); a function of training
        inputs, training outcomes and test inputs that returns predictions; or a torch module with a function
        ``train(module, inputs, outcomes)``, of classes their numbers in order. Each fold trains a fresh copy.
    X : dataframe or array (N, D)
        What models are given.
    y : array (N,)
        Outcomes: numbers, or classes.
    factors : sequence of str or int, dataframe or array (N, C), optional
        Columns of ``X`` whose combinations are left out, by name or number; or these columns themselves where ``X``
        holds something else, such as images. All columns of ``X`` by default, if none holds fractions.
    groups : array (N,), optional
        Rows of one group are left out together.
    folds : int or CellKFold
        Each combination is left out once, in one of so many folds; a `recombine.CellKFold` says the seed and strata.
    store : path, optional
        A folder that keeps predictions, so that a run which was stopped goes on where it was. Code that a model
        imports is not looked at: take another folder once it has changed.
    spec : TableSpec, optional
        What else is known: ``TableSpec(symmetric=["gene A", "gene B"])``, or what effects do (``structure`` and
        ``order``), which is chosen by all rows otherwise, those left out among them.

    Returns
    -------
    Score
        As `recombine.score` gives for one split; what a cell is compared with are the other folds' cells. ``pairs``
        sets the models against each other, ``failed`` names those that stopped in a fold.

    Examples
    --------
    A forest recombines less than a sum does:

    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from sklearn.linear_model import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = np.indices((6, 6, 2)).reshape(3, -1).T[:, :2]
    >>> y = rng.normal(size=6)[X[:, 0]] + rng.normal(size=6)[X[:, 1]] + 0.1 * rng.normal(size=len(X))
    >>> one_hot = lambda X, y, asked: LinearRegression().fit(np.eye(6)[X].reshape(len(X), -1), y).predict(
    ...     np.eye(6)[asked].reshape(len(asked), -1))
    >>> scored = examine({"forest": RandomForestRegressor(20, random_state=0), "sum": one_hot}, X, y)
    >>> scored
    Score(forest, sum; 36 held-out cells, 36 determined)
    """
    if isinstance(X, ExaminedRows):
        rows, inputs = X, np.stack([X.columns[name] for name in X.spec.factors or ()], axis=1)
    else:
        inputs, columns = read_inputs(X, factors)
        values, name = read_outcome(y, X), getattr(y, "name", None)
        rows = ExaminedRows.of(columns, values, name, classes_of_outcome(models, values), spec or TableSpec())
    classes, outcome, count = rows.classes, rows.outcome, len(rows.outcome)
    trained = as_models(models, classes=bool(classes))
    rows.refuse_names([model.name for model in trained])
    structure, order = asked_structure(rows.spec, None, None)
    if classes and structure == "auto":
        structure = structure_of_classes(order)
    splitter = clone(folds) if isinstance(folds, CellKFold) else CellKFold(folds, random_state=0)
    splitter.set_params(factors=None, order=order or 1, symmetric=rows.spec.symmetric)
    seed = splitter.random_state if isinstance(splitter.random_state, int) else 0
    fold = splitter.folds(rows.factors, outcome, groups).fold
    # What cannot be read is refused before the training.
    designs = rows.designs(np.ones(count, dtype=bool), np.ones(count, dtype=bool))
    predicted, failed = predict_by_fold(trained, inputs, outcome, fold, classes=list(classes.values()), store=store)
    audits = tuple(audit(design, order, structure=structure, seed=seed) for design in designs)
    numbers = np.unique(fold).tolist()
    told = [_left_out(rows, fold == number, audits, order) for number in each("auditing folds", numbers)]
    means = read_predictions(designs, rows.with_predictions(predicted), list(predicted), classes=list(classes))
    scored = score_of(pool_folds(audits, tuple(classes), told), means, seed)
    # A forecast is of networks whose inputs are the factors' levels, and nothing else.
    foretold = trained if inputs.shape[1:] == (len(rows.spec.factors or ()),) else []
    families = {model.name: family for model in foretold if (family := family_of(model.model)) is not None}
    return replace(scored, failed=failed, families=families)


def _left_out(rows: ExaminedRows, test: BoolArray, whole: Sequence[Audit], order: int | None) -> HeldOutCells:
    """Return the cells that one fold leaves out, compared with what the other folds' rows say."""
    audits = tuple(
        audit(design, order, structure=entry.choice.name, seed=entry.seed)
        for design, entry in zip(rows.designs(~test, test), whole, strict=True)
    )
    codes = audits[0].decided.verdicts_of(audits[0].design.held_out)
    held_out = held_out_cells(audits, codes, tuple(rows.classes), fewest=1)
    return replace(held_out, forecasts={**held_out.forecasts, **foretold_error(rows, ~test, whole, order)})
