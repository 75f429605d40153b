"""What an estimator assumes of effects: the structure that was named, or the one that the audit would choose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.design.design import Design
from recombine.errors import InputError, RecombineError
from recombine.jobs.audit.noise import cell_noise
from recombine.jobs.estimators.cell_estimator import WeighedRows, identified
from recombine.jobs.estimators.structure_fits import CellFit, fit_cells
from recombine.jobs.structure.choice import Choice, choose_structure
from recombine.jobs.values.sources import ValueSource, choose_source
from recombine.theory.components.fit import ComponentsFit
from recombine.theory.identification.identify import Identification
from recombine.theory.structures.all_structures import sum_of
from recombine.theory.structures.ladder import Ladder
from recombine.theory.structures.structure import Structure, StructureFit

#: Rows whose levels all occur in other rows too, below which no structure can be scored.
MIN_ROWS_SHARED = 3


@dataclass(frozen=True, eq=False)
class Assumption:
    """What verdicts assume of effects, and the values of a structure where these are the better ones."""

    structure: Structure
    identification: Identification
    judge: StructureFit | None  #: Fitted, where outcomes decide too which cells are open.
    fit: CellFit | None = None  #: What predicts rows that are determined, in place of the components.
    ladder: Ladder | None = None
    reason: str = ""


def named_assumption(
    structure: Structure, rows: WeighedRows, y: FloatArray, sizes: Sequence[int], shrink: bool, seed: int
) -> Assumption:
    """Fit a structure that was named to training rows with outcomes (n,)."""
    identification = identified(structure, rows.cells, sizes)
    if len(rows.cells) < structure.min_cells:
        raise InputError(f"structure {structure.name!r} needs rows that differ and X has 1 sample; use 'add'")
    fit = fit_cells(structure, rows.cells, y, sizes, shrink, seed, rows.weights)
    return Assumption(structure, identification, fit.fit, fit)


def chosen_assumption(
    design: Design, components: ComponentsFit, rows: WeighedRows, y: FloatArray, seed: int
) -> Assumption:
    """Choose a structure as the audit does; its values count where components miss more held-out cells."""
    ladder = None
    try:
        shared = [np.bincount(column)[column] > 1 for column in rows.cells.T]
        if np.logical_and.reduce(shared).sum() < MIN_ROWS_SHARED:
            raise InputError("fewer than three rows share all their levels with others; collect more rows")
        noise = cell_noise(design)
        variance = None if noise is None or noise.at_most else noise.variances
        choice = choose_structure(design, variance=variance, seed=seed)
        ladder, reason = choice.ladder, choice.obstacle
    except RecombineError as error:
        choice, reason = Choice(sum_of(1)), str(error)
    identification = identified(choice.structure, rows.cells, design.sizes)
    first = identification if choice.order == 1 else identified(sum_of(1), rows.cells, design.sizes)
    curved = None
    if choose_source(components, choice, design, first) is ValueSource.STRUCTURE:
        curved = fit_cells(choice.structure, rows.cells, y, design.sizes, True, seed, rows.weights)
    return Assumption(choice.structure, identification, choice.fit, curved, ladder, reason)
