"""A task from a table of one's own: its rows say what was seen, and what is right on the cells that were not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.errors import InputError
from recombine.lab.tasks.task import Task
from recombine.writing import plural

if TYPE_CHECKING:
    from recombine.design.design import Design


def from_design(design: Design, name: str | None = None) -> Task:
    """Return a design with a split as a task: training cells are seen, the others are unseen and their truth is known.

    Mean outcomes are the answers. An outcome with two values becomes -1 and +1, the choice between two that kernels and
    `representability` judge by its sign. Levels and answers keep their names. A held-out cell that training has too is
    seen.

    Parameters
    ----------
    design : Design
        With an outcome and with held-out cells: ``Design.from_frame(table, outcome="y", split="part=train")``.
    name : str, optional
        What to call it; the design's source by default.

    Examples
    --------
    A word with a prefix means the opposite; "un" was never seen with "safe". Is that a sum of what was seen?

    >>> import pandas as pd
    >>> from recombine import Design
    >>> from recombine.theory.kernels import representability
    >>> words = pd.DataFrame({
    ...     "prefix": ["", "un", "", "un"],
    ...     "stem": ["kind", "kind", "safe", "safe"],
    ...     "good": ["yes", "no", "yes", "no"],
    ...     "part": ["train", "train", "train", "test"],
    ... })
    >>> design = Design.from_frame(words, factors=["prefix", "stem"], outcome="good", split="part=train")
    >>> task = from_design(design, "prefixes")
    >>> task
    Task('prefixes': prefix x stem of sizes 2 x 2, 3 seen, 1 unseen)
    >>> task.classes, [task.said(row) for row in np.flatnonzero(task.test)]
    (('no', 'yes'), ['prefix un, stem safe: no'])
    >>> representability(task.cells, task.train, task.target).kind   # no answer would fail: one cell is unseen
    'anything'
    """
    if design.outcome is None:
        raise InputError("a task needs the right answers; name the outcome column: Design.from_frame(..., outcome=...)")
    order = np.argsort(~design.train, kind="stable")
    cells, first = np.unique(design.cells[order], axis=0, return_index=True)
    rows = order[first]
    train = design.train[rows]
    if train.all():
        raise InputError(
            "every cell was seen, so that nothing is left to ask about; say which rows are training: "
            "Design.from_frame(..., split='column=value')"
        )
    target = design.outcome[rows]
    if design.outcome_column.two_values is not None:
        low, high = design.outcome_column.two_values
        between = (target != low) & (target != high)
        if between.any():
            raise InputError(
                f"{plural(int(between.sum()), 'cell')} with both answers; a task has one right answer per cell"
            )
        target = np.where(target == high, 1.0, -1.0)
    levels = tuple(factor.labels for factor in design.factors)
    return Task(name or design.reading.source, cells, train, target, design.names, levels, _classes(design))


def _classes(design: Design) -> tuple[str, str] | None:
    """What the lower and the higher of two answers are called; None where there are more."""
    column = design.outcome_column
    if column.two_values is None:
        return None
    low, high = column.labels or (f"{value:g}" for value in column.two_values)
    return low, high
