"""Why did a trained model miss? A design and predictions go in, a `Score` comes out: each model's error by cause."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.brief import brief_repr
from recombine.design.design import Design
from recombine.errors import InputError, listing, plural
from recombine.jobs.audit.audit import Audit, audit
from recombine.jobs.faces import face
from recombine.jobs.listing import level_columns
from recombine.jobs.score.causes import Amount, Attribution, HeldOutNoise, Regressors, attribute
from recombine.jobs.score.determined import additive_fit, confused, held_out_noise, regressors_of
from recombine.jobs.score.predictions import read_predictions
from recombine.tables.table import Table
from recombine.verdicts import Verdict

#: Fewer determined cells than this do not tell causes apart.
FEWEST_CELLS = 12
#: An error of which no more than this share is over noise has nothing to be explained.
OVER_NOISE = 0.2


@dataclass(frozen=True, eq=False)
class ModelScore:
    """What one model did on the held-out cells.

    Attributes
    ----------
    name : str
    predicted : float array of shape (H,)
        Mean prediction at each held-out cell.
    unseen_error : Amount
        Mean squared error over the held-out cells that were never seen.
    by_verdict : Table
        One row per verdict: cells, squared error, its share of the whole over unseen cells, and that of the plain mean.
    attribution : Attribution or None
        The error on determined cells by cause; None where those are too few.
    gain : Amount or None
        Mean squared error of adding less the model's on determined cells: what it got right beyond adding.
    """

    name: str
    predicted: FloatArray = field(repr=False)
    unseen_error: Amount
    by_verdict: Table = field(repr=False)
    attribution: Attribution | None
    gain: Amount | None

    __repr__ = brief_repr

    @property
    def causes(self) -> dict[str, Amount]:
        """Squared error on determined cells by cause; the amounts add up to it. Empty where it was not split."""
        return {} if self.attribution is None else self.attribution.causes

    @property
    def explained(self) -> float:
        """Share of the error over noise that has a named cause: all but the rest; NaN where hardly any is over it."""
        if self.attribution is None:
            return float("nan")
        over = self.attribution.error.value - sum(
            self.causes[name].value for name in ("noise", "seen noise") if name in self.causes
        )
        hardly = over <= OVER_NOISE * self.attribution.error.value
        return float("nan") if hardly else 1 - abs(self.causes["rest"].value) / over


@dataclass(frozen=True, eq=False)
class Score:
    """Several models' errors on held-out cells, by verdict and cause. Make one with `recombine.score`.

    Attributes
    ----------
    audit : Audit
        Of the seen cells: the structure that verdicts and determined values assume, and the forecast.
    models : tuple of ModelScore
        In the order given.
    codes : int array of shape (H,)
        Verdict of each held-out cell.
    regressors : Regressors or None
        What predictions at the determined cells were compared with; None where those are too few.
    noise : HeldOutNoise or None
        None where no row repeats.
    """

    audit: Audit
    models: tuple[ModelScore, ...]
    codes: IntArray = field(repr=False)
    regressors: Regressors | None
    noise: HeldOutNoise | None

    @property
    def design(self) -> Design:
        """The design whose held-out cells were scored."""
        return self.audit.design

    @property
    def determined(self) -> int:
        """How many of the scored cells the seen ones determine."""
        return int((self.codes == Verdict.DETERMINED).sum())

    @cached_property
    def errors(self) -> Table:
        """Mean squared errors on the determined cells: of each model and of what stands beside them."""
        places = _places(self.design, self.codes)
        rows = [(model.name, _square(model, self.design, self.codes)) for model in self.models]
        if len(places):
            rows += [(name, float(np.mean(miss**2))) for name, miss in _beside(self.audit, places).items()]
        if self.noise is not None:
            rows.append(("noise ceiling", float(self.noise.variances.mean())))
        forecast = self.audit.forecast.error
        if forecast is not None and forecast.source == "held-out rows":
            rows += [("forecast: wide network", forecast.ntk**2), ("forecast: wide network, readout", forecast.nngp**2)]
        names, squares = zip(*rows, strict=True)
        return Table({"predictions": list(names), "squared error": list(squares)})

    @property
    def causes(self) -> Table:
        """One row per model and cause on determined cells: amount, its range, and its share of the squared error."""
        rows = [
            {
                "model": model.name,
                "cause": name,
                "amount": amount.value,
                "low": amount.low,
                "high": amount.high,
                "share": amount.value / whole if whole > 0 else float("nan"),
            }
            for model in self.models
            if model.attribution is not None
            for whole in [model.attribution.error.value]
            for name, amount in model.causes.items()
        ]
        return Table.from_rows(rows)

    @property
    def unclear(self) -> tuple[str, ...]:
        """What cannot be told apart, or was not told at all, one sentence each."""
        found = []
        if self.regressors is None:
            found.append(
                f"{plural(self.determined, 'held-out cell')} are determined, and it takes {FEWEST_CELLS} to tell "
                "causes apart: hold out more"
            )
        else:
            found += list(confused(self.regressors))
            if self.regressors.network is None:
                found.append("memorization is part of the rest: no wide network was fitted to these seen cells")
        if self.noise is None and self.regressors is not None:
            found.append("noise cannot be told from structure: no row repeats, so structure holds both")
        elif self.noise is not None and not self.noise.carried.any():
            found.append("the noise of the seen cells cannot be told from structure: structure holds both")
        again = int((self.codes == Verdict.SEEN).sum())
        if again:
            found.append(f"{plural(again, 'held-out cell')} were seen in training too: they test no recombination")
        return tuple(found)

    def worst(self, model: str, count: int = 10) -> Table:
        """Return the ``count`` determined cells that ``model`` misses by most: observed, predicted, and the main cause.

        The cause of a single cell is the part that moves its error furthest; structure holds its noise.
        """
        found = self._named(model)
        places = _places(self.design, self.codes)
        outcome = self.design.outcome
        assert outcome is not None
        miss = found.predicted[self.codes == Verdict.DETERMINED] - outcome[places]
        order = np.argsort(-np.abs(miss), kind="stable")[:count]
        columns = {"observed": outcome[places][order], "predicted": outcome[places][order] + miss[order]}
        why = np.full(len(order), "", dtype=object)
        if found.attribution is not None:
            parts = found.attribution.parts
            signed = np.stack([part[order] * np.sign(miss[order]) for part in parts.values()])
            why = np.array(list(parts), dtype=object)[signed.argmax(axis=0)]
        cells = self.design.cells[places[order]]
        return Table({**level_columns(self.design, cells, columns), **columns, "cause": why})

    def _named(self, model: str) -> ModelScore:
        for found in self.models:
            if found.name == model:
                return found
        raise InputError(f"no model is called {model!r}; models: {listing(found.name for found in self.models)}")

    def __str__(self) -> str:
        return face(self, "text")

    def __repr__(self) -> str:
        names = listing((model.name for model in self.models), 4)
        return f"Score({names}; {plural(len(self.codes), 'held-out cell')}, {self.determined:,} determined)"


def score(
    design: Design,
    predictions: object,
    columns: Sequence[str] = (),
    split: str | None = None,
    *,
    structure: str = "auto",
    order: int | None = None,
    known: Audit | None = None,
    seed: int = 0,
) -> Score:
    """Say why models missed: their squared error on held-out cells by verdict, and on determined ones by cause.

    Parameters
    ----------
    design : Design
        With an outcome, and with rows held out (``split``).
    predictions : mapping of str to array (H,), array (H,), path or dataframe
        One number per held-out cell (in the order of ``design.held_out``) and model, or a table with the factor columns
        and columns of predictions. Chances, or classes, where the outcome has two values.
    columns : sequence of str
        The columns of a table that hold predictions, one per model.
    split : str, optional
        ``"column"`` or ``"column=value"``, for a table that holds the training rows too.
    structure, order
        What verdicts and determined values assume, as `recombine.audit` takes them.
    known : Audit, optional
        Of the same design, if there is one already.
    seed : int
        Fixes every random choice.

    Examples
    --------
    A model that carries half of the shape's effect:

    >>> import numpy as np
    >>> cells = np.indices((6, 6)).reshape(2, -1).T
    >>> train = cells.sum(axis=1) % 3 > 0
    >>> design = Design.from_cells(cells, cells @ [1.0, 2.0], train=train, names=["colour", "shape"])
    >>> found = score(design, {"net": design.held_out @ [1.0, 1.0] + 2.5})
    >>> found
    Score(net; 12 held-out cells, 12 determined)
    >>> round(found.models[0].attribution.slopes["shape"].value, 2)
    0.5
    """
    if not isinstance(design, Design):
        raise InputError(f"score takes a Design, not a {type(design).__name__}; build one with Design.from_frame(...)")
    if design.outcome is None:
        raise InputError("score compares predictions with outcomes; name the outcome's column with --outcome")
    if design.train.all():
        raise InputError("no row is held out, so nothing can be scored; name the split column with --split")
    if any(scale is not None for scale in design.scales):
        curved = [factor.name for factor in design.factors if factor.scale != "labels"]
        raise InputError(f"score takes labels only so far, and {listing(curved)} lies on a scale; leave that out")
    read = read_predictions(design, predictions, columns, split)
    found = audit(design, order, structure=structure, seed=seed) if known is None else known
    codes = found.verdicts_of(design.held_out)
    places = _places(design, codes)
    enough = len(places) >= FEWEST_CELLS
    regressors = regressors_of(found, design.cells[places]) if enough else None
    noise = held_out_noise(found, places) if len(places) else None
    adding = None if regressors is None else _beside(found, places)["adding"]
    models = tuple(_one(design, name, values, codes, regressors, noise, adding, seed) for name, values in read.items())
    return Score(found, models, codes, regressors, noise)


def _one(
    design: Design,
    name: str,
    predicted: FloatArray,
    codes: IntArray,
    regressors: Regressors | None,
    noise: HeldOutNoise | None,
    adding: FloatArray | None,
    seed: int,
) -> ModelScore:
    assert design.outcome is not None
    observed = design.outcome[~design.train]
    squares, unseen, known = (predicted - observed) ** 2, codes != Verdict.SEEN, codes == Verdict.DETERMINED
    found = gain = None
    if regressors is not None and adding is not None:
        found = attribute(predicted[known], observed[known], regressors, noise, seed=seed)
        gain = _mean(adding**2 - squares[known])
    return ModelScore(name, predicted, _mean(squares[unseen]), _by_verdict(design, squares, codes), found, gain)


def _mean(values: FloatArray) -> Amount:
    """Return the mean of values (N,) with its range over cells."""
    if len(values) < 2:
        return Amount(float(values.mean()) if len(values) else float("nan"), float("nan"), float("nan"))
    return Amount.about(float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values))), len(values) - 1.0)


def _by_verdict(design: Design, squares: FloatArray, codes: IntArray) -> Table:
    assert design.outcome is not None
    plain = (design.outcome[~design.train] - design.outcome[design.train].mean()) ** 2
    whole = float(squares[codes != Verdict.SEEN].sum())
    rows = []
    for verdict in Verdict:
        mine = codes == verdict
        if mine.any():
            share = float(squares[mine].sum()) / whole if whole > 0 and verdict != Verdict.SEEN else float("nan")
            error = _mean(squares[mine])
            rows.append(
                {
                    "verdict": verdict.word,
                    "cells": int(mine.sum()),
                    "squared error": error.value,
                    "low": error.low,
                    "high": error.high,
                    "share": share,
                    "plain mean": float(plain[mine].mean()),
                }
            )
    return Table.from_rows(rows)


def _places(design: Design, codes: IntArray) -> IntArray:
    """Return the design's rows that are held out and determined, where ``codes`` (H,) are the held-out verdicts."""
    return np.asarray(np.flatnonzero(~design.train)[codes == Verdict.DETERMINED])


def _square(model: ModelScore, design: Design, codes: IntArray) -> float:
    assert design.outcome is not None
    miss = (model.predicted - design.outcome[~design.train])[codes == Verdict.DETERMINED]
    return float(np.mean(miss**2)) if len(miss) else float("nan")


def _beside(found: Audit, places: IntArray) -> dict[str, FloatArray]:
    """Return what adding, the chosen structure and the plain mean miss the design's rows ``places`` (T,) by."""
    design = found.design
    assert design.outcome is not None
    cells, observed = design.cells[places], design.outcome[places]
    beside = {"adding": design.bounded(additive_fit(found).predict(cells)) - observed}
    if found.choice.name != "add":
        beside[f"chosen structure: {found.choice.name}"] = design.bounded(found.predict(cells)) - observed
    return beside | {"plain mean": float(design.outcome[design.train].mean()) - observed}
