"""RC301 to RC304: whether effects add as the verdicts assume, and whether there are any."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from recombine.jobs.audit.additivity import AdditivityCheck, AdditivityState
from recombine.jobs.findings.finding import FindingEvidence, FindingKind, Severity
from recombine.jobs.limits import AUDIT_LIMITS
from recombine.writing import few_digits, number, plural, whole_percent

if TYPE_CHECKING:
    from recombine.jobs.audit.parts import AssumedStructure, Values


class AdditivityFinding(FindingKind["AssumedStructure"]):
    """A finding where the check of additivity at the asked order came out as ``state``."""

    reads = "structure"
    state: ClassVar[AdditivityState]
    #: What to add where no rows repeat.
    untested: ClassVar[str] = ""

    def check(self, structure: AssumedStructure) -> FindingEvidence | None:
        additivity, order = structure.additivity, structure.choice.order
        check = None if additivity is None else additivity.at(order)
        if additivity is None or check is None or additivity.state_at(order) is not self.state:
            return None
        return FindingEvidence({"order": order, "check": check})

    def message(self, evidence: FindingEvidence) -> str:
        check, lead = evidence["check"], f"at order {evidence['order']}"
        test = check.lack_of_fit
        if check.tested < AUDIT_LIMITS.min_cells_tested and test is not None:
            verb = "show" if test.p_value <= AUDIT_LIMITS.p_value_shown else "hint at"
            return f"{lead} the replicates {verb} interaction (lack of fit: {test.text})"
        return (
            f"{lead} held-out cells are off by {few_digits(check.error)} against {few_digits(check.baseline)} for the "
            f"plain mean ({whole_percent(max(check.share, 0))} of the explainable variance)"
            f"{self.untested if test is None else f'; lack of fit: {test.text}'}"
        )


class AdditivityFails(AdditivityFinding):
    code = "RC301"
    title = "additivity does not hold"
    severity = Severity.PROBLEM
    meaning = (
        "Repeated rows show that effects interact, and held-out combinations are not predicted well by adding effects: "
        "at this order the values that follow are off by more than noise."
    )
    action = "Allow interactions with --order 2, or let --structure auto look for a scale on which effects add."
    state = AdditivityState.FAILS

    def check(self, structure: AssumedStructure) -> FindingEvidence | None:
        return super().check(structure) if structure.choice.structure.is_sum else None


class AdditivityUnchecked(FindingKind["AssumedStructure"]):
    code = "RC302"
    title = "additivity not checked"
    severity = Severity.NOTE
    meaning = "Verdicts hold if effects add. That was not checked: no outcome, or too few cells to hold some out."
    action = "Name an outcome with --outcome; if there is one, measure more cells that others determine, or more rows."
    reads = "structure"

    def check(self, structure: AssumedStructure) -> FindingEvidence | None:
        # Another structure than adding was checked when it was chosen.
        if not structure.choice.structure.is_sum:
            return None
        if structure.additivity is None:
            return FindingEvidence({"obstacle": ""})
        order = structure.choice.order
        unchecked = structure.additivity.state_at(order) is AdditivityState.UNCHECKED
        obstacle = why_unchecked(structure.additivity, order)
        return FindingEvidence({"order": order, "obstacle": obstacle}) if unchecked else None

    def message(self, evidence: FindingEvidence) -> str:
        if not evidence["obstacle"]:
            return "no outcome column was named, so verdicts rest on additivity unchecked"
        return f"at order {evidence['order']} {evidence['obstacle']}"


def why_unchecked(additivity: AdditivityCheck, order: int) -> str:
    """Say why additivity at ``order`` cannot be checked; empty if it can be."""
    check = additivity.at(order)
    if check is None:
        return f"with all {order} factors interacting, no cell says anything about another"
    if check.few:
        many, verb = plural(check.tested, "seen cell"), "is" if check.tested == 1 else "are"
        few = f"only {many} {verb}" if check.tested else "no seen cell is"
        return f"{few} determined by the others, and it takes {AUDIT_LIMITS.min_cells_tested} such cells"
    if check.baseline == 0:
        return "the outcome is the same in every cell"
    if additivity.state_at(order) is not AdditivityState.UNCHECKED:
        return ""
    error, baseline = few_digits(check.error), few_digits(check.baseline)
    expected = "unknown" if check.expected is None else few_digits(check.expected)
    if check.thin:
        return (
            f"only {check.tested:,} of {check.tried:,} seen cells are determined by the others (off by {error}, the "
            f"plain mean by {baseline}), too few to speak for the rest"
        )
    if check.at_most:
        return (
            f"no rows repeat, and chance alone would put the model of a two-valued outcome off by up to {expected} "
            f"(it is off by {error}, the plain mean by {baseline}); more rows per cell would tell"
        )
    if check.drowned:
        more = "more than" if (check.expected or 0.0) > check.baseline else "nearly as much as"
        return (
            f"even if effects added exactly the model would be off by {expected}, {more} the plain mean is "
            f"({baseline}); more rows per cell would tell"
        )
    return (
        f"held-out cells are off by {error}, where it would be {expected} if effects added exactly, and the replicates "
        "show no interaction; more rows per cell would tell"
    )


class AdditivityNotShown(AdditivityFinding):
    code = "RC303"
    title = "additivity not shown to hold"
    severity = Severity.WARNING
    meaning = (
        "Held-out combinations are not predicted well by adding effects. Unless repeated rows show that effects "
        "interact, that may be noise. In 42 such trials on published tables adding beat the plain mean in 34, and a "
        "network or a forest beat adding in 34."
    )
    action = "Repeat some measurements: rows that repeat tell noise from interaction."
    state = AdditivityState.NOT_SHOWN
    untested = "; no rows repeat, so this may be noise rather than interaction"

    def check(self, structure: AssumedStructure) -> FindingEvidence | None:
        ladder = structure.choice.ladder
        if structure.values.at_mean:
            return None  # RC304 says more
        if structure.choice.structure.is_sum or ladder is None:
            return super().check(structure)
        enough = AUDIT_LIMITS.share_holds_roughly * (1.0 if ladder.ceiling is None else ladder.ceiling)
        return None if ladder.chosen.r2 >= enough else FindingEvidence({"ladder": ladder})

    def message(self, evidence: FindingEvidence) -> str:
        if "ladder" in evidence.numbers:
            return f"even the best structure says little: {evidence['ladder']}"
        return super().message(evidence)


class NoBetterThanMean(FindingKind["Values"]):
    code = "RC304"
    title = "no better than the mean"
    severity = Severity.WARNING
    meaning = (
        "A permutation test of all effects together finds nothing beyond chance by which unseen combinations would "
        "differ: all are given the mean of the seen ones, and no network is forecast. A single factor may matter still."
    )
    action = (
        "Measure more combinations, or these more often, until effects stand out from noise; or name other factors."
    )
    reads = "values"

    def check(self, values: Values) -> FindingEvidence | None:
        if not values.at_mean or values.components is None:
            return None
        return FindingEvidence({"mean": float(values.components.y.mean()), "cells": len(values.components.y)})

    def message(self, evidence: FindingEvidence) -> str:
        cells = plural(evidence["cells"], "seen cell")
        mean = number(evidence["mean"])
        return f"taken together, the effects in {cells} predict no other beyond chance: all get the mean, {mean}"
