"""The answer in a few sentences: what is settled, whether adding is right, how good values are, what a network does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.words.additivity import additivity_sentence
from recombine.words.forecast import network_sentence
from recombine.words.importance import importance_sentence
from recombine.words.values import values_sentence
from recombine.words.verdicts import verdict_sentence

if TYPE_CHECKING:
    from recombine.jobs.audit.audit import Audit


def answer(audit: Audit) -> list[str]:
    """Return the sentences of ``audit``; what cannot be known is said to be unknown, and why.

    Where cells are weighted by importance, one says after the first how much of what matters is settled; where there is
    an outcome, one before the last how good values are.

    Examples
    --------
    >>> import recombine as rc
    >>> for sentence in answer(rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]]))):
    ...     print(sentence)
    If effects add, the seen combinations determine the one unseen combination.
    Whether adding effects is right was not checked: no outcome was named.
    What a network will do is not known without an outcome.
    """
    sentences = [verdict_sentence(audit), importance_sentence(audit), additivity_sentence(audit)]
    return [sentence for sentence in [*sentences, values_sentence(audit), network_sentence(audit)] if sentence]
