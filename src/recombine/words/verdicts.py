"""Verdicts in words: how many cells carry each, by which arithmetic that was decided, and what it assumes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recombine.jobs.listing import ListingKind
from recombine.theory.identification.nullspace import Route
from recombine.verdicts import Verdict
from recombine.words.structure import search_sentences
from recombine.writing import join_words, percent, plural, round_estimate, written_count

if TYPE_CHECKING:
    from recombine.jobs.audit.audit import Audit
    from recombine.theory.identification.counts import Counts
    from recombine.theory.identification.identify import Identification

UNSEEN = (Verdict.DETERMINED, Verdict.DISCONNECTED, Verdict.UNSEEN_LEVEL, Verdict.UNDECIDED, Verdict.BEYOND)

#: Verdicts that are not mentioned where no cell has them.
RARE = (Verdict.UNDECIDED, Verdict.BEYOND)

NO_FINDINGS = "None: every unseen combination{which} is determined, and no risk was found."

#: By which arithmetic verdicts are decided, and how sure that is.
_ROUTES = {
    Route.GRAPH: ("decided exactly, by connectivity", " of levels, which cannot err"),
    Route.EXACT: (
        "decided exactly, by rank in modular arithmetic",
        ": modulo the prime 2⁶¹ − 1 the chance that any one is wrong is about 4 in 10¹⁹",
    ),
}


@dataclass(frozen=True)
class Tally:
    """Verdict counts that a sentence speaks of: over the full product, or over the reader's targets."""

    counts: dict[Verdict, int]
    exact: bool
    targets: bool = False

    @classmethod
    def of(cls, audit: Audit) -> Tally:
        """Return the counts that answer the reader's question: of the targets if there are any, else of the product."""
        if audit.decided.listing.kind is ListingKind.TARGETS:
            counts = np.bincount(audit.decided.codes, minlength=len(Verdict))
            return cls({verdict: int(counts[verdict]) for verdict in Verdict}, True, True)
        return cls(dict(audit.decided.counts.by_verdict), audit.decided.counts.exact)

    @property
    def total(self) -> int:
        """All cells counted."""
        return sum(self.counts.values())

    @property
    def unseen(self) -> int:
        """Those that were not seen."""
        return sum(self.counts.get(verdict, 0) for verdict in UNSEEN)

    def number(self, verdict: Verdict) -> str:
        """Write the count of a verdict; one that is known by sampling only is rounded."""
        exact = self.exact or verdict in (Verdict.SEEN, Verdict.UNSEEN_LEVEL, Verdict.BEYOND)
        count = self.counts[verdict]
        return written_count(count) if exact else f"about {written_count(round_estimate(count))}"


def verdict_meaning(verdict: Verdict, condition: str) -> str:
    """Say what a verdict means if ``condition`` holds."""
    return verdict.meaning.format(assumption=condition)


def state_phrase(verdict: Verdict, single: bool = True) -> str:
    """Say which state cells are in, after a count or a share of them."""
    if verdict is Verdict.UNSEEN_LEVEL:
        return f"{'has' if single else 'have'} an unseen level"
    if verdict is Verdict.BEYOND:
        return f"{'lies' if single else 'lie'} beyond the seen range"
    return f"{'is' if single else 'are'} {verdict.word}"


def decision(engine: Identification) -> str:
    """Say in a line by which arithmetic verdicts were decided."""
    if engine.route in _ROUTES:
        return _ROUTES[engine.route][0]
    gap = engine.gap
    width = "gap not measured" if gap is None else f"zeros below {gap.zero:.0e}, others above {gap.nonzero:.0e}"
    return f"decided by floating-point projection ({width})"


def decision_sentence(engine: Identification) -> str:
    """Say by which arithmetic verdicts were decided, and how sure that is."""
    sure = _ROUTES[engine.route][1] if engine.route in _ROUTES else ""
    if not sure and engine.gap is not None:
        sure = f"; its error is about {engine.gap.error:.1e}, and cells in between are undecided"
    return f"Verdicts were {decision(engine)}{sure}."


def estimate_sentence(counts: Counts) -> str:
    """Say in a line how counts were estimated."""
    low, high = (percent(side[Verdict.DETERMINED], counts.total) for side in (counts.low, counts.high))
    return (
        f"estimated from {counts.sampled:,} random cells (determined: {low} to {high} of all cells, with 95 % "
        "confidence); total, seen and unseen level are exact"
    )


def count_sentence(counts: Counts, whole: bool = True) -> str:
    """Say how the counts were found and how sure they are; ``whole`` if every combination can exist."""
    what = (
        f"the full product of {written_count(counts.total)} cells"
        if whole
        else f"the {written_count(counts.total)} cells that can exist"
    )
    how = f"over {what} and exact" if counts.exact else estimate_sentence(counts)
    return f"Counts are {how}."


def left_out_sentences(audit: Audit) -> list[str]:
    """Say what was left out because it would have taken too long; `words.forecast` says what networks leave out."""
    decided, design, check = audit.decided, audit.design, audit.structure.additivity
    sentences = search_sentences(audit.choice)
    if ways := join_words([f"{t}-way" for t in audit.coverage.uncounted]):
        reason = f"{len(design.factors)} factors have too many subsets"
        sentences.append(f"The {ways} coverage was left out to save time: {reason}.")
    for order in () if check is None else check.untried:
        size = f"{len(design.seen):,} seen cells, {design.features(order).columns:,} conjunctions"
        what = f"Whether interactions of {order} factors would account for more"
        sentences.append(f"{what} was left out to save time ({size}); --order {order} asks.")
    solved = np.isfinite(decided.leverage[decided.codes <= Verdict.DETERMINED])
    if decided.leverages.solved_singly and len(solved):
        sentences.append(
            f"Leverage was worked out for {int(solved.sum()):,} of {plural(len(solved), 'determined cell')} listed: "
            f"with {len(decided.leverages.columns):,} conjunctions each cell takes a solve of its own."
        )
    return sentences
