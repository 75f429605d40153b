"""What seen cells leave open: directions of the components that change none of them, and what follows from those.

A direction is open if all Jacobian rows of the seen cells vanish on it. A cell follows from the seen ones, to first
order, if every open direction leaves it alone; other components that give the same at all seen cells and another
observation elsewhere prove the opposite; and seeing a cell closes the directions that it shows.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.cells.brief import record
from recombine.errors import InputError
from recombine.theory.sufficiency.component_grid import GRID_RANK_SHARE, ComponentGrid
from recombine.theory.sufficiency.finite import CLEAR_BEYOND_EPSILONS, ZERO_WITHIN_EPSILONS
from recombine.theory.sufficiency.refit import fitted

#: Seen cells with which the search for spanning equations begins, for each equation that is needed.
START_ROWS_PER_EQUATION = 1.5
#: Numbers that are computed at once, and cells among which the next to see is chosen.
ENTRIES_PER_BATCH, CANDIDATES_PER_ROUND = 2**22, 2000
#: Lengths of the move along open directions, as a share of the components; the first that can be mended counts.
MOVE_SHARES = (1.0, 0.3, 0.1, 0.03, 0.01)
#: Rounds of mending, and differences on seen and on other cells that count as none and as some, as a share of the
#: largest observation.
MAX_MENDING_STEPS, AGREEMENT_ERROR, DISAGREEMENT_SHARE = 200, 1e-10, 1e-6
#: Fits from components that are drawn anew, unknown numbers up to which they are made, and how much larger than the
#: true components a solution may be: beyond, it may be a limit that nothing reaches.
FAR_STARTS, MAX_FAR_UNKNOWNS, MAX_FAR_GROWTH = 8, 60, 100.0


@record
class OpenDirections:
    """The directions that seen cells leave open.

    Attributes
    ----------
    active : int array, (A, K)
        Seen cells whose equations span those of all.
    bases : tuple of arrays, (U, d) for each block
        Open directions as columns; U unknowns of a block.
    inverses : tuple of arrays, (U, A N) for each block
        Pseudo-inverse of the active equations.
    scale, noise : float
        Largest size of a cell's equations, and the relative rounding error.

    Examples
    --------
    >>> from recombine.theory.compositions import add
    >>> grid = ComponentGrid.of(add(), [np.ones((2, 1))] * 2)
    >>> unknown = OpenDirections.of(grid, np.array([[0, 0], [1, 1]]), np.random.default_rng(0))
    >>> (unknown.shown(np.array([[0, 0], [0, 1]])) > unknown.clear).tolist()
    [False, True]
    """

    grid: ComponentGrid
    active: IntArray
    bases: tuple[FloatArray, ...]
    inverses: tuple[FloatArray, ...]
    scale: float
    noise: float

    @classmethod
    def of(cls, grid: ComponentGrid, seen: IntArray, rng: np.random.Generator) -> OpenDirections:
        """Find them for distinct seen cells (P, K): equations that others do not span are added until none is left."""
        outputs = grid.outputs(seen[:1]).shape[-1]
        unknowns = sum(columns.size for columns in grid.columns)
        order = rng.permutation(len(seen))
        picked = order[: int(np.ceil(START_ROWS_PER_EQUATION * unknowns / outputs))]
        while True:
            unknown = cls._of_active(grid, seen[picked])
            far = unknown.shown(seen)
            far[picked] = 0.0
            (fresh,) = np.nonzero(far > unknown.zero)
            if not len(fresh):
                return unknown
            picked = np.concatenate([picked, fresh[np.argsort(-far[fresh], kind="stable")][:unknowns]])

    @classmethod
    def _of_active(cls, grid: ComponentGrid, active: IntArray) -> OpenDirections:
        bases, inverses, scale, noise = [], [], float(np.finfo(float).tiny), grid.composition.precision
        for matrix in grid.jacobian(active):
            short = max(matrix.shape[1] - len(matrix), 0)
            outer, values, right = np.linalg.svd(np.pad(matrix, ((0, short), (0, 0))), full_matrices=False)
            rank = int((values > GRID_RANK_SHARE * values.max(initial=0.0)).sum()) if values.any() else 0
            bases.append(right[rank:].T)
            inverses.append((right[:rank].T / values[:rank]) @ outer[: len(matrix), :rank].T)
            scale = max(scale, float(np.linalg.norm(matrix.reshape(len(active), -1), axis=1).max()))
            noise = max(noise, float(np.finfo(float).eps * values[0] / values[rank - 1]) if rank else 0.0)
        return cls(grid, active, tuple(bases), tuple(inverses), scale, noise)

    @property
    def zero(self) -> float:
        """Largest share of a cell's equations on open directions that counts as none."""
        return ZERO_WITHIN_EPSILONS * self.noise

    @property
    def clear(self) -> float:
        """Smallest share that counts as some."""
        return CLEAR_BEYOND_EPSILONS * self.noise

    def rows(self, cells: IntArray) -> list[FloatArray]:
        """Return the equations of cells (P, K) on the open directions, (P, N, d) for each block."""
        parts, columns = self.grid.parts(cells), self.grid.columns
        shape = self.grid.outputs(cells).shape
        total = [np.zeros((len(cells), shape[-1], basis.shape[1])) for basis in self.bases]
        for slot, codes in enumerate(cells.T):
            jacobian = self.grid.composition.jacobian(slot, parts)
            jacobian = jacobian.reshape(len(cells), len(self.bases), *jacobian.shape[-2:])
            for block, basis in enumerate(self.bases):
                total[block] += jacobian[:, block] @ basis[columns[slot][codes]]
        return total

    def shown(self, cells: IntArray) -> FloatArray:
        """Return how much cells (P, K) show of the open directions, as a share of the largest equations, (P,)."""
        per_cell = max(basis.size for basis in self.bases) // sum(self.grid.sizes) + 1
        step = max(ENTRIES_PER_BATCH // per_cell, 1)
        batches = [self.rows(cells[start : start + step]) for start in range(0, len(cells), step)]
        sizes = [np.max([np.linalg.norm(rows, axis=(1, 2)) for rows in batch], axis=0) for batch in batches]
        return np.concatenate(sizes or [np.zeros(0)]) / self.scale


@record
class SecondSolution:
    """Other components that give the same observations of all seen cells, and different ones of some others.

    Attributes
    ----------
    components, others : tuple of K arrays (n_k, ..., M_k)
        Both solutions.
    agreement : float
        Largest difference on seen cells, as a share of the largest observation.
    differences : float array, (Q,)
        The same on the cells in question.
    cell : int array, (K,)
        The cell in question on which they differ most.

    Examples
    --------
    >>> from recombine.theory.compositions import add
    >>> grid, seen = ComponentGrid.of(add(), [np.ones((2, 1))] * 2), np.array([[0, 0], [1, 1]])
    >>> rng = np.random.default_rng(0)
    >>> pair = second_solution(OpenDirections.of(grid, seen, rng), seen, np.array([[0, 1], [1, 0]]), rng)
    >>> pair.agreement < 1e-12, pair.proven.tolist()
    (True, [True, True])
    """

    components: tuple[FloatArray, ...]
    others: tuple[FloatArray, ...]
    agreement: float
    differences: FloatArray
    cell: IntArray

    @property
    def proven(self) -> BoolArray:
        """Which of the cells in question do not follow from the seen ones, for both solutions fit those, (Q,)."""
        return np.asarray(self.differences > DISAGREEMENT_SHARE)


def second_solution(
    unknown: OpenDirections, seen: IntArray, cells: IntArray, rng: np.random.Generator
) -> SecondSolution | None:
    """Move the components along open directions and mend what that changes at seen cells; None if nothing mends it."""
    directions = np.stack([basis @ rng.standard_normal(basis.shape[1]) for basis in unknown.bases])
    directions *= _spread(unknown.grid) / max(float(np.abs(directions).max()), float(np.finfo(float).tiny))
    truth = unknown.grid.outputs(seen)
    size = max(float(np.abs(truth).max()), float(np.finfo(float).tiny))
    for share in MOVE_SHARES:
        pair = _compared(unknown.grid, _mended(unknown, unknown.grid.moved(share * directions), size), seen, cells)
        if pair.agreement < AGREEMENT_ERROR:
            return pair
    return None


def far_solutions(
    unknown: OpenDirections, seen: IntArray, cells: IntArray, rng: np.random.Generator
) -> Iterator[SecondSolution]:
    """Fit components that are drawn anew to the seen cells, and yield what fits: branches that no small move reaches.

    Signs are such branches: a product of three numbers stays the same if two of them change theirs.
    """
    grid, spread = unknown.grid, _spread(unknown.grid)
    if sum(columns.size for columns in grid.columns) > MAX_FAR_UNKNOWNS:
        return
    for _ in range(FAR_STARTS):
        drawn = tuple(spread * rng.standard_normal(component.shape) for component in grid.components)
        with np.errstate(all="ignore"), contextlib.suppress(InputError, np.linalg.LinAlgError):
            solution = fitted(replace(grid, components=drawn), unknown.active, grid.outputs(unknown.active))
            pair = _compared(grid, solution, seen, cells)
            if pair.agreement < AGREEMENT_ERROR and _spread(solution) < MAX_FAR_GROWTH * spread:
                yield pair


def _spread(grid: ComponentGrid) -> float:
    """Return the largest number of any component, or 1 where all are zero."""
    return max(float(np.abs(component).max()) for component in grid.components) or 1.0


def _compared(grid: ComponentGrid, other: ComponentGrid, seen: IntArray, cells: IntArray) -> SecondSolution:
    truth = grid.outputs(seen)
    size = max(float(np.abs(truth).max()), float(np.finfo(float).tiny))
    with np.errstate(all="ignore"):
        agreement = float(np.nan_to_num(np.abs(other.outputs(seen) - truth), nan=np.inf).max()) / size
        apart = np.abs(other.outputs(cells) - grid.outputs(cells)).reshape(len(cells), -1).max(axis=1) / size
    differences = np.nan_to_num(apart)
    return SecondSolution(grid.components, other.components, agreement, differences, cells[int(differences.argmax())])


def _mended(unknown: OpenDirections, grid: ComponentGrid, size: float) -> ComponentGrid:
    """Return the components after steps that bring the active cells back to what was observed, where that works."""
    wanted, before = unknown.grid.outputs(unknown.active), np.inf
    for _ in range(MAX_MENDING_STEPS):
        with np.errstate(all="ignore"):
            miss = wanted - grid.outputs(unknown.active)
        largest = float(np.abs(miss).max()) / size
        if largest < float(np.finfo(float).eps) or not largest < before:
            break
        blocks = miss.reshape(len(miss), -1, miss.shape[-1]).swapaxes(0, 1).reshape(len(unknown.bases), -1)
        pairs = zip(unknown.inverses, blocks, strict=True)
        grid, before = grid.moved(np.stack([inverse @ block for inverse, block in pairs])), largest
    return grid


def enough_cells(unknown: OpenDirections, cells: IntArray, rng: np.random.Generator) -> tuple[IntArray, int]:
    """Return which of the cells (Q, K) suffice, once seen, for all of them to follow, and how many directions close.

    Each is the cell that shows most of what is still open; where a cell is one number no fewer would do.

    Examples
    --------
    >>> from recombine.theory.compositions import add
    >>> grid = ComponentGrid.of(add(), [np.ones((3, 1))] * 2)
    >>> rng = np.random.default_rng(0)
    >>> unknown = OpenDirections.of(grid, np.array([[0, 0], [1, 1], [2, 2]]), rng)
    >>> picked, directions = enough_cells(unknown, np.array([[0, 1], [1, 0], [1, 2], [2, 0]]), rng)
    >>> len(picked), directions
    (2, 2)
    """
    picked: list[int] = []
    directions = 0
    while True:
        (short,) = np.nonzero(unknown.shown(cells) > unknown.clear)
        if not len(short):
            return np.array(picked, dtype=np.int64), directions
        candidates = rng.permutation(short)[:CANDIDATES_PER_ROUND]
        rows, bases = unknown.rows(cells[candidates]), list(unknown.bases)
        while True:
            sizes = np.max([np.linalg.norm(block, axis=(1, 2)) for block in rows], axis=0) / unknown.scale
            best = int(sizes.argmax())
            if sizes[best] <= unknown.clear:
                break
            picked.append(int(candidates[best]))
            for block, basis in enumerate(bases):
                closed = _directions_of(rows[block][best], unknown.clear * unknown.scale)
                directions += closed.shape[1]
                rows[block] -= (rows[block] @ closed) @ closed.T
                bases[block] = basis - (basis @ closed) @ closed.T
        unknown = replace(unknown, bases=tuple(bases))


def _directions_of(rows: FloatArray, smallest: float) -> FloatArray:
    """Return an orthonormal basis (d, r) of what rows (N, d) show by more than a size."""
    _, values, right = np.linalg.svd(rows, full_matrices=False)
    return np.asarray(right[values > smallest / np.sqrt(max(len(rows), 1))].T)
