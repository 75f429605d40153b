"""Kernel theory, experiments without a network: salience, additivity, the leak, equivalence, ordering, dispersion.

Every experiment's function takes one unit of work and returns rows (dictionaries with the same keys).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray
from recombine.lab import tasks
from recombine.lab.runs.experiment import Unit
from recombine.lab.tasks import Task
from recombine.theory.kernels.activation_kernels import gaussian_kernel, quadratic_kernel, step_kernel
from recombine.theory.kernels.given_kernels import kernel_of_salience, kernel_of_sets
from recombine.theory.kernels.overlap import OverlapKernel

Setting = dict[str, Any]
Rows = list[dict[str, Any]]

#: Activation -> the kernel of networks of a depth on so many factors.
ACTIVATION_KERNELS: dict[str, Callable[[int, int], OverlapKernel]] = {
    "relu": OverlapKernel.relu,
    "step": step_kernel,
    "quadratic": quadratic_kernel,
    "gaussian": gaussian_kernel,
    "ntk": OverlapKernel.ntk,
}
#: A kernel without the structure that the theorem asks for: the check must be able to see the difference.
CONTROL = "control: no structure"
#: Saliences at which the known curves of dispersed addition are compared.
DISPERSED_SALIENCE = (0.0, 0.1, 0.2, 0.3, 0.4, 0.45, 0.49, 0.5)

#: Anchor items among nine, worth -4..4: p central items (unseen sums lie outside), p outer ones (inside), or uneven.
ANCHOR_SETS: dict[str, list[list[int]]] = {
    "extrapolation": [[4], [3, 5], [3, 4, 5], [2, 3, 5, 6], [2, 3, 4, 5, 6]],
    "interpolation": [[0, 8], [0, 4, 8], [0, 1, 7, 8], [0, 1, 4, 7, 8]],
    "both": [[2, 6]],
    "asymmetric": [[0], [0, 1], [0, 1, 2]],
}
EQUIVALENCES: dict[str, Task] = {
    "[2,2], 1 anchor each": tasks.transitive_equivalence([2, 2], [1, 1]),
    "[5,5], 1 anchor each": tasks.transitive_equivalence([5, 5], [1, 1]),
    "[5,5], 4 anchors each": tasks.transitive_equivalence([5, 5], [4, 4]),
    "items A-F": tasks.six_item_equivalence(),
}


def network_kernel(activation: str, depth: int, factors: int) -> OverlapKernel:
    """Return the kernel of a wide random network by the name of its activation.

    Examples
    --------
    >>> network_kernel("leaky relu", 1, 2).salience.round(3).tolist()
    [0.446, 0.108]
    """
    if activation == "leaky relu":
        return OverlapKernel.relu(depth, factors, leak=0.1)
    return ACTIVATION_KERNELS[activation](depth, factors)


def fitted_values(task: Task, kernel: OverlapKernel, loss: str = "squared", **options: Any) -> FloatArray:
    """Fit a kernel to the seen cells of a task and return its output on all of them, shape (N,).

    Examples
    --------
    >>> from recombine.theory.kernels import kernel_of_values
    >>> fitted_values(tasks.invariance(), kernel_of_values([0.0, 0.3, 1.0]))[1::2].round(6).tolist()
    [-0.428571, 0.428571]
    """
    from recombine.theory.kernels.estimators import KernelClassifier, KernelRegressor

    seen, target = task.cells[task.train], task.target[task.train]
    if loss == "hinge":
        # A random task may hold out a level altogether; by the theorem it adds nothing.
        model = KernelClassifier(kernel, handle_unknown="ignore", **options).fit(seen, target)
        answer: FloatArray = model.decision_function(task.cells)
        return answer
    return KernelRegressor(kernel, **options).fit(seen, target).predict(task.cells)


def two_factor(salience: float, constant: float = 0.0) -> OverlapKernel:
    """Return the two-factor kernel of a given S(1;2)."""
    return kernel_of_salience([salience], constant=constant, factors=2)


def salience(unit: Unit) -> Rows:
    """Salience of every order by depth, for one activation and number of factors."""
    setting = unit.setting
    rows = []
    for depth in range(1, setting["depths"] + 1):
        kernel = network_kernel(setting["activation"], depth, setting["factors"])
        for order, value in enumerate(kernel.salience.tolist(), start=1):
            about = {"activation": setting["activation"], "factors": setting["factors"], "depth": depth}
            rows.append({**about, "order": order, "salience": value, "constant": kernel.constant})
    return rows


def sampled_salience(unit: Unit) -> Rows:
    """S(1;2) of one hidden layer of random ReLU units, by drawing them."""
    width = unit.setting["width"]
    return [{"width": width, "seed": seed, "salience": _drawn_salience(width, seed)} for seed in unit.seeds]


def _drawn_salience(width: int, seed: int) -> float:
    weights = np.random.default_rng(seed).standard_normal((width, 4))
    # Two cells that share nothing, and one that shares a factor with each of them.
    inputs = np.array([[1, 0, 1, 0], [1, 0, 0, 1], [0, 1, 0, 1]], dtype=float)
    hidden = np.maximum(weights @ inputs.T, 0)
    gram = hidden.T @ hidden
    same, overlap, distinct = np.trace(gram) / 3, (gram[0, 1] + gram[1, 2]) / 2, gram[0, 2]
    return float((overlap - distinct) / (same - distinct))


def kernel_additivity(unit: Unit) -> Rows:
    """Largest interaction on unseen rectangles, for every kind of kernel model on random two-factor tasks."""
    return [row for seed in unit.seeds for row in _additivity_rows(seed)]


def _additivity_rows(seed: int) -> Rows:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(4, 8, size=2)
    task = _random_task(rng, (int(sizes[0]), int(sizes[1])))
    signs = Task(task.name, task.cells, task.train, np.where(task.target > 0, 1.0, -1.0), task.factors)
    s1, s2, pair, constant = rng.uniform(0.05, 1.0, 4)
    counts = kernel_of_salience([s1, pair], constant=constant)
    sets = kernel_of_sets({(): constant, (0,): constant + s1, (1,): constant + s2, (0, 1): constant + s1 + s2 + pair})
    answers = {
        "minimum norm": fitted_values(task, counts),
        "ridge": fitted_values(task, counts, ridge=float(rng.uniform(0.01, 1))),
        "free intercept": fitted_values(task, counts, intercept=True),
        "by set of factors": fitted_values(task, sets),
        "hard margin": fitted_values(signs, counts, "hinge"),
        "soft margin": fitted_values(signs, counts, "hinge", C=float(rng.uniform(0.5, 5))),
        CONTROL: _control(task, rng),
    }
    return [{"seed": seed, "model": name, "interaction": _interaction(task, f)} for name, f in answers.items()]


def _random_task(rng: np.random.Generator, sizes: tuple[int, int]) -> Task:
    """Return random targets on a grid whose top left 2 x 2 block, at least, is unseen."""
    train = rng.random(sizes) < 0.5
    train[:2, :2] = False
    # Every item is seen once, so that no unseen cell is trivially constant.
    train[:2, -1] = train[-1, :2] = True
    cells = np.stack(np.unravel_index(np.arange(train.size), sizes), axis=1)
    return Task("random", cells, train.reshape(-1), rng.standard_normal(train.size), ("first", "second"))


def _control(task: Task, rng: np.random.Generator) -> FloatArray:
    """Minimum-norm fit with a random positive kernel that does not follow overlaps."""
    features = rng.standard_normal((len(task.cells), 2 * len(task.cells)))
    gram = features @ features.T
    dual = np.linalg.solve(gram[np.ix_(task.train, task.train)], task.target[task.train])
    answer: FloatArray = gram[:, task.train] @ dual
    return answer


def _interaction(task: Task, answer: FloatArray) -> float:
    """Largest |f(a,c) + f(b,d) - f(a,d) - f(b,c)| over unseen rectangles, relative to the largest |f| there."""
    grid, unseen = answer.reshape(task.sizes), task.test.reshape(task.sizes)
    largest = max(
        float(np.ptp((grid[a] - grid[b])[both]))
        for a in range(len(grid))
        for b in range(a)
        if (both := unseen[a] & unseen[b]).sum() > 1
    )
    return largest / float(np.abs(grid[unseen]).max())


def leak(unit: Unit) -> Rows:
    """Slope, offset and bend of kernel predictions on unseen sums, for one anchor set."""
    return [row for variant in _variants() for row in _leak_rows(unit.setting, **variant)]


def _variants() -> Iterator[Setting]:
    """Plain, with a constant conjunction, with a free intercept, and with values that do not average to zero."""
    yield {"shift": 0.0, "constant": 0.0, "intercept": False}
    yield {"shift": 0.0, "constant": 0.5, "intercept": False}
    yield {"shift": 0.0, "constant": 0.0, "intercept": True}
    yield {"shift": 1.5, "constant": 0.25, "intercept": False}


def _leak_rows(setting: Setting, shift: float, constant: float, intercept: bool) -> Rows:
    from recombine.theory.kernels.leak import anchor_addition

    values = np.arange(9) - 4 + shift
    task = tasks.symbolic_addition(anchors=setting["anchors"], values=values)
    rows = []
    for amount in setting["salience"]:
        answer = fitted_values(task, two_factor(amount, constant), intercept=intercept)
        slope, offset, bend = _line(task, answer)
        closed = anchor_addition(values, setting["anchors"], amount, constant=constant, intercept=intercept)
        rows.append(
            {
                "set": setting["set"],
                "p": len(setting["anchors"]),
                "salience": amount,
                "shift": shift,
                "constant": constant,
                "intercept": intercept,
                "slope": slope,
                "offset": offset,
                "bend": bend,
                "closed form": float(np.abs(closed.predictions.reshape(-1) - answer)[task.test].max()),
            }
        )
    return rows


def _line(task: Task, answer: FloatArray) -> tuple[float, float, float]:
    """Slope and offset of answers against true sums over unseen cells, and the largest distance from that line."""
    truth, predicted = task.target[task.test], answer[task.test]
    slope, offset = np.polyfit(truth, predicted, 1)
    return float(slope), float(offset), float(np.abs(slope * truth + offset - predicted).max())


def kernel_equivalence(unit: Unit) -> Rows:
    """Largest output on unseen pairs of a balanced equivalence task, over saliences, constants and losses."""
    setting = unit.setting
    task = EQUIVALENCES[setting["variant"]]
    rows = []
    for loss in ("squared", "hinge"):
        for constant in (0.0, 0.5):
            for amount in setting["salience"]:
                answer = fitted_values(task, two_factor(amount, constant), loss)[task.test]
                about = {"variant": setting["variant"], "loss": loss, "constant": constant, "salience": amount}
                rows.append({**about, "largest": float(np.abs(answer).max())})
    return rows


def ordering(unit: Unit) -> Rows:
    """Margins on unseen pairs of the ordering task by symbolic distance."""
    setting = unit.setting
    task = tasks.transitive_ordering(setting["n"])
    gap = np.abs(task.cells[:, 1] - task.cells[:, 0])
    rows = []
    for loss in ("squared", "hinge"):
        for amount in setting["salience"]:
            margin = fitted_values(task, two_factor(amount), loss) * task.target
            rows += [
                {
                    "n": setting["n"],
                    "loss": loss,
                    "salience": amount,
                    "distance": distance,
                    "mean margin": float(margin[gap == distance].mean()),
                    "smallest margin": float(margin[gap == distance].min()),
                }
                for distance in range(2, setting["n"])
            ]
    return rows


def dispersed(unit: Unit) -> Rows:
    """Test error of dispersed addition for one salience: exact interpolation, and support vectors with a tube."""
    setting = unit.setting
    kernel = two_factor(setting["salience"])
    rows = []
    for seed in unit.seeds:
        task = tasks.dispersed_addition(seed=seed)
        for solver, tube in (("exact", None), ("tube 0.1", 0.1)):
            miss = (fitted_values(task, kernel, epsilon=tube) - task.target)[task.test]
            rows.append(
                {
                    "salience": setting["salience"],
                    "seed": seed,
                    "solver": solver,
                    "mean squared error": float(np.mean(miss**2)),
                }
            )
    return rows


def substitution(unit: Unit) -> Rows:
    """Accuracy of kernels on context substitution beside what sums of seen conjunctions can represent at all."""
    from recombine.theory.kernels.representability import representability

    setting = unit.setting
    task = tasks.context_substitution()
    possible = representability(task.cells, task.train, task.target)
    kernel = network_kernel(setting["activation"], setting["depth"], 3)
    rows = []
    for loss in ("squared", "hinge"):
        margin = (fitted_values(task, kernel, loss) * task.target)[task.test]
        rows.append(
            {
                **setting,
                "loss": loss,
                "accuracy": _score(margin),
                "smallest margin": float(margin.min()),
                "best sign margin": possible.margin,
                "residual": possible.residual,
            }
        )
    return rows


def _score(margin: FloatArray) -> float:
    """Share of positive margins; a tie counts one half."""
    ties: BoolArray = np.abs(margin) < 1e-9
    return float(np.where(ties, 0.5, margin > 0).mean())


def spread(low: float, high: float, count: int) -> list[float]:
    """Return evenly spaced values, rounded so that they read well in tables.

    Examples
    --------
    >>> spread(0.1, 0.5, 3)
    [0.1, 0.3, 0.5]
    """
    values: Sequence[float] = np.linspace(low, high, count).round(6).tolist()
    return list(values)
