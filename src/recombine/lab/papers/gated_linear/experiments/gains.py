"""When the group norm beats plain norms on the same gates: by the gates' balance, and by how many units decide.

The paper separates the architecture from its implicit bias by putting the plain L2 norm in place of the group norm.
Here that comparison is made where its answer should change: on images with gates from balanced to nearly always shut,
and on labels that one, some or all units of a teacher decide.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds.images.halves import label_halves
from recombine.lab.worlds.images.sources import load_images
from recombine.theory.gated.contexts import HalfSpaces
from recombine.theory.gated.machine import NotSeparableError, UndecidedError
from recombine.theory.gated.margin import largest_margin

Rows = list[dict[str, Any]]
#: The limit of two layers, and plain L2 on effective weights and on unit weights.
NORMS = ("group", "effective", "zeta")
#: Relative gap between upper and lower bound at which a limit is taken.
GAP_TOLERANCE = 1e-7


def unbalanced(units: int, X: FloatArray, quantile: float, seed: int) -> HalfSpaces:
    """Return one half-space for each unit that leaves the share ``quantile`` of inputs ``X`` (n, d) below it.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(100, 4))
    >>> unbalanced(2, X, 0.9, seed=0).ids(X).mean(axis=0).tolist()
    [0.1, 0.1]
    """
    plain = HalfSpaces.random(units, 1, X.shape[1], seed)
    projected = X @ plain.normals[:, 0].T
    return replace(plain, thresholds=np.quantile(projected, quantile, axis=0)[:, None])


def gains_by_balance(unit: Unit) -> Rows:
    """Errors of the limits on images, lower labels against upper: one row per size, seed and norm.

    The setting has "images", "sizes", "validation", "units", "quantile", the share of images on which a gate is shut,
    and "seeds", which draw images and gates. "spread" is how many units the norm of a limit is spread over, as the
    squared sum of unit norms over the sum of their squares. An error that is not a number is a limit that does not
    exist: no function of these gates separates the images.

    Examples
    --------
    >>> setting = {"images": "digits", "sizes": [60], "validation": 100, "units": 5, "quantile": 0.5, "seeds": [0]}
    >>> [row["classifier"] for row in gains_by_balance(Unit("balance", 1, setting))]
    ['group', 'effective', 'zeta']
    """
    setting = unit.setting
    images = load_images(setting["images"])
    rows: Rows = []
    for seed in unit.seeds:
        halves = label_halves(images, setting["sizes"], setting["validation"], seed=seed)
        ids = unbalanced(setting["units"], halves.X, setting["quantile"], seed).ids(halves.X)
        for size in setting["sizes"]:
            train = halves.rows(size)
            about = {name: setting[name] for name in ("images", "units", "quantile")}
            about |= {"samples": size, "seed": seed}
            rows += _limits(halves.X, halves.y, ids, (train, halves.validation), about)
    return rows


def gains_by_teacher(unit: Unit) -> Rows:
    """Errors of the limits on labels of a teacher with the same gates: one row per size, seed and norm.

    The setting has "units", "deciding", how many of them have weights in the teacher (normal, one row in each
    context), "inputs", "sizes", "validation" and "seeds", which draw inputs, gates and teacher. Inputs are normal, with
    a column of ones; gates halve them.

    Examples
    --------
    >>> setting = {"units": 4, "deciding": 1, "inputs": 3, "sizes": [40], "validation": 100, "seeds": [0]}
    >>> [row["classifier"] for row in gains_by_teacher(Unit("teachers", 1, setting))]
    ['group', 'effective', 'zeta']
    """
    setting = unit.setting
    largest, units = max(setting["sizes"]), setting["units"]
    rows: Rows = []
    for seed in unit.seeds:
        generator = np.random.default_rng(np.random.SeedSequence([seed, 11]))
        total = largest + setting["validation"]
        X = np.column_stack([generator.normal(size=(total, setting["inputs"])), np.ones(total)])
        ids = HalfSpaces.balanced(units, 1, X, seed).ids(X)
        zeta = generator.normal(size=(units, 2, X.shape[1]))
        zeta[setting["deciding"] :] = 0.0
        y = np.where(np.einsum("nhd,nd->n", zeta[np.arange(units), ids], X) > 0, 1.0, -1.0)
        for size in setting["sizes"]:
            about = {"units": units, "deciding": setting["deciding"], "samples": size, "seed": seed}
            rows += _limits(X, y, ids, (np.arange(size), np.arange(largest, total)), about)
    return rows


def _limits(
    X: FloatArray, y: FloatArray, ids: IntArray, split: tuple[IntArray, IntArray], about: Mapping[str, Any]
) -> Rows:
    """Return a row for each norm: its error on the second part of the split when fitted to the first."""
    train, test = split
    rows: Rows = []
    for norm in NORMS:
        try:
            limit = largest_margin(X[train], y[train], ids[train], contexts=2, norm=norm, tolerance=GAP_TOLERANCE)
        except (NotSeparableError, UndecidedError):
            rows.append({**about, "classifier": norm, "error": float("nan"), "spread": float("nan")})
            continue
        error = float(np.mean((limit.decision(X[test], ids[test]) > 0) != (y[test] > 0)))
        rows.append({**about, "classifier": norm, "error": error, "spread": _spread(limit.group_norms)})
    return rows


def _spread(norms: FloatArray) -> float:
    return float(norms.sum() ** 2 / (norms**2).sum())
