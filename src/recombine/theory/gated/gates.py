"""Gates of your own: the frozen gates of a trained ReLU network, and how often a limit and a network disagree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray, as_numbers
from recombine.cells.brief import brief_repr
from recombine.errors import InputError
from recombine.theory.gated.contexts import as_points


@dataclass(frozen=True, eq=False)
class FrozenGates:
    """Gates [<w_h, x> + b_h >= 0] of ReLU units that no longer change; call it on inputs to get contexts 0 and 1.

    Parameters
    ----------
    weights : ndarray (H, d)
    bias : ndarray (H,)

    See Also
    --------
    freeze_relu : take them from a trained network.

    Examples
    --------
    >>> FrozenGates(np.eye(2), np.array([0.0, 1.0]))([[2.0, -0.5], [-1.0, -3.0]]).tolist()
    [[1, 1], [0, 0]]
    """

    weights: FloatArray
    bias: FloatArray

    __repr__ = brief_repr

    def __post_init__(self) -> None:
        weights, bias = as_points(self.weights), as_numbers(self.bias, "bias").astype(np.float64)
        if bias.shape != weights.shape[:1]:
            raise InputError(
                f"weights have shape {weights.shape} and bias {bias.shape}; give (units, inputs) and (units,)"
            )
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "bias", bias)

    def __call__(self, X: npt.ArrayLike) -> IntArray:
        """Return gates 0 or 1, shape (n, H), at inputs ``X`` (n, d)."""
        return (as_points(X, self.weights.shape[1]) @ self.weights.T + self.bias >= 0).astype(np.int64)


def freeze_relu(model: Any) -> FrozenGates:
    """Return the gates of the first hidden layer of a ReLU network.

    Parameters
    ----------
    model : fitted scikit-learn MLP with ReLU, or PyTorch module
        Of a module, the first linear layer that a ReLU follows.

    Examples
    --------
    >>> from sklearn.neural_network import MLPClassifier
    >>> X, y = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]), [1, 0, 0, 1]
    >>> network = MLPClassifier((8,), solver="lbfgs", random_state=0).fit(X, y)
    >>> freeze_relu(network)(X).shape
    (4, 8)
    """
    if hasattr(model, "coefs_"):
        if getattr(model, "activation", "relu") != "relu":
            raise InputError(
                f"the network has activation {model.activation!r}; only the gates of ReLU are open or closed"
            )
        return FrozenGates(model.coefs_[0].T, model.intercepts_[0])
    if not hasattr(model, "modules"):
        raise InputError(f"a {type(model).__name__} has no layers to freeze; give a fitted MLP or a PyTorch module")
    last = None
    for layer in _leaves(model):
        if type(layer).__name__ == "ReLU" and last is not None:
            weights = last.weight.detach().cpu().double().numpy()
            bias = np.zeros(len(weights)) if last.bias is None else last.bias.detach().cpu().double().numpy()
            return FrozenGates(weights, bias)
        last = layer if type(layer).__name__ == "Linear" else None
    raise InputError("the module has no linear layer that a ReLU follows; give FrozenGates its weights and bias")


def _leaves(model: Any) -> Iterator[Any]:
    return (layer for layer in model.modules() if not any(True for _ in layer.children()))


class Inconsistency(NamedTuple):
    """Share of samples on which two classifiers differ, and what it would be if their mistakes were unrelated.

    Examples
    --------
    >>> Inconsistency(0.05, 0.2).share
    0.05
    """

    share: float
    chance: float


def inconsistency(first: npt.ArrayLike, second: npt.ArrayLike, truth: npt.ArrayLike) -> Inconsistency:
    """Return how often two classifiers differ, beside p (1 - q) + q (1 - p) for their errors p and q.

    Agreement alone says little: two classifiers with few errors agree whatever they are.

    Parameters
    ----------
    first, second, truth : arrays of labels (n,)

    Examples
    --------
    >>> inconsistency([1, 1, 0, 0], [1, 0, 0, 0], [1, 1, 1, 0])
    Inconsistency(share=0.25, chance=0.5)
    """
    labels1, labels2, right = (np.asarray(labels) for labels in (first, second, truth))
    if not labels1.shape == labels2.shape == right.shape or labels1.ndim != 1 or not len(labels1):
        raise InputError(
            f"labels have shapes {labels1.shape}, {labels2.shape} and {right.shape}; give one per sample in each"
        )
    p, q = float(np.mean(labels1 != right)), float(np.mean(labels2 != right))
    return Inconsistency(float(np.mean(labels1 != labels2)), p * (1 - q) + q * (1 - p))
