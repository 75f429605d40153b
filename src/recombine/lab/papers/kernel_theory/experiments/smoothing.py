"""Kernel theory, context dependence with smoothed labels: exact kernels, the time they take, networks, ConvNets.

A smoothing e says that the answer of a seen cell is right with probability 1 - e/2. The logistic loss then has a finite
optimum: outputs of plus or minus log((2 - e) / e) on seen cells, the same size on all of them. A kernel reaches it with
the smallest weights that interpolate these outputs, so it ends at a multiple of the squared-loss solution; without
smoothing it ends in the direction of the hard margin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab import tasks
from recombine.lab.papers.kernel_theory.experiments.kernels import Rows, fitted_values, network_kernel
from recombine.lab.papers.kernel_theory.experiments.trained_images import ImageSetup
from recombine.lab.runs.experiment import Unit
from recombine.lab.tasks import Task
from recombine.lab.worlds.images.sources import load_images
from recombine.lab.worlds.onehot import one_hot
from recombine.measures.outputs.scores import margin, sign_accuracy
from recombine.theory.kernels.overlap import OverlapKernel

if TYPE_CHECKING:
    from recombine.lab.worlds.images.pairs import ImagePairs

SMOOTHINGS = (0.0, 0.001, 0.01, 0.1)
#: Eigenvalues of a Gram matrix below this share of the largest are rounding.
GRAM_ROUNDING_SHARE = 1e-12
#: Losses of networks on images: a smoothing e is a target of size 1 - e.
LOSSES = {"logistic": "soft-logistic", "mse": "mse"}
#: The flow is followed up to this time over the smoothing, at so many times per factor of ten.
LAST_TIME_BY_SMOOTHING, TIMES_PER_DECADE = 1e5, 40


def ceiling(smoothing: float) -> float:
    """Return the size of the outputs on seen cells at which the smoothed logistic loss is smallest.

    Examples
    --------
    >>> round(ceiling(0.01), 3), round(ceiling(0.1), 3), ceiling(1.0)
    (5.293, 2.944, 0.0)
    """
    return float(np.log((2 - smoothing) / smoothing))


class Grams(NamedTuple):
    """Kernel values between seen cells (S, S), and of all cells with the seen ones (N, S)."""

    seen: FloatArray
    every: FloatArray


def grams(task: Task, kernel: OverlapKernel) -> Grams:
    """Return a kernel's values on a task, one on identical cells.

    Examples
    --------
    >>> [values.shape for values in grams(tasks.invariance(), OverlapKernel.relu(1, 2))]
    [(2, 2), (4, 2)]
    """
    overlap = (task.cells[:, None, :] == task.cells[None, task.train, :]).sum(axis=2)
    every = np.asarray(kernel.values)[overlap] / kernel.values[-1]
    return Grams(every[task.train], every)


def smoothed_slope(outputs: FloatArray, target: FloatArray, smoothing: float) -> FloatArray:
    """Return the derivative of the smoothed logistic loss in each output, for targets -1 and +1.

    Examples
    --------
    >>> smoothed_slope(np.array([0.0, ceiling(0.1)]), np.ones(2), 0.1).round(6).tolist()
    [-0.45, 0.0]
    """
    from scipy.special import expit

    slope: FloatArray = expit(outputs) - (1 + (1 - smoothing) * target) / 2
    return slope


def smoothed_values(task: Task, kernel: OverlapKernel, smoothing: float) -> FloatArray:
    """Minimise the smoothed logistic loss over the kernel's span, from zero, and return the outputs on all cells (N,).

    Examples
    --------
    >>> task = tasks.invariance()
    >>> smoothed_values(task, OverlapKernel.relu(1, 2), 0.1)[task.train].round(3).tolist()
    [-2.944, 2.944]
    """
    from scipy.optimize import minimize
    from scipy.special import expit

    seen, every = grams(task, kernel)
    target = task.target[task.train]
    size, vectors = np.linalg.eigh(seen)
    regular = size > GRAM_ROUNDING_SHARE * size[-1]
    features = vectors[:, regular] * np.sqrt(size[regular])

    def loss(weights: FloatArray) -> float:
        agreeing = features @ weights * target
        wrong, right = np.logaddexp(0, agreeing), np.logaddexp(0, -agreeing)
        return float(((1 - smoothing / 2) * right + smoothing / 2 * wrong).sum())

    def gradient(weights: FloatArray) -> FloatArray:
        return np.asarray(features.T @ smoothed_slope(features @ weights, target, smoothing))

    def curvature(weights: FloatArray) -> FloatArray:
        share = expit(features @ weights)
        return np.asarray(features.T @ ((share * (1 - share))[:, None] * features))

    start = np.zeros(int(regular.sum()))
    optimum = minimize(loss, start, jac=gradient, hess=curvature, method="trust-exact", options={"gtol": 1e-9}).x
    # The last digits: near the optimum the loss is flat to rounding, its gradient is not.
    for _ in range(3):
        optimum = optimum - np.linalg.solve(curvature(optimum), gradient(optimum))
    values: FloatArray = every @ (vectors[:, regular] / np.sqrt(size[regular])) @ optimum
    return values


def time_until_right(task: Task, kernel: OverlapKernel, smoothing: float) -> float:
    """Return from when on gradient flow on the mean smoothed loss has every unseen cell right; NaN if never.

    Time is steps times their size, for a kernel of one on identical cells that starts from zero outputs.

    Examples
    --------
    >>> times = [time_until_right(tasks.context_dependence(2), OverlapKernel.relu(1, 3), e) for e in (0.1, 0.01)]
    >>> times[0] < times[1]
    True
    """
    from scipy.integrate import solve_ivp
    from scipy.special import expit

    seen, every = grams(task, kernel)
    target = task.target[task.train]

    def flow(time: float, dual: FloatArray) -> FloatArray:
        return -smoothed_slope(seen @ dual, target, smoothing) / len(target)

    def jacobian(time: float, dual: FloatArray) -> FloatArray:
        share = expit(seen @ dual)
        return np.asarray(-(share * (1 - share))[:, None] * seen / len(target))

    decades = np.log10(LAST_TIME_BY_SMOOTHING / smoothing)
    times = np.logspace(0, decades, round(TIMES_PER_DECADE * decades))
    path = solve_ivp(flow, (0, times[-1]), np.zeros(len(target)), "LSODA", times, jac=jacobian, rtol=1e-7, atol=1e-9).y
    wrong = np.asarray(np.any((every[task.test] @ path) * task.target[task.test, None] <= 0, axis=0))
    if wrong[-1]:
        return float("nan")
    return float(times[np.flatnonzero(wrong)[-1] + 1]) if wrong.any() else float(times[0])


def smoothing(unit: Unit) -> Rows:
    """Unseen cells of CD-k for one kernel by smoothing, against the hard margin and squared loss."""
    setting = unit.setting
    task = tasks.context_dependence(setting["left out"])
    kernel = network_kernel(setting["activation"], setting["depth"], 3)
    squared = fitted_values(task, kernel)
    rows = []
    for amount in setting["smoothing"]:
        values = smoothed_values(task, kernel, amount) if amount else fitted_values(task, kernel, "hinge")
        size = ceiling(amount) if amount else 1.0
        agreeing = values * task.target
        rows.append(
            {
                "activation": setting["activation"],
                "depth": setting["depth"],
                "task": task.name,
                "smoothing": amount,
                "accuracy": float(sign_accuracy(task.target[task.test], values[task.test])),
                "relative margin": float(agreeing[task.test].mean() / agreeing[task.train].min()),
                "from ceiling": float(np.abs(agreeing[task.train] - size).max() / size),
                "from squared": float(np.abs(values / size - squared).max()),
                "time": time_until_right(task, kernel, amount) if amount else float("nan"),
            }
        )
    return rows


def smoothing_networks(unit: Unit) -> Rows:
    """Unseen cells of CD-k over training for wide networks on smoothed labels, a row per network and recorded step."""
    setting = unit.setting
    task = tasks.context_dependence(setting["left out"])
    trained = _train_smoothed(task, unit)
    watched = trained.watched[..., 0].double().cpu().numpy()
    return [
        {
            "task": task.name,
            "smoothing": setting["smoothing"],
            "width": setting["width"],
            "seed": seed,
            "step": step,
            "accuracy": float(sign_accuracy(task.target[task.test], outputs[task.test])),
            "train accuracy": float(sign_accuracy(task.target[task.train], outputs[task.train])),
            "margin": float(margin(task.target[task.test], outputs[task.test])),
            "smallest seen": float((outputs * task.target)[task.train].min()),
        }
        for step, networks in zip(trained.recorded, watched, strict=True)
        for seed, outputs in zip(unit.seeds, networks, strict=True)
    ]


def _train_smoothed(task: Task, unit: Unit) -> Any:
    """Train on every seen cell twice: with its answer, of weight 1 - e/2, and with the other one, of weight e/2."""
    from recombine.lab.nets.architectures.mlp import MLP
    from recombine.lab.nets.ensemble.ensemble import Ensemble

    setting = unit.setting
    inputs = one_hot(task.cells, task.sizes)
    seen, target, amount = inputs[task.train], task.target[task.train], setting["smoothing"]
    ensemble = Ensemble(
        MLP(inputs.shape[1], (setting["width"],)), seeds=list(unit.seeds), scale=setting["sigma"], device=unit.device
    )
    copies = (1, -1) if amount else (1,)
    return ensemble.train(
        np.concatenate([seen for _ in copies]),
        np.concatenate([sign * target for sign in copies]),
        weights=np.repeat([1 - amount / 2, amount / 2], len(target)) if amount else None,
        rate=setting["rate"],
        steps=setting["steps"],
        loss="logistic",
        record=tuple(setting["record"]),
        watch=inputs,
    )


def smoothing_images(unit: Unit) -> Rows:
    """Unseen cells of CD-k over training for ConvNets on smoothed labels, a row per network and recorded step."""
    setting = unit.setting
    task = tasks.context_dependence(setting["left out"])
    world = ImageSetup.of(task, unit)
    shown, new = (world.draws[split].cells[0] for split in ("train", "val_2"))
    trained = _train_convnets(world, unit)
    about = {name: setting[name] for name in ("images", "architecture", "loss", "smoothing", "distance")}
    rows = []
    watched = trained.watched[..., 0].double().cpu().numpy()
    for step, losses, outputs in zip(trained.recorded, trained.history.tolist(), watched, strict=True):
        training, later = np.split(outputs, [len(shown)], axis=1)
        unseen, seen = task.test[new], task.train[new]
        target = task.target[new]
        columns = {
            "train loss": losses,
            "train accuracy": sign_accuracy(task.target[shown], training),
            "train margin": margin(task.target[shown], training),
            "accuracy": sign_accuracy(target[unseen], later[:, unseen]),
            "in-distribution accuracy": sign_accuracy(target[seen], later[:, seen]),
            "margin": margin(target[unseen], later[:, unseen]),
        }
        rows += [
            {**about, "task": task.name, "seed": seed, "step": step}
            | {name: float(values[index]) for name, values in columns.items()}
            for index, seed in enumerate(unit.seeds)
        ]
    return rows


def _train_convnets(world: ImageSetup, unit: Unit) -> Any:
    """Train as the setting says, and record outputs on the training samples, then on new images of every cell."""
    from recombine.lab.nets.ensemble.optimisers import SGD

    setting = unit.setting
    return world.ensemble.train(
        world.pairs["train"],
        world.task.target[world.draws["train"].cells[0]] * (1 - setting["smoothing"]),
        rate=setting["rate"],
        steps=setting["record"][-1],
        batch=setting["batch"],
        loss=LOSSES[setting["loss"]],
        optimiser=SGD(momentum=setting["momentum"]),
        record=tuple(setting["record"]),
        watch=_watched(world, unit),
    )


def _watched(world: ImageSetup, unit: Unit) -> ImagePairs:
    """The training samples, then new images of every cell."""
    from recombine.lab.worlds.images.pairs import ImagePairs

    setting = unit.setting
    index = np.concatenate([world.draws[split].index for split in ("train", "val_2")], axis=1)
    return ImagePairs(load_images(setting["images"]), index, distance=setting["distance"], device=unit.device)
