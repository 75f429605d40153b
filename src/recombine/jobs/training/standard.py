"""Models that people train on tables, by name, with their usual settings; and a model of the user's from a file."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from recombine.errors import InputError, near_miss
from recombine.writing import listing

#: Hidden units of the network, and its training steps at most.
NETWORK_UNITS, NETWORK_EPOCHS = (100,), 2_000
#: Nearest rows that are asked, scikit-learn's usual number.
NEAREST_ROWS = 5


def short_seed(seed: int) -> int:
    """Return a seed in the 32 bits that scikit-learn takes.

    Examples
    --------
    >>> short_seed(7), short_seed(10**30) < 2**32
    (7, True)
    """
    return seed % 2**32


def _ridge(seed: int, classes: bool) -> Any:
    from sklearn.linear_model import LogisticRegression, RidgeCV

    return LogisticRegression(max_iter=NETWORK_EPOCHS) if classes else RidgeCV()


def _forest(seed: int, classes: bool) -> Any:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    return (RandomForestClassifier if classes else RandomForestRegressor)(random_state=short_seed(seed))


def _boosting(seed: int, classes: bool) -> Any:
    from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

    return (GradientBoostingClassifier if classes else GradientBoostingRegressor)(random_state=short_seed(seed))


def _neighbours(seed: int, classes: bool) -> Any:
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

    return (KNeighborsClassifier if classes else KNeighborsRegressor)(NEAREST_ROWS)


def _network(seed: int, classes: bool, **settings: Any) -> Any:
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.neural_network import MLPClassifier, MLPRegressor
    from sklearn.preprocessing import StandardScaler

    usual = {"hidden_layer_sizes": NETWORK_UNITS, "max_iter": NETWORK_EPOCHS, "random_state": short_seed(seed)}
    settings = usual | settings
    if classes:
        return MLPClassifier(**settings)
    return TransformedTargetRegressor(MLPRegressor(**settings), transformer=StandardScaler())


#: Name -> what makes the model, of a seed and of whether it predicts classes.
STANDARD_MODELS: dict[str, Callable[[int, bool], Any]] = {
    "ridge": _ridge,
    "forest": _forest,
    "boosting": _boosting,
    "neighbours": _neighbours,
    "network": _network,
    "deep-network": partial(_network, hidden_layer_sizes=NETWORK_UNITS * 2),
    "stopped-network": partial(_network, early_stopping=True),
}


def standard_model(name: str, *, classes: bool = False, seed: int = 0) -> Any:
    """Return a scikit-learn pipeline that takes levels of factors, each an input of its own.

    Examples
    --------
    >>> standard_model("ridge").steps[-1]
    ('ridge', RidgeCV())
    >>> standard_model("forrest")
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: model 'forrest' is none of ours; did you mean 'forest'? Models: ridge, forest, \
boosting, neighbours, network, deep-network, stopped-network, your own as FILE.py:name
    """
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OneHotEncoder

    if name not in STANDARD_MODELS:
        offered = [*STANDARD_MODELS, "your own as FILE.py:name"]
        hint = near_miss(name, STANDARD_MODELS, f"Models: {listing(offered, limit=len(offered))}")
        raise InputError(f"model {name!r} is none of ours;{hint}")
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return Pipeline([("levels", encoder), (name, STANDARD_MODELS[name](seed, classes))])


def named_models(names: Sequence[str], *, classes: bool = False, seed: int = 0) -> dict[str, Any]:
    """Return models by name: standard ones, and those that ``FILE.py:name`` names.

    Examples
    --------
    >>> list(named_models(["ridge", "forest"]))
    ['ridge', 'forest']
    """
    models: dict[str, Any] = {}
    for text in names:
        own_model = ":" in text or text.endswith(".py")
        name = text.rpartition(":")[2] if own_model else text
        if name in models:
            raise InputError(f"--model names {name} twice; name each model once")
        models[name] = model_of_file(text) if own_model else standard_model(name, classes=classes, seed=seed)
    return models


def model_of_file(text: str) -> Any:
    """Return what ``FILE.py:name`` names: an estimator, or a function of training inputs, outcomes and test inputs.

    Examples
    --------
    >>> model_of_file("models.py")
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: --model models.py names no object of the file; write models.py:name
    """
    file, _, name = text.rpartition(":")
    if not file.endswith(".py"):
        raise InputError(f"--model {text} names no object of the file; write {text}:name")
    path = Path(file)
    if not path.is_file():
        raise InputError(f"--model {text}: there is no file {file}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as problem:  # whatever the user's file raises
        raise InputError(f"--model {text}: {file} stops with {type(problem).__name__}: {problem}") from None
    if not hasattr(module, name):
        public = [each for each in vars(module) if not each.startswith("_")]
        raise InputError(
            f"--model {text}: {file} has no {name!r};{near_miss(name, public, f'It has {listing(public)}')}"
        )
    return getattr(module, name)
