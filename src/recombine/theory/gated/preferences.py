"""What the gates of a fitted gated machine prefer, and what each norm makes of the same gates and samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from recombine.cells.arrays import FloatArray
from recombine.checks import whole
from recombine.sample_checks import of_kind
from recombine.tables.table import Table
from recombine.theory.gated.estimator import GatedLinearSVC
from recombine.theory.gated.gates import inconsistency

#: The limit of two layers, then the two plain norms that keep its architecture: of unit and of effective weights.
COMPARED_NORMS = ("group", "zeta", "effective")
#: A weight is none when it is this much smaller than the largest of the machine.
NO_WEIGHT_SHARE = 1e-6


def gate_preferences(model: GatedLinearSVC, strongest: int = 3) -> Table:
    """Return what each gate prefers: a row per gate and context, with the features that count most there.

    "share" is the gate's part of the sum of norms over all gates: under the group norm a gate that is not needed has
    none, and then it has a single row. Contexts that no training sample was in have no weights and no row. With more
    than two classes there are these rows for each class, against all others.

    Parameters
    ----------
    model : GatedLinearSVC
        Fitted. On a data frame features have the names of its columns.
    strongest : int
        How many features to name.

    Examples
    --------
    >>> X = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    >>> gates = {"first is positive": lambda inputs: (inputs[:, 0] > 0).astype(int)}
    >>> gate_preferences(GatedLinearSVC(contexts=gates).fit(X, ["no", "yes", "yes", "no"]), strongest=1)
    class  gate               share  context  bias  prefers
    yes    first is positive  1.0    0        0.0   x1 +1
    yes    first is positive  1.0    1        0.0   x1 -1
    """
    of_kind(model, "model", GatedLinearSVC)
    check_is_fitted(model)
    count = whole(strongest, "strongest")
    features = [str(name) for name in getattr(model, "feature_names_in_", [])]
    features = features or [f"x{number}" for number in range(model.n_features_in_)]
    weights = np.concatenate([model.coef_, model.intercept_[..., None]], axis=-1)
    two = len(model.classes_) == 2
    by_class = zip(model.classes_[1:] if two else model.classes_, weights[None] if two else weights, strict=True)
    rows = [row for label, own in by_class for row in _class_rows(str(label), own, model.gates_, features, count)]
    return Table.from_rows(rows)


def _class_rows(
    label: str, weights: FloatArray, gates: Sequence[str], features: Sequence[str], count: int
) -> Iterator[dict[str, Any]]:
    """Return the rows of one class from weights (H, C, d) with the bias last, gates of most weight first."""
    norms = np.sqrt((weights**2).sum(axis=(1, 2)))
    nothing = NO_WEIGHT_SHARE * np.abs(weights).max(initial=0.0)
    for gate in np.argsort(-norms, kind="stable").tolist():
        about = {"class": label, "gate": gates[gate], "share": round(float(norms[gate] / norms.sum()), 3)}
        used = np.flatnonzero(np.abs(weights[gate]).max(axis=1) > nothing).tolist()
        for context in used:
            *own, bias = weights[gate, context]
            order = np.argsort(-np.abs(own), kind="stable")[:count].tolist()
            words = ", ".join(f"{features[feature]} {own[feature]:+.2g}" for feature in order)
            yield about | {"context": str(context), "bias": round(float(bias), 3) + 0.0, "prefers": words}
        if not used:
            yield about | {"context": "any", "bias": 0.0, "prefers": "nothing (gate off)"}


def compare_norms(
    model: GatedLinearSVC, X: npt.ArrayLike, y: npt.ArrayLike, *, folds: int = 5, norms: Sequence[str] = COMPARED_NORMS
) -> Table:
    """Return how the same gates classify under several norms, on samples that were left out.

    All norms have the same folds and, where half-spaces are drawn, the same of them, so that only the norm differs. If
    the first, the group norm, is no more accurate than the plain ones, then what training would end in owes its
    accuracy to the gates and not to its bias.

    Parameters
    ----------
    model : GatedLinearSVC
        Everything but its norm is used as it is.
    X : array (n, d)
    y : array (n,)
    folds : int
        Parts that are left out in turn.
    norms : sequence of str
        The first is the one that others are compared with.

    Returns
    -------
    Table
        "norm", "accuracy", "gain", by how much that is above the first norm's, with "gain 2se", two standard errors
        over samples, "differs", the share of samples on which it and the first norm decide differently, and "if
        unrelated", what that would be for classifiers of the same accuracy.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_wine(return_X_y=True)
    >>> compare_norms(GatedLinearSVC(units=5, random_state=0), scale(X), y).columns
    ['norm', 'accuracy', 'gain', 'gain 2se', 'differs', 'if unrelated']
    """
    of_kind(model, "model", GatedLinearSVC)
    labels = np.asarray(y)
    seed = int(check_random_state(model.random_state).randint(2**31 - 1))
    splits = StratifiedKFold(whole(folds, "folds", 2), shuffle=True, random_state=0)
    told = {
        norm: cross_val_predict(clone(model).set_params(norm=norm, random_state=seed), X, labels, cv=splits)
        for norm in norms
    }
    first = told[norms[0]]
    rows = []
    for norm, own in told.items():
        gain = (own == labels).astype(float) - (first == labels)
        differs = inconsistency(own, first, labels)
        rows.append(
            {
                "norm": norm,
                "accuracy": round(float(np.mean(own == labels)), 4),
                "gain": round(float(gain.mean()), 4),
                "gain 2se": round(2 * float(gain.std(ddof=1)) / len(gain) ** 0.5, 4),
                "differs": round(differs.share, 4),
                "if unrelated": round(differs.chance, 4),
            }
        )
    return Table.from_rows(rows)
