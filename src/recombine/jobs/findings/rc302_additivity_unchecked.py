"""RC302: the assumption behind the verdicts was not checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.jobs.audit.additivity import AdditivityCheck, AdditivityState, OrderCheck
from recombine.jobs.audit.limits import AUDIT_LIMITS
from recombine.jobs.findings.finding import FindingEvidence, FindingKind, Severity
from recombine.writing import few_digits

if TYPE_CHECKING:
    from recombine.jobs.audit.parts.assumed import AssumedStructure


class AdditivityUnchecked(FindingKind["AssumedStructure"]):
    """Verdicts that rest on an assumption alone."""

    code = "RC302"
    title = "additivity not checked"
    severity = Severity.NOTE
    meaning = "Verdicts hold if effects add. That was not checked: no outcome, or too few cells to hold some out."
    action = "Name an outcome with --outcome; if there is one, measure more cells that others determine, or more rows."

    part = "structure"

    def check(self, structure: AssumedStructure) -> FindingEvidence | None:
        """Say why nothing could be checked; another structure than adding was checked when it was chosen."""
        if not structure.choice.structure.is_sum:
            return None
        if structure.additivity is None:
            return FindingEvidence({"obstacle": ""})
        order = structure.choice.order
        unchecked = structure.additivity.state_at(order) is AdditivityState.UNCHECKED
        obstacle = why_unchecked(structure.additivity, order)
        return FindingEvidence({"order": order, "obstacle": obstacle}) if unchecked else None

    def message(self, evidence: FindingEvidence) -> str:
        """Say why."""
        if not evidence["obstacle"]:
            return "no outcome column was named, so verdicts rest on additivity unchecked"
        return f"at order {evidence['order']} {evidence['obstacle']}"


def why_unchecked(additivity: AdditivityCheck, order: int) -> str:
    """Say why additivity at ``order`` cannot be checked; empty if it can be."""
    check = additivity.at(order)
    if check is None:
        return f"with all {order} factors interacting, no cell says anything about another"
    if check.few:
        return _few_cells(check)
    if check.baseline == 0:
        return "the outcome is the same in every cell"
    if additivity.state_at(order) is not AdditivityState.UNCHECKED:
        return ""
    if check.thin:
        return (
            f"only {check.tested:,} of {check.tried:,} seen cells are determined by the others (off by "
            f"{_digits(check.error)}, the plain mean by {_digits(check.baseline)}), too few to speak for the rest"
        )
    if check.at_most:
        return (
            f"no rows repeat, and the chance in a two-valued outcome alone would put the model off by up to "
            f"{_digits(check.expected)} (it is off by {_digits(check.error)}, the plain mean by "
            f"{_digits(check.baseline)}); more rows per cell would tell"
        )
    if check.drowned:
        more = "more than" if (check.expected or 0.0) > check.baseline else "nearly as much as"
        return (
            f"noise alone would put the model off by {_digits(check.expected)}, {more} the plain mean is "
            f"({_digits(check.baseline)}); more rows per cell would tell"
        )
    return (
        f"held-out cells are off by {_digits(check.error)} where noise alone would make it "
        f"{_digits(check.expected)}, and the replicates show no interaction; more rows per cell would tell"
    )


def _digits(value: float | None) -> str:
    return "unknown" if value is None else few_digits(value)


def _few_cells(check: OrderCheck) -> str:
    if not check.tested:
        return f"no seen cell is determined by the others, and it takes {AUDIT_LIMITS.min_cells_tested} such cells"
    verb = "is" if check.tested == 1 else "are"
    return (
        f"only {check.tested} seen cell{'' if check.tested == 1 else 's'} {verb} determined by the others, and it "
        f"takes {AUDIT_LIMITS.min_cells_tested} such cells"
    )


RC302 = AdditivityUnchecked()
