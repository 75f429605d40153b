"""What effects do, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.data.hit_rates import hit_rate

if TYPE_CHECKING:
    from recombine.jobs.audit.audit import Audit


def structure_sentence(audit: Audit) -> str:
    """Say what the chosen structure explains of held-out seen combinations, and what adding explains of them."""
    if (found := audit.choice.ladder) is None:
        return audit.choice.statement
    text, plain = str(found), found.at("add")
    rest = "" if plain is None else f", adding effects {plain.r2:.2f}"
    right = "" if audit.choice.asked else f"; such a choice had less error than adding in {hit_rate('structure')}"
    return f"{text[0].upper()}{text[1:]} of what differs between held-out seen combinations{rest}{right}."
