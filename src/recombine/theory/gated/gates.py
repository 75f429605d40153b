"""Gates of your own: the frozen gates of a trained ReLU network, and how often a limit and a network disagree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray, as_numbers
from recombine.cells.brief import record
from recombine.checks import whole
from recombine.errors import InputError
from recombine.theory.gated.contexts import as_points
from recombine.writing import join_words


@record
class FrozenGates:
    """Gates [<w_h, x> + b_h >= 0] of ReLU units that no longer change; call it on inputs to get contexts 0 and 1.

    Parameters
    ----------
    weights : ndarray (H, d)
    bias : ndarray (H,)
    below : tuple of FrozenGates
        Hidden layers that the input passes first, from the input up; d is then the last one's number of units.

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
    below: tuple[FrozenGates, ...] = ()

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
        points = as_points(X, (*self.below, self)[0].weights.shape[1])
        for layer in self.below:
            points = np.maximum(points @ layer.weights.T + layer.bias, 0.0)
        return (points @ self.weights.T + self.bias >= 0).astype(np.int64)


def freeze_relu(model: Any, layer: int | None = None) -> FrozenGates:
    """Return the gates of a hidden layer of a ReLU network.

    The theory of frozen gates is about one hidden layer. Of a deeper network no layer is left out in silence: say which
    one is meant, and its gates alone are frozen, at the activities that the layers below give it.

    Parameters
    ----------
    model : fitted scikit-learn MLP with ReLU, or PyTorch module
        Of a module, linear layers that a ReLU follows, in the order in which modules stand in it; it must begin with
        them, and have one linear layer at most behind them.
    layer : int, optional
        Which hidden layer, from 1; needed where there are several.

    Examples
    --------
    >>> from sklearn.neural_network import MLPClassifier
    >>> X, y = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]), [1, 0, 0, 1]
    >>> network = MLPClassifier((8,), solver="lbfgs", random_state=0).fit(X, y)
    >>> freeze_relu(network)(X).shape
    (4, 8)
    >>> deep = MLPClassifier((8, 5), solver="lbfgs", random_state=0).fit(X, y)
    >>> freeze_relu(deep, layer=2)(X).shape
    (4, 5)
    >>> freeze_relu(deep)
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: the network has 2 hidden layers, of 8 and 5 units, and frozen gates are those of one;
        say which, from layer=1 to layer=2
    """
    if hasattr(model, "coefs_"):
        if getattr(model, "activation", "relu") != "relu":
            raise InputError(
                f"the network has activation {model.activation!r}; only the gates of ReLU are open or closed"
            )
        hidden = [(weights.T, bias) for weights, bias in zip(model.coefs_, model.intercepts_, strict=True)][:-1]
    elif hasattr(model, "modules"):
        hidden = _hidden_layers(model)
    else:
        raise InputError(f"a {type(model).__name__} has no layers to freeze; give a fitted MLP or a PyTorch module")
    if layer is None and len(hidden) > 1:
        widths = join_words([str(len(bias)) for _, bias in hidden])
        raise InputError(
            f"the network has {len(hidden)} hidden layers, of {widths} units, and frozen gates are those of one; "
            f"say which, from layer=1 to layer={len(hidden)}"
        )
    chosen = whole(1 if layer is None else layer, "layer")
    if chosen > len(hidden):
        raise InputError(f"layer is {chosen} and the network has {len(hidden)} hidden; count from 1")
    *below, top = [FrozenGates(*weights_and_bias) for weights_and_bias in hidden[:chosen]]
    return FrozenGates(top.weights, top.bias, tuple(below))


#: Layers that change nothing about which gates are open, once a network is trained.
PASSING_LAYERS = ("Flatten", "Dropout", "Identity")


def _hidden_layers(model: Any) -> list[tuple[FloatArray, FloatArray]]:
    """Return weights and bias of the linear layers of a module that a ReLU follows, from the input up."""
    leaves = [leaf for leaf in _leaves(model) if type(leaf).__name__ not in PASSING_LAYERS]
    names = [type(leaf).__name__ for leaf in leaves]
    pairs = 0
    while names[2 * pairs : 2 * pairs + 2] == ["Linear", "ReLU"]:
        pairs += 1
    behind = [leaf for leaf in leaves[2 * pairs :] if any(True for _ in leaf.parameters())]
    if "ReLU" in names[2 * pairs :] or [type(leaf).__name__ for leaf in behind] not in ([], ["Linear"]):
        raise InputError(
            f"the module has layers {', '.join(names)}, of which not all are linear layers that a ReLU follows and a "
            f"last linear one; give FrozenGates weights and bias"
        )
    if not pairs:
        raise InputError("the module has no linear layer that a ReLU follows; give FrozenGates weights and bias")
    return [_weights_and_bias(leaf) for leaf in leaves[: 2 * pairs : 2]]


def _weights_and_bias(linear: Any) -> tuple[FloatArray, FloatArray]:
    weights = linear.weight.detach().cpu().double().numpy()
    return weights, np.zeros(len(weights)) if linear.bias is None else linear.bias.detach().cpu().double().numpy()


def _leaves(model: Any) -> Iterator[Any]:
    # A ReLU that is used twice is one module, and must count twice.
    modules = (module for _, module in model.named_modules(remove_duplicate=False))
    return (module for module in modules if not any(True for _ in module.children()))


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
