"""Models trained once per fold, and what they predict for the rows that the fold leaves out."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils import _safe_indexing

from recombine.cells.arrays import IntArray
from recombine.errors import InputError
from recombine.jobs.score.score import FailedFold
from recombine.output_files import open_beside
from recombine.progress import each
from recombine.writing import listing

#: So much of a problem is repeated in an error.
MAX_PROBLEM_LETTERS = 80


@dataclass(frozen=True)
class TrainedModel:
    """A model by name, and how it is trained and asked."""

    name: str
    model: Any  #: What was given: an estimator, a function, or a module with the function that trains it.
    predicts_chances: bool = False  #: Whether it is asked for the chances of classes rather than for classes.

    @classmethod
    def named(cls, name: str, model: Any, *, classes: bool) -> TrainedModel:
        """Return the model, or raise if it is nothing that can be trained.

        Examples
        --------
        >>> from sklearn.linear_model import Ridge
        >>> TrainedModel.named("ridge", Ridge(), classes=False).predicts_chances
        False
        """
        if isinstance(model, type):
            raise InputError(f"model {name!r} is the class {model.__name__}; make one of it: {model.__name__}()")
        pair = isinstance(model, tuple) and len(model) == 2 and all(map(callable, model))
        if not (pair or callable(model) or (hasattr(model, "fit") and hasattr(model, "predict"))):
            raise InputError(
                f"model {name!r} is a {type(model).__name__}; give an estimator with fit and predict, a function of "
                "training inputs, training outcomes and test inputs, or a pair of a module and the function that "
                "trains it"
            )
        if classes and isinstance(model, BaseEstimator) and not is_classifier(model):
            raise InputError(f"model {name!r} predicts numbers and y holds classes; give a classifier")
        return cls(name, model, classes and hasattr(model, "predict_proba"))

    def predict(self, X: Any, y: npt.NDArray[Any], asked: Any, classes: Sequence[Any] = ()) -> npt.NDArray[Any]:
        """Return predictions for ``asked`` after training a fresh copy on ``X`` and ``y``, (N,) or (N, K) chances."""
        if hasattr(self.model, "fit"):
            return self._of_estimator(X, y, asked, classes)
        if isinstance(self.model, tuple):
            module, train = self.model
            return _of_module(module, train, X, y, asked, classes)
        return np.asarray(self.model(X, y, asked))

    def checked(self, X: Any, y: npt.NDArray[Any], asked: Any, classes: Sequence[Any] = ()) -> npt.NDArray[Any]:
        """Return the same, or raise in one line what the model raises and what is wrong with its predictions."""
        try:
            values = self.predict(X, y, asked, classes)
            count = asked.shape[0]
        except Exception as problem:  # whatever the model raises
            raise InputError(f"stops with {type(problem).__name__}: {problem}") from problem
        if values.ndim not in (1, 2) or len(values) != count:
            raise InputError(f"returned predictions of shape {values.shape} for {count:,} rows; return one per row")
        if values.ndim == 2 and values.shape[1] != len(classes):
            raise InputError(f"returned {values.shape[1]} columns; return one prediction per row, or one per class")
        if values.ndim == 1 and classes:
            class_names = {str(name) for name in classes}
            if odd := [value for value in np.unique(values.astype(str)).tolist() if value not in class_names]:
                raise InputError(f"predicts {odd[0]!r}, which is no class of y ({listing(sorted(class_names), 4)})")
            return values
        try:
            numbers = values.astype(float)
        except (TypeError, ValueError):
            raise InputError(f"predicts {values.ravel()[0]!r}; predict numbers") from None
        if not (finite := np.isfinite(numbers)).all():
            raise InputError(f"predicts no finite number in {np.sum(~finite.reshape(count, -1).all(axis=1)):,} rows")
        return numbers

    def _of_estimator(self, X: Any, y: npt.NDArray[Any], asked: Any, classes: Sequence[Any]) -> npt.NDArray[Any]:
        fresh = clone(self.model) if hasattr(self.model, "get_params") else copy.deepcopy(self.model)
        fitted = fresh.fit(X, y)
        fitted = fresh if fitted is None else fitted
        if not self.predicts_chances:
            return np.asarray(fitted.predict(asked))
        chances = np.asarray(fitted.predict_proba(asked), dtype=float)
        # A class that these folds' training rows lack has no column, and no chance.
        every = np.zeros((len(chances), len(classes)))
        every[:, [list(classes).index(name) for name in fitted.classes_]] = chances
        return every


def _of_module(
    module: Any, train: Callable[[Any, Any, Any], Any], X: Any, y: Any, asked: Any, classes: Sequence[Any]
) -> npt.NDArray[Any]:
    """Train a copy of a torch module by ``train(module, X, y)``, and ask it; inputs are 32-bit tensors.

    Classes are numbered in order, and answers that are no chances are taken for logits.
    """
    import torch

    def tensor(values: Any) -> Any:
        return torch.as_tensor(np.asarray(values, dtype=np.float32))

    fresh = copy.deepcopy(module)
    outcomes = torch.as_tensor([list(classes).index(value) for value in y.tolist()]) if classes else tensor(y)
    with torch.random.fork_rng():  # each fold draws the same numbers, whatever was drawn before
        torch.manual_seed(0)
        train(fresh, tensor(X), outcomes)
    fresh.eval()
    with torch.no_grad():
        predicted = fresh(tensor(asked)).cpu()
        if classes and predicted.ndim == 2 and not ((predicted >= 0) & (predicted <= 1)).all():
            predicted = predicted.double().softmax(dim=1)
    predicted = predicted.numpy()
    return np.asarray(predicted[:, 0] if predicted.ndim == 2 and predicted.shape[1] == 1 else predicted)


def predict_by_fold(
    models: Sequence[TrainedModel],
    X: Any,
    y: npt.NDArray[Any],
    fold: IntArray,
    *,
    classes: Sequence[Any] = (),
    store: str | Path | None = None,
) -> tuple[dict[str, npt.NDArray[Any]], dict[str, FailedFold]]:
    """Return model -> predictions of all rows, (N,) or (N, K), each row's by one that its fold left out.

    A model that fails in a fold is in the second mapping instead, with the problem. What was predicted before is read
    from the folder ``store``, if one is named: a file per model and fold, whose name is a digest of model, rows and
    outcomes.

    Examples
    --------
    >>> from sklearn.dummy import DummyRegressor
    >>> model = TrainedModel.named("mean", DummyRegressor(), classes=False)
    >>> predict_by_fold([model], np.zeros((4, 1)), np.array([1.0, 2.0, 3.0, 4.0]), np.array([0, 0, 1, 1]))
    ({'mean': array([3.5, 3.5, 1.5, 1.5])}, {})
    """
    numbers = np.unique(fold).tolist()
    tasks = [(model, number) for model in models for number in numbers]
    data = None if store is None else str(joblib.hash((X, y)))
    predicted: dict[str, npt.NDArray[Any]] = {}
    failed: dict[str, FailedFold] = {}
    for model, number in each("training models", tasks):
        if model.name in failed:
            continue
        train, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        path = None if store is None else Path(store) / f"{_digest(model, data, train, test)}.npy"
        try:
            stored = path is not None and path.exists()
            if path is not None and stored:
                values = np.asarray(np.load(path, allow_pickle=False))
            else:
                values = model.checked(_safe_indexing(X, train), y[train], _safe_indexing(X, test), classes)
        except InputError as problem:
            failed[model.name] = FailedFold(numbers.index(number) + 1, len(numbers), len(train), str(problem))
            predicted.pop(model.name, None)
            continue
        if path is not None and not stored:
            path.parent.mkdir(parents=True, exist_ok=True)
            with open_beside(path) as file:  # whole or not at all: a stop in between leaves nothing that is read later
                np.save(file, values.astype(str) if values.dtype == object else values)
        every = predicted.setdefault(model.name, np.empty((len(fold), *values.shape[1:]), values.dtype))
        predicted[model.name] = every = every.astype(np.result_type(every, values), copy=False)
        every[test] = values
    if not predicted:
        name, stop = next(iter(failed.items()))
        raise InputError(
            f"model {name!r} cannot be examined: in fold {stop.fold} of {stop.folds}, on {stop.training_rows:,} "
            f"training rows, it {stop.problem}"
        )
    return predicted, failed


def _digest(model: TrainedModel, *about: Any) -> str:
    """Return a digest of a model, by its settings or its code, and of what it is trained on and asked."""
    objects = model.model if isinstance(model.model, tuple) else (model.model,)
    try:
        identity = [_code_of(entry) if hasattr(entry, "__code__") else entry for entry in objects]
        return str(joblib.hash((model.name, identity, *about)))
    except (OSError, TypeError, pickle.PicklingError, AttributeError) as problem:
        raise InputError(
            f"model {model.name!r} cannot be told from others, so that nothing of it can be stored "
            f"({str(problem).splitlines()[0][:MAX_PROBLEM_LETTERS]}); leave out the folder"
        ) from None


def _code_of(function: Any) -> tuple[str, list[str]]:
    """Return the name of a function and its whole file: what it calls may have changed as well as itself."""
    if function.__closure__:
        raise TypeError("it is a function that holds variables of another")
    return function.__qualname__, inspect.findsource(function)[0]


def as_models(models: Any, *, classes: bool) -> list[TrainedModel]:
    """Return what was given as models as a list: one, several in a list or a tuple, or several by name.

    Examples
    --------
    >>> from sklearn.linear_model import Lasso, Ridge
    >>> [model.name for model in as_models([Ridge(), Lasso(), Ridge(alpha=2)], classes=False)]
    ['Ridge', 'Lasso', 'Ridge 2']
    """
    if isinstance(models, Mapping):
        given = {str(name): model for name, model in models.items()}
    else:
        pair = isinstance(models, tuple) and len(models) == 2 and not hasattr(models[1], "fit")
        listed = models if isinstance(models, list | tuple) and not pair else [models]
        given = {}
        for model in listed:
            base = _name_of(model)
            same = sum(name == base or name.startswith(f"{base} ") for name in given)
            given[f"{base} {same + 1}" if same else base] = model
    if not given:
        raise InputError("no model is given; give at least one")
    return [TrainedModel.named(name, model, classes=classes) for name, model in given.items()]


def _name_of(model: Any) -> str:
    """Return how a model that has no name is called: a pipeline by its last step."""
    if isinstance(model, tuple):
        model = model[0]
    if hasattr(model, "steps"):
        model = model.steps[-1][1]
    return str(getattr(model, "__name__", type(model).__name__))
