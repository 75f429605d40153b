"""Kernel theory, kernels beyond two equal factors: sparse designs, exposure, uneven salience, and tasks by class."""

from __future__ import annotations

import numpy as np

from recombine.lab import tasks
from recombine.lab.papers.kernel_theory.experiments.kernels import CONTROL, Rows, fitted_values, network_kernel
from recombine.lab.runs.experiment import Unit
from recombine.lab.tasks import Task
from recombine.measures.outputs.additivity import fit_conjunctions
from recombine.theory.kernels.given_kernels import kernel_of_salience, kernel_of_sets, kernel_of_values
from recombine.theory.kernels.representability import representability

#: Every task of the paper and of its authors' files.
TASKS: dict[str, Task] = {
    "symbolic addition": tasks.symbolic_addition(anchors=[4]),
    "dispersed addition": tasks.dispersed_addition(seed=1),
    "CD-1": tasks.context_dependence(1),
    "CD-2": tasks.context_dependence(2),
    "CD-3": tasks.context_dependence(3),
    "stimulus composition": tasks.stimulus_composition(),
    "invariance": tasks.invariance(),
    "partial exposure": tasks.partial_exposure(),
    "transitive ordering": tasks.transitive_ordering(7),
    "transitive equivalence": tasks.transitive_equivalence([2, 2], [1, 1]),
    "equivalence of A to F": tasks.six_item_equivalence(),
    "context substitution": tasks.context_substitution(),
}
#: Share of the cells of a sparse design that are seen: with many more, seen conjunctions span everything.
SEEN_SHARE = 0.15


def sparse_additivity(unit: Unit) -> Rows:
    """Return how far kernel predictions are from sums of seen conjunctions, on sparse designs of 3 or 4 factors."""
    return [row for seed in unit.seeds for row in _sparse_rows(seed)]


def _sparse_rows(seed: int) -> Rows:
    rng = np.random.default_rng(seed)
    factors = 3 + seed % 2
    sizes = tuple(rng.integers(3, 6 if factors == 3 else 4, size=factors).tolist())
    cells = np.stack(np.unravel_index(np.arange(np.prod(sizes)), sizes), axis=1)
    seen = rng.random(len(cells)) < SEEN_SHARE
    seen[:2] = True
    task = Task("sparse", cells, seen, rng.standard_normal(len(cells)), tuple("abcd"[:factors]))
    kernel = kernel_of_salience(rng.uniform(0.05, 1.0, factors), constant=float(rng.uniform(0.05, 1.0)))
    outputs = {
        "minimum norm": fitted_values(task, kernel),
        "ridge": fitted_values(task, kernel, ridge=float(rng.uniform(0.01, 1))),
        CONTROL: rng.standard_normal(len(cells)),
    }
    values = np.stack(list(outputs.values()))
    missed = np.abs(values - fit_conjunctions(cells, seen, values).fitted)[:, ~seen].max(axis=1)
    residuals = missed / np.abs(values[:, ~seen]).max(axis=1)
    about = {"seed": seed, "factors": factors}
    return [{**about, "model": name, "residual": float(value)} for name, value in zip(outputs, residuals, strict=True)]


def exposure(unit: Unit) -> Rows:
    """Return margins on unseen cells of invariance and partial exposure, fitted and by their closed forms."""
    rows = []
    for k in unit.setting["similarity"]:
        kernel = kernel_of_values([0.0, k, 1.0])
        exact = {"invariance": k / (1 - k), "partial exposure": 2 * k**2 / (1 - 2 * k**2)}
        for name, task in (("invariance", tasks.invariance()), ("partial exposure", tasks.partial_exposure())):
            margin = (fitted_values(task, kernel) * task.target)[task.test]
            rows.append({"task": name, "similarity": k, "margin": float(margin.min()), "closed form": exact[name]})
    return rows


def uneven_salience(unit: Unit) -> Rows:
    """Return slopes of both items of a sum whose factors differ in salience, fitted and by their closed forms."""
    setting = unit.setting
    louder, quieter = setting["first"], setting["second"]
    kernel = kernel_of_sets({(): 0.0, (0,): louder, (1,): quieter, (0, 1): 1.0})
    task = tasks.symbolic_addition(anchors=setting["anchors"])
    outputs = fitted_values(task, kernel)[task.test]
    items = task.cells[task.test] - 4
    design = np.column_stack([items, np.ones(len(items))])
    weights, *_ = np.linalg.lstsq(design, outputs, rcond=None)
    p, pair = len(setting["anchors"]), 1 - louder - quieter
    rows = []
    for slot, salience in enumerate((louder, quieter)):
        closed_form = p * salience / (p * salience + pair)
        about = {"first": louder, "second": quieter, "p": p, "slot": slot, "salience": salience}
        rows.append(
            {**about, "slope": float(weights[slot]), "closed form": closed_form}
            | {"bend": float(np.abs(design @ weights - outputs).max())}
        )
    return rows


def task_classes(unit: Unit) -> Rows:
    """Return what sums of seen conjunctions can express of a task, and what two kernels get right on unseen cells."""
    name = unit.setting["task"]
    task = TASKS[name]
    possible = representability(task.cells, task.train, task.target)
    kernel = network_kernel("relu", 1, len(task.factors))
    row = {"task": name, "seen": int(task.train.sum()), "unseen": int(task.test.sum()), "class": possible.kind}
    row |= {"residual": possible.residual, "sign margin": possible.margin}
    signs = set(np.unique(task.target).tolist()) <= {-1.0, 1.0}
    for loss in ("squared", "hinge"):
        margin = (fitted_values(task, kernel, loss) * task.target)[task.test] if signs else np.array([np.nan])
        right = np.where(np.abs(margin) < 1e-9, 0.5, margin > 0).mean() if signs else np.nan
        row[f"accuracy, {loss}"] = float(right)
    return [row]
