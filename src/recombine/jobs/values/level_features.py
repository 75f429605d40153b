"""Which descriptors of levels values rest on, and levels that are known by their descriptors alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.design.design import Design
from recombine.errors import InputError, near_miss
from recombine.tables.level_features import LevelFeatures, read_features
from recombine.theory.components.fit import ComponentsFit

#: Share of the outcome's variance that a descriptor moves values by, from which on it counts.
MIN_FEATURE_SHARE = 0.01
#: Seen cells that are asked what a descriptor does to them, at most.
MAX_CELLS_MOVED = 400


@dataclass(frozen=True)
class DescribedFactor:
    """A factor whose levels have descriptors, and what each of these moves values by (D,)."""

    factor: str
    names: tuple[str, ...]
    shares: tuple[float, ...]

    @property
    def carriers(self) -> tuple[str, ...]:
        """The descriptors that count, those that move values most first."""
        order = np.argsort(-np.array(self.shares), kind="stable")
        return tuple(self.names[index] for index in order if self.shares[index] >= MIN_FEATURE_SHARE)


def described_factors(design: Design, fit: ComponentsFit) -> tuple[DescribedFactor, ...]:
    """Return what the descriptors of levels of a design move the values of its components by."""
    described = []
    for name, features in design.reading.level_features.items():
        factor = design.names.index(name)
        shares = feature_shares(fit, factor, features.of(design.factors[factor].levels))
        described.append(DescribedFactor(name, features.names, tuple(shares.tolist())))
    return tuple(described)


def read_all_features(given: Mapping[Any, object] | None, names: Sequence[str]) -> dict[int, LevelFeatures]:
    """Return descriptors by the place of their factor among ``names``, of tables by factor: its name or place.

    Examples
    --------
    >>> import pandas as pd
    >>> read_all_features({"dose": pd.DataFrame({"dose": [1, 2], "mass": [1.0, 2.0]})}, ["drug", "dose"])[1].names
    ('mass',)
    """
    if given is not None and not isinstance(given, Mapping):
        raise InputError(f"features are a {type(given).__name__}; give tables by factor: features={{'drug': table}}")
    tables = {}
    for key, data in (given or {}).items():
        factor = key if isinstance(key, int) and not isinstance(key, bool) else _place(key, names)
        if not 0 <= factor < len(names):
            raise InputError(f"features are of column {factor} and there are {len(names)}; count from 0")
        tables[factor] = read_features(data, names[factor])
    return tables


def _place(name: object, names: Sequence[str]) -> int:
    if name not in names:
        raise InputError(f"features are of {name!r}, which is no factor;{near_miss(name, names, 'Factors:')}")
    return list(names).index(str(name))


def feature_shares(fit: ComponentsFit, factor: int, table: FloatArray) -> FloatArray:
    """Return the share of the outcome's variance that values move by when a descriptor is set to its mean (D,).

    ``table`` holds the descriptors (L, D) of the levels of a factor that cells of the fit have.

    Examples
    --------
    >>> from recombine.theory.components import fit_components
    >>> rng = np.random.default_rng(0)
    >>> codes, table = np.indices((20, 4)).reshape(2, -1).T, rng.normal(size=(20, 3))
    >>> fit = fit_components(codes, table[codes[:, 0], 1] + 0.1 * rng.normal(size=80), features={0: table})
    >>> feature_shares(fit, 0, table) > 0.5
    array([False,  True, False])
    """
    codes, spread = fit.posterior.codes, float(np.var(fit.scale.forward(fit.y)))
    told = np.flatnonzero(np.isfinite(table[codes[:, factor]]).all(axis=1))
    members = np.sort(np.random.default_rng(0).permutation(told)[:MAX_CELLS_MOVED])
    if not len(members) or spread == 0 or fit.posterior.factors.features[factor] is None:
        return np.zeros(table.shape[1])
    cells = codes[members].copy()
    levels, cells[:, factor] = np.unique(cells[:, factor], return_inverse=True)
    cells[:, factor] += fit.posterior.factors.sizes[factor]
    rows = table[levels]
    values = []
    for column in range(-1, table.shape[1]):
        moved = rows.copy()
        if column >= 0:
            moved[:, column] = table[codes[told, factor], column].mean()
        values.append(fit.scale.forward(fit.with_levels(features={factor: moved}).predict(cells).mean))
    return np.asarray(np.square(np.array(values[1:]) - values[0]).mean(axis=1) / spread)
