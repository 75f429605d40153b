"""Gated linear networks of one layer: what leaving one sample out says of the error, beside the error itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.lab.papers.gated_linear.experiments.images import half_spaces, problem_of
from recombine.lab.runs.experiment import Unit
from recombine.theory.gated.machine import NotSeparableError, UndecidedError
from recombine.theory.gated.margin import largest_margin

Rows = list[dict[str, Any]]


def leaving_out(unit: Unit) -> Rows:
    """Limits of one layer: one row per training size and seed, not a number where there is no margin.

    A sample that is no support vector can be left out without a change, so that the share of support vectors bounds
    the error of leaving one out. Settings as for `images.gated_networks`, without those of networks.

    Examples
    --------
    >>> setting = {"images": "digits", "sizes": [60], "validation": 100, "bits": 1, "thresholds": "median"}
    >>> [row] = leaving_out(Unit("leaving-out", 1, setting | {"seeds": [1]}))
    >>> row["error"] < row["support"] < 1
    True
    """
    setting, halves = unit.setting, problem_of(unit.setting)
    X, y, test = halves.X, halves.y, halves.validation
    rows: Rows = []
    for seed in unit.seeds:
        contexts = half_spaces(setting["thresholds"], 1, setting["bits"], X, seed)
        ids = contexts.ids(X)
        for size in setting["sizes"]:
            about = {name: setting[name] for name in ("images", "bits", "thresholds")} | {"samples": size, "seed": seed}
            train = halves.rows(size)
            try:
                limit = largest_margin(
                    X[train], y[train], ids[train], contexts=contexts.contexts, norm="one-layer", tolerance=1e-7
                )
            except (NotSeparableError, UndecidedError):
                rows.append(about | {"error": np.nan, "support": np.nan})
                continue
            error = float(np.mean((limit.decision(X[test], ids[test]) > 0) != (y[test] > 0)))
            rows.append(about | {"error": error, "support": len(limit.support) / size})
    return rows
