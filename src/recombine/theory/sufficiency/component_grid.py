"""Components of every level of K slots under a composition: observations of cells, and their Jacobian by components."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray, IntArray, as_cells, product_size
from recombine.cells.brief import brief_repr
from recombine.checks import reals
from recombine.errors import InputError
from recombine.theory.compositions.composition import Composition, as_composition
from recombine.theory.compositions.jacobians import Function

#: Singular values below this share of the largest count as zero.
GRID_RANK_SHARE = 1e-9
#: Numbers in the Jacobian of a whole grid that are still handled.
MAX_JACOBIAN_ENTRIES = 2**27


@dataclass(frozen=True, eq=False)
class ComponentGrid:
    """A composition and the components of every level of its slots.

    Parameters
    ----------
    components : sequence of K arrays (n_k, ..., M_k)
        Axes in the middle are blocks that the composition leaves apart, such as pixels.

    Examples
    --------
    >>> from recombine.theory.compositions import add
    >>> grid = ComponentGrid(add(), (np.ones((2, 1)), np.ones((3, 1))))
    >>> grid.sizes, grid.jacobian(np.array([[0, 2]])).astype(int).tolist()
    ((2, 3), [[[1, 0, 0, 0, 1]]])
    """

    composition: Composition
    components: tuple[FloatArray, ...]

    __repr__ = brief_repr

    @classmethod
    def of(cls, composition: Composition | Function, components: Sequence[npt.ArrayLike]) -> ComponentGrid:
        """Check and collect."""
        rule = as_composition(composition)
        if not isinstance(components, (Sequence, np.ndarray)) or isinstance(components, str) or not len(components):
            raise InputError(f"components are {components!r}; give one array (levels, M) for each slot")
        arrays = tuple(reals(component, f"entries of component {slot}") for slot, component in enumerate(components))
        for slot, array in enumerate(arrays):
            if array.ndim < 2 or not len(array) or array.shape[1:-1] != arrays[0].shape[1:-1]:
                raise InputError(
                    f"component {slot} has shape {array.shape}; give one row per level, (levels, M), with the same "
                    f"blocks in between for all slots"
                )
        return cls(rule, arrays)

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
