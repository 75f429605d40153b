"""The share of activations that effects of few factors make up."""

from __future__ import annotations

from typing import Any

from recombine.errors import InputError
from recombine.measures.activations.anova import effect_shares
from recombine.measures.activations.grid import as_grid


def additive_share(activations: Any, order: int = 1) -> float:
    """Return the share of variance in effects of at most ``order`` factors; by default in main effects alone.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = np.meshgrid(np.arange(3.0), np.arange(4.0), indexing="ij")
    >>> round(additive_share(np.stack([x, y**2], axis=-1)), 12)
    1.0
    """
    grid = as_grid(activations)
    if not 1 <= order <= grid.factors:
        raise InputError(f"order {order} does not fit {grid.factors} factors; choose one from 1 to {grid.factors}")
    return sum(share for subset, share in effect_shares(grid).items() if len(subset) <= order)
