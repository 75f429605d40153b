"""Does a finite set of seen cells determine all the others, given the composition? To first order, exactly.

Slot k has n_k levels and an unknown component phi_k(level) in R^M for each. A seen cell contributes N equations, whose
derivative by the unknowns is a row block of J_P; all cells make J_grid. Near the truth, fitting the seen cells forces
all cells if and only if rank J_P = rank J_grid, and one cell if and only if its rows lie in the span of J_P: for
addition this is the verdict of `recombine.theory.identification.identify`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray, product_size
from recombine.cells.brief import record
from recombine.cells.conjunctions import every_cell
from recombine.checks import real
from recombine.tables.table import Table
from recombine.theory.compositions.composition import Composition
from recombine.theory.compositions.jacobians import Function
from recombine.theory.identification.judgement import Codes
from recombine.theory.sufficiency.anchor_stacks import AnchorStacks
from recombine.theory.sufficiency.component_grid import GRID_RANK_SHARE, Component, ComponentGrid, rank_of
from recombine.verdicts import Verdict

#: A distance from the span up to this many rounding errors is zero; ten thousand times more is not.
ZERO_WITHIN_EPSILONS, CLEAR_BEYOND_EPSILONS = 1e3, 1e7
#: Values of each slot of a drawn grid, doubled from the fewest to the most until its cells follow, and cells of it.
MIN_DRAWN_VALUES, MAX_DRAWN_VALUES, MAX_DRAWN_CELLS = 16, 256, 2**17
#: Points that are drawn for each value, seen cells that are looked at for each unknown, and blocks, such as pixels.
DRAWN_POINTS_PER_VALUE, DRAWN_CELLS_PER_UNKNOWN, MAX_DRAWN_BLOCKS = 8, 2, 16


@record
class FiniteIdentifiability:
    """What seen cells say about a grid under a composition; see `finite_identifiability`.

    Attributes
    ----------
    rank, full_rank : int
        Ranks of J_P and J_grid, summed over blocks; components are known at the levels of ``known``.
    distances : float array, one per cell
        How far its rows are from the span of the seen ones, as a share of the largest rows.
    noise : float
        Relative rounding error of these distances.

    Examples
    --------
    >>> from recombine.theory.compositions import add
    >>> found = finite_identifiability([[0, 0], [0, 1], [1, 1], [2, 2]], add(), [np.ones((3, 1))] * 2)
    >>> print(found.words)
    [['seen' 'seen' 'disconnected']
     ['determined' 'seen' 'disconnected']
     ['disconnected' 'disconnected' 'seen']]
    >>> found.deficit
    1
    >>> list(found.table().only(verdict="determined").rows())
    [{'slot 0': 1, 'slot 1': 0, 'verdict': 'determined'}]
    """

    grid: ComponentGrid
    seen: IntArray
    known: tuple[int, ...] | None
    rank: int
    full_rank: int
    distances: FloatArray
    noise: float

    @property
    def identifiable(self) -> bool:
        """True if fitting the seen cells forces every cell (locally around the truth)."""
        return self.rank == self.full_rank

    @property
    def deficit(self) -> int:
        """Directions that the seen cells leave open and some cell shows."""
        return self.full_rank - self.rank

    @property
    def verdict(self) -> Verdict:
        """Determined if every cell follows; unseen level or disconnected otherwise."""
        if self.identifiable:
            return Verdict.DETERMINED
        return Verdict.UNSEEN_LEVEL if (self.verdicts == Verdict.UNSEEN_LEVEL).any() else Verdict.DISCONNECTED

    @cached_property
    def verdicts(self) -> Codes:
        """Verdict codes of all cells, last slot fastest."""
        cells = every_cell(self.grid.sizes)
        codes = np.full(len(cells), Verdict.DISCONNECTED, dtype=np.uint8)
        codes[self.distances <= CLEAR_BEYOND_EPSILONS * self.noise] = Verdict.UNDECIDED
        codes[self.distances <= ZERO_WITHIN_EPSILONS * self.noise] = Verdict.DETERMINED
        for slot, size in enumerate(self.grid.sizes):
            present = np.bincount(self.seen[:, slot], minlength=size) > 0
            if self.known is not None:
                present[self.known[slot]] = True
            codes[~present[cells[:, slot]]] = Verdict.UNSEEN_LEVEL
        codes[np.ravel_multi_index(tuple(self.seen.T), self.grid.sizes)] = Verdict.SEEN
        return codes

    def verdicts_on_grid(self) -> Codes:
        """Verdict codes with the shape of the grid."""
        return self.verdicts.reshape(self.grid.sizes)

    @property
    def words(self) -> npt.NDArray[np.str_]:
        """Verdicts in words with the shape of the grid."""
        return np.array([verdict.word for verdict in Verdict])[self.verdicts_on_grid()]

    def table(self) -> Table:
        """Return a row for each cell: the level of every slot, and the verdict in words."""
        named = zip(self.grid.names, every_cell(self.grid.sizes).T, strict=True)
        levels = {f"slot {slot}": [names[code] for code in codes] for slot, (names, codes) in enumerate(named)}
        return Table({**levels, "verdict": self.words.ravel().tolist()})

    def __str__(self) -> str:
        unseen = self.verdicts[self.verdicts != Verdict.SEEN]
        fixed = () if self.known is None else zip(self.grid.names, self.known, strict=True)
        condition = f", cell {tuple(names[code] for names, code in fixed)} known" if self.known is not None else ""
        counts = [(verdict.word, int((unseen == verdict).sum())) for verdict in Verdict]
        words = ", ".join(f"{count} {word}" for word, count in counts if count) or "none"
        return f"{self.verdict.word}: rank {self.rank}/{self.full_rank}{condition}" + f"; unseen: {words}"


def finite_identifiability(
    seen: npt.ArrayLike | Sequence[Sequence[Hashable]],
    composition: Composition | Function,
    components: Sequence[Component],
    *,
    known_cell: Sequence[Hashable] | None = None,
    tolerance: float = GRID_RANK_SHARE,
) -> FiniteIdentifiability:
    """Say which cells of a grid the seen ones determine, for components under any composition.

    Parameters
    ----------
    seen : array_like of int, (P, K), or sequence of tuples
        Seen cells: the level of each slot, by number or by name.
    composition : Composition or callable
        K arrays (..., M_k) -> (..., N).
    components : sequence of K arrays (n_k, ..., M_k), or of K mappings of level to (..., M_k)
        The component of each level: the truth, or a model's estimate of it. A mapping names the levels.
    known_cell : sequence of K levels, optional
        A cell at whose levels the components are known (assumption A4 of the theorem).
    tolerance : float
        Singular values below this share of the largest count as zero.

    Examples
    --------
    >>> from recombine.theory.compositions import add, product
    >>> rows = [np.arange(1.0, 4.0)[:, None]] * 2
    >>> print(finite_identifiability([[0, 0], [0, 1], [0, 2], [1, 0], [2, 0]], add(), rows))
    determined: rank 5/5; unseen: 4 determined
    >>> print(finite_identifiability([[0, 0], [1, 1], [2, 2]], product(), rows))
    disconnected: rank 3/5; unseen: 6 disconnected
    >>> doses, heats = {"none": [1.0], "low": [2.0]}, {"cold": [3.0], "warm": [5.0]}
    >>> named = finite_identifiability([("none", "cold"), ("low", "cold"), ("none", "warm")], product(), [doses, heats])
    >>> list(named.table().only(verdict="determined").rows())
    [{'slot 0': 'low', 'slot 1': 'warm', 'verdict': 'determined'}]
    """
    real(tolerance, "tolerance", above=0, below=1)
    grid = ComponentGrid.of(composition, components)
    cells = grid.cells(seen, "seen")
    base = None if known_cell is None else tuple(grid.cells([known_cell], "known_cell")[0].tolist())
    grid.require_small()
    everything = grid.jacobian(every_cell(grid.sizes))
    chosen = np.ravel_multi_index(tuple(cells.T), grid.sizes)
    free_columns = _unknown_columns(grid, base)
    height = everything.shape[1] // product_size(grid.sizes)
    rank, full, noise = 0, 0, float(np.finfo(float).eps)
    distances = np.zeros(product_size(grid.sizes))
    for block in everything[:, :, free_columns]:
        rows = block.reshape(-1, height, block.shape[-1])
        block_rank, far, rough = _span_distance(rows, chosen, tolerance)
        rank, full, noise = rank + block_rank, full + rank_of(block, tolerance), max(noise, rough)
        distances = np.maximum(distances, far)
    return FiniteIdentifiability(grid, cells, base, rank, full, distances, max(noise, grid.composition.precision))


def _span_distance(rows: FloatArray, chosen: IntArray, tolerance: float) -> tuple[int, FloatArray, float]:
    """Rank of the chosen cells' rows, the distance of each cell's from their span, and its rounding error."""
    picked = rows[chosen].reshape(-1, rows.shape[-1])
    _, values, right = np.linalg.svd(picked, full_matrices=False)
    rank = int((values > tolerance * values.max(initial=0.0)).sum())
    basis = right[:rank]
    scale = max(float(np.linalg.norm(rows, axis=(1, 2)).max()), np.finfo(float).tiny)
    flat = rows.reshape(-1, rows.shape[-1])  # products of a stack go row by row
    far = np.linalg.norm((flat - (flat @ basis.T) @ basis).reshape(rows.shape), axis=(1, 2)) / scale
    rough = np.finfo(float).eps * float(values[0] / values[rank - 1] if rank else 1.0)
    return rank, far, rough


def _unknown_columns(grid: ComponentGrid, base: tuple[int, ...] | None) -> IntArray:
    columns = grid.columns
    if base is not None:
        columns = [np.delete(block, level, axis=0) for block, level in zip(columns, base, strict=True)]
    return np.concatenate([block.reshape(-1) for block in columns])


def follow_on_drawn_grid(stacks: AnchorStacks, rng: np.random.Generator) -> bool:
    """Say whether the cells of a support determine all of a grid of drawn values, to first order, given one of them.

    Full ranks at every value do not say that. Where the components of a few values have no full rank together, what
    lies on either side of them can change without the other: x = 1 + u v is the same for (u, v) and (3 u, v / 3), and
    two blocks that meet where u = v = 0 leave it open which of these either is.

    Examples
    --------
    >>> from recombine.theory.compositions import product
    >>> from recombine.theory.supports import box, region
    >>> blocks = region(lambda z: (z < 0.6).all(axis=(1, 2)) | (z > 0.4).all(axis=(1, 2)), box(2))
    >>> rng = np.random.default_rng(0)
    >>> follow_on_drawn_grid(AnchorStacks(blocks, product(), [np.exp, np.exp]), rng)
    True
    >>> turning = [lambda z: np.maximum(z - 0.6, 0) - np.maximum(0.4 - z, 0)] * 2
    >>> follow_on_drawn_grid(AnchorStacks(blocks, product(), turning), rng)
    False
    """
    number, support = MIN_DRAWN_VALUES, stacks.support
    while number <= MAX_DRAWN_VALUES:
        points = support.sample(DRAWN_POINTS_PER_VALUE * number, rng)
        values = [_spread_values(column, number) for column in points.swapaxes(0, 1)]
        sizes = tuple(map(len, values))
        if product_size(sizes) > MAX_DRAWN_CELLS:
            return False
        cells = every_cell(sizes)
        latents = [listed[column] for listed, column in zip(values, cells.T, strict=True)]
        inside = support.contains(np.stack(latents, axis=1))
        if inside.any() and _follow(stacks, values, rng.permutation(cells[inside]), rng.permutation(cells[~inside])):
            return True
        number *= 2
    return False


def _follow(stacks: AnchorStacks, values: list[FloatArray], seen: IntArray, unseen: IntArray) -> bool:
    """Say whether seen cells (P, K), given the first, determine unseen ones, of values (V, D) of each slot."""
    components = [component.reshape(len(component), -1, component.shape[-1]) for component in stacks.outputs(values)]
    blocks = np.unique(np.linspace(0, components[0].shape[1] - 1, MAX_DRAWN_BLOCKS).astype(np.int64))
    tolerance = max(GRID_RANK_SHARE, ZERO_WITHIN_EPSILONS * stacks.precision)
    for block in blocks:
        grid = ComponentGrid.of(stacks.composition, [component[:, [block]] for component in components])
        unknown = _unknown_columns(grid, tuple(seen[0].tolist()))
        listed = seen[: DRAWN_CELLS_PER_UNKNOWN * len(unknown)]
        judged = np.concatenate([listed, unseen[: len(unknown)]])
        jacobian = grid.jacobian(judged)[0][:, unknown].reshape(len(judged), -1, len(unknown))
        _, distances, noise = _span_distance(jacobian, np.arange(len(listed)), tolerance)
        if distances.max() > max(CLEAR_BEYOND_EPSILONS * noise, np.sqrt(tolerance)):
            return False
    return True


def _spread_values(values: FloatArray, number: int) -> FloatArray:
    """Return about so many of the values (N, D): all that recur, as those of planes do, and others far and wide."""
    distinct, counts = np.unique(values, axis=0, return_counts=True)
    recurring, single = distinct[counts > 1], distinct[counts == 1]
    # In order where there is one coordinate; of several there is no order that would spread them.
    steps = np.linspace(0, max(len(single) - 1, 0), min(number, len(single))).astype(np.int64)
    return np.concatenate([recurring, single[steps]])
