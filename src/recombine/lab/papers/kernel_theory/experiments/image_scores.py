"""Kernel theory, image networks: what their outputs on samples of every cell say.

In-distribution scores are of seen cells shown by images that were never trained on ("val_2"), compositional scores of
unseen cells shown by such images. Errors and accuracies are taken sample by sample; additivity, item values and kinds
of conjunctions from the mean output on each cell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.lab.tasks import Task
from recombine.measures.outputs.additivity import additivity
from recombine.measures.outputs.contributions import by_kind, conjunction_values, item_values
from recombine.measures.outputs.scores import fitted_line, margin, sign_accuracy

#: Named columns (E,) or single numbers of one unit's E networks.
Columns = dict[str, FloatArray | BoolArray]


@dataclass(frozen=True, eq=False)
class Answers:
    """Outputs of E networks on the samples of every split.

    Parameters
    ----------
    task : Task
    cells : dict of int arrays, shape (N,)
        By split: the row of ``task.cells`` that each sample shows, the same for all networks.
    outputs : dict of float arrays, shape (E, N)
        By split.

    Examples
    --------
    >>> from recombine.lab.tasks import invariance
    >>> cells = np.repeat(np.arange(4), 2)
    >>> answers = Answers(invariance(), {"val_2": cells}, {"val_2": cells[None] + np.array([[0.0], [10.0]])})
    >>> answers.by_cell("val_2").tolist()
    [[0.0, 1.0, 2.0, 3.0], [10.0, 11.0, 12.0, 13.0]]
    """

    task: Task
    cells: Mapping[str, IntArray]
    outputs: Mapping[str, FloatArray]

    def by_cell(self, split: str) -> FloatArray:
        """Return the mean output on each cell that the split shows, shape (E, cells), in the order of the cells."""
        cells, outputs = self.cells[split], self.outputs[split]
        order = np.argsort(cells, kind="stable")
        starts = np.flatnonzero(np.diff(cells[order], prepend=-1))
        sums = np.add.reduceat(outputs[:, order], starts, axis=1)
        return sums / np.bincount(cells)[np.unique(cells)]

    def samples(self, split: str, seen: bool) -> tuple[FloatArray, FloatArray]:
        """Return targets (M,) and outputs (E, M) of the split's samples of seen or of unseen cells."""
        cells = self.cells[split]
        chosen = self.task.train[cells] == seen
        return self.task.target[cells[chosen]], self.outputs[split][:, chosen]

    def published_additivity(self) -> FloatArray:
        """Return the share that sums of conjunctions explain, averaged over all splits as the paper does, (E,)."""
        cells_of = {split: np.unique(cells) for split, cells in self.cells.items()}
        rows = np.concatenate(list(cells_of.values()))
        labels = np.repeat(list(cells_of), [len(cells) for cells in cells_of.values()])
        outputs = np.concatenate([self.by_cell(split) for split in cells_of], axis=1)
        return additivity(self.task.cells[rows], self.task.train[rows], outputs, labels, published=True)

    def additivities(self) -> Columns:
        """Return additivity on unseen cells, and the published average."""
        honest = additivity(self.task.cells, self.task.train, self.by_cell("val_2"))
        return {"additivity": honest, "published additivity": self.published_additivity()}

    def squared_error(self, split: str, seen: bool) -> FloatArray:
        """Return the mean squared error, sample by sample, (E,)."""
        target, outputs = self.samples(split, seen)
        return np.asarray(((outputs - target) ** 2).mean(axis=1))


def sums(answers: Answers) -> Columns:
    """Return how well networks add: slope, offset, errors, additivity, and the value that each item has.

    ``value i`` is the mean over both slots of what item i adds to unseen sums; anchors have none (NaN).

    Examples
    --------
    >>> from recombine.lab.tasks import symbolic_addition
    >>> task = symbolic_addition(anchors=[4])
    >>> cells = {"train": np.flatnonzero(task.train), "val_2": np.arange(81)}
    >>> answers = Answers(task, cells, {split: 0.7 * task.target[None, rows] for split, rows in cells.items()})
    >>> found = sums(answers)
    >>> found["slope"].round(6).tolist(), found["increasing"].tolist(), found["value 8"].round(6).tolist()
    ([0.7], [True], [2.8])
    """
    task, outputs = answers.task, answers.by_cell("val_2")
    slope, offset = fitted_line(task.target[task.test], outputs[:, task.test])
    curves = item_values(task.cells, task.train, outputs)
    values = np.full((2, len(outputs), task.sizes[0]), np.nan)
    for curve in curves:
        values[curve.factor][:, curve.levels] = curve.values
    return {
        "train loss": answers.squared_error("train", seen=True),
        "slope": slope,
        "offset": offset,
        "mse": answers.squared_error("val_2", seen=False),
        "in-distribution mse": answers.squared_error("val_2", seen=True),
        **answers.additivities(),
        "increasing": curves[0].increases & curves[1].increases,
        **{f"value {item}": values[:, :, item].mean(axis=0) for item in range(task.sizes[0])},
    }


def choices(answers: Answers, loss: str) -> Columns:
    """Return how well networks choose between -1 and +1: training loss, accuracies and the margin.

    Examples
    --------
    >>> from recombine.lab.tasks import invariance
    >>> task = invariance()
    >>> cells = {"train": np.flatnonzero(task.train), "val_2": np.arange(4)}
    >>> answers = Answers(task, cells, {split: 2 * task.target[None, rows] for split, rows in cells.items()})
    >>> found = choices(answers, "mse")
    >>> found["train loss"].tolist(), found["accuracy"].tolist(), found["margin"].tolist()
    ([1.0], [1.0], [2.0])
    """
    target, outputs = answers.samples("train", seen=True)
    unseen = answers.samples("val_2", seen=False)
    cost = (outputs - target) ** 2 if loss == "mse" else np.logaddexp(0, -outputs * target)
    return {
        "train loss": cost.mean(axis=1),
        "train accuracy": sign_accuracy(target, outputs),
        "accuracy": sign_accuracy(*unseen),
        "in-distribution accuracy": sign_accuracy(*answers.samples("val_2", seen=True)),
        "margin": margin(*unseen),
    }


def kinds(answers: Answers) -> Columns:
    """Return what conjunctions of each kind contribute in a context task, from the mean output on each cell.

    Examples
    --------
    >>> from recombine.lab.tasks import context_dependence
    >>> task = context_dependence(1)
    >>> found = kinds(Answers(task, {"val_2": np.arange(72)}, {"val_2": task.target[None]}))
    >>> max(found, key=lambda kind: found[kind].item())
    'right'
    """
    task = answers.task
    return dict(by_kind(conjunction_values(task.cells, task.train, answers.by_cell("val_2"))))
