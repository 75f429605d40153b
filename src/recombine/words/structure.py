"""What effects do, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.data.hit_rates import hit_rate
from recombine.jobs.limits import STRUCTURE_LIMITS
from recombine.jobs.structure.choice import NotCompared
from recombine.theory.structures.all_structures import simplest_first
from recombine.theory.structures.ladder import written_share
from recombine.writing import join_words, plural

if TYPE_CHECKING:
    from recombine.jobs.audit.audit import Audit
    from recombine.jobs.structure.choice import Choice

#: Why structures were not compared; what is not here was refused by the ladder, in its words.
_NOT_COMPARED: dict[str, str] = {
    NotCompared.SCALES: "ordered and numeric factors are on scales of their own",
    NotCompared.ORDER: "none has conjunctions of so many factors",
    NotCompared.FEW_CELLS: f"it takes {STRUCTURE_LIMITS.min_cells_compared} seen cells to tell structures apart",
}


def _record(choice: Choice) -> str:
    """Say how often such a choice was better than adding; empty where none was made, or it was adding."""
    record = None if choice.asked else choice.structure.hit_rate
    return "" if record is None else f" Such a choice had less error than adding in {hit_rate(record)}."


def choice_origin(choice: Choice) -> str:
    """Say in a few words how it came that a structure is assumed."""
    if choice.asked or (choice.order_asked and choice.ladder is None):
        return "as asked"
    return "assumed without comparing" if choice.ladder is None else "chosen from the data"


def listed_structures() -> str:
    """Return the names of all structures with what each assumes, for the help of options."""
    return ", ".join(f"{structure.name} ({structure.assumption})" for structure in simplest_first())


def listed_orders() -> str:
    """Return what each order of sums assumes, for the help of options."""
    return "; ".join(f"{entry.order}: {entry.assumption}" for entry in simplest_first() if entry.is_sum)


def search_sentences(choice: Choice) -> list[str]:
    """Say what the search for a structure left out to save time, and what asks for it; nothing where it did not."""
    if choice.ladder is None or not (names := choice.ladder.too_long):
        return []
    what = f"{'Structure' if len(names) == 1 else 'Structures'} {join_words(list(names))}"
    were, options = "was" if len(names) == 1 else "were", " or ".join(f"--structure {name}" for name in names)
    may_take = f"the search for a structure may take {STRUCTURE_LIMITS.max_seconds_compared:g} s of a laptop"
    return [f"{what} {were} left out to save time: {may_take}, by counting what it does; {options} asks."]


def structures_statement(audit: Audit) -> str:
    """Say which structure was found to hold, or that none was; empty where nothing was compared."""
    ladder = audit.choice.ladder
    if ladder is None or not audit.values.at_mean:
        return choice_statement(audit.choice)
    return (
        f"None is shown to hold on {plural(ladder.chosen.cells, 'held-out seen cell')}: what levels and pairs of them "
        f"do is not beyond chance. Verdicts are those that follow if {audit.choice.assumption}."
    )


def choice_statement(choice: Choice) -> str:
    """Say what the comparison of structures found; empty where nothing was compared."""
    if choice.ladder is None:
        why = _NOT_COMPARED.get(choice.obstacle, choice.obstacle)
        return f"Structures were not compared: {why}." if why else ""
    text, cells = str(choice.ladder), plural(choice.ladder.chosen.cells, "held-out seen cell")
    shares = ", ".join(f"{rung.name} {written_share(rung.r2)}" for rung in choice.ladder.rungs)
    if len(choice.ladder.rungs) == 1:
        return f"{text[0].upper()}{text[1:]} (share of the variance of {cells})."
    weighed = ", counts by one over their mean" if choice.ladder.of_counts else ""
    over = f" Nothing is left over for {', '.join(choice.ladder.nothing_over)}." if choice.ladder.nothing_over else ""
    untried = f" Not tried for want of cells or of time: {', '.join(choice.untried)}; --structure asks for one."
    return (
        f"{text[0].upper()}{text[1:]}: chosen as the simplest within one standard error of the best on {cells} "
        f"(share of their variance{weighed}: {shares}).{over}{untried if choice.untried else ''}{_record(choice)}"
    )
