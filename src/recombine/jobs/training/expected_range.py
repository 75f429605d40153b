"""The range in which the error of the next model lies: measured on tables unlike each other, by kind of case.

What a model trained here is off by, and what a theory says, were set beside what such models did that were trained
apart, on tables of all kinds (`benchmarks/forecast.py`). The range of a case is that of the middle four fifths of these
ratios, on tables of the same kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.data.hit_rates import hit_rates
from recombine.design.design import Design
from recombine.jobs.limits import TRAINING_LIMITS


class Way(StrEnum):
    """Where an error is from: a model trained on all training cells or by folds, theory with held-out rows or not."""

    TRAINED = "trained, held-out rows"
    FOLDS = "trained, folds"
    THEORY = "theory, held-out rows"
    THEORY_SEEN = "theory, seen cells"


class TableKind(StrEnum):
    """What is special about a table, the first that is true."""

    HEAVY = "heavy tails"
    THIN = "thin"
    FEW = "few cells"
    USUAL = "usual"

    @classmethod
    def of(cls, design: Design, judged: int) -> TableKind:
        """Return the kind of a design's training cells, of which or beside which so many cells were judged.

        Examples
        --------
        >>> from recombine.design import Design
        >>> cells = np.indices((3, 20)).reshape(2, -1).T
        >>> TableKind.of(Design.from_cells(cells[:40], cells[:40].sum(axis=1)), 40).value
        'thin'
        """
        if fourth_moment(design.observed.seen_outcome) > TRAINING_LIMITS.heavy_tail:
            return cls.HEAVY
        if len(design.seen) <= TRAINING_LIMITS.thin_table * max(len(np.unique(column)) for column in design.seen.T):
            return cls.THIN
        return cls.FEW if judged < TRAINING_LIMITS.few_cells else cls.USUAL


def fourth_moment(values: FloatArray) -> float:
    """Return the fourth standardized moment of ``values`` (N,), 3 for a normal distribution; 0 where all are alike."""
    centred = values - values.mean()
    scale = float(np.abs(centred).max()) or 1.0  # so that no power overflows
    square = float(np.mean((centred / scale) ** 2))
    return float(np.mean((centred / scale) ** 4)) / square**2 if square > 0 else 0.0


@dataclass(frozen=True)
class ExpectedRange:
    """What is expected of the next model, between ``low`` and ``high``, and how often such ranges held in trials."""

    said: float
    low: float
    high: float
    held: int  #: Trials on other tables in which the range held,
    within: int  #: in which what was said was within 20 % (accuracy: 5 points),
    trials: int  #: and all.
    kind: TableKind | None  #: Of the tables of these trials; None if of all.
    middle: float = 1.0  #: Median of what models did over what was said.


def expected_range(said: float, model: str, way: Way, kind: TableKind, accuracy: bool = False) -> ExpectedRange | None:
    """Return the range of an error that was ``said``, or of a share of right answers; None where nothing was tried.

    Examples
    --------
    >>> told = expected_range(2.0, "network", Way.TRAINED, TableKind.USUAL)
    >>> told.low < 2.1 and told.high > 1.9 and told.held / told.trials > 0.7
    True
    """
    ranges: dict[str, Any] = hit_rates()["ranges"]
    kinds = ranges.get(f"{'accuracy of ' * accuracy}{model}: {way}", {})
    name = kind if kinds.get(kind, {}).get("trials", 0) >= TRAINING_LIMITS.min_trials else "all"
    if name not in kinds:
        return None
    entry = kinds[name]
    low, high = (said + entry[end] if accuracy else said * entry[end] for end in ("low", "high"))
    if accuracy:
        low, high = max(low, 0.0), min(high, 1.0)
    successes, within, trials = (int(entry[count]) for count in ("held", "within", "trials"))
    told_kind = None if name == "all" else kind
    return ExpectedRange(said, low, high, successes, within, trials, told_kind, float(entry["middle"]))
