"""What changed between two scores: models, errors by verdict and cause, and which changes lie outside the ranges."""

from __future__ import annotations

from dataclasses import dataclass

from recombine.jobs.comparison.differences import Comparison, Difference
from recombine.jobs.comparison.documents import AmountRecord, ModelRecord, ScoreDocument
from recombine.jobs.comparison.paired_errors import common_cells, paired_differences
from recombine.writing import plural

#: The errors of a model; a rise of one of them outside the ranges is for the worse.
ERRORS = ("error on unseen cells", "error on determined cells")


@dataclass(frozen=True)
class AmountChange:
    """One number of one model, before and after.

    Examples
    --------
    >>> change = AmountChange("error on unseen cells", AmountRecord(1.0, 0.8, 1.2), AmountRecord(2.0, 1.5, 2.5))
    >>> change.outside, change.rises
    (True, True)
    """

    what: str
    before: AmountRecord | None
    after: AmountRecord | None
    rise: AmountRecord | None = None  #: Per cell, on the cells that both held out.
    other_cells: bool = False  #: Whether not the same cells were held out, so that before and after are not compared.

    @property
    def outside(self) -> bool | None:
        """Whether the range of the ``rise`` per cell leaves out 0, or without one the two ranges do not overlap.

        None where a range is not known.
        """
        if self.rise is not None and self.rise.low is not None and self.rise.high is not None:
            return self.rise.low > 0 or self.rise.high < 0
        if self.other_cells:
            return None
        ends = [end for amount in (self.before, self.after) if amount for end in (amount.low, amount.high)]
        known_ends = [end for end in ends if end is not None and end == end]
        if len(known_ends) < 4:
            return None
        low, high, new_low, new_high = known_ends
        return new_low > high or new_high < low

    @property
    def rises(self) -> bool:
        """Whether the number is larger than it was, on the same cells."""
        if self.rise is not None and self.rise.value is not None:
            return self.rise.value > 0
        values = [None if amount is None else amount.value for amount in (self.before, self.after)]
        return values[0] is not None and values[1] is not None and values[1] > values[0]

    @property
    def changed(self) -> bool:
        """Whether number or range differ at all."""
        return self.before != self.after


@dataclass(frozen=True, eq=False)
class ScoreComparison(Comparison):
    """What changed between two scores. Make one with `recombine.compare`."""

    before: ScoreDocument
    after: ScoreDocument
    models: Difference  #: Names of models.
    #: For each model that stays its errors, causes, coefficients of factors and gain, before and after.
    changes: dict[str, tuple[AmountChange, ...]]

    @property
    def same_cells(self) -> bool:
        """Whether the same cells were held out; otherwise errors are about other cells."""
        return self.before.held_out_digest == self.after.held_out_digest

    @property
    def common(self) -> int:
        """Held-out cells that both scores have, as far as they tell which these are."""
        places = common_cells(self.before, self.after)
        return 0 if places is None else len(places[0])

    @property
    def untold(self) -> tuple[str, ...]:
        """Models in both that cannot be compared: other cells were held out, and too few in both."""
        return tuple(
            name for name, moved in self.changes.items() if not self.same_cells and not any(m.rise for m in moved)
        )

    @property
    def other_thing(self) -> tuple[str, str, str] | None:
        """What errors before and after are of, and both values, where these differ; None if they are of one thing."""
        for what, old, new in (
            ("outcome", self.before.outcome, self.after.outcome),
            ("measure of error", self.before.measure, self.after.measure),
        ):
            if old != new:
                return what, old or "none", new or "none"
        return None

    @property
    def outside(self) -> dict[str, tuple[AmountChange, ...]]:
        """Model -> the changes that lie outside the ranges."""
        return {name: tuple(change for change in every if change.outside) for name, every in self.changes.items()}

    @property
    def worse(self) -> tuple[str, ...]:
        """Models of which an error rises outside the ranges."""
        return self._moved(True)

    @property
    def better(self) -> tuple[str, ...]:
        """Models of which an error falls outside the ranges."""
        return self._moved(False)

    def _moved(self, up: bool) -> tuple[str, ...]:
        moved = self.outside
        return tuple(
            name for name in moved if any(change.what in ERRORS and change.rises is up for change in moved[name])
        )

    @property
    def changed(self) -> bool:
        """Whether anything that is compared differs."""
        numbers = any(change.changed for every in self.changes.values() for change in every)
        return bool(self.models.changed or numbers or self.settings or not self.same_cells)

    def __repr__(self) -> str:
        stay = plural(len(self.models.stay), "model")
        return f"ScoreComparison({stay} in both; {len(self.better)} better, {len(self.worse)} worse)"


def compare_scores(before: ScoreDocument, after: ScoreDocument) -> ScoreComparison:
    """Compare two scores that were read."""
    old, new = ({model.name: _numbers(model) for model in document.models} for document in (before, after))
    models = Difference.between(old, new)
    of_one_thing = (before.outcome, before.measure) == (after.outcome, after.measure)
    changes, other_cells = {}, before.held_out_digest != after.held_out_digest
    for name in models.stay:
        rises = paired_differences(before, after, name) if of_one_thing else {}
        changes[name] = tuple(
            AmountChange(what, old[name].get(what), new[name].get(what), rises.get(what), other_cells)
            for what in {**old[name], **new[name]}
        )
    return ScoreComparison(before, after, models, changes)


def _numbers(model: ModelRecord) -> dict[str, AmountRecord]:
    amounts: dict[str, AmountRecord | None] = {"error on unseen cells": model.error_on_unseen_cells}
    for row in model.by_verdict:
        if row.verdict != "determined" or model.error_on_determined_cells is None:
            amounts[f"error on {row.verdict} cells"] = AmountRecord(row.squared_error, row.low, row.high)
    determined = "error on determined cells"
    amounts[determined] = model.error_on_determined_cells or amounts.get(determined)
    amounts |= {f"cause: {name}": amount for name, amount in model.causes.items()}
    for name, by_factor in model.by_factor.items():
        if name not in model.causes:  # of factors only coefficients are compared: their amounts are those of the cause
            amounts |= {f"{name}: {factor}": amount for factor, amount in by_factor.items()}
    amounts["gain over adding"] = model.gain_over_adding
    return {what: amount for what, amount in amounts.items() if amount is not None}
