"""The audit in sentences: what the page and the notebook say first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recombine.errors import plural
from recombine.verdicts import Verdict

if TYPE_CHECKING:
    from recombine.jobs.audit.audit import Audit

UNSEEN = (Verdict.DETERMINED, Verdict.DISCONNECTED, Verdict.UNSEEN_LEVEL, Verdict.UNDECIDED)


@dataclass(frozen=True)
class Tally:
    """Verdict counts that a sentence speaks of: over the full product, or over the reader's targets."""

    counts: dict[Verdict, int]
    exact: bool
    targets: bool

    @property
    def total(self) -> int:
        """All cells counted."""
        return sum(self.counts.values())

    @property
    def unseen(self) -> int:
        """Those that were not seen."""
        return sum(self.counts[verdict] for verdict in UNSEEN)


def tally(audit: Audit) -> Tally:
    """Return the counts that answer the reader's question: of the targets if there are any, else of the product."""
    if audit.listing.kind == "targets":
        counts = np.bincount(audit.codes, minlength=len(Verdict))
        return Tally({verdict: int(counts[verdict]) for verdict in Verdict}, True, True)
    return Tally(dict(audit.counts.by_verdict), audit.counts.exact, False)


def number(value: float | int | None, digits: int = 3) -> str:
    """Write a number for a reader: few digits, thousands apart, a true minus sign.

    Examples
    --------
    >>> number(12345), number(0.123456), number(-5.2299), number(254.52, 4), number(float("nan"))
    ('12,345', '0.123', '−5.23', '254.5', '–')
    """
    if value is None or value != value:
        return "–"
    whole = isinstance(value, int | np.integer) or 10**digits <= abs(value) < 1e12
    return (f"{value:,.0f}" if whole else f"{value:.{digits}g}").replace("-", "−")


def amount(value: float) -> str:
    """Write a count that may be a weight: whole numbers in full.

    Examples
    --------
    >>> amount(12345.0), amount(2.5)
    ('12,345', '2.5')
    """
    return number(int(value)) if value == int(value) else number(value)


def percent(part: int, whole: int) -> str:
    """Write a share that never rounds to none or all unless it is.

    Examples
    --------
    >>> percent(1, 3), percent(9999, 10000), percent(1, 10**12), percent(0, 5)
    ('33.3 %', '> 99.9 %', '< 0.1 %', '0 %')
    """
    return share(part / whole if whole else 0.0)


def share(value: float) -> str:
    """Write a number between 0 and 1 as a percentage that never rounds to none or all unless it is.

    Examples
    --------
    >>> share(0.25), share(1.0), share(0.99999), share(-0.4)
    ('25.0 %', '100 %', '> 99.9 %', '−40.0 %')
    """
    if value in (0.0, 1.0):
        return f"{100 * value:.0f} %"
    if 0.999 < value < 1:
        return "> 99.9 %"
    return "< 0.1 %" if 0 < value < 0.001 else f"{100 * value:.1f} %".replace("-", "−")


def plain(text: str) -> str:
    """Drop the backticks that set off a word in the package's own texts.

    Examples
    --------
    >>> plain("the word `determined`")
    'the word determined'
    """
    return text.replace("`", "")


def joined(items: Sequence[str]) -> str:
    """Join words as a sentence does.

    Examples
    --------
    >>> joined(["carrier", "origin", "dest"])
    'carrier, origin and dest'
    """
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def assumption(order: int) -> str:
    """Say what the verdicts assume.

    Examples
    --------
    >>> assumption(1), assumption(2)
    ('effects add', 'effects add up to interactions of 2 factors')
    """
    return "effects add" if order == 1 else f"effects add up to interactions of {order} factors"


def verdict_sentence(audit: Audit) -> str:
    """Return how many unseen cells carry each verdict, in a sentence.

    Examples
    --------
    >>> import recombine as rc
    >>> verdict_sentence(rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]])))
    'If effects add, the seen combinations determine the one unseen combination.'
    """
    found = tally(audit)
    noun = "target combination" if found.targets else "unseen combination"
    if not found.unseen:
        return "Every target was seen." if found.targets else "Every combination was seen; nothing is left to predict."
    lead = f"If {assumption(audit.order)}, the seen combinations determine"
    known = found.counts[Verdict.DETERMINED]
    if known == found.unseen:
        which = f"the one {noun}" if known == 1 else f"all {plural(known, noun)}"
        return f"{lead} {which}{_already_seen(found)}."
    about = "" if found.exact else "about "
    rest = [_rest(verdict, found.counts[verdict], about) for verdict in UNSEEN[1:] if found.counts[verdict]]
    amount = "none" if not known else f"{about}{known:,}"
    return f"{lead} {amount} of the {plural(found.unseen, noun)}{_already_seen(found)}; {joined(rest)}."


def _already_seen(found: Tally) -> str:
    seen = found.counts[Verdict.SEEN]
    return f" ({seen:,} more {'was' if seen == 1 else 'were'} seen)" if found.targets and seen else ""


def _rest(verdict: Verdict, count: int, about: str) -> str:
    if verdict is Verdict.UNSEEN_LEVEL:
        return f"{about}{count:,} {'has' if count == 1 else 'have'} an unseen level"
    return f"{about}{count:,} {'is' if count == 1 else 'are'} {verdict.word}"


def additivity_sentence(audit: Audit) -> str:
    """Return whether the assumption holds, in a sentence."""
    if audit.additivity is None:
        return "Whether they do was not checked, because no outcome was named."
    word, check = audit.additivity.word_at(audit.order), audit.additivity.at(audit.order)
    if check is None or word == "cannot be checked":
        return f"Whether they do could not be checked: {audit.additivity.obstacle(audit.order)}."
    lead = {
        "holds": "Here they do, closely",
        "holds roughly": "Here they do only roughly",
        "does not hold": "Here they do not, so the word determined carries little weight",
        "is not shown to hold": "That is not shown here, so the word determined carries little weight",
    }[word]
    noise = f" and noise alone would make it {number(check.expected)}" if check.expected is not None else ""
    return (
        f"{lead}: predicted from the others, a seen combination is off by {number(check.error)}, where the plain mean "
        f"is off by {number(check.baseline)}{noise}."
    )


def counted_how(audit: Audit) -> str:
    """Say how the counts were found and how sure they are."""
    counts = audit.counts
    if not counts.exact:
        return (
            f"Counts of determined and disconnected cells are estimates from {counts.sampled:,} random cells of the "
            "product, with 95 % intervals; counts of seen cells and unseen levels are exact."
        )
    return f"Counts are over the full product of {counts.total:,} cells and exact."


def decided_how(audit: Audit) -> str:
    """Say by which arithmetic the verdicts were decided."""
    route = audit.identification.route
    if route == "graph":
        return "Verdicts were decided by connectivity of levels, which cannot err."
    if route == "exact":
        return (
            "Verdicts were decided in exact arithmetic modulo the prime 2⁶¹ − 1; the chance that any one is wrong is "
            "about 4 in 10¹⁹."
        )
    gap = audit.identification.gap
    if gap is None:
        return "Verdicts were decided by projection in floating point."
    return (
        f"Verdicts were decided by projection in floating point: what counts as zero was at most {gap.zero:.1e}, what "
        f"does not at least {gap.nonzero:.1e} (error about {gap.error:.1e}); cells in between are undecided."
    )
