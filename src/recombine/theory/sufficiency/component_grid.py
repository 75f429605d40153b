"""Components of every level of K slots under a composition: observations of cells, and their Jacobian by components."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray, as_cells, product_size
from recombine.cells.brief import record
from recombine.checks import reals
from recombine.errors import InputError
from recombine.theory.compositions.composition import Composition, as_composition
from recombine.theory.compositions.jacobians import Function
from recombine.writing import listing

#: Components of a slot: a row (..., M) for each level, in order or by the level's name.
Component = npt.ArrayLike | Mapping[Any, npt.ArrayLike]
#: Singular values below this share of the largest count as zero.
GRID_RANK_SHARE = 1e-9
#: Cells with a value whose Jacobians are stacked.
MAX_STACKED_CELLS = 256
#: Levels that a message names.
MAX_NAMED_LEVELS = 6
#: Numbers in the Jacobian of a whole grid that are still handled.
MAX_JACOBIAN_ENTRIES = 2**27


@record
class ComponentGrid:
    """A composition and the components of every level of its slots.

    Parameters
    ----------
    components : sequence of K arrays (n_k, ..., M_k)
        Axes in the middle are blocks that the composition leaves apart, such as pixels.
    names : tuple of K tuples
        What each level of each slot is called; 0, 1, ... where components are arrays.

    Examples
    --------
    >>> from recombine.theory.compositions import add
    >>> grid = ComponentGrid(add(), (np.ones((2, 1)), np.ones((3, 1))))
    >>> grid.sizes, grid.jacobian(np.array([[0, 2]])).astype(int).tolist()
    ((2, 3), [[[1, 0, 0, 0, 1]]])
    """

    composition: Composition
    components: tuple[FloatArray, ...]
    names: tuple[tuple[Hashable, ...], ...] = ()

    @classmethod
    def of(cls, composition: Composition | Function, components: Sequence[Component]) -> ComponentGrid:
        """Check and collect."""
        rule = as_composition(composition)
        if not isinstance(components, (Sequence, np.ndarray)) or isinstance(components, str) or not len(components):
            raise InputError(f"components are {components!r}; give one array (levels, M) for each slot")
        rows = [list(each.values()) if isinstance(each, Mapping) else each for each in components]
        arrays = tuple(reals(component, f"entries of component {slot}") for slot, component in enumerate(rows))
        for slot, array in enumerate(arrays):
            if array.ndim < 2 or not len(array) or array.shape[1:-1] != arrays[0].shape[1:-1]:
                raise InputError(
                    f"component {slot} has shape {array.shape}; give one row per level, (levels, M), with the same "
                    f"blocks in between for all slots"
                )
        pairs = zip(components, arrays, strict=True)
        levels = (named if isinstance(named, Mapping) else range(len(array)) for named, array in pairs)
        return cls(rule, arrays, tuple(map(tuple, levels)))

    def cells(self, listed: npt.ArrayLike | Sequence[Sequence[Hashable]], name: str) -> IntArray:
        """Return cells (P, K) as numbers of levels, or say which level has no component.

        Examples
        --------
        >>> from recombine.theory.compositions import add
        >>> grid = ComponentGrid.of(add(), [{"low": [1.0], "high": [2.0]}, np.ones((3, 1))])
        >>> grid.cells([("high", 0), ("low", 2)], "seen").tolist()
        [[1, 0], [0, 2]]
        """
        numbered = all(names == tuple(range(len(names))) for names in self.names)
        rows: Any = listed.tolist() if isinstance(listed, np.ndarray) else listed
        if numbered and not _has_words(listed):
            plain: Any = listed
            return as_level_cells(plain, self.sizes, name)
        codes = [{level: code for code, level in enumerate(names)} for names in self.names]
        for row, cell in enumerate(rows):
            if isinstance(cell, str) or len(cell) != len(codes):
                raise InputError(f"{name}[{row}] is {cell!r}; give one level of each of the {len(codes)} slots")
            for slot, level in enumerate(cell):
                if level not in codes[slot]:
                    levels = _listed(self.names[slot])
                    raise InputError(
                        f"{name}[{row}] has level {level!r} of slot {slot}, whose component has {levels}; "
                        "give the component as a mapping of level to row, such as {'low': [1.0], 'high': [2.0]}"
                    )
        coded = [[code[level] for code, level in zip(codes, cell, strict=True)] for cell in rows]
        return as_level_cells(np.array(coded, dtype=np.int64).reshape(-1, len(codes)), self.sizes, name)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Levels of each slot."""
        return tuple(len(component) for component in self.components)

    @property
    def columns(self) -> list[IntArray]:
        """Columns of each slot's unknowns in a block of the Jacobian, each (n_k, M_k)."""
        starts = np.cumsum([0, *(len(component) * component.shape[-1] for component in self.components)])
        return [
            np.arange(start, end).reshape(len(component), component.shape[-1])
            for start, end, component in zip(starts, starts[1:], self.components, strict=False)
        ]

    def require_small(self) -> None:
        """Raise where the Jacobian of the whole grid would be too large."""
        unknowns = sum(component.size for component in self.components)
        numbers = product_size(self.sizes) * unknowns * self.components[0].shape[-1]
        if numbers > MAX_JACOBIAN_ENTRIES:
            raise InputError(
                f"the grid {self.sizes} with {unknowns} unknowns makes a Jacobian of about {numbers:,} numbers, too "
                "many; use fewer levels, or sufficient_support"
            )

    def parts(self, cells: IntArray) -> list[FloatArray]:
        """Components of each slot at the cells, (P, ..., M_k)."""
        return [component[cells[:, slot]] for slot, component in enumerate(self.components)]

    def outputs(self, cells: IntArray) -> FloatArray:
        """Observations f at the cells, (P, ..., N)."""
        return self.composition(*self.parts(cells))

    def stacked_ranks(self, slot: int, cells: IntArray) -> IntArray:
        """Return the rank of the Jacobians by each value of a slot, stacked over cells (P, K) with it, (n_slot,).

        Of several blocks it is the least.
        """
        ranks = np.zeros(self.sizes[slot], dtype=np.int64)
        for value in np.unique(cells[:, slot]):
            (anchors,) = np.nonzero(cells[:, slot] == value)
            some = cells[anchors[:: -(-len(anchors) // MAX_STACKED_CELLS)]]
            jacobian = self.composition.jacobian(slot, self.parts(some))
            blocks = np.moveaxis(jacobian.reshape(len(some), -1, *jacobian.shape[-2:]), 1, 0)
            ranks[value] = min(rank_of(block.reshape(-1, block.shape[-1])) for block in blocks)
        return ranks

    def moved(self, step: FloatArray) -> ComponentGrid:
        """Return the grid with components moved by a step (blocks, unknowns of a block)."""
        pairs = zip(self.components, self.columns, strict=True)
        changes = [(component, np.moveaxis(step[:, columns], 0, 1)) for component, columns in pairs]
        return replace(self, components=tuple(rows + change.reshape(rows.shape) for rows, change in changes))

    def jacobian(self, cells: IntArray) -> FloatArray:
        """Derivative of the observations by all unknowns, (blocks, P N, unknowns of a block)."""
        components = self.parts(cells)
        pieces = []
        for slot, component in enumerate(self.components):
            try:
                derivative = self.composition.jacobian(slot, components)
            except InputError as error:
                raise InputError(f"slot {slot}, levels {cells[0, slot]} to {cells[-1, slot]}: {error}") from error
            blocks = derivative.reshape(len(cells), -1, *derivative.shape[-2:])
            piece = np.zeros((*blocks.shape[:3], len(component), blocks.shape[3]))
            piece[np.arange(len(cells)), :, :, cells[:, slot]] = blocks
            pieces.append(piece.reshape(*blocks.shape[:3], -1))
        joined = np.concatenate(pieces, axis=-1).swapaxes(0, 1)
        return joined.reshape(joined.shape[0], -1, joined.shape[-1])


def _listed(names: Sequence[Hashable]) -> str:
    some = listing(map(repr, names[:MAX_NAMED_LEVELS]))
    return some if len(names) <= MAX_NAMED_LEVELS else f"{some} and {len(names) - MAX_NAMED_LEVELS} more"


def _has_words(listed: object) -> bool:
    if isinstance(listed, np.ndarray):
        return listed.dtype.kind in "UO"
    return isinstance(listed, Sequence) and any(
        isinstance(cell, Sequence) and any(isinstance(level, str) for level in cell) for cell in listed
    )


def as_level_cells(cells: npt.ArrayLike, sizes: tuple[int, ...], name: str) -> IntArray:
    """Return cells (P, K) whose levels all have a component, or say which has none.

    Examples
    --------
    >>> as_level_cells([[0, 3]], (2, 3), "seen")
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: seen[0] has level 3 of slot 1, whose component has 3 levels
    """
    checked = as_cells(cells, name, factors=len(sizes))
    if not len(checked):
        raise InputError(f"{name}: no cells were given; pass at least one")
    beyond = np.argwhere(checked >= np.array(sizes))
    if len(beyond):
        row, slot = beyond[0]
        raise InputError(
            f"{name}[{row}] has level {checked[row, slot]} of slot {slot}, whose component has {sizes[slot]} levels"
        )
    return checked


def rank_of(matrix: FloatArray, tolerance: float = GRID_RANK_SHARE) -> int:
    """Return the number of singular values above ``tolerance`` times the largest.

    Examples
    --------
    >>> rank_of(np.diag([1.0, 1e-5, 1e-12]))
    2
    """
    values = np.linalg.svd(matrix, compute_uv=False)
    return int((values > tolerance * values.max(initial=0.0)).sum())
