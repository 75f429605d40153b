"""Whether effects add, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.jobs.audit.additivity import FEWEST_CELLS, AdditivityState
from recombine.verdicts import Verdict
from recombine.words.structure import structure_sentence
from recombine.words.verdicts import assumption
from recombine.writing import number

if TYPE_CHECKING:
    from recombine.jobs.audit.audit import Audit

#: How the check of the assumption reads where the verdicts are counted, so that no count looks stronger than it is.
_CHECKED = {
    AdditivityState.HOLDS: "they do, see below",
    AdditivityState.HOLDS_ROUGHLY: "they do roughly, see below",
    AdditivityState.FAILS: "they do not, see below",
    AdditivityState.NOT_SHOWN: "that is not shown, see below",
    AdditivityState.UNCHECKED: "not checked",
}


def condition(audit: Audit, order: int) -> str:
    """Say what the verdicts at ``order`` assume, and in a word whether that holds."""
    if not audit.choice.structure.is_sum and order == audit.order:
        return f"if {audit.choice.assumption} (see below)"
    state = AdditivityState.UNCHECKED if audit.additivity is None else audit.additivity.state_at(order)
    return f"if {assumption(order)} ({_CHECKED[state]})"


def caution_sentence(order: int) -> str:
    """Say that the assumption was not checked."""
    return f"Not checked: no outcome was named. Every verdict holds only if {assumption(order)}."


def additivity_sentence(audit: Audit) -> str:
    """Return whether the assumption holds, in a sentence.

    Examples
    --------
    >>> import recombine as rc
    >>> cells = [[i, j] for i in range(4) for j in range(4)]
    >>> additivity_sentence(rc.audit(rc.Design.from_cells(cells)))
    'Whether adding effects is right was not checked: no outcome was named.'
    """
    if not audit.choice.structure.is_sum:
        return structure_sentence(audit)
    adding = "adding effects" if audit.order == 1 else f"adding interactions of up to {audit.order} factors"
    if audit.additivity is None:
        return f"Whether {adding} is right was not checked: no outcome was named."
    state, check = audit.additivity.state_at(audit.order), audit.additivity.at(audit.order)
    if check is None or state is AdditivityState.UNCHECKED:
        return f"Whether {adding} is right could not be checked: {audit.additivity.obstacle(audit.order)}."
    judged = {
        AdditivityState.HOLDS: "is right here",
        AdditivityState.HOLDS_ROUGHLY: "is roughly right here",
        AdditivityState.FAILS: "is not right here, its values are off by more than noise",
        AdditivityState.NOT_SHOWN: "is not shown to be right here, its values are estimates at best",
    }[state]
    lead = f"{adding[0].upper()}{adding[1:]} {judged}"
    if check.tested < FEWEST_CELLS and check.lack_of_fit is not None:
        return f"{lead}. {check.lack_of_fit.sentence}"
    name = audit.design.outcome_name
    what = f"the {name} of a seen combination" if name else "a seen combination"
    most = "up to " * check.at_most
    noise = f" and noise alone would make it {most}{number(check.expected)}" if check.expected is not None else ""
    return (
        f"{lead}: predicted from the others, {what} is off by {number(check.error)}, where the plain mean is off by "
        f"{number(check.baseline)}{noise}."
    )


def beyond_sentence(audit: Audit) -> str:
    """Say how many sums of effects no two-valued outcome can have; empty where there are none."""
    count, known = int(audit.beyond.sum()), int((audit.codes <= Verdict.DETERMINED).sum())
    if not count or audit.design.two_values is None:
        return ""
    low, high = (f"{value:g}" for value in audit.design.two_values)
    return (
        f"{count:,} of {known:,} values that follow would lie outside {low} to {high}, where this outcome cannot be; "
        "they are given as the nearer end, and there effects cannot simply add."
    )


def breakers_sentence(audit: Audit, count: int = 3) -> str:
    """Name the cells that depart most from additivity; empty where that cannot be checked."""
    if (
        audit.additivity is None
        or audit.additivity.state is AdditivityState.UNCHECKED
        or not audit.additivity.orders[0].error
    ):
        return ""
    factors = len(audit.design.columns)
    cells = []
    for row in audit.additivity.breakers(count).rows():
        label = " · ".join(str(level) for level in list(row.values())[:factors])
        cells.append(f"{label} ({'+' * (row['difference'] > 0)}{number(row['difference'])})")
    return f"Cells that depart most: {'; '.join(cells)}" if cells else ""
