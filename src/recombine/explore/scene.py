"""Scenes of the page: a design as the text behind the # of its link, and back."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from urllib.parse import parse_qsl, quote, urlencode

import numpy as np

from recombine.cells.arrays import IntArray
from recombine.cells.scales import FactorScale
from recombine.design import Design
from recombine.errors import InputError

#: What the page takes (``page/src/view/scene.ts`` and ``link.ts``).
MAX_FACTORS_PAINTED, MAX_LEVELS_PAINTED, MAX_CELLS_PAINTED, MAX_ORDER_PAINTED = 6, 100, 40_000, 3
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def scene_of(design: Design, order: int = 1) -> str:
    """Return the scene that shows a design: its factors, the cells seen in training, and all mean outcomes.

    Parameters
    ----------
    design : Design
        Two to six label factors of up to 100 levels each, up to 40,000 cells, all of which can exist.
    order : int
        How many factors interact, up to 3.

    Examples
    --------
    >>> import pandas as pd
    >>> import recombine as rc
    >>> table = pd.DataFrame({"colour": ["red", "red", "blue"], "shape": ["cube", "ball", "cube"], "y": [1, 2.5, 4]})
    >>> scene_of(rc.Design.from_frame(table, factors=["colour", "shape"], outcome="y"))
    'f=colour%2Cblue%2Cred%3Bshape%2Cball%2Ccube&m=1.3&t=table&v=~4.0~2.5~1.0&u=y&k=ntk3'
    """
    check_scene(design, order)
    flat = np.ravel_multi_index(tuple(design.cells.T), design.sizes)
    seen = np.zeros(design.product, dtype=bool)
    seen[flat[design.train]] = True
    entries = {**_factors(design), "m": _runs(seen)}
    # Without an outcome the table is empty: verdicts can be told, values cannot.
    entries["t"] = "table"
    entries["v"] = "~".join(_entries(design, flat))
    if design.outcome_name:
        entries["u"] = design.outcome_name
    if order > 1:
        entries["o"] = str(order)
    return urlencode(entries | {"k": "ntk3"})


def painted(scene: str, sizes: tuple[int, ...]) -> IntArray:
    """Return the cells (n, C) that are painted as seen in a scene of factors with so many levels.

    Examples
    --------
    >>> painted("s=2x2&m=1.3&k=ntk3", (2, 2)).tolist()
    [[0, 1], [1, 0], [1, 1]]
    """
    text = scene_parts(scene).get("m", "")
    seen = np.zeros(int(np.prod(sizes)), dtype=bool)
    at = 0
    for index, run in enumerate(text.split(".") if text else ()):
        length = int(run, 36)
        seen[at : at + length] = index % 2 == 1
        at += length
    return np.stack(np.unravel_index(np.flatnonzero(seen), sizes), axis=1)


def scene_parts(scene: str) -> dict[str, str]:
    """Return the parts of a scene by their letters: factors f or s, seen cells m, truth t, table v, order o, ...

    Examples
    --------
    >>> scene_parts("s=2x2&m=1.3")
    {'s': '2x2', 'm': '1.3'}
    """
    return dict(parse_qsl(scene, keep_blank_values=True))


def check_scene(design: Design, order: int = 1) -> None:
    """Raise `InputError` if the page cannot show a design as it is, with what can be done about it."""
    if reason := unshown(design, order):
        raise InputError(f"{reason}; recombine explore with the table's name shows it with Python behind the page")


def unshown(design: Design, order: int = 1) -> str:
    """Say why the page cannot show a design as it is, in a sentence without its end; empty if it can.

    Examples
    --------
    >>> unshown(Design.from_cells([[0, 0], [150, 1]], names=["gene", "site"]))
    'gene has 151 levels, the page shows 100'
    """
    names = [factor.name for factor in design.factors]
    if not 2 <= len(names) <= MAX_FACTORS_PAINTED:
        return f"the page shows 2 to {MAX_FACTORS_PAINTED} factors, not {len(names)}"
    for factor in design.factors:
        if len(factor.levels) > MAX_LEVELS_PAINTED:
            return f"{factor.name} has {len(factor.levels):,} levels, the page shows {MAX_LEVELS_PAINTED}"
        if factor.scale is not FactorScale.LABELS:
            return f"the levels of {factor.name} lie on a line; the page knows labels only"
    if design.product > MAX_CELLS_PAINTED:
        return f"{design.product:,} cells are more than the {MAX_CELLS_PAINTED:,} of the page"
    if design.symmetric:
        alike = " and ".join(names[index] for index in design.symmetric[0])
        return f"{alike} are interchangeable; the page takes every factor for another"
    if not design.possible.whole:
        return f"some cells of {design.source} cannot exist; the page takes all for possible"
    return f"the page lets up to {MAX_ORDER_PAINTED} factors interact, not {order}" if order > MAX_ORDER_PAINTED else ""


def _factors(design: Design) -> dict[str, str]:
    """Sizes where factors are a, b, ... with levels 1, 2, ..., as the page writes them; else names and levels."""
    plain = all(
        factor.name == letter and factor.labels == tuple(str(level + 1) for level in range(len(factor.levels)))
        for factor, letter in zip(design.factors, "abcdef", strict=False)
    )
    if plain:
        return {"s": "x".join(str(size) for size in design.sizes)}
    return {"f": ";".join(_packed((factor.name, *factor.labels)) for factor in design.factors)}


def _packed(texts: tuple[str, ...]) -> str:
    return ",".join(quote(text, safe="!*'()") for text in texts)


def _runs(mask: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> str:
    """Lengths of runs in base 36, unseen first; the last unseen ones go without saying."""
    runs = [(value, sum(1 for _ in run)) for value, run in groupby(mask.tolist())]
    if runs and runs[0][0]:
        runs.insert(0, (False, 0))
    if runs and not runs[-1][0]:
        runs.pop()
    return ".".join(_base36(length) for _, length in runs)


def _base36(number: int) -> str:
    digits = ""
    while number >= 36:
        number, last = divmod(number, 36)
        digits = _DIGITS[last] + digits
    return _DIGITS[number] + digits


def _entries(design: Design, flat: IntArray) -> Iterator[str]:
    """One number per cell of the product as text, empty where there is none; training stands before held out."""
    means = np.full(design.product, np.nan)
    if design.outcome is not None:
        for rows in (~design.train, design.train):
            means[flat[rows]] = design.outcome[rows]
    return ("" if value != value else repr(value) for value in means.tolist())
