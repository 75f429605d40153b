"""Why did a trained model miss? A design and predictions go in, a `Score` comes out: each model's error by cause."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.cells.brief import brief_repr
from recombine.design.design import Design
from recombine.errors import InputError
from recombine.jobs.audit.audit import Audit, audit
from recombine.jobs.findings.finding import Finding, ResultKind
from recombine.jobs.importance import read_importance
from recombine.jobs.listing import level_columns
from recombine.jobs.outputs import render
from recombine.jobs.score.amounts import Amount
from recombine.jobs.score.attribution import Attribution, attribute
from recombine.jobs.score.causes import CAUSES
from recombine.jobs.score.determined import held_out_noise, regressors_of
from recombine.jobs.score.error_split import HeldOutNoise
from recombine.jobs.score.errors_beside import Misses, beside, by_verdict, mean_amount, row_error, wrong_classes
from recombine.jobs.score.predictions import observed_outcomes, read_predictions
from recombine.jobs.score.regressors import Regressors
from recombine.output_files import check_file, write_whole
from recombine.table_spec import asked_structure
from recombine.tables.table import Table
from recombine.theory.structures.all_structures import sum_of
from recombine.verdicts import Verdict
from recombine.writing import listing, plural

#: Fewer determined cells than this do not tell causes apart.
MIN_CELLS_FOR_CAUSES = 12
#: An error of which no more than this share is over noise has nothing to be explained.
SHARE_OVER_NOISE = 0.2


@dataclass(frozen=True, eq=False)
class ModelScore:
    """What one model did on the held-out cells.

    Attributes
    ----------
    name : str
    predicted : float array of shape (H, K)
        Mean prediction at each held-out cell; of K classes their chances, else K is 1.
    unseen_error : Amount
        Mean squared error over the held-out cells that were never seen; of several classes the sum over them.
    by_verdict : Table
        One row per verdict: cells, squared error, its share of the whole over unseen cells, and that of the plain mean;
        of chances also log loss, and the share of measurements whose likeliest class is right.
    attribution : Attribution or None
        The error on determined cells by cause; None where those are too few.
    gain : Amount or None
        Mean squared error of adding less the model's on determined cells: what it got right beyond adding.
    misses : Misses or None
        Whose the wrong classes are, where predictions are classes.
    of_rows : (float, float) or None
        Squared error of single measurements of unseen cells, and the noise in it, where rows repeat.
    """

    name: str
    predicted: FloatArray = field(repr=False)
    unseen_error: Amount
    by_verdict: Table = field(repr=False)
    attribution: Attribution | None
    gain: Amount | None
    misses: Misses | None = None
    of_rows: tuple[float, float] | None = None

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
        amounts = {name: amount.value for name, amount in self.causes.items()}
        over_noise = self.attribution.error.value - sum(amounts[name] for name in amounts if CAUSES[name].is_noise)
        if over_noise <= SHARE_OVER_NOISE * self.attribution.error.value:
            return float("nan")
        return 1 - abs(sum(amounts[name] for name in amounts if not CAUSES[name].is_named)) / over_noise

    @property
    def error_shares(self) -> dict[str, float]:
        """Shares of the error on all unseen cells: by verdict where not determined, else by cause; they sum to 1."""
        by_verdict = {row["verdict"]: float(row["share"]) for row in self.by_verdict.rows()}
        by_verdict.pop(Verdict.SEEN.word, None)
        if Verdict.DETERMINED.word not in by_verdict or self.attribution is None or not self.attribution.error.value:
            return by_verdict
        share = by_verdict.pop(Verdict.DETERMINED.word)
        total = self.attribution.error.value
        return {name: share * amount.value / total for name, amount in self.causes.items()} | by_verdict


@dataclass(frozen=True, eq=False)
class Score:
    """Several models' errors on held-out cells, by verdict and cause. Make one with `recombine.score`.

    Attributes
    ----------
    audits : tuple of Audit
        Of the seen cells, one, or one per class: the structure that verdicts and determined values assume.
    models : tuple of ModelScore
        In the order given.
    codes : int array of shape (H,)
        Verdict of each held-out cell.
    regressors : Regressors or None
        What predictions at the determined cells were compared with; None where those are too few.
    noise : HeldOutNoise or None
        None where no row repeats.
    classes : tuple of str
        Names of the classes; empty where the outcome is a number or has two values.
    weights : float array of shape (H,) or None
        How much each held-out cell matters, where that was said; all means are weighted by it then.
    """

    audits: tuple[Audit, ...]
    models: tuple[ModelScore, ...]
    codes: IntArray = field(repr=False)
    regressors: Regressors | None
    noise: HeldOutNoise | None
    classes: tuple[str, ...] = ()
    weights: FloatArray | None = field(default=None, repr=False)

    @property
    def audit(self) -> Audit:
        """The audit of the seen cells; of several classes that of the first."""
        return self.audits[0]

    @property
    def outcome_name(self) -> str:
        """The column that was predicted."""
        name = str(self.design.outcome_name)
        return name.removesuffix(f"={self.classes[0]}") if self.classes else name

    @cached_property
    def observed(self) -> FloatArray:
        """Mean outcome of each held-out cell, (H, K)."""
        return observed_outcomes([audit.design for audit in self.audits])

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
        scored = self.codes == Verdict.DETERMINED
        counts = None if self.weights is None else self.weights[scored]
        misses = {model.name: (model.predicted - self.observed)[scored] for model in self.models}
        if scored.any():
            misses |= beside(self.audits, _held_out_rows(self.design, scored))
        rows = [(name, mean_amount(np.sum(miss**2, axis=1), counts).value) for name, miss in misses.items()]
        if self.noise is not None:
            by_cell = self.noise.variances.reshape(-1, len(self.audits)).mean(axis=1)
            rows.append(("noise alone", mean_amount(by_cell, counts).value))
        forecast = self.audit.forecast
        if forecast.held_out and forecast.error is not None and not self.classes and self.weights is None:
            error = forecast.error
            rows += [("forecast: wide network", error.ntk**2), ("forecast: wide network, readout", error.nngp**2)]
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
                "share": amount.value / total if total > 0 else float("nan"),
            }
            for model in self.models
            if model.attribution is not None
            for total in [model.attribution.error.value]
            for name, amount in model.causes.items()
        ]
        return Table.from_rows(rows)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is wrong with the models, as numbered findings, which ``--fail-on`` names."""
        from recombine.jobs.findings.registry import find_all  # loads every finding: only for who asks

        return find_all(self, ResultKind.SCORE)

    def worst(self, model: str, count: int = 10) -> Table:
        """Return the ``count`` determined cells that ``model`` misses by most: observed, predicted, and the main cause.

        Where cells matter more or less, those whose error counts most. The cause of a single cell is the part that
        moves its error furthest; noise and structure of one cell cannot be told apart.
        """
        scored, mask = self._named(model), self.codes == Verdict.DETERMINED
        miss = (scored.predicted - self.observed)[mask]
        counts = np.ones(len(miss)) if self.weights is None else self.weights[mask]
        order = np.argsort(-counts * np.sum(miss**2, axis=1), kind="stable")[:count]
        columns = self._shown(scored.predicted[mask][order], self.observed[mask][order])
        causes = np.full(len(order), "", dtype=object)
        if scored.attribution is not None:
            parts = scored.attribution.parts
            moved = [(values.reshape(miss.shape)[order] * miss[order]).sum(axis=1) for values in parts.values()]
            names = [CAUSES[name].name_at_one_cell for name in parts]
            causes = np.array(names, dtype=object)[np.stack(moved).argmax(axis=0)]
        cells = self.design.held_out[mask][order]
        return Table({**level_columns(self.design, cells, columns), **columns, "cause": causes})

    def _shown(self, predicted: FloatArray, observed: FloatArray) -> dict[str, npt.NDArray[Any]]:
        """Return what N cells (N, K) are shown by: their values, or their likeliest classes."""
        if not self.classes:
            return {"observed": observed[:, 0], "predicted": predicted[:, 0]}
        names = np.array(self.classes, dtype=object)
        return {"observed": names[observed.argmax(axis=1)], "predicted": names[predicted.argmax(axis=1)]}

    def _named(self, model: str) -> ModelScore:
        for scored in self.models:
            if scored.name == model:
                return scored
        raise InputError(f"no model is called {model!r}; models: {listing(scored.name for scored in self.models)}")

    def to_html(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the score as one HTML file and return its path; an existing file is kept unless ``force``."""
        target = Path(path)
        check_file(target, force)
        write_whole(target, render(self, "page"))
        return target

    def _repr_html_(self) -> str:
        return render(self, "notebook")

    def __str__(self) -> str:
        return render(self, "text")

    def __repr__(self) -> str:
        names = listing((model.name for model in self.models), 4)
        return f"Score({names}; {plural(len(self.codes), 'held-out cell')}, {self.determined:,} determined)"


def score(
    design: Design | Mapping[str, Design],
    predictions: object,
    columns: Sequence[str] = (),
    split: str | None = None,
    *,
    structure: str | None = None,
    order: int | None = None,
    known: Audit | None = None,
    importance: object = None,
    seed: int = 0,
) -> Score:
    """Say why models missed: their squared error on held-out cells by verdict, and on determined ones by cause.

    Parameters
    ----------
    design : Design, or mapping of class to Design
        With an outcome, and with rows held out (``split``); of several classes as `class_designs` makes them.
    predictions : mapping of str to array (H,) or (H, K), array, path or dataframe
        One number per held-out cell (in the order of ``design.held_out``), model and class, or a table with the factor
        columns and columns of predictions. Chances, or classes, where the outcome has classes.
    columns : sequence of str
        The columns of a table that hold predictions, one per model; of several classes ``model`` holds the predicted
        class, or ``model:class`` its chance.
    split : str, optional
        ``"column"`` or ``"column=value"``, for a table that holds the training rows too; by default that of the
        design's spec if the table has such a column.
    structure, order
        What verdicts and determined values assume, as `recombine.audit` takes them; several classes add by default.
    known : Audit, optional
        Of the same design, if there is one already.
    importance : Importance, path or dataframe, optional
        How much cells matter where the model is used: factor columns and a column ``importance``, see
        `recombine.jobs.read_importance`. Means are weighted by it, and cells of importance 0 count for nothing.
    seed : int
        Fixes every random choice.

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
    """
    classes = tuple(design) if isinstance(design, Mapping) else ()
    designs = list(design.values()) if isinstance(design, Mapping) else [design]
    _check(designs)
    predicted = read_predictions(designs, predictions, columns, split, classes)
    structure, order = asked_structure(designs[0].spec, structure, order)
    if classes and structure == "auto":
        structure = sum_of(1).name
    importance = designs[0].spec.importance if importance is None else importance
    audits = (known,) if known else tuple(audit(each, order, structure=structure, seed=seed) for each in designs)
    codes = audits[0].decided.verdicts_of(designs[0].held_out)
    weights = None if importance is None else _weights(importance, designs[0], codes)
    scored = codes == Verdict.DETERMINED
    rows = _held_out_rows(designs[0], scored)
    cell_weights = None if weights is None else weights[scored]
    that_matter = len(rows) if cell_weights is None else int((cell_weights > 0).sum())
    enough = that_matter >= MIN_CELLS_FOR_CAUSES
    regressors = regressors_of(audits, designs[0].cells[rows], cell_weights) if enough else None
    noise = held_out_noise(audits, rows) if len(rows) else None
    without_models = Score(audits, (), codes, regressors, noise, classes, weights)
    return replace(without_models, models=tuple(_model_scores(without_models, predicted, seed)))


def _model_scores(score: Score, predictions: Mapping[str, FloatArray], seed: int) -> Iterator[ModelScore]:
    """Yield each model's errors, and their causes where enough cells are determined; ``score`` holds all but models."""
    designs = [audit.design for audit in score.audits]
    codes, weights, scored = score.codes, score.weights, score.codes == Verdict.DETERMINED
    adding = None
    if score.regressors is not None:
        adding = np.sum(beside(score.audits, _held_out_rows(designs[0], scored))["adding"] ** 2, axis=1)
    unseen = codes != Verdict.SEEN
    for name, predicted in predictions.items():
        squares = np.sum((predicted - score.observed) ** 2, axis=1)
        attribution = gain = None
        if score.regressors is not None and adding is not None:
            values, outcomes = predicted[scored].ravel(), score.observed[scored].ravel()
            attribution = attribute(values, outcomes, score.regressors, score.noise, seed=seed)
            gain = mean_amount(adding - squares[scored], None if weights is None else weights[scored])
        yield ModelScore(
            name,
            predicted,
            mean_amount(squares[unseen], None if weights is None else weights[unseen]),
            by_verdict(designs, predicted, codes, weights),
            attribution,
            gain,
            None if weights is not None else wrong_classes(designs, predicted, codes),
            None if weights is not None else row_error(designs, predicted, codes),
        )


def _weights(importance: object, design: Design, codes: IntArray) -> FloatArray:
    """Return how much each held-out cell matters, (H,)."""
    weighting = read_importance(importance, design)
    weights = weighting.of(design.held_out)
    if not weights[codes != Verdict.SEEN].sum() > 0:
        raise InputError(
            f"no held-out cell that was never seen has an importance in {weighting.name} over 0, so nothing that "
            "matters is scored; give them one"
        )
    return weights


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


def _held_out_rows(design: Design, chosen: BoolArray) -> IntArray:
    """Return the design's rows that are held out and ``chosen`` (H,) among these."""
    return np.asarray(np.flatnonzero(~design.train)[chosen])
