"""What is to be expected of values: by how much they, noise alone, the plain mean and a network miss the same cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.cells.conjunctions import contains
from recombine.jobs.audit.additivity import root_mean_square
from recombine.jobs.audit.audit import Audit
from recombine.jobs.audit.fitted_networks import ForecastSource, noise_at
from recombine.jobs.audit.forecast import VALUE_ROUNDING, error_of_values, values_at
from recombine.jobs.audit.parts import AssumedStructure
from recombine.jobs.limits import AUDIT_LIMITS
from recombine.theory.structures.ladder import Ladder
from recombine.verdicts import Verdict


@dataclass(frozen=True)
class ExpectedMiss:
    """Root mean square errors in outcome units, all on the same ``cells``, those that ``source`` names."""

    values: float  #: Of the values that an audit gives.
    mean: float  #: Of the plain mean.
    noise: float | None  #: What noise alone makes of it; None where nothing tells.
    network: float | None  #: Of a network, trained or by theory; None where it is not forecast.
    cells: int
    source: ForecastSource

    @property
    def is_useless(self) -> bool:
        """Whether values miss by more than the plain mean does."""
        return self.values > self.mean * (1 + VALUE_ROUNDING)


def expected_miss(audit: Audit) -> ExpectedMiss | None:
    """Return what is to be expected of the values of an audit; None where too few outcomes tell.

    The cells are those of the forecast of networks. Without one they are held-out rows that the seen cells determine,
    or else seen cells, each predicted from others.

    Examples
    --------
    >>> import recombine as rc
    >>> cells = np.indices((5, 4)).reshape(2, -1).T
    >>> miss = expected_miss(rc.audit(rc.Design.from_cells(cells[:-1], outcome=10.0 * cells[:-1, 0] + cells[:-1, 1])))
    >>> miss.values, round(miss.mean, 1), miss.cells
    (0.0, 14.4, 19)
    """
    if audit.design.outcome is None:
        return None
    error = audit.forecast.error
    if error is not None and error.values is not None:
        network = audit.forecast.network
        return ExpectedMiss(error.values, error.mean, error.noise, network, error.cells, error.source)
    structure = audit.structure
    for places, means, source in (_held_out(structure), _seen(structure)):
        values = values_at(structure, places)
        told = np.isfinite(values)
        if told.sum() < AUDIT_LIMITS.min_cells_tested:
            continue
        observed, noise = audit.design.outcome[places[told]], noise_at(audit.design, places[told])
        return ExpectedMiss(
            values=error_of_values(values[told], observed),
            mean=root_mean_square(means[told] - observed),
            noise=None if noise is None else float(np.sqrt(noise.mean())),
            network=None,
            cells=int(told.sum()),
            source=source,
        )
    return None


def explains_little(ladder: Ladder) -> bool:
    """Whether even the best of the structures that were tried says little about held-out seen cells."""
    return ladder.chosen.r2 < AUDIT_LIMITS.share_holds_roughly * (ladder.ceiling or 1.0)


def _held_out(structure: AssumedStructure) -> tuple[IntArray, FloatArray, ForecastSource]:
    """Return the determined cells that are held out and never seen (T,), and the mean of the seen ones (T,)."""
    design = structure.values.decided.design
    places = np.flatnonzero(~design.train)
    places = places[~contains(design.seen, design.cells[places])]
    places = places[structure.values.decided.verdicts_of(design.cells[places]) == Verdict.DETERMINED]
    return places, np.full(len(places), design.observed.seen_outcome.mean()), ForecastSource.HELD_OUT_ROWS


def _seen(structure: AssumedStructure) -> tuple[IntArray, FloatArray, ForecastSource]:
    """Return the seen cells that others determine (T,), and the mean of the others (T,)."""
    design, check = structure.values.decided.design, structure.additivity
    outcome, places = design.observed.seen_outcome, np.flatnonzero(design.train)
    means = (outcome.sum() - outcome) / max(len(outcome) - 1, 1)
    judged = None if check is None else check.at(structure.choice.order)
    determined = np.ones(len(places), dtype=bool) if judged is None else judged.determined
    return places[determined], means[determined], ForecastSource.SEEN_CELLS
