"""The answer in three sentences: what is settled, whether adding is right, what a network will do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.words.additivity import additivity_sentence
from recombine.words.forecast import network_sentence
from recombine.words.importance import importance_sentence
from recombine.words.verdicts import verdict_sentence

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
