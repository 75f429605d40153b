"""How many dimensions activations use, before and after a change, and how many of them they share.

With C = X'X, the participation ratio is PR = (tr C)^2 / tr C^2, and the effective number of shared dimensions of two
representations of the same samples is ENSD = tr C1 tr C2 tr(C1 C2) / (tr C1^2 tr C2^2): PR where they are alike, and
near 0 where they share nothing. Traces of products are sums of squares of X1 X2' (samples x samples), formed a block of
rows at a time; a matrix of features x features is only formed where there are fewer features than samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray, as_numbers
from recombine.errors import InputError, near_miss
from recombine.writing import listing

#: Rows of a product that are formed at once.
PRODUCT_BLOCK_ROWS = 1024
SHARED = ("features", "samples")
#: Finetuning has reduced the dimensions it uses if fewer than this share of them is left,
MAX_SHARE_REDUCED = 0.75
#: and has kept to known dimensions if at least this share of those it uses was there before.
MIN_SHARE_REUSED = 0.5
#: Nothing can be said if shuffled neurons share so large a part of what the real ones share,
MIN_SHUFFLED_SHARE_UNCLEAR = 0.8
#: unless activity itself has stayed: its correlation with what it was before;
MIN_CORRELATION_STAYED = 0.5
#: or with fewer samples and neurons than these: they have one dimension or two whatever they learned.
MIN_SAMPLES, MIN_FEATURES = 3, 2


def ensd(first: Any, second: Any, *, centred: bool = True, shared: str = "features") -> float:
    """Return the effective number of dimensions that two representations (N, ...) of the same samples share.

    Parameters
    ----------
    centred : bool
        Whether the mean over samples is taken away first. Published numbers for multi-task networks did not
        (``centred=False``); behind a ReLU, where activity is positive, the mean then counts as shared.
    shared : {"features", "samples"}
        "features": which neuron is which counts, so both have as many; before and after finetuning one network.
        "samples": Gram matrices XX' are compared instead, for networks of any width.

    Examples
    --------
    >>> X = np.diag([1.0, 1.0, 1.0, 0.0])
    >>> ensd(X, X, centred=False), ensd(X[:, :3], np.diag([0.0, 0.0, 1.0, 1.0])[:, :3], centred=False)
    (3.0, 1.0)
    """
    if shared not in SHARED:
        raise InputError(f"shared is {shared!r};{near_miss(shared, SHARED, f'Choices: {listing(SHARED)}')}")
    X1, X2 = _pair(centred, shared, first=first, second=second)
    both = _overlap(X1, X2) if shared == "features" else _overlap(X1.T, X2.T)
    return _shared(X1, X2, both)


def _ratio(X: FloatArray) -> float:
    return float(np.sum(X**2) ** 2 / _overlap(X, X))


def _shared(X1: FloatArray, X2: FloatArray, both: float) -> float:
    """Return the ENSD of which ``both`` is tr(C1 C2)."""
    return float(np.sum(X1**2) * np.sum(X2**2) * both / (_overlap(X1, X1) * _overlap(X2, X2)))


def _pair(centred: bool, shared: str, **activations: Any) -> tuple[FloatArray, FloatArray]:
    """Return two representations of the same samples; messages call them what the caller does."""
    first, second = activations
    X1, X2 = (_prepared(values, f"activations {name!r}", centred) for name, values in activations.items())
    if len(X1) != len(X2):
        raise InputError(f"{first} has {len(X1)} samples and {second} {len(X2)}; give activations of the same samples")
    if shared == "features" and X1.shape != X2.shape:
        raise InputError(
            f"{first} has {X1.shape[1]} features and {second} {X2.shape[1]}; compare networks of different width with "
            "ensd(..., shared='samples')"
        )
    return X1, X2


def _prepared(values: Any, name: str, centred: bool) -> FloatArray:
    if not isinstance(centred, bool | np.bool_):
        raise InputError(f"centred is {centred!r}; give True or False")
    array = as_numbers(values, name).astype(np.float64)
    if array.ndim < 2 or len(array) < 1:
        raise InputError(f"{name} have shape {array.shape}; give one row per sample")
    X = array.reshape(len(array), -1)
    if not np.isfinite(X).all():
        raise InputError(f"{name} hold a number that is not finite; look at the network first")
    X = X - X.mean(axis=0) if centred else X
    largest = float(np.abs(X).max(initial=0.0))
    if largest == 0:
        raise InputError(f"{name} are all zero{' after centring' if centred else ''}, so they have no dimensions")
    # Nothing here depends on the scale, but squares of squares of tiny or huge numbers would.
    return X / largest


def _overlap(X1: FloatArray, X2: FloatArray) -> float:
    """Return tr(X1'X1 X2'X2) for (N1, F) and (N2, F): the squares of X1 X2', or, if smaller, of the two products."""
    samples, features = max(len(X1), len(X2)), X1.shape[1]
    if features < samples:
        return float(np.sum((X1.T @ X1) * (X2.T @ X2)))
    return float(
        sum(np.sum((X1[at : at + PRODUCT_BLOCK_ROWS] @ X2.T) ** 2) for at in range(0, len(X1), PRODUCT_BLOCK_ROWS))
    )


@dataclass(frozen=True)
class Reuse:
    """What finetuning did to one layer.

    Attributes
    ----------
    before, after : float
        Participation ratios.
    shared : float
        ENSD of the two.
    chance: float
        ENSD if neurons were shuffled, on average: what any two layers of such activity share. Without centring it is
        large wherever activity is positive.
    regime : {"lazy", "nested", "new", "undecided"}
        Lazy: about as many dimensions as before, and the same. Nested: fewer, most of which were there before. New:
        most of what is used now was not there before. Undecided: the numbers do not bear a verdict; centring may help.
        `feature_reuse` has the thresholds.

    Examples
    --------
    >>> known, kept = (np.diag([1.0] * count + [0.0] * (9 - count)) for count in (4, 2))
    >>> feature_reuse(known, kept, centred=False)
    Reuse(before=4.0, after=2.0, shared=2.0, chance=0.8888888888888888, regime='nested')
    """

    before: float
    after: float
    shared: float
    chance: float
    regime: str


def feature_reuse(before: Any, after: Any, *, centred: bool = True) -> Reuse:
    """Compare activations (samples, features) of one layer before and after finetuning, on the same samples.

    The signature of nested feature selection is a lower participation ratio of which ENSD shows that it is shared. The
    first of these that holds is the regime:

    1. "undecided" with fewer than three samples or two neurons;
    2. "new" if shared < 0.5 after, whatever chance is;
    3. "undecided" if chance > 0.8 shared, unless activity itself has stayed: its correlation with that before, over
       all samples and neurons, each neuron's mean taken away, is at least 0.5. Where most dimensions that there are
       were in use before, unrelated activity shares them too, and only this can tell;
    4. "nested" if after < 0.75 before;
    5. "lazy".

    Further axes of a sample are flattened. With ``centred`` the mean over samples is taken away first. Behind a ReLU it
    counts as shared if it is not, so that shuffled neurons share nearly as much: ``centred=False`` is for comparison
    with published numbers.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> known, new = rng.standard_normal((2, 50, 20))
    >>> feature_reuse(known, known + 0.05 * new, centred=False).regime
    'lazy'
    """
    X1, X2 = _pair(centred, "features", before=before, after=after)
    first, second, shared, chance = _ratio(X1), _ratio(X2), _shared(X1, X2, _overlap(X1, X2)), _shuffled(X1, X2)
    if len(X1) < MIN_SAMPLES or X1.shape[1] < MIN_FEATURES:
        return Reuse(first, second, shared, chance, "undecided")
    telling = chance <= MIN_SHUFFLED_SHARE_UNCLEAR * shared or _correlation(X1, X2) >= MIN_CORRELATION_STAYED
    return Reuse(first, second, shared, chance, _regime(first, second, shared, telling))


def _correlation(X1: FloatArray, X2: FloatArray) -> float:
    """Return the correlation of two (N, F) over all samples and features, without the mean of each feature."""
    first, second = X1 - X1.mean(axis=0), X2 - X2.mean(axis=0)
    size = float(np.linalg.norm(first) * np.linalg.norm(second))
    return float(np.sum(first * second)) / size if size > 0 else 0.0


def _shuffled(X1: FloatArray, X2: FloatArray) -> float:
    """Return the mean ENSD over all orders of the second's features (N, F).

    Shuffling keeps the diagonal of C = X'X apart from the rest, so that only the mean of each counts.
    """
    features = X1.shape[1]
    traces = [float(np.sum(X**2)) for X in (X1, X2)]
    off_diagonal = [float(np.sum(X.sum(axis=1) ** 2)) - trace for X, trace in zip((X1, X2), traces, strict=True)]
    both = np.prod(traces) / features + np.prod(off_diagonal) / max(1, features * (features - 1))
    return _shared(X1, X2, float(both))


def _regime(before: float, after: float, shared: float, telling: bool) -> str:
    if shared < MIN_SHARE_REUSED * after:
        return "new"
    if not telling:
        return "undecided"
    return "nested" if after < MAX_SHARE_REDUCED * before else "lazy"
