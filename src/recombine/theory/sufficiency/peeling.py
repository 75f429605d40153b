"""The theorem's proof on a finite grid: learn one component after the other, starting from a known cell."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import IntArray
from recombine.checks import real
from recombine.theory.compositions.composition import Composition
from recombine.theory.compositions.jacobians import Function
from recombine.theory.sufficiency.component_grid import GRID_RANK_SHARE, Component, ComponentGrid, rank_of
from recombine.verdicts import Verdict


@dataclass(frozen=True)
class Peeling:
    """The order in which components become known, starting from one cell; see `peel`.

    Attributes
    ----------
    order : tuple of (slot, level)
        Starting with the levels of the known cell.
    missing : tuple of (slot, level)
        Never reached; printed is the first of them.

    Examples
    --------
    >>> Peeling(((0, 0), (1, 0)), ((0, 1),)).complete
    False
    """

    order: tuple[tuple[int, int], ...]
    missing: tuple[tuple[int, int], ...]

    @property
    def complete(self) -> bool:
        """True if every level was reached; then every cell is determined."""
        return not self.missing

    def __str__(self) -> str:
        total = len(self.order) + len(self.missing)
        verdict = Verdict.DETERMINED if self.complete else Verdict.UNDECIDED
        reached = f"{verdict.word}: {len(self.order)}/{total} levels"
        return reached if self.complete else f"{reached}, without {self.missing[0]}"


def peel(
    seen: npt.ArrayLike | Sequence[Sequence[Hashable]],
    composition: Composition | Function,
    components: Sequence[Component],
    known_cell: Sequence[Hashable],
    *,
    tolerance: float = GRID_RANK_SHARE,
) -> Peeling:
    """Retrace the theorem's proof on a grid: learn one component after the other, starting from a known cell.

    A level becomes known when the Jacobians of its slot, stacked over seen cells whose other levels are known, have
    full rank in every block. Complete peeling implies identifiability; it never starts where N < M for one cell each.

    Parameters
    ----------
    seen, composition, components, tolerance
        As for `finite_identifiability`.
    known_cell : sequence of K int
        The cell at whose levels the components are known.

    Examples
    --------
    >>> from recombine.theory.compositions import add
    >>> print(peel([[0, 0], [0, 1], [1, 1]], add(), [np.ones((2, 1))] * 2, known_cell=(0, 0)))
    determined: 4/4 levels
    """
    real(tolerance, "tolerance", above=0, below=1)
    grid = ComponentGrid.of(composition, components)
    cells = grid.cells(seen, "seen")
    base = grid.cells([known_cell], "known_cell")[0]
    order = [(slot, int(level)) for slot, level in enumerate(base)]
    waiting = [(slot, level) for slot, size in enumerate(grid.sizes) for level in range(size)]
    waiting = [component for component in waiting if component not in order]
    while True:
        fresh = [component for component in waiting if _reached(grid, cells, component, set(order), tolerance)]
        if not fresh:
            return Peeling(tuple(order), tuple(waiting))
        order += fresh
        waiting = [component for component in waiting if component not in fresh]


def _reached(
    grid: ComponentGrid, cells: IntArray, component: tuple[int, int], learned: set[tuple[int, int]], tolerance: float
) -> bool:
    slot, level = component
    other_slots = [slot2 for slot2 in range(cells.shape[1]) if slot2 != slot]
    usable = np.array([all((slot2, int(cell[slot2])) in learned for slot2 in other_slots) for cell in cells])
    usable &= cells[:, slot] == level
    if not usable.any():
        return False
    jacobians = grid.composition.jacobian(slot, grid.parts(cells[usable]))
    stacks = jacobians.reshape(len(jacobians), -1, *jacobians.shape[-2:]).swapaxes(0, 1)
    columns = stacks.shape[-1]
    return all(rank_of(stack.reshape(-1, columns), tolerance) == columns for stack in stacks)
