"""First principles: decoders whose front sprite is never painted, and how to tell them from the others.

In soft occlusion the front's channels decide by a sigmoid how much of the front is seen. Where the sigmoid is shut its
slope is 0, so that a network may stay there: the back is learned, the front never is. R2 mixes these with the others.
"""

from __future__ import annotations

import numpy as np

from recombine.cells.arrays import BoolArray
from recombine.lab.papers.first_principles.readings.scales import SPRITES, rows_at
from recombine.lab.papers.measured import Measured, MissingRowsError
from recombine.lab.papers.seeds import several
from recombine.tables.table import Table

#: Mean squared error on the front's pixels where nothing is painted: of every black RGBa network here.
UNPAINTED_ERROR = 0.455
#: From these shares of it on a front counts as dead, or as leaking: half painted. Living networks have at most 0.16.
DEAD_SHARE, LEAK_SHARE = 0.9, 1 / 3
#: Supports on which R2 differs most between networks.
BANDS = ("diagonal 0.05", "diagonal 0.1", "diagonal 0.2")
#: R2 on all combinations below which a network of a band counts as one that failed.
FAILED_BELOW_R2 = 0.6


def dead(rows: Table) -> BoolArray:
    """Say of which networks the front sprite is not painted at all.

    Examples
    --------
    >>> rows = Table({"mse front": [0.44, 0.35, 0.02], "mse back": [0.01, 0.07, 0.02]})
    >>> dead(rows).tolist(), leaking(rows).tolist(), paints_front(rows).tolist()
    ([True, False, False], [False, True, False], [False, False, True])
    """
    return np.asarray(rows["mse front"] >= DEAD_SHARE * UNPAINTED_ERROR)


def leaking(rows: Table) -> BoolArray:
    """Say of which networks the front sprite is painted in part."""
    return np.asarray((rows["mse front"] >= LEAK_SHARE * UNPAINTED_ERROR) & ~dead(rows))


def paints_front(rows: Table) -> BoolArray:
    """Say which networks paint the front sprite."""
    return np.asarray(~dead(rows) & ~leaking(rows))


def gate_fates(rows: Table) -> Measured:
    """Return how many networks of soft occlusion died or leak, by length and support, and whether only they fail."""
    lengths = [scale for scale in SPRITES if len(_soft(rows, scale))]
    if "full" not in lengths or not {*BANDS} <= set(_soft(rows, "full")["support"].tolist()):
        raise MissingRowsError("needs networks of soft occlusion of the paper's length, on all three bands")
    full = _soft(rows, "full")
    counts = {
        f"{word}, {scale}": int(which(_soft(rows, scale)).sum())
        for word, which in (("dead", dead), ("leaking", leaking))
        for scale in lengths
    }
    every = [_soft(rows, scale) for scale in lengths]
    failed = [runs["r2 all"] < FAILED_BELOW_R2 for runs in every]
    numbers = {
        "networks": [len(_soft(rows, scale)) for scale in lengths],
        **counts,
        "failed though the front is painted": sum(
            int((low & paints_front(runs)).sum()) for low, runs in zip(failed, every, strict=True)
        ),
        "not failed though dead or leaking": sum(
            int((~low & ~paints_front(runs)).sum()) for low, runs in zip(failed, every, strict=True)
        ),
        "error on the back, dead": [float(error) for runs in every for error in runs.where(dead(runs))["mse back"]],
    }
    for name in BANDS:
        band = full.only(support=name)
        numbers[f"R2 on all, {name}, dead or leaking"] = _scores(band.where(~paints_front(band)))
        numbers[f"R2 on all, {name}, painted"] = _scores(band.where(paints_front(band)))
    listed = [
        f"{row['support']}, {row['scale']}, seed {row['seed']}: front {row['mse front']:.3f}, "
        f"back {row['mse back']:.3f}, R2 {row['r2 id']:.3f} and {row['r2 all']:.3f}"
        for runs in every
        for row in runs.where(~paints_front(runs)).rows()
    ]
    return Measured(numbers, f"{several(len(listed), 'network')} dead or leaking: {'; '.join(listed)}")


def _soft(rows: Table, scale: str) -> Table:
    return rows_at(rows, scale).only(model="compositional")


def _scores(rows: Table) -> list[float] | str:
    return [round(float(value), 3) for value in rows["r2 all"]] or "none"
