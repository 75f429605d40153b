"""Held-out cells, and what predictions at them are compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.design.design import Design
from recombine.jobs.audit.audit import Audit
from recombine.jobs.limits import SCORE_LIMITS
from recombine.jobs.score.determined import additive_fit, held_out_noise, regressors_of
from recombine.jobs.score.predictions import observed_outcomes
from recombine.jobs.score.regression import HeldOutNoise, Regressors
from recombine.verdicts import Verdict


@dataclass(frozen=True, eq=False)
class HeldOutCells:
    """Held-out cells, and what predictions at them are compared with."""

    #: Of the seen cells, one, or one per class: the structure that verdicts and determined values assume.
    audits: tuple[Audit, ...]
    codes: IntArray = field(repr=False)  #: (H,): verdict of each held-out cell.
    #: What predictions at the determined cells were compared with; None where those are too few.
    regressors: Regressors | None
    noise: HeldOutNoise | None  #: None where no row repeats.
    classes: tuple[str, ...] = ()  #: Names of the classes; empty where the outcome is a number or has two values.
    #: (H,): how much each held-out cell matters, where that was said; all means are weighted by it then.
    weights: FloatArray | None = field(default=None, repr=False)
    #: By how much simpler predictions miss the determined cells, (T, K) by name, and the squared errors foretold there.
    misses_beside: Mapping[str, FloatArray] = field(default_factory=dict, repr=False)
    forecasts: Mapping[str, float] = field(default_factory=dict, repr=False)
    folds: int = 0  #: How many folds left each cell out once; 0 where training and held-out cells were given.
    fold: IntArray | None = field(default=None, repr=False)  #: (H,): the fold that left each cell out, numbered from 0.

    @property
    def audit(self) -> Audit:
        """The audit of the seen cells; of several classes that of the first."""
        return self.audits[0]

    @property
    def outcome_name(self) -> str:
        """The column that was predicted."""
        name = str(self.design.outcome_column.name)
        return name.removesuffix(f"={self.classes[0]}") if self.classes else name

    @cached_property
    def observed(self) -> FloatArray:
        """Mean outcome of each held-out cell, (H, K)."""
        return observed_outcomes([audit.design for audit in self.audits])

    @property
    def design(self) -> Design:
        """The design whose held-out cells were scored."""
        return self.audit.design

    @property
    def counts(self) -> FloatArray:
        """How much each held-out cell counts in means, (H,)."""
        return np.ones(len(self.codes)) if self.weights is None else self.weights

    def rows(self, chosen: BoolArray) -> IntArray:
        """Return the design's rows of the held-out cells that are ``chosen`` (H,)."""
        return np.asarray(np.flatnonzero(~self.design.train)[chosen])

    @property
    def determined(self) -> int:
        """How many of the scored cells the seen ones determine."""
        return int((self.codes == Verdict.DETERMINED).sum())


def held_out_cells(
    audits: tuple[Audit, ...],
    codes: IntArray,
    classes: tuple[str, ...] = (),
    weights: FloatArray | None = None,
    fewest: int = SCORE_LIMITS.min_cells_for_causes,
) -> HeldOutCells:
    """Return the held-out cells of audits with what is compared there; causes are told from ``fewest`` cells on."""
    held_out, scored = HeldOutCells(audits, codes, None, None, classes, weights), codes == Verdict.DETERMINED
    if scored.any():
        rows, counts = held_out.rows(scored), held_out.counts[scored]
        held_out = replace(held_out, noise=held_out_noise(audits, rows), misses_beside=_misses_beside(audits, rows))
        if (counts > 0).sum() >= fewest:
            held_out = replace(held_out, regressors=regressors_of(audits, audits[0].design.cells[rows], counts))
    return replace(held_out, forecasts=_forecasts_of(held_out))


def _forecasts_of(held_out: HeldOutCells) -> dict[str, float]:
    """Return the squared errors that wide networks are foretold to make on the determined cells, by name."""
    error = held_out.audit.forecast.error if held_out.audit.forecast.held_out else None
    if error is None or held_out.classes or held_out.weights is not None:
        return {}
    # Both are of the cells that the structure determines; of very many, networks predict some.
    share = "" if error.cells == held_out.determined else f" (on {error.cells:,} of them)"
    return {
        f"forecast: wide network{share}": error.ntk**2,
        f"forecast: wide network, readout{share}": error.nngp**2,
    }


def _misses_beside(audits: Sequence[Audit], rows: IntArray) -> dict[str, FloatArray]:
    """Return by how much adding, the chosen structure and the plain mean miss the design's ``rows`` (T,), (T, K)."""
    columns: list[dict[str, FloatArray]] = []
    for audit in audits:
        design = audit.design
        cells, observed = design.cells[rows], design.observed.measured[rows]
        misses = {"adding": design.outcome_column.bounded(additive_fit(audit).predict(cells)) - observed}
        if not audit.choice.structure.adds:
            misses[f"assumed structure: {audit.choice.name}"] = (
                design.outcome_column.bounded(audit.values.certified_of(cells)) - observed
            )
        columns.append(misses | {"plain mean": float(design.observed.seen_outcome.mean()) - observed})
    return {name: np.stack([misses[name] for misses in columns], axis=1) for name in columns[0]}
