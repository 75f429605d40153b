"""Models that people use, trained on the seen cells of a design, and what they miss where the outcome is known.

Where rows are held out, each model is trained on the training cells and asked about the held-out ones. Without any,
the seen cells are put into folds of whole cells, and each cell is asked about once, by a model that has not seen it.
What is tried is decided by operations, not by a clock: the same table gives the same models on any machine.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.cells.threads import one_thread
from recombine.design.design import Design
from recombine.jobs.limits import TRAINING_LIMITS
from recombine.jobs.training.standard import NETWORK_EPOCHS, NETWORK_UNITS, STANDARD_MODELS
from recombine.progress import each
from recombine.verdicts import Verdict

#: What is trained, in this order, while there is work left: name -> layers of a network, 0 of another model.
LAYERS = {"network": 1, "deep-network": 2, "boosting": 0, "forest": 0, "neighbours": 0, "stopped-network": 1}
NETWORK = "network"
#: Rows of a batch of a network, and epochs that it is thought to take before it has been trained.
BATCH_ROWS, USUAL_EPOCHS = 200, 150
#: Operations per second that the estimates of work suppose, and seconds that each step takes besides.
OPERATIONS_PER_SECOND, SECONDS_PER_STEP = 2e10, 4e-4
#: Folds of fewer make no error by folds.
MIN_FOLDS = 2
#: A network that sets a tenth of its rows aside to know when to stop needs so many.
STOPPED, MIN_ROWS_TO_STOP = "stopped-network", 20


@dataclass(frozen=True, eq=False)
class TriedModel:
    """What a model predicts for the scored cells, (T,), and how good that is: root mean square, share of right answers.

    ``accuracy`` is None unless the outcome has two values.
    """

    name: str
    predicted: FloatArray
    error: float
    accuracy: float | None = None


@dataclass(frozen=True, eq=False)
class TriedModels:
    """Models that were trained, and where they were scored."""

    models: tuple[TriedModel, ...]
    scored: BoolArray  #: Which of the cells that were asked about (T,) the models were scored on.
    folds: int  #: In how many folds seen cells were left out; 0 with held-out rows.
    left_out: tuple[str, ...] = ()  #: Models that would have taken more work than there was.
    fewer_folds: bool = False  #: Whether some folds were left out for the same reason.
    at_unseen: FloatArray | None = None  #: What the network, trained on all seen cells, says of unseen ones.

    @property
    def network(self) -> TriedModel:
        """The network of one hidden layer."""
        return self.models[0]

    def __repr__(self) -> str:
        errors = ", ".join(f"{model.name} {model.error:.3g}" for model in self.models)
        return f"TriedModels({errors}; {int(self.scored.sum())} cells)"


@dataclass(frozen=True, eq=False)
class TrainingTask:
    """What to train on and what to ask: cells of ``design`` by number (T,), held-out or seen, and ``unseen`` (U, C).

    Examples
    --------
    >>> from recombine.design import Design
    >>> cells = np.indices((6, 5)).reshape(2, -1).T
    >>> design = Design.from_cells(cells, cells.sum(axis=1), train=np.arange(30) % 3 > 0)
    >>> training = TrainingTask(design, np.flatnonzero(~design.train)).training
    >>> [model.name for model in training.models]
    ['network', 'deep-network', 'boosting', 'forest', 'neighbours', 'stopped-network']
    >>> training.network.error < 1
    True
    """

    design: Design
    places: IntArray
    unseen: IntArray | None = None
    seed: int = 0
    thorough: bool = False  #: Whether everything is trained, however long that takes.
    names: tuple[str, ...] = tuple(LAYERS)  #: What is trained after the network.

    @property
    def held_out(self) -> bool:
        """Whether the cells are held out; else they are seen ones."""
        return not self.design.train[self.places].any()

    @cached_property
    def training(self) -> TriedModels | None:
        """The models, trained when first asked for; None where not even one network can be trained in the time."""
        if not self.thorough and len(self.design.seen) > TRAINING_LIMITS.max_cells_trained:
            return None
        with one_thread(), warnings.catch_warnings():  # small matrices; networks of 2,000 epochs are what people use
            warnings.simplefilter("ignore")
            return _train(self)


def inputs_of(design: Design, shown: IntArray) -> Callable[[IntArray], FloatArray]:
    """Return what makes the inputs of models of cells: a column per level, of those that occur in ``shown`` (N, C).

    Examples
    --------
    >>> from recombine.design import Design
    >>> design = Design.from_cells([[0, 0], [0, 1], [1, 0]])
    >>> inputs_of(design, design.seen)(np.array([[1, 1]]))
    array([[0., 1., 0., 1.]])
    """
    features = design.features(1)
    # Of a factor on a scale only the knots have columns, and of a part of the cells only its levels.
    fewer = bool(design.scales) or len(shown) < len(design.seen)
    used = features.occurring(shown) if fewer else np.arange(features.columns)
    return lambda cells: np.asarray(features.incidence(cells)[:, used].toarray(), dtype=float)


@dataclass
class _Work:
    """Seconds of work that may be spent and that were."""

    most: float
    spent: float = 0.0
    epochs: int = USUAL_EPOCHS  #: Of the last network.

    def of(self, name: str, rows: int, columns: int, epochs: int | None = None) -> float:
        """Return the work of one fit to so many rows and columns."""
        if name == "neighbours":
            return SECONDS_PER_STEP
        if not LAYERS[name]:
            operations = 1.2e-6 * columns if name == "boosting" else 8e-7 * columns * np.log2(rows + 1)
            return 0.1 + rows * float(operations)
        weights = NETWORK_UNITS[0] * (columns + NETWORK_UNITS[0] * (LAYERS[name] - 1))
        step = SECONDS_PER_STEP + 6 * min(rows, BATCH_ROWS) * weights / OPERATIONS_PER_SECOND
        return (self.epochs if epochs is None else epochs) * -(-rows // BATCH_ROWS) * step

    def max_epochs(self, rows: int, columns: int) -> int:
        """Return how many epochs of the first network fit into what there is, at most those that people allow."""
        return int(min(NETWORK_EPOCHS, self.most / self.of(NETWORK, rows, columns, 1)))


def _train(task: TrainingTask) -> TriedModels | None:
    design, limits = task.design, TRAINING_LIMITS
    small = len(design.seen) <= limits.max_cells_at_once
    work = _Work(float("inf") if task.thorough else limits.work_at_once if small else limits.work_at_most)
    fitting = _Fitting(design, task.seed, inputs_of(design, design.seen), work)
    splits = [(design.train, np.arange(len(task.places)))] if task.held_out else _fold_splits(task)
    if not splits:
        return None
    at_unseen = None
    if task.unseen is not None and len(task.unseen) and not task.held_out:
        at_unseen = fitting.predict(NETWORK, design.train, task.unseen)
    return _models(task, fitting, splits, at_unseen)


def _models(
    task: TrainingTask, fitting: _Fitting, splits: list[tuple[BoolArray, IntArray]], at_unseen: FloatArray | None
) -> TriedModels | None:
    """Train on as many folds as there is work for, then further models on the same folds."""
    all_folds, work = len(splits), fitting.work
    leading = fitting.predict(NETWORK, splits[0][0], _asked(task, splits[0]))
    if not fitting.converged:
        return None
    per_fit = work.of(NETWORK, int(splits[0][0].sum()), fitting.columns)
    if all_folds > 1 and np.isfinite(work.most):
        splits = splits[: 1 + int((work.most - work.spent) / per_fit)]
        if len(splits) < MIN_FOLDS:
            return None
    models, left_out, fewest = [], [], min(int(train.sum()) for train, _ in splits)
    names = [name for name in LAYERS if name == NETWORK or name in task.names]
    for name in each("training models", names if fewest >= MIN_ROWS_TO_STOP else [n for n in names if n != STOPPED]):
        fits = len(splits) * (1 + fitting.classifies(name))
        needed = fits * work.of(name, int(splits[0][0].sum()), fitting.columns)
        if name != NETWORK and work.spent + needed > work.most:
            left_out.append(name)
            continue
        parts = [leading] if name == NETWORK else []
        parts += [fitting.predict(name, split[0], _asked(task, split)) for split in splits[len(parts) :]]
        classes = None
        if fitting.classifies(name):
            classes = [fitting.predict(name, split[0], _asked(task, split), classes=True) for split in splits]
        models.append(_scored(task, name, splits, parts, classes))
    scored = np.zeros(len(task.places), dtype=bool)
    scored[np.concatenate([asked for _, asked in splits])] = True
    folds = 0 if task.held_out else len(splits)
    return TriedModels(tuple(models), scored, folds, tuple(left_out), len(splits) < all_folds, at_unseen)


def _asked(task: TrainingTask, split: tuple[BoolArray, IntArray]) -> IntArray:
    return np.asarray(task.design.cells[task.places[split[1]]])


def _scored(
    task: TrainingTask,
    name: str,
    splits: Sequence[tuple[BoolArray, IntArray]],
    parts: Sequence[FloatArray],
    classes: Sequence[FloatArray] | None,
) -> TriedModel:
    """Return a model with what it says of the cells of all splits, in the order of the task's."""
    asked = np.concatenate([split[1] for split in splits])
    order = np.argsort(asked)
    predicted, observed = np.concatenate(parts)[order], task.design.observed.measured[task.places[asked[order]]]
    error = float(np.sqrt(np.mean((predicted - observed) ** 2)))
    two = task.design.outcome_column.two_values
    if two is None:
        return TriedModel(name, predicted, error)
    low, high = two
    # Of repeated rows a cell's mean says which share of them has the higher value.
    upper = (observed - low) / (high - low)
    above = (predicted if classes is None else np.concatenate(classes)[order]) > (low + high) / 2
    return TriedModel(name, predicted, error, float(np.mean(np.where(above, upper, 1 - upper))))


def _fold_splits(task: TrainingTask) -> list[tuple[BoolArray, IntArray]]:
    """Return training cells (M,) of each fold and which of the task's places (T,) it asks about: determined ones."""
    from recombine.errors import InputError
    from recombine.jobs.split.rows import fold_rows

    design, seen, outcome = task.design, np.flatnonzero(task.design.train), task.design.observed.measured
    try:
        told = fold_rows(design.seen, min(TRAINING_LIMITS.max_folds, len(seen)), design.features(1), seed=task.seed)
    except InputError:
        return []
    position = np.searchsorted(seen, task.places)
    fold, determined = told.fold[position], told.codes[position] == Verdict.DETERMINED
    splits = []
    for number in range(TRAINING_LIMITS.max_folds):
        asked = np.flatnonzero((fold == number) & determined)
        train = design.train.copy()
        train[seen[told.fold == number]] = False
        if len(asked) and train.sum() > 1 and np.ptp(outcome[train]) > 0:
            splits.append((train, asked))
    return splits


@dataclass
class _Fitting:
    """Fits models to cells of a design, and counts their work."""

    design: Design
    seed: int
    inputs: Callable[[IntArray], FloatArray]
    work: _Work
    converged: bool = True  #: Whether the last network was.
    columns: int = field(init=False)

    def __post_init__(self) -> None:
        self.columns = self.inputs(self.design.cells[:1]).shape[1]

    def classifies(self, name: str) -> bool:
        """Whether a classifier is trained besides: the outcome of each cell is one of two values."""
        two = self.design.outcome_column.two_values
        return two is not None and name != STOPPED and bool(np.isin(self.design.observed.seen_outcome, two).all())

    def predict(self, name: str, train: BoolArray, asked: IntArray, classes: bool = False) -> FloatArray:
        """Return what a model trained on cells (M,) that are flagged says of ``asked`` (T, C), (T,).

        Of ``classes`` it is a classifier, which says one of the two values of the outcome.
        """
        rows, answers = int(train.sum()), self.design.observed.measured[train]
        model: Any = STANDARD_MODELS[name](self.seed, classes)
        allowed = NETWORK_EPOCHS
        if LAYERS[name]:
            allowed = self.work.max_epochs(rows, self.columns)
            # Where a batch is all rows their order means nothing, and scikit-learn takes half its time to shuffle them.
            settings = {"max_iter": max(allowed, 1), "shuffle": rows > BATCH_ROWS}
            prefix = "" if classes else "regressor__"
            model.set_params(**{f"{prefix}{name}": value for name, value in settings.items()})
        if classes and np.ptp(answers) == 0:
            return np.full(len(asked), answers[0])
        neighbours = model.get_params().get("n_neighbors")
        if neighbours is not None and neighbours > rows:
            model.set_params(n_neighbors=rows)
        fitted = model.fit(self.inputs(self.design.cells[train]), answers.astype(str) if classes else answers)
        epochs = None
        if LAYERS[name]:
            epochs = int((fitted if classes else fitted.regressor_).n_iter_)
            self.converged = epochs < allowed or allowed == NETWORK_EPOCHS
            if name == NETWORK:
                self.work.epochs = epochs
        self.work.spent += self.work.of(name, rows, self.columns, epochs)
        return np.asarray(fitted.predict(self.inputs(asked)), dtype=float)
