"""The numbered findings of an audit: one function per number, each returning the finding or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray, product_size
from recombine.data.hit_rates import hit_rate
from recombine.design.design import Design
from recombine.design.nesting import nesting_phrase
from recombine.design.scaling import outside_words
from recombine.jobs.audit.additivity import FEWEST_CELLS, HOLDS_ROUGHLY, AdditivityCheck
from recombine.jobs.audit.forecast import LEAKY, Forecast
from recombine.jobs.audit.noise import SHOWN
from recombine.jobs.listing import Listing
from recombine.jobs.matters import WhatMatters
from recombine.jobs.structure.choice import Choice
from recombine.progress import tell
from recombine.tables.table import Table
from recombine.theory.identification.counts import Counts
from recombine.verdicts import FINDINGS, Finding, Verdict
from recombine.writing import few_digits, listing, plural, round_estimate, written_count

if TYPE_CHECKING:
    from recombine.jobs.audit.audit import Audit

#: Leverage above which a determined cell is called shaky: its error is over twice that of one measurement.
SHAKY = 4.0


def find_all(audit: Audit) -> tuple[Finding, ...]:
    """Return the numbered findings of an audit, worst first."""
    listed, codes, counts, order = audit.listing, audit.codes, audit.counts, audit.order
    matters = audit.matters
    checks: dict[str, Callable[[], Finding | None]] = {
        "verdicts": lambda: cells_not_determined(
            listed, codes, counts, order, audit.identification.deficit, audit.departures_statement, matters
        ),
        "levels": lambda: level_never_seen(audit.design, matters),
        "nesting": lambda: factor_inside(audit.design),
        "undecided cells": lambda: cells_undecided(listed, codes, counts, matters),
        "range": lambda: beyond_range(audit.design, listed, codes, counts, audit.choice, matters),
        "leverage": lambda: shaky_cells(audit.design, listed, codes, audit.leverage, audit.verdicts, matters),
        "interaction": lambda: additivity_fails(audit.additivity, order, audit.choice),
        "additivity": lambda: additivity_not_shown(audit.additivity, order, audit.choice),
        "what was not checked": lambda: additivity_unchecked(audit.additivity, order, audit.choice),
        "leaks": lambda: leak_risk(audit.forecast),
        "shortcuts": lambda: shortcut_factor(audit.forecast),
    }
    return worst_first([*audit.design.notes, *made(checks)])


def worst_first(findings: Iterable[Finding | None]) -> tuple[Finding, ...]:
    """Return the findings that there are, worst first, then by number."""
    found = [finding for finding in findings if finding is not None]
    return tuple(sorted(found, key=lambda finding: (-finding.severity, finding.code)))


def made(checks: Mapping[str, Callable[[], Finding | None]]) -> Iterator[Finding | None]:
    """Make each check in turn, and say how many are done."""
    for done, (name, check) in enumerate(checks.items()):
        tell(name, done / len(checks))
        yield check()


def _nothing_that_matters(matters: WhatMatters | None, verdict: Verdict) -> bool:
    """Say whether it is known that no cell with this verdict matters."""
    return matters is not None and matters.exact and not matters.count(verdict)


def _weighted(matters: WhatMatters | None, verdict: Verdict) -> str:
    """How much of what matters carries a verdict, as the end of a sentence; empty where all cells matter alike."""
    return "" if matters is None else f"; {matters.concerned(verdict)}"


def cells_not_determined(
    listed: Listing,
    codes: IntArray,
    counts: Counts,
    order: int,
    deficit: int | None,
    departures: str = "",
    matters: WhatMatters | None = None,
) -> Finding | None:
    """RC101: unseen cells of known levels that no sum of seen cells reaches."""
    asked = listed.kind == "targets"
    count = int((codes == Verdict.DISCONNECTED).sum()) if asked else counts[Verdict.DISCONNECTED]
    if not count or _nothing_that_matters(matters, Verdict.DISCONNECTED):
        return None
    return Finding(
        FINDINGS["RC101"],
        f"{_number(listed, counts, count)} {'target' if asked else 'unseen'} cell{'s' if count != 1 else ''} cannot be "
        f"told from the data at order {order}{_weighted(matters, Verdict.DISCONNECTED)}{_needed(deficit, asked)}"
        f"{f'. {departures}' if departures else ''}",
    )


def _needed(deficit: int | None, asked: bool) -> str:
    if not deficit:
        return ""
    whom = "every cell of known levels" if asked else "them all"
    return f"; {plural(deficit, 'well-chosen cell')} would determine {whom}"


def _number(listed: Listing, counts: Counts, count: int) -> str:
    known = counts.exact or listed.kind == "targets"
    return written_count(count) if known else f"about {written_count(round_estimate(count))}"


def level_never_seen(design: Design, matters: WhatMatters | None = None) -> Finding | None:
    """RC102: levels that occur held out or in the targets but never in training."""
    missing, only = [], None if matters is None or not matters.exact else matters.cells
    for group in design.groups:
        factor = design.factors[group[0]]
        counts = sum(np.bincount(design.seen[:, place], minlength=len(factor.levels)) for place in group)
        absent = np.flatnonzero(counts == 0) if factor.scale == "labels" else np.empty(0, dtype=np.int64)
        absent = absent if only is None else absent[np.isin(absent, only[:, list(group)])]
        missing += [f"{factor.name} {factor.labels[code]!r}" for code in absent]
    if not missing:
        return None
    text = f"{listing(missing, 6)} never occur{'s' if len(missing) == 1 else ''} in training"
    if matters is None:
        return Finding(FINDINGS["RC102"], text, tuple(missing))
    concerned = matters.concerned(Verdict.UNSEEN_LEVEL, "with an unseen level")
    return Finding(FINDINGS["RC102"], f"{text}; {concerned}", tuple(missing))


def beyond_range(
    design: Design,
    listed: Listing,
    codes: IntArray,
    counts: Counts,
    choice: Choice,
    matters: WhatMatters | None = None,
) -> Finding | None:
    """RC110: cells outside what was seen, of an ordered or numeric factor or under a curve, and what to collect."""
    rows = np.flatnonzero(codes == Verdict.BEYOND)
    if _nothing_that_matters(matters, Verdict.BEYOND):
        return None
    weighted = _weighted(matters, Verdict.BEYOND)
    if not choice.structure.is_sum:
        count = max(counts[Verdict.BEYOND], len(rows))
        which = "unseen cell lies" if count == 1 else "unseen cells lie"
        text = f"if {choice.assumption}, {_number(listed, counts, count)} {which} beyond every seen one"
        return Finding(FINDINGS["RC110"], f"{text}; no value is given there{weighted}") if count else None
    if not len(rows) or not design.scales:
        return None
    words: dict[str, None] = {}
    outside: dict[str, None] = {}
    for scale, place in ((scale, place) for place, scale in enumerate(design.scales) if scale is not None):
        there = np.unique(listed.cells[rows, place])
        furthest = sorted(there[scale.beyond[there]].tolist(), key=scale.places.__getitem__)
        outside |= {design.factors[place].name: None} if furthest else {}
        for level in {furthest[0], furthest[-1]} if furthest else ():
            cell = design.seen[0].copy()
            cell[place] = level
            words |= dict.fromkeys(outside_words(design, cell))
    told = f"{plural(len(rows), 'cell')} listed cannot be told: {'; '.join(words)}{weighted}"
    return Finding(FINDINGS["RC110"], told, tuple(outside))


def factor_inside(design: Design) -> Finding | None:
    """RC108: factors that seem to lie inside others, so that most combinations are taken to be impossible."""
    inferred = [item for item in design.nesting if item.inferred]
    if not inferred:
        return None
    every, left = product_size(design.sizes), design.possible.span
    pairs = " ".join(f"--nested {item.child}/{item.parent}" for item in inferred)
    return Finding(
        FINDINGS["RC108"],
        f"{nesting_phrase(inferred)}; {every - left:,} of the {every:,} combinations of levels would take a level out "
        f"of the one it lies in and are taken to be impossible. To confirm: {pairs}; if they can exist: --crossed",
        tuple(f"{item.child}/{item.parent}" for item in inferred),
    )


def cells_undecided(
    listed: Listing, codes: IntArray, counts: Counts, matters: WhatMatters | None = None
) -> Finding | None:
    """RC105: cells that floating-point arithmetic could not decide."""
    count = max(counts[Verdict.UNDECIDED], int((codes == Verdict.UNDECIDED).sum()))
    if not count or _nothing_that_matters(matters, Verdict.UNDECIDED):
        return None
    text = f"{_number(listed, counts, count)} cells could not be decided{_weighted(matters, Verdict.UNDECIDED)}"
    return Finding(FINDINGS["RC105"], f"{text}; {Verdict.UNDECIDED.text.action}")


def shaky_cells(
    design: Design,
    listed: Listing,
    codes: IntArray,
    leverage: FloatArray,
    verdicts: Table,
    matters: WhatMatters | None = None,
) -> Finding | None:
    """RC106: determined cells with a high leverage; the shakiest with its range in outcome units."""
    looked = (codes == Verdict.DETERMINED) & (True if matters is None else matters.weights > 0)
    known = np.where(looked, leverage, np.nan)
    looked_at = int((~np.isnan(known)).sum())
    count = int((known > SHAKY).sum())
    if not count:
        return None
    shakiest = int(np.nanargmax(known))
    ends = [float(verdicts[end][shakiest]) for end in ("low", "high") if end in verdicts.columns]
    ranged = f", 90 % range {ends[0]:.4g} to {ends[1]:.4g}" if ends and np.isfinite(ends).all() else ""
    return Finding(
        FINDINGS["RC106"],
        f"{count:,} of {looked_at:,} determined cells {'' if matters is None else 'that matter and were '}looked at "
        f"{'have' if count != 1 else 'has'} leverage above "
        f"{SHAKY:g} (largest {known[shakiest]:.1f}: {design.label(listed.cells[shakiest])}{ranged})",
    )


def leak_risk(forecast: Forecast) -> Finding | None:
    """RC201: networks will shrink some factor's effect on unseen cells."""
    if forecast.weakest is None or forecast.weakest[1] >= LEAKY:
        return None
    name, slope = forecast.weakest
    row = next(row for row in forecast.slopes.rows() if row["factor"] == name)
    low, high = sorted((row["ntk"], row["nngp"]))
    return Finding(
        FINDINGS["RC201"],
        f"a network trained to convergence carries about {slope:.0%} of the effect of {name!r} over to unseen cells "
        f"(its kernels say {low:.0%} to {high:.0%}); such findings were right in "
        f"{hit_rate(forecast.scored_as('leak'))}",
        (name,),
    )


def shortcut_factor(forecast: Forecast) -> Finding | None:
    """RC202: a factor whose marginal networks follow against what the data determine."""
    misleading = [item for item in forecast.shortcuts if item.misleads]
    texts = [
        f"a network follows the mean outcome of {item.factor!r} {item.pull:.0%} of the way against what the data "
        f"determine, {item.share:.0%} of its squared error on unseen cells"
        for item in misleading
    ]
    if not texts:
        return None
    return Finding(
        FINDINGS["RC202"],
        f"{'; '.join(texts)}; such findings were right in {hit_rate(forecast.scored_as('shortcut'))}",
        tuple(item.factor for item in misleading),
    )


def additivity_fails(additivity: AdditivityCheck | None, order: int, choice: Choice) -> Finding | None:
    """RC301: replicates show that effects do not add at the asked order; not asked of another structure than adding."""
    return _additivity(additivity, order, "does not hold", "RC301") if choice.structure.is_sum else None


def additivity_not_shown(additivity: AdditivityCheck | None, order: int, choice: Choice) -> Finding | None:
    """RC303: held-out cells are not predicted by adding effects, and whether that is noise is not known."""
    if choice.structure.is_sum or choice.ladder is None:
        return _additivity(additivity, order, "is not shown to hold", "RC303")
    found = choice.ladder
    if found.chosen.r2 >= HOLDS_ROUGHLY * (1.0 if found.ceiling is None else found.ceiling):
        return None
    return Finding(FINDINGS["RC303"], f"even the best structure says little: {found}")


def _additivity(additivity: AdditivityCheck | None, order: int, word: str, code: str) -> Finding | None:
    check = None if additivity is None else additivity.at(order)
    if additivity is None or check is None or additivity.word_at(order) != word:
        return None
    test = check.lack_of_fit
    caveat = "" if test is None else f"; lack of fit: {test.text}"
    if test is None and code == "RC303":
        caveat = "; no rows repeat, so this may be noise rather than interaction"
    if check.tested < FEWEST_CELLS and test is not None:
        verb = "show" if test.p_value <= SHOWN else "hint at"
        return Finding(FINDINGS[code], f"at order {order} the replicates {verb} interaction (lack of fit: {test.text})")
    return Finding(
        FINDINGS[code],
        f"at order {order} held-out cells are off by {few_digits(check.error)} against {few_digits(check.baseline)} "
        f"for the plain mean ({max(check.share, 0):.0%} of the explainable variance){caveat}",
    )


def additivity_unchecked(additivity: AdditivityCheck | None, order: int, choice: Choice) -> Finding | None:
    """RC302: the assumption behind the verdicts was not checked."""
    if not choice.structure.is_sum:
        return None
    if additivity is None:
        return Finding(FINDINGS["RC302"], "no outcome column was named, so verdicts rest on additivity unchecked")
    if additivity.word_at(order) != "cannot be checked":
        return None
    return Finding(FINDINGS["RC302"], f"at order {order} {additivity.obstacle(order)}")
