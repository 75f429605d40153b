"""Which features of an earlier task finetuning keeps, with what certainty, and whether noise leaves anything to tell.

A network trained to the end fits all its samples and with them their noise. So what it did with a feature is only told
where samples that it has not seen come out better for it, and only as surely as the answer stays when a fifth of the
samples is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, as_numbers
from recombine.checks import known_or_refuse, whole
from recombine.errors import InputError
from recombine.sample_checks import generator, samples
from recombine.tables.table import Table
from recombine.theory.diagonal.generalization import METHODS, Pair, is_pair, predict

#: A feature whose coefficient times its spread is below this share of the targets' spread explains less than a
#: hundredth of their variance, and counts as not used.
MIN_SPREAD_SHARE = 0.1
#: Half-width of a 95% interval, in standard errors.
STANDARD_ERRORS = 1.96
#: Parts that samples are left out in.
FOLDS = 5
#: Ridge penalties that are tried, over the mean eigenvalue of the inputs' products.
RIDGE_SHARES = np.logspace(-4, 4, 33)
#: Below this share of the error of the best method that fits every sample, ridge regression shows that noise is fitted.
CLEARLY_LESS_SHARE = 0.8
#: What may be said of how the network is finetuned.
FINETUNING_OPTIONS = ("alpha", "scaling", "gamma", "form")
#: What can become of a feature, in the order in which they are told.
FATES = ("stays", "goes", "unclear", "new", "unused")


@dataclass(frozen=True, eq=False)
class KeptFeatures:
    """What finetuning does with every feature; printed as a sentence above a table.

    Attributes
    ----------
    fates : dict of str to str
        Feature -> "stays" or "goes" (known before), "new" or "unused" (not known before), or "unclear".
    known : frozenset of str
        Features that the earlier task used.
    table : Table
        One row per feature: coefficient before and after, the ends of its 95% interval, and what becomes of it. Of
        many features one in twenty is outside its interval by chance.
    errors : dict of str to float
        Method -> mean squared error on samples left out, over the variance of the targets: 1 is worth nothing. "ridge"
        is ridge regression, which does not fit samples exactly.
    told : bool
        Whether anything can be told: finetuning is better than the mean on samples left out.
    samples : int
        Of the new task.
    """

    fates: dict[str, str]
    known: frozenset[str]
    table: Table
    errors: dict[str, float]
    told: bool
    samples: int

    @property
    def summary(self) -> str:
        """The sentence above the table."""
        return repr(self).partition("\n\n")[0]

    def __repr__(self) -> str:
        fitted = [error for method, error in self.errors.items() if method != "ridge"]
        ridge, error = self.errors["ridge"], self.errors["pt+ft"]
        if not self.told:
            text = (
                f"Nothing can be told: {self.samples} samples of {len(self.fates)} features are too few for their "
                f"noise. Methods that fit every sample fit the noise as well and have {min(fitted):.3g} to "
                f"{max(fitted):.3g} times the targets' variance on samples left out"
            )
            if ridge < CLEARLY_LESS_SHARE * min(fitted):
                text += f"; ridge regression, which does not, has {ridge:.2g}"
            return f"{text}.\n\n{self.table}"
        counts = {fate: len(self.of(fate)) for fate in FATES}
        unclear = sum(fate == "unclear" for name, fate in self.fates.items() if name in self.known)
        text = (
            f"Of {len(self.known)} known features {counts['stays']} stay, {counts['goes']} go and {unclear} are "
            f"unclear; {counts['new'] or 'none'} {'is' if counts['new'] < 2 else 'are'} new. Error on samples left "
            f"out: {100 * error:.2g}% of the variance."
        )
        if ridge < CLEARLY_LESS_SHARE * error:
            text += f" Part of it is fitted noise: ridge regression, which fits none, has {100 * ridge:.2g}%."
        if self.samples > len(self.fates):
            text += " There are more samples than features, so that what was known before no longer matters."
        return f"{text}\n\n{self.table}"

    def of(self, fate: str) -> list[str]:
        """Return the names of the features with this fate."""
        return [name for name, value in self.fates.items() if value == fate]


def kept_features(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    auxiliary: npt.ArrayLike | Pair,
    *,
    names: Sequence[str] | None = None,
    resamples: int = 100,
    seed: int = 0,
    **training: Any,
) -> KeptFeatures:
    """Say which features that an earlier task used finetuning keeps on new samples, and how sure that is.

    Parameters
    ----------
    X : array (n, D)
        Samples of the new task, one column per feature, of similar spread. Means are taken away.
    y : array (n,)
        Targets.
    auxiliary : array (D,), or pair of arrays (N, D) and (N,)
        Coefficients of the earlier task, or samples of it.
    names : sequence of str, optional
        Of the columns; those of ``X`` if it is a data frame.
    resamples : int
        How often another fifth of the samples is left out; intervals are those of the delete-d jackknife.
    seed : int
        Of the samples left out.
    **training
        alpha, scaling, gamma and form of `TrainingMethod`; its method is always to finetune.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((40, 60))
    >>> earlier = np.r_[np.ones(4), np.zeros(56)]
    >>> y = X[:, :2] @ [1.0, -1.0] + 0.05 * rng.standard_normal(40)
    >>> found = kept_features(X, y, earlier, names=[f"gene {number}" for number in range(60)], scaling=0.3)
    >>> found.of("stays"), found.of("goes")
    (['gene 0', 'gene 1'], ['gene 2', 'gene 3'])
    >>> print(found.summary)
    Of 4 known features 2 stay, 2 go and 0 are unclear; none is new. Error on samples left out: 0.31% of the variance.
    """
    for option in training:
        known_or_refuse(option, "option", FINETUNING_OPTIONS)
    inputs, targets = samples(X, y)
    if len(inputs) < 2 * FOLDS:
        raise InputError(f"there are {len(inputs)} samples, of which fifths are left out; give at least {2 * FOLDS}")
    columns = _names(getattr(X, "columns", None) if names is None else names, inputs.shape[1])
    before = _before(auxiliary, columns, training)
    spread, scale = inputs.std(axis=0), float(targets.std())
    if not scale:
        raise InputError("targets are all the same, so that there is nothing to learn; give others")
    about = {"auxiliary": before, **training}
    beta = _trained(inputs, targets, about)
    error = _jackknife(inputs, targets, about, whole(resamples, "resamples", at_least=2), generator(seed))
    errors = _errors(inputs, targets, about)
    told = errors["pt+ft"] < 1
    weights = np.abs(before) * spread
    is_known = weights > MIN_SPREAD_SHARE * float(np.linalg.norm(weights))
    low, high = beta - STANDARD_ERRORS * error, beta + STANDARD_ERRORS * error
    fates = _fates(is_known, low, high, MIN_SPREAD_SHARE * scale / np.where(spread > 0, spread, 1.0), told=told)
    listed = {"feature": columns, "before": before, "after": beta, "from": low, "to": high, "becomes": fates}
    table = Table({name: np.asarray(values) for name, values in listed.items()})
    order = np.lexsort((-np.abs(beta) * spread, [FATES.index(fate) for fate in fates]))
    by_name = dict(zip(columns, fates, strict=True))
    earlier = frozenset(name for name, was_known in zip(columns, is_known, strict=True) if was_known)
    return KeptFeatures(by_name, earlier, table.where(order), errors, told, len(inputs))


def _names(names: Sequence[Any] | None, width: int) -> list[str]:
    """Return a name for each column, or say how many there are and which is given twice."""
    listed = [f"feature {number}" for number in range(width)] if names is None else [str(name) for name in names]
    twice = [f", {times} of them {name!r}" for name, times in Counter(listed).items() if times > 1]
    if len(listed) != width or twice:
        raise InputError(
            f"there are {len(listed)} names for {width} columns{''.join(twice[:1])}; give one of its own to each"
        )
    return listed


def _before(auxiliary: Any, columns: Sequence[str], training: dict[str, Any]) -> FloatArray:
    """Return coefficients of the earlier task; of samples of it, those that training from ``alpha`` ends at."""
    if not is_pair(auxiliary):
        coefficients = np.asarray(as_numbers(auxiliary, "coefficients of auxiliary"), dtype=float)
        if coefficients.shape != (len(columns),):
            raise InputError(f"auxiliary has shape {coefficients.shape}; give {len(columns)} finite coefficients")
        for name, value in zip(columns, coefficients, strict=True):
            if not np.isfinite(value):
                raise InputError(f"auxiliary is {value} for {name!r}; give 0 for what the earlier task did not use")
        return coefficients
    inputs, targets = samples(auxiliary[0], auxiliary[1], len(columns), " of auxiliary")
    alpha = training.get("alpha", 1e-3)
    return _trained(inputs, targets, {"method": "stl", "alpha": alpha, "gamma": alpha})


def _trained(inputs: FloatArray, targets: FloatArray, about: dict[str, Any]) -> FloatArray:
    """Return coefficients of a network trained to the end on samples whose means are taken away."""
    centred, labels = inputs - inputs.mean(axis=0), targets - targets.mean()
    test = (np.zeros((1, inputs.shape[1])), np.zeros(1))  # what is predicted is not asked for
    return predict(centred, targets=labels, test=test, **about).beta


def _jackknife(
    inputs: FloatArray, targets: FloatArray, about: dict[str, Any], resamples: int, draws: np.random.Generator
) -> FloatArray:
    """Return standard errors of the coefficients by leaving out a fifth of the samples, again and again."""
    count = len(targets)
    left_out = max(1, count // FOLDS)
    coefficients = []
    for _ in range(resamples):
        fold = draws.permutation(count)[left_out:]
        coefficients.append(_trained(inputs[fold], targets[fold], about))
    return np.asarray(np.sqrt((count - left_out) / left_out) * np.std(coefficients, axis=0))


def _errors(inputs: FloatArray, targets: FloatArray, about: dict[str, Any]) -> dict[str, float]:
    """Return errors on fifths left out over the targets' variance: of methods that fit every sample, and of ridge."""
    folds = np.arange(len(targets)) % FOLDS
    squares = dict.fromkeys((*(name for name in METHODS if name != "mtl"), "ridge"), 0.0)
    for fold in range(FOLDS):
        train, test = folds != fold, folds == fold
        means, mean = inputs[train].mean(axis=0), targets[train].mean()
        centred, labels = inputs[test] - means, targets[test] - mean
        for method in squares:
            if method == "ridge":
                beta = _ridge(inputs[train] - means, targets[train] - mean)
            else:
                beta = _trained(inputs[train], targets[train], {**about, "method": method})
            squares[method] += float(np.sum((labels - centred @ beta) ** 2))
    return {method: square / len(targets) / float(targets.var()) for method, square in squares.items()}


def _ridge(inputs: FloatArray, targets: FloatArray) -> FloatArray:
    """Return ridge coefficients, the penalty chosen by leaving out one sample at a time."""
    U, sizes, Vt = np.linalg.svd(inputs, full_matrices=False)
    along = U.T @ targets
    best, smallest_loss = np.zeros(inputs.shape[1]), np.inf
    for share in RIDGE_SHARES:
        shrunk = sizes**2 / (sizes**2 + share * float(np.mean(sizes**2)))
        leverage = (U**2) @ shrunk + 1 / len(targets)
        loss = float(np.mean(((targets - U @ (shrunk * along)) / np.maximum(1 - leverage, 1e-9)) ** 2))
        if loss < smallest_loss:
            inverse = np.divide(shrunk, sizes, out=np.zeros_like(sizes), where=sizes > 0)
            best, smallest_loss = Vt.T @ (inverse * along), loss
    return best


def _fates(
    used: npt.NDArray[np.bool_], low: FloatArray, high: FloatArray, small: FloatArray, *, told: bool
) -> list[str]:
    fates = []
    for was_known, lower, upper, limit in zip(used, low, high, small, strict=True):
        away, near = lower > 0 or upper < 0, max(abs(lower), abs(upper)) < limit
        if told and near:
            fates.append("goes" if was_known else "unused")
        elif told and away:
            fates.append("stays" if was_known else "new")
        else:
            fates.append("unclear")
    return fates
