"""What each seen conjunction contributes to a model's outputs: one by one, by item, and by what it is good for.

The contributions are the weights of the additive fit. They are linear in the outputs, so the mean of many networks'
contributions (what the paper plots) is the contribution to their mean outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.cells.brief import record
from recombine.cells.conjunctions import Subset, distinct
from recombine.cells.contributions import Contributions
from recombine.errors import InputError
from recombine.measures.outputs.additivity import as_outputs, fit_conjunctions

#: What a conjunction of context (0), feature 1 (1) and feature 2 (2) can do for the answer. Which of the two
#: context-feature pairs is right depends on the context: context 0 asks for feature 1, context 1 for feature 2.
KINDS = ("right", "wrong", "sensory", "context", "memorized")


def conjunction_values(
    cells: npt.ArrayLike, seen: npt.ArrayLike, outputs: npt.ArrayLike, *, order: int | None = None
) -> Contributions:
    """Return the weight of every seen conjunction, up to ``order``, in the smallest weights that give the outputs.

    Rows are ``cells`` (R, C), whether they were ``seen`` (R,), and ``outputs`` (..., R). For each subset of the factors
    the result holds the levels of its seen conjunctions (M, size) and their values (..., M); the empty subset holds the
    constant. On unseen cells the values of a cell's conjunctions add up to the fit. ``.table(names)`` lists them, the
    largest first.

    Examples
    --------
    >>> cells, seen = [[0, 0], [0, 1], [1, 0], [1, 1]], [True, True, True, False]
    >>> values = conjunction_values(cells, seen, [0.0, 1.0, 1.0, 2.0])
    >>> list(values), values[0, 1][0].tolist()
    ([(), (0,), (1,), (0, 1)], [[0, 0], [0, 1], [1, 0]])
    >>> round(float(values[()][1][0] + values[0,][1][1] + values[1,][1][1]), 6)
    2.0
    >>> values.table(["dose", "drug"]).head(3)
    order  conjunction  value
    0      constant     1.14286
    1      dose 0       -0.428571
    1      dose 1       0.428571
    """
    codes, mask, values = as_outputs(cells, seen, outputs)
    fit = fit_conjunctions(codes, mask, values, order)
    weights: dict[Subset, tuple[IntArray, FloatArray]] = {
        (): (np.zeros((1, 0), dtype=np.int64), fit.constant[..., None])
    }
    start = 0
    for subset in fit.family:
        levels, _ = distinct(codes[mask][:, list(subset)])
        weights[subset] = levels, fit.weights[..., start : start + len(levels)]
        start += len(levels)
    return Contributions(weights)


@record
class ItemCurve:
    """What each item of one factor adds to a sum.

    Attributes
    ----------
    levels : int array of shape (M,)
        The items that unseen cells have, sorted.
    values : float array of shape (..., M)

    Examples
    --------
    >>> ItemCurve(0, np.array([0, 2]), np.array([[0.0, 1.0], [0.5, 0.5]])).increases.tolist()
    [True, False]
    """

    factor: int
    levels: IntArray
    values: FloatArray

    @property
    def increases(self) -> BoolArray:
        """Whether the values rise from every item to the next, shape (...)."""
        return np.all(np.diff(self.values, axis=-1) > 0, axis=-1)  # type: ignore[no-any-return]


def item_values(cells: npt.ArrayLike, seen: npt.ArrayLike, outputs: npt.ArrayLike) -> tuple[ItemCurve, ItemCurve]:
    """Return what each item adds to the outputs on unseen pairs: its own weight and half of the constant.

    An unseen pair's fit is the sum of its two items' values: one curve for each factor. Anchors, the items that no
    unseen cell has, are left out, and so are items that were never seen. Rows are those of `conjunction_values`.

    Examples
    --------
    >>> from recombine.cells import every_cell
    >>> cells = every_cell((5, 5))
    >>> first, _ = item_values(cells, (cells == 2).any(axis=1), 0.7 * (cells - 2).sum(axis=1))
    >>> first.levels.tolist(), first.values.round(6).tolist(), bool(first.increases)
    ([0, 1, 3, 4], [-1.4, -0.7, 0.7, 1.4], True)
    """
    codes, mask, values = as_outputs(cells, seen, outputs)
    if codes.shape[1] != 2:
        raise InputError(f"item values are defined for two factors, not {codes.shape[1]}; use conjunction_values")
    contributions = conjunction_values(codes, mask, values)
    first, second = (_curve(factor, codes[~mask], contributions) for factor in (0, 1))
    return first, second


def _curve(factor: int, unseen: IntArray, contributions: Contributions) -> ItemCurve:
    levels, weights = contributions[factor,]
    tested = np.isin(levels[:, 0], unseen[:, factor])
    return ItemCurve(factor, levels[tested, 0], weights[..., tested] + contributions[()][1] / 2)


def kind_of(subset: Subset, context: int, rules: Sequence[int] = (0, 1)) -> str:
    """Return what the conjunction of these factors does in a context; ``rules`` says which feature it asks for."""
    if len(subset) == 3:
        return "memorized"
    if 0 not in subset:
        return "sensory"
    if subset == (0,):
        return "context"
    if context >= len(rules):
        raise InputError(f"context {context} has no rule in {rules!r}; name the feature that each context asks for")
    return "right" if subset[1] - 1 == rules[context] else "wrong"


def by_kind(
    values: Mapping[Subset, tuple[npt.NDArray[Any], FloatArray]],
    rules: Sequence[int] = (0, 1),
    *,
    kinds: Callable[[Subset, tuple[Any, ...]], str] | None = None,
) -> dict[str, FloatArray]:
    """Return the mean absolute value of each kind of conjunction, in a context task or by kinds of one's own.

    Parameters
    ----------
    values : dict
        Levels (M, size) and values (..., M) by subset, from `conjunction_values` here or from a kernel model. Factors
        are the context and two features; the constant is not counted.
    rules : sequence of int
        For each context the feature that decides: 0 or 1.
    kinds : callable, optional
        The factors of a conjunction and its levels -> the name of its kind, for any number of factors.

    Examples
    --------
    The answer is the first feature in context 0 and the second in context 1; both contexts of one pair are unseen.

    >>> from recombine.cells import every_cell
    >>> cells = every_cell((2, 6, 6))
    >>> sides = np.where(cells[:, 1:] < 3, 1, -1)
    >>> unseen = (cells[:, 1] == 0) & (cells[:, 2] == 5)
    >>> values = conjunction_values(cells, ~unseen, np.where(cells[:, 0] == 0, *sides.T))
    >>> sizes = by_kind(values)
    >>> max(sizes, key=sizes.get)
    'right'
    >>> orders = by_kind(values, kinds=lambda subset, levels: f"order {len(subset)}")
    >>> {order: round(float(size), 2) for order, size in orders.items()}
    {'order 1': 0.25, 'order 2': 0.21, 'order 3': 0.09}
    """
    if kinds is not None:
        return _by_own_kind(values, kinds)
    if max((factor for subset in values for factor in subset), default=0) < 2:
        raise InputError("values are not of three factors; kinds are those of a context and two features")
    sizes: dict[str, list[FloatArray]] = {kind: [] for kind in KINDS}
    for subset, (levels, weights) in values.items():
        if any(factor > 2 for factor in subset):
            raise InputError(
                f"subset {subset} names a fourth factor; kinds are those of a context and two features; "
                "give your own as kinds="
            )
        for row, weight in zip(levels, np.moveaxis(np.abs(weights), -1, 0), strict=True):
            if subset:
                sizes[kind_of(subset, int(row[0]), rules)].append(weight)
    return {kind: np.mean(magnitudes, axis=0) for kind, magnitudes in sizes.items() if magnitudes}


def _by_own_kind(
    values: Mapping[Subset, tuple[npt.NDArray[Any], FloatArray]], kinds: Callable[[Subset, tuple[Any, ...]], str]
) -> dict[str, FloatArray]:
    sizes: dict[str, list[FloatArray]] = {}
    for subset, (levels, weights) in values.items():
        if subset:
            for row, weight in zip(levels.tolist(), np.moveaxis(np.abs(weights), -1, 0), strict=True):
                sizes.setdefault(kinds(subset, tuple(row)), []).append(weight)
    return {kind: np.mean(magnitudes, axis=0) for kind, magnitudes in sizes.items()}
