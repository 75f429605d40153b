"""The page, one HTML file made from ``page/``, and its scenes: a design as the text behind the # of its link."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlencode

import numpy as np

from recombine.cells.arrays import IntArray
from recombine.cells.scales import FactorScale
from recombine.design import Design
from recombine.errors import InputError
from recombine.words.page import Unpainted
from recombine.writing import printable

#: What the page takes (``page/src/view/scene.ts`` and ``link.ts``).
MAX_FACTORS_PAINTED, MAX_LEVELS_PAINTED, MAX_CELLS_PAINTED, MAX_ORDER_PAINTED = 6, 100, 40_000, 3


def page_path() -> Path:
    """Return the path of the page; any browser opens it, from disk or from a static site.

    Examples
    --------
    >>> page_path().read_text(encoding="utf-8").splitlines()[0]
    '<!doctype html>'
    """
    return Path(str(files("recombine.explore") / "page.html"))


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
    seen = np.zeros(design.possible.count, dtype=bool)
    seen[flat[design.train]] = True
    # Without an outcome the table is empty: verdicts can be told, values cannot.
    entries = {**_factors(design), "m": _runs(seen), "t": "table", "v": "~".join(_entries(design, flat))}
    if design.outcome_column.name:
        entries["u"] = printable(design.outcome_column.name)
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
        return Unpainted.FACTORS.value.format(most=MAX_FACTORS_PAINTED, count=len(names))
    for factor in design.factors:
        if len(factor.levels) > MAX_LEVELS_PAINTED:
            count = len(factor.levels)
            return Unpainted.LEVELS.value.format(factor=factor.name, count=count, most=MAX_LEVELS_PAINTED)
        if factor.scale is not FactorScale.LABELS:
            return Unpainted.SCALE.value.format(factor=factor.name)
    if design.possible.count > MAX_CELLS_PAINTED:
        return Unpainted.CELLS.value.format(count=design.possible.count, most=MAX_CELLS_PAINTED)
    if design.symmetric:
        return Unpainted.SYMMETRIC.value.format(factors=" and ".join(names[index] for index in design.symmetric[0]))
    if not design.possible.whole:
        return Unpainted.IMPOSSIBLE.value.format(source=design.reading.source)
    allowed = order <= MAX_ORDER_PAINTED
    return "" if allowed else Unpainted.ORDER.value.format(most=MAX_ORDER_PAINTED, count=order)


def _factors(design: Design) -> dict[str, str]:
    """Sizes where factors are a, b, ... with levels 1, 2, ..., as the page writes them; else names and levels."""
    plain = all(
        factor.name == letter and factor.labels == tuple(str(level + 1) for level in range(len(factor.levels)))
        for factor, letter in zip(design.factors, "abcdef", strict=False)
    )
    if plain:
        return {"s": "x".join(str(size) for size in design.sizes)}
    packed = [
        [quote(printable(text), safe="!*'()") for text in (factor.name, *factor.labels)] for factor in design.factors
    ]
    return {"f": ";".join(map(",".join, packed))}


def _runs(mask: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> str:
    """Lengths of runs in base 36, unseen first; the last unseen ones go without saying."""
    runs = [(value, sum(1 for _ in run)) for value, run in groupby(mask.tolist())]
    if runs and runs[0][0]:
        runs.insert(0, (False, 0))
    if runs and not runs[-1][0]:
        runs.pop()
    return ".".join(np.base_repr(length, 36).lower() for _, length in runs)


def _entries(design: Design, flat: IntArray) -> Iterator[str]:
    """One number per cell of the product as text, empty where there is none; training stands before held out."""
    means = np.full(design.possible.count, np.nan)
    if design.outcome is not None:
        for rows in (~design.train, design.train):
            means[flat[rows]] = design.outcome[rows]
    return ("" if value != value else repr(value) for value in means.tolist())
