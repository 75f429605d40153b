"""What effects do, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.data.hit_rates import hit_rate
from recombine.theory.structures.all_structures import sum_of

if TYPE_CHECKING:
    from recombine.jobs.audit.audit import Audit


def structure_sentence(audit: Audit) -> str:
    """Say what the chosen structure explains of held-out seen combinations, and what adding explains of them."""
    if (ladder := audit.choice.ladder) is None:
        return audit.choice.statement
    text, adding = str(ladder), ladder.at(sum_of(1))
    beside = "" if adding is None else f", adding effects {adding.r2:.2f}"
    record = None if audit.choice.asked else audit.choice.structure.hit_rate
    right = "" if record is None else f"; such a choice had less error than adding in {hit_rate(record)}"
    return f"{text[0].upper()}{text[1:]} of what differs between held-out seen combinations{beside}{right}."
