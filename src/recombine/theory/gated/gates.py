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
from recombine.sample_checks import call
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
        return (self.before_relu(X)[-1] >= 0).astype(np.int64)

    def before_relu(self, X: npt.ArrayLike) -> list[FloatArray]:
        """Return what the ReLU of each layer is given at inputs ``X`` (n, d), from the input up, each (n, units)."""
        layers = (*self.below, self)
        points, values = as_points(X, layers[0].weights.shape[1]), list[FloatArray]()
        for layer in layers:
            values.append(points @ layer.weights.T + layer.bias)
            points = np.maximum(values[-1], 0.0)
        return values


def freeze_relu(model: Any, layer: int | None = None) -> FrozenGates:
    """Return the gates of a hidden layer of a ReLU network.

    The theory of frozen gates is about one hidden layer. Of a deeper network no layer is left out in silence: say which
    one is meant, and its gates alone are frozen, at the activities that the layers below give it.

    Parameters
    ----------
    model : fitted scikit-learn MLP with ReLU, or PyTorch module
        Of a module, linear layers that a ReLU follows, in the order in which modules stand in it; it must begin with
        them, and have one linear layer at most behind them. A module is called once, in evaluation mode, on random
        inputs (32, d), and refused if its ReLUs are given something else than these layers alone would give them, as
        where inputs are scaled first or skip a layer.
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
    gates = FrozenGates(top.weights, top.bias, tuple(below))
    if not hasattr(model, "coefs_"):
        _compare_with_forward_pass(gates, model, len(hidden))
    return gates


#: Layers that change nothing about which gates are open, once a network is trained.
PASSING_LAYERS = ("Flatten", "Dropout", "Identity")
#: Random inputs that a module is tried on.
TRIED_INPUTS = 32
#: What ReLUs are given may be off by this share of the largest at least: float32 may be multiplied with ten bits.
MIN_ROUNDING_SHARE = 2e-3


def _compare_with_forward_pass(gates: FrozenGates, model: Any, layers: int) -> None:
    """Refuse gates that are not those of a module, whose forward pass need not go through modules as they stand."""
    from torch import finfo

    points = np.random.default_rng(0).standard_normal((TRIED_INPUTS, (*gates.below, gates)[0].weights.shape[1]))
    inputs = next(model.parameters()).new_tensor(points)
    values, rounding = _relu_inputs(model, inputs), max(finfo(inputs.dtype).eps ** 0.5, MIN_ROUNDING_SHARE)
    for layer, expected in enumerate(gates.before_relu(inputs.double()), 1):
        given = values[layer - 1].ravel() if len(values) == layers else np.zeros(0)
        if given.size != expected.size or not np.abs(given - expected.ravel()).max() <= rounding * np.abs(given).max():
            raise InputError(
                f"on a forward pass the ReLU of layer {layer} is not given what the module's linear layers make of the "
                f"inputs one after the other (calls of a ReLU: {len(values)}, layers before one: {layers}), so that "
                "these gates are not the network's; give FrozenGates the weights and bias of a plain sequence"
            )


def _relu_inputs(model: Any, inputs: Any) -> list[npt.NDArray[np.floating]]:
    """Return what the ReLUs of a module are given on a forward pass, one after the other; it stays as it was."""
    import torch

    values: list[npt.NDArray[np.floating]] = []
    modes = [(module, module.training) for module in model.modules()]
    hooks = [
        module.register_forward_pre_hook(lambda _, given: values.append(as_numbers(given[0].double(), "values").copy()))
        for module, _ in modes
        if type(module).__name__ == "ReLU"
    ]
    try:
        model.eval()
        with torch.no_grad():
            call(model, "the module", inputs)
    finally:
        for hook in hooks:
            hook.remove()
        for module, mode in modes:
            module.training = mode
    return values


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
