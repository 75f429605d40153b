"""RC501 to RC506: what changed between two audits or two scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.jobs.findings.finding import FindingEvidence, FindingKind, ResultKind, Severity, SubjectsFinding
from recombine.writing import few_digits, listing, plural

if TYPE_CHECKING:
    from recombine.jobs.comparison.audits import AuditComparison
    from recombine.jobs.comparison.scores import ScoreComparison


def cells_obstacle(comparison: AuditComparison) -> str:
    """Say why cells of two audits were not compared one by one; empty if they were."""
    if comparison.obstacle is None:
        return ""
    kinds = type(comparison.obstacle)
    if comparison.obstacle in (kinds.UNLISTED_BEFORE, kinds.UNLISTED_AFTER):
        word = comparison.obstacle.value
        document = comparison.before if word == "before" else comparison.after
        return f"the audit {word} does not list its cells: {document.cells.obstacle or 'there are too many levels'}"
    factors = comparison.obstacle is kinds.FACTORS
    return "the factors are not the same" if factors else "not the same factors are symmetric"


def errors_obstacle(comparison: ScoreComparison) -> str:
    """Say why errors before and after are not of one thing; empty if they are."""
    if comparison.other_thing is None:
        return ""
    what, old, new = comparison.other_thing
    return f"the {what} was {old!r} before and is {new!r} after"


class CellsLost(FindingKind["AuditComparison"]):
    code = "RC501"
    title = "cells lost"
    severity = Severity.PROBLEM
    meaning = "Cells that were seen or determined in the audit before are neither now."
    action = "Look which rows went missing between the two tables."
    of = ResultKind.AUDIT_CHANGES
    fail_on = ("lost",)

    def obstacle(self, comparison: AuditComparison) -> str:
        return f"{cells_obstacle(comparison)}; leave it out" if comparison.transitions is None else ""

    def check(self, comparison: AuditComparison) -> FindingEvidence | None:
        return FindingEvidence({"cells": comparison.lost}) if comparison.lost else None

    def message(self, evidence: FindingEvidence) -> str:
        return f"{plural(evidence['cells'], 'cell')} no longer seen or determined"


class LevelsGone(SubjectsFinding["AuditComparison"]):
    code = "RC502"
    title = "levels gone"
    severity = Severity.WARNING
    meaning = "Factors or levels of the audit before do not occur any more, so that nothing is said about them."
    action = "Look whether they were renamed or left out; their combinations are not judged any more."
    of = ResultKind.AUDIT_CHANGES
    fail_on = ("gone-levels",)
    says = "{names}"

    def obstacle(self, comparison: AuditComparison) -> str:
        untold = not comparison.levels and comparison.factors.stay
        return "an audit has too many levels to name them; leave it out" if untold else ""

    def subjects(self, comparison: AuditComparison) -> list[str]:
        gone = [f"factor {name}" for name in comparison.factors.gone]
        return gone + [f"{name} {label}" for name, labels in comparison.levels.items() for label in labels.gone]


class NewFindings(FindingKind["AuditComparison"]):
    code = "RC503"
    title = "new findings"
    severity = Severity.WARNING
    meaning = "The later audit raises a warning or a problem that the one before did not have."
    action = "Read the new findings; each says what to do."
    of = ResultKind.AUDIT_CHANGES
    fail_on = ("new-findings",)

    def check(self, comparison: AuditComparison) -> FindingEvidence | None:
        # Notes come with progress too, for a cell that becomes determined may be shaky.
        codes = [item.code for item in comparison.findings.new if item.severity != Severity.NOTE.word]
        return FindingEvidence({"findings": len(codes)}, tuple(dict.fromkeys(codes))) if codes else None

    def message(self, evidence: FindingEvidence) -> str:
        return f"{plural(evidence['findings'], 'new finding')} ({listing(evidence.subjects, 6)})"


class Noisier(FindingKind["AuditComparison"]):
    code = "RC506"
    title = "noisier"
    severity = Severity.WARNING
    meaning = (
        "The noise rose by more than chance explains: rows that repeat a cell lie further apart, or where none repeat, "
        "values miss left-out cells by more."
    )
    action = "Look which rows are new: another instrument, operator, batch or unit."
    of = ResultKind.AUDIT_CHANGES
    fail_on = ("noisier",)

    def obstacle(self, comparison: AuditComparison) -> str:
        sides = {"before": comparison.before.noise, "after": comparison.after.noise}
        untold = [word for word, noise in sides.items() if noise is None]
        if untold:
            return f"the audit {untold[0]} does not tell the noise of its outcome; leave it out"
        kinds = [noise.of for noise in sides.values() if noise is not None]
        return f"noise is of {kinds[0]} before and of {kinds[1]} after; leave it out" if kinds[0] != kinds[1] else ""

    def check(self, comparison: AuditComparison) -> FindingEvidence | None:
        rise = comparison.noisier
        return None if rise is None else FindingEvidence({"rise": rise})

    def message(self, evidence: FindingEvidence) -> str:
        rise = evidence["rise"]
        numbers = f"{few_digits(rise.before)} before, {few_digits(rise.after)} after"
        return f"the standard deviation of {rise.of} rose {rise.after / rise.before:.1f}-fold ({numbers})"


class ModelsWorse(SubjectsFinding["ScoreComparison"]):
    code = "RC504"
    title = "models worse"
    severity = Severity.PROBLEM
    meaning = "The error of a model on the same cells grew by more than chance explains."
    action = "Look which cause grew: the comparison lists them."
    of = ResultKind.SCORE_CHANGES
    fail_on = ("worse",)
    says = "{models} worse ({names})"

    def obstacle(self, comparison: ScoreComparison) -> str:
        if obstacle := errors_obstacle(comparison):
            return f"{obstacle}; leave it out"
        if comparison.untold:
            return (
                f"other cells were held out, and {plural(comparison.common, 'cell')} both times, too few to compare "
                f"{listing(map(repr, comparison.untold), 6)} on; score both times on one split"
            )
        models = comparison.models
        if not models.new:
            return ""
        before = listing(map(repr, (*models.stay, *models.gone)), 6) or "no model"
        new, verb = listing(map(repr, models.new), 6), "is" if len(models.new) == 1 else "are"
        return (
            f"{new} {verb} not in the score before, which has {before}; name models as they are named there, or write "
            "that score anew with them"
        )

    def subjects(self, comparison: ScoreComparison) -> tuple[str, ...]:
        return comparison.worse


class ModelsGone(SubjectsFinding["ScoreComparison"]):
    code = "RC505"
    title = "models gone"
    severity = Severity.WARNING
    meaning = "A model of the score before is not in the later one, so that it is not compared."
    action = "Score it again, or write the score before anew without it."
    of = ResultKind.SCORE_CHANGES
    fail_on = ("gone-models",)
    says = "{models} gone ({names})"

    def subjects(self, comparison: ScoreComparison) -> tuple[str, ...]:
        return comparison.models.gone
