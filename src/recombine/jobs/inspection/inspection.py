"""Does a model's representation compose? Activations over a factor grid in, one reading per layer and a verdict out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray, as_numbers
from recombine.errors import InputError
from recombine.jobs.inspection.files import load_layers, load_seen, load_truth
from recombine.jobs.inspection.reading import LayerReading, StillCells, judge_layer
from recombine.jobs.inspection.truth import Truth, compare_outputs
from recombine.jobs.outputs import render
from recombine.measures.activations.anova import effect_shares
from recombine.measures.activations.factorization import factorization, kernel_factorization
from recombine.measures.activations.geometry import metric_tensor, speed_ratios, volume_element, volume_ratio
from recombine.measures.activations.grid import MAX_GRAM_CELLS, ActivationGrid, as_grid, as_seen
from recombine.measures.activations.linear_probe import linear_probe
from recombine.measures.activations.superposition import superposition
from recombine.measures.activations.surrogate import surrogate
from recombine.tables.table import Table
from recombine.tables.text_files import split_names
from recombine.writing import listing, plural

#: A cell is still where a unit square of levels becomes less than this share of what it usually becomes.
STILL_SHARE = 0.5
#: Layers that are read at a time, at most; each needs a matrix of all pairs of cells.
MAX_THREADS = 4


@dataclass(frozen=True, eq=False)
class Inspection:
    """What activations over a factor grid say about composing. Make one with `recombine.inspect`.

    Attributes
    ----------
    source : str
    factors : tuple of str
    levels : tuple of int
    seen, unseen : int or None
        How many cells were trained on and how many were not; None where that was not said.
    layers : tuple of LayerReading
        In the order given; the last one is judged.
    truth : Truth or None
        How far the last layer is from the right outputs.
    partly_unseen : tuple of str
        Factors with a level that no seen cell has.
    """

    source: str
    factors: tuple[str, ...]
    levels: tuple[int, ...]
    seen: int | None
    unseen: int | None
    layers: tuple[LayerReading, ...]
    truth: Truth | None = None
    partly_unseen: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """Whether outputs are right, where that can be told; else how the last layer behaves."""
        return self.layers[-1].verdict if self.truth is None else self.truth.verdict

    @cached_property
    def table(self) -> Table:
        """One row per layer, one column per measure; NaN where a measure says nothing."""
        names = ["verdict", "features", "additive", "F", "F_K", "volume ratio", "pasted", "pasted seen", "spanned"]
        names += ["cross ratio", "predicted by a sum"]
        columns: dict[str, Any] = {"layer": [layer.name for layer in self.layers]}
        columns |= {name: [layer.number(name) for layer in self.layers] for name in names}
        for axis, factor in enumerate(self.factors):
            columns[f"speed ratio of {factor}"] = [layer.speeds[axis] for layer in self.layers]
            columns[f"readout of {factor}"] = [layer.readout[axis] for layer in self.layers]
        return Table(columns)

    def __str__(self) -> str:
        return render(self, "text")

    def __repr__(self) -> str:
        return f"Inspection({plural(len(self.layers), 'layer')} over {' × '.join(self.factors)}; {self.verdict})"


def inspect(
    activations: Any,
    factors: str | Sequence[str],
    *,
    seen: Any = None,
    truth: Any = None,
    background: str = "median",
) -> Inspection:
    """Ask of any model's activations: do they compose, where do they stop moving, and how additive are they?

    Parameters
    ----------
    activations : array, mapping of str to array, or path of an .npy or .npz file
        Activations at every cell of a full factor grid: one axis per factor, then any number of feature axes. Several
        arrays are layers, in order of depth; the last one is judged.
    factors : sequence of str, or names separated by commas
        A name for each of the first axes. Levels are taken as ordered and one step apart.
    seen : array of bool, or path of an .npy or table file, optional
        Which cells were trained on: a mask of the shape of the grid, or a table whose columns are the factors and whose
        rows are the seen cells, levels numbered from 0.
    truth : array, or path of an .npy file, optional
        The right outputs, in the shape of the last layer; needs ``seen``.
    background : {"median", "mean", "none"}
        What every cell shares and is taken away first, feature by feature; see `measures.activations.as_grid`.

    Returns
    -------
    Inspection
        ``.table``, ``.layers``, ``.verdict``; printing it gives the verdict in words.

    Examples
    --------
    A code with one unit per level composes, whatever cells were seen:

    >>> x, y = np.indices((12, 12))
    >>> code = np.concatenate([np.eye(12)[x], np.eye(12)[y]], axis=2)
    >>> seen = ~((x >= 3) & (x < 8) & (y >= 3) & (y < 8))
    >>> inspection = inspect(code, factors=["x", "y"], seen=seen)
    >>> inspection, round(inspection.layers[0].additive, 6)
    (Inspection(1 layer over x × y; adds), 1.0)
    """
    names = _names(factors)
    source, arrays = load_layers(activations)
    layers = {name: _grid(name, values, names, background) for name, values in arrays.items()}
    levels = _common_levels(layers)
    mask = None if seen is None else as_seen(load_seen(seen, names, levels), levels)
    against = None if truth is None else compare_outputs(list(layers.values())[-1], load_truth(truth), mask)
    readings = _readings(layers, mask)
    if mask is None:
        return Inspection(source, names, levels, None, None, readings, against)
    partly_unseen = tuple(name for axis, name in enumerate(names) if not _every_level_seen(mask, axis))
    return Inspection(source, names, levels, int(mask.sum()), int((~mask).sum()), readings, against, partly_unseen)


def _names(factors: str | Sequence[str]) -> tuple[str, ...]:
    if isinstance(factors, str):
        factors = split_names(factors)
    names = tuple(factors)
    if len(names) < 2:
        raise InputError(
            f"factors are {listing(names) or 'none'}; name two or more, one for each of the first axes: "
            "['x', 'y'] or --factors x,y"
        )
    twice = [name for axis, name in enumerate(names) if name in names[:axis]]
    if twice:
        raise InputError(f"factor {twice[0]!r} is named twice; give each axis its own name")
    return names


def _grid(layer: str, values: Any, names: tuple[str, ...], background: str) -> ActivationGrid:
    """One layer, its feature axes laid out in one."""
    title = f"activations of {layer!r}"
    array = as_numbers(values, title)
    if array.ndim <= len(names):
        raise InputError(
            f"{title} have shape {array.shape}; {len(names)} factors ({listing(names)}) need as many axes "
            "and at least one of features behind them"
        )
    if 0 in array.shape:
        raise InputError(f"{title} have shape {array.shape}: an axis of length 0 holds nothing to inspect")
    single = [name for name, size in zip(names, array.shape, strict=False) if size == 1]
    if single:
        raise InputError(f"{title} have shape {array.shape}: factor {single[0]!r} has one level only; give two or more")
    return as_grid(array.reshape(*array.shape[: len(names)], -1), background, title)


def _common_levels(layers: Mapping[str, ActivationGrid]) -> tuple[int, ...]:
    first, *others = layers.items()
    for name, grid in others:
        if grid.levels != first[1].levels:
            raise InputError(
                f"layer {name!r} has levels {grid.levels}, but layer {first[0]!r} has {first[1].levels}; "
                "give all layers over the same grid"
            )
    return first[1].levels


def _readings(layers: Mapping[str, ActivationGrid], seen: BoolArray | None) -> tuple[LayerReading, ...]:
    """Read all layers, several at a time."""
    from threadpoolctl import threadpool_limits

    workers = min(len(layers), os.cpu_count() or 1, MAX_THREADS)
    # One thread per layer: threads inside a matrix product wait for each other where other programs run too.
    with threadpool_limits(1), ThreadPoolExecutor(workers) as pool:
        return tuple(
            pool.map(lambda item: judge_layer(_reading(item[0], item[1], seen), seen is not None), layers.items())
        )


def _reading(name: str, grid: ActivationGrid, seen: BoolArray | None) -> LayerReading:
    """All measures of one layer; those that compare all pairs of cells only where there are not too many."""
    shares = effect_shares(grid)
    metric = metric_tensor(grid)
    flat = np.isnan(shares[0,]) or grid.features < grid.factors
    nothing = (float("nan"),) * grid.factors
    fields: dict[str, Any] = {
        "name": name,
        "features": grid.features,
        "additive": sum(share for subset, share in shares.items() if len(subset) == 1),
        "F": float("nan") if np.isnan(shares[0,]) else factorization(metric),
        "speeds": nothing if seen is None else tuple(speed_ratios(metric, seen, border=False).tolist()),
        "volume_ratio": float("nan") if seen is None or flat else volume_ratio(metric, seen, border=False),
        "still": None if flat else _still_cells(volume_element(metric), seen),
        "readout": nothing,
    }
    if grid.count <= MAX_GRAM_CELLS and not np.isnan(shares[0,]):
        fields |= _paired(grid, seen)
    return LayerReading(**fields)


def _paired(grid: ActivationGrid, seen: BoolArray | None) -> dict[str, Any]:
    probe = linear_probe(grid, seen)
    fields: dict[str, Any] = {"F_K": kernel_factorization(grid), "readout": probe.unseen or probe.fitted}
    if seen is not None:
        mixed = superposition(grid, seen)
        fields |= {"pasted": mixed.pasted, "pasted_seen": mixed.pasted_seen, "spanned": mixed.spanned}
        fields |= {"cross_ratio": mixed.cross_ratio, "predicted": surrogate(grid, seen).explained}
    return fields


def _still_cells(volume: FloatArray, seen: BoolArray | None) -> StillCells:
    """Where the volume element is far below its median, over seen cells where these are known."""
    usual = float(np.median(volume if seen is None else volume[seen]))
    still = volume < STILL_SHARE * usual
    where = np.argwhere(still)
    ranges = tuple((int(column.min()), int(column.max())) for column in where.T) if len(where) else ()
    if seen is None:
        return StillCells(len(where), ranges, None, None)
    return StillCells(len(where), ranges, float(still[~seen].mean()), float(still[seen].mean()))


def _every_level_seen(seen: BoolArray, axis: int) -> bool:
    return bool(seen.any(axis=tuple(set(range(seen.ndim)) - {axis})).all())
