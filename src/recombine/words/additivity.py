"""Whether effects add, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from recombine.jobs.audit.additivity import FOLDS, AdditivityState
from recombine.jobs.findings.additivity import why_unchecked
from recombine.jobs.limits import AUDIT_LIMITS
from recombine.theory.structures.all_structures import sum_of
from recombine.verdicts import Verdict
from recombine.words.values import features_sentence, held_out_sentence, ranges_sentence
from recombine.writing import few_digits, number

if TYPE_CHECKING:
    from recombine.jobs.audit.additivity import AdditivityCheck, OrderCheck
    from recombine.jobs.audit.audit import Audit
    from recombine.jobs.audit.noise import LackOfFit

#: How the check of the assumption reads where the verdicts are counted, so that no count looks stronger than it is.
_CHECKED = {
    AdditivityState.HOLDS: "they do, see below",
    AdditivityState.HOLDS_ROUGHLY: "they do roughly, see below",
    AdditivityState.FAILS: "they do not, see below",
    AdditivityState.NOT_SHOWN: "that is not shown, see below",
    AdditivityState.UNCHECKED: "not checked",
}
#: How each state reads after "additivity".
STATE_WORDS = {
    AdditivityState.HOLDS: "holds",
    AdditivityState.HOLDS_ROUGHLY: "holds roughly",
    AdditivityState.FAILS: "does not hold",
    AdditivityState.NOT_SHOWN: "is not shown to hold",
    AdditivityState.UNCHECKED: "cannot be checked",
}


def condition(audit: Audit, order: int) -> str:
    """Say what the verdicts at ``order`` assume, and in a word whether that holds."""
    if not audit.choice.structure.is_sum and order == audit.order:
        return f"if {audit.choice.assumption} (see below)"
    state = (
        AdditivityState.UNCHECKED if audit.structure.additivity is None else audit.structure.additivity.state_at(order)
    )
    return f"if {sum_of(order).assumption} ({_CHECKED[state]})"


def caution_sentence(order: int) -> str:
    """Say that the assumption was not checked."""
    return f"Not checked: no outcome was named. Every verdict holds only if {sum_of(order).assumption}."


def additivity_sentences(audit: Audit) -> list[str]:
    """Say what was found about additivity, or that it was not checked; some of the sentences may be empty."""
    check = audit.structure.additivity
    if check is None:
        return [caution_sentence(audit.order)]
    statements = [additivity_statement(check, order) for order in sorted({1, audit.order})]
    values = [held_out_sentence(audit), breakers_sentence(audit), ranges_sentence(audit), features_sentence(audit)]
    return [*statements, beyond_sentence(audit), *values]


def beyond_sentence(audit: Audit) -> str:
    """Say how many sums of effects no two-valued outcome can have; empty where there are none."""
    count, determined = int(audit.values.beyond.sum()), int((audit.decided.codes <= Verdict.DETERMINED).sum())
    if not count or audit.design.outcome_column.two_values is None:
        return ""
    low, high = (f"{value:g}" for value in audit.design.outcome_column.two_values)
    return (
        f"{count:,} of {determined:,} certified values would lie outside {low} to {high}, where this outcome cannot "
        "be; they are given as the nearer end, and there effects cannot simply add."
    )


def breakers_sentence(audit: Audit, count: int = 3) -> str:
    """Name the cells that depart most from additivity, or from values on another scale; empty where unchecked."""
    if (furthest := audit.values.furthest(count)) is not None:
        cells = [_furthest_cell(audit, row) for row in furthest.rows()]
        return f"Cells that depart most from what the others say of them: {'; '.join(cells)}"
    if (
        audit.structure.additivity is None
        or audit.values.at_mean
        or audit.structure.additivity.state is AdditivityState.UNCHECKED
        or audit.structure.additivity.orders[0].few
        or not audit.structure.additivity.orders[0].error
    ):
        return ""
    breakers = audit.structure.additivity.breakers(count).rows()
    cells = [f"{_cell_label(audit, row)} ({_signed(row['difference'])})" for row in breakers]
    return f"Cells that depart most from adding: {'; '.join(cells)}" if cells else ""


def _furthest_cell(audit: Audit, row: Mapping[str, Any]) -> str:
    deviations = few_digits(abs(row["standard deviations"]))
    return f"{_cell_label(audit, row)} ({_signed(row['difference'])}, {deviations} standard deviations)"


def _cell_label(audit: Audit, row: Mapping[str, Any]) -> str:
    return " · ".join(str(level) for level in list(row.values())[: len(audit.design.space.columns)])


def _signed(difference: float) -> str:
    return f"{'+' * (difference > 0)}{number(difference)}"


def additivity_statement(check: AdditivityCheck, order: int = 1) -> str:
    """Return what the check found at ``order``, with its numbers."""
    tried, state = check.at(order), check.state_at(order)
    test = None if tried is None else tried.lack_of_fit
    shown = "" if test is None else f" {interaction_sentence(test)}"
    if tried is None or state is AdditivityState.UNCHECKED:
        return f"Additivity at order {order} could not be checked: {why_unchecked(check, order)}.{shown}"
    depth = "" if order == 1 else f" up to interactions of {order} factors"
    lead = f"Additivity{depth} {STATE_WORDS[state]}: "
    if tried.few:
        why = why_unchecked(check, order)
        return f"{lead}{shown[1].lower()}{shown[2:]} {why[0].upper()}{why[1:]} to check it on them."
    text = (
        f"{lead}predicting {_predicted(check, tried)}, the additive model is off by {few_digits(tried.error)} "
        f"(root mean square), the plain mean by {few_digits(tried.baseline)}"
    )
    if tried.expected is not None:
        text += f"; if effects added exactly it would be off by {'up to ' * tried.at_most}{few_digits(tried.expected)}"
    if state is AdditivityState.NOT_SHOWN and test is None:
        shown = " No rows repeat, so noise and interaction cannot be told apart."
    return f"{text}.{shown}"


def _predicted(check: AdditivityCheck, tried: OrderCheck) -> str:
    seen = f"{tried.seen:,}"
    cells = f"all {seen} cells" if tried.tested == tried.seen else f"{tried.tested:,} of {seen} seen cells"
    if tried.tried == tried.seen and not check.folds:
        return f"each seen cell from the others ({cells} allow it)"
    return f"{cells}, held out at random, from the rest"


def interaction_sentence(test: LackOfFit) -> str:
    """Say what the replicates say about interaction."""
    if test.p_value > AUDIT_LIMITS.p_value_hinted:
        return f"The replicates show no interaction (lack of fit: {test.text})."
    lead = "Interaction is real" if test.p_value <= AUDIT_LIMITS.p_value_shown else "The replicates hint at interaction"
    return (
        f"{lead} (lack of fit: {test.text}): cells depart from additivity by about {few_digits(test.departure)} (root "
        "mean square over measurements)."
    )


def method_phrase(check: AdditivityCheck) -> str:
    """Say how seen cells were left out."""
    return f"{check.folds} of {FOLDS} random folds of cells held out" if check.folds else "leave one cell out"
