"""Shares of variance of fits by components, term by term."""

from __future__ import annotations

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.theory.components import ComponentsFit
from recombine.theory.components.sparse.mixed_equations import term_columns


def term_shares(fit: ComponentsFit) -> FloatArray:
    """Return the share of the variance over the seen cells that each term explains, the noise last (T + 1,)."""
    codes, factors = fit.posterior.codes, fit.posterior.factors
    columns = [term_columns(term, factors, codes).rows(codes).toarray() for term in fit.terms]
    scatter = [float(np.square(rows - rows.mean(axis=0)).sum()) / len(codes) for rows in columns]
    powers = np.append(fit.saliences.variances * scatter, fit.saliences.noise * np.mean(1 / fit.counts))
    return np.asarray(powers / powers.sum())
