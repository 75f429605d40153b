"""Does a model's representation compose? Activations over a factor grid in, one reading per layer and a verdict out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from recombine.cells.arrays import BoolArray, as_numbers
from recombine.cells.threads import one_thread
from recombine.errors import InputError
from recombine.jobs.outputs import OUTPUTS, render
from recombine.lab.inspection.files import load_array, load_layers, load_seen
from recombine.lab.inspection.reading import Composes, LayerReading, Truth, compare_outputs, read_layer
from recombine.measures.activations.grid import ActivationGrid, as_grid, as_seen
from recombine.tables.table import Table
from recombine.tables.text_files import split_names
from recombine.writing import listing, plural, printable

#: Layers that are read at a time, at most; each needs a matrix of all pairs of cells.
MAX_THREADS = 4

OUTPUTS["Inspection"] = {
    "sections": "recombine.lab.inspection.sections:inspection_sections",
    "text": "recombine.report.screen:result_text",
}


@dataclass(frozen=True, eq=False)
class Inspection:
    """What activations over a factor grid say about composing. Make one with `recombine.inspect`."""

    source: str
    factors: tuple[str, ...]
    levels: tuple[int, ...]
    #: How many cells were trained on and how many were not; None where that was not said.
    seen: int | None
    unseen: int | None
    layers: tuple[LayerReading, ...]  #: In the order given; the last one is judged.
    truth: Truth | None = None  #: How far the last layer is from the right outputs.
    partly_unseen: tuple[str, ...] = ()  #: Factors with a level that no seen cell has.

    @property
    def verdict(self) -> Composes:
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
        untold = "" if self.truth is not None else ", right or wrong not told"
        layers = plural(len(self.layers), "layer")
        return printable(f"Inspection({layers} over {' × '.join(self.factors)}; {self.verdict}{untold})")


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

    Examples
    --------
    A code with one unit per level composes, whatever cells were seen:

    >>> import numpy as np
    >>> x, y = np.indices((12, 12))
    >>> code = np.concatenate([np.eye(12)[x], np.eye(12)[y]], axis=2)
    >>> seen = ~((x >= 3) & (x < 8) & (y >= 3) & (y < 8))
    >>> inspection = inspect(code, factors=["x", "y"], seen=seen)
    >>> inspection, round(inspection.layers[0].additive, 6)
    (Inspection(1 layer over x × y; adds, right or wrong not told), 1.0)
    """
    names = _names(factors)
    source, arrays = load_layers(activations)
    layers = {name: _grid(name, values, names, background) for name, values in arrays.items()}
    levels = _common_levels(layers)
    mask = None if seen is None else as_seen(load_seen(seen, names, levels), levels)
    against = None if truth is None else compare_outputs(list(layers.values())[-1], load_array(truth), mask)
    readings = _readings(layers, mask)
    if mask is None:
        return Inspection(source, names, levels, None, None, readings, against)
    seen_levels = [mask.any(axis=tuple(set(range(mask.ndim)) - {axis})) for axis in range(mask.ndim)]
    partly_unseen = tuple(name for name, some in zip(names, seen_levels, strict=True) if not some.all())
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
    lowest, levels = next((name, grid.levels) for name, grid in layers.items())
    for name, grid in layers.items():
        if grid.levels != levels:
            raise InputError(
                f"layer {name!r} has levels {grid.levels}, but layer {lowest!r} has {levels}; "
                "give all layers over the same grid"
            )
    return levels


def _readings(layers: Mapping[str, ActivationGrid], seen: BoolArray | None) -> tuple[LayerReading, ...]:
    """Read all layers, several at a time."""
    workers = min(len(layers), os.cpu_count() or 1, MAX_THREADS)
    # One thread per layer: threads inside a matrix product wait for each other where other programs run too.
    with one_thread(), ThreadPoolExecutor(workers) as pool:
        return tuple(pool.map(lambda name: read_layer(name, layers[name], seen), layers))
