"""The comparison says what changed between two audits or two scores: cells, levels, findings, errors by cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.jobs.comparison.audits import AuditComparison as AuditComparison
    from recombine.jobs.comparison.audits import FindingChanges as FindingChanges
    from recombine.jobs.comparison.cell_maps import CellMap as CellMap
    from recombine.jobs.comparison.cell_maps import Transition as Transition
    from recombine.jobs.comparison.cell_maps import Transitions as Transitions
    from recombine.jobs.comparison.comparison import compare as compare
    from recombine.jobs.comparison.differences import Difference as Difference
    from recombine.jobs.comparison.model_pairs import ModelPair as ModelPair
    from recombine.jobs.comparison.model_pairs import model_pairs as model_pairs
    from recombine.jobs.comparison.scores import AmountChange as AmountChange
    from recombine.jobs.comparison.scores import ScoreComparison as ScoreComparison

lazy_package(__name__)
