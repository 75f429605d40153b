"""Inputs of measurements that come with scikit-learn, standardised: real covariances that need no download."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.errors import InputError, near_miss
from recombine.writing import listing

#: Name -> scikit-learn's name of the set, and whether squares and products of its columns stand beside them.
SETS = {
    "products of diabetes": ("diabetes", True),
    "products of wine": ("wine", True),
    "breast cancer": ("breast_cancer", False),
    "digits": ("digits", False),
}
#: A column that varies less than this share of its size is constant.
MIN_VARYING_SHARE = 1e-8
#: Decimals to which two columns are the same.
SAME_DECIMALS = 8


@lru_cache(maxsize=len(SETS))
def bundled_inputs(name: str) -> FloatArray:
    """Return inputs (N, D) of mean zero and variance one, without constant and repeated columns.

    Examples
    --------
    >>> [bundled_inputs(name).shape for name in SETS]
    [(442, 64), (178, 104), (569, 30), (1797, 61)]
    """
    from sklearn import datasets

    if name not in SETS:
        raise InputError(f"no bundled set is called {name!r};{near_miss(name, SETS, f'Sets: {listing(SETS)}')}")
    called, with_products = SETS[name]
    inputs = _standardised(np.asarray(getattr(datasets, f"load_{called}")().data, dtype=float))
    if with_products:
        rows, columns = np.triu_indices(inputs.shape[1])
        inputs = _standardised(np.hstack([inputs, inputs[:, rows] * inputs[:, columns]]))
    _, firsts = np.unique(inputs.round(SAME_DECIMALS), axis=1, return_index=True)
    chosen = np.ascontiguousarray(inputs[:, np.sort(firsts)])
    chosen.setflags(write=False)
    return chosen


def _standardised(values: FloatArray) -> FloatArray:
    spread = values.std(axis=0)
    varying = spread > MIN_VARYING_SHARE * np.maximum(np.abs(values).max(axis=0), MIN_VARYING_SHARE)
    return np.asarray((values[:, varying] - values[:, varying].mean(axis=0)) / spread[varying])
