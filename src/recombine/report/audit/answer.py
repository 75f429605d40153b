"""The answer in three sentences: what is settled, whether adding is right, what a network will do. Outputs open so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.data.hit_rates import hit_rate
from recombine.report.audit.importance_text import importance_sentence
from recombine.report.audit.network_text import sentence_of
from recombine.report.wording import Tally, additivity_sentence, verdict_sentence
from recombine.writing import number

if TYPE_CHECKING:
    from recombine.jobs.audit.audit import Audit


def answer(audit: Audit) -> list[str]:
    """Return the three sentences of ``audit``; what cannot be known is said to be unknown, and why.

    Where cells are weighted by importance, a fourth says after the first how much of what matters is settled.

    Examples
    --------
    >>> import recombine as rc
    >>> for sentence in answer(rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]]))):
    ...     print(sentence)
    If effects add, the seen combinations determine the one unseen combination.
    Whether adding effects is right was not checked: no outcome was named.
    What a network will do is not known without an outcome.
    """
    weighted = [sentence for sentence in [importance_sentence(audit)] if sentence]
    return [verdict_sentence(audit), *weighted, additivity_sentence(audit), network_sentence(audit)]


def network_sentence(audit: Audit) -> str:
    """Say in outcome units what a network will be off by, and how often that came true; or why it is not forecast."""
    error = audit.forecast.error
    if audit.design.outcome is None:
        return "What a network will do is not known without an outcome."
    if error is None:
        reason = audit.forecast.obstacle or "too few seen combinations are determined by the others"
        return f"What a network will be off by is not forecast: {reason}."
    unseen = Tally.of(audit).unseen
    where = "determined combinations" if unseen else "seen combinations, each predicted from the others"
    network = "A network trained to convergence" + (" with every level a label" if audit.design.scales else "")
    return (
        f"{network} will be off by about {number(error.ntk)} on {where}, adding "
        f"effects by {number(error.additive)} and the plain mean by {number(error.mean)}; such a forecast was within "
        f"20 % in {hit_rate(sentence_of(error))}."
    )
