"""RC101, RC102, RC105, RC106, RC110: cells and levels that the data leave open, or hardly settle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from recombine.cells.scales import FactorScale
from recombine.design.targets import outside_words
from recombine.jobs.findings.finding import FindingEvidence, FindingKind, Severity
from recombine.jobs.limits import AUDIT_LIMITS
from recombine.jobs.listing import ListingKind, furthest_outside
from recombine.verdicts import Verdict
from recombine.writing import listing, part_of_what_matters, plural, round_estimate, written_count

if TYPE_CHECKING:
    from recombine.cells.arrays import IntArray
    from recombine.design.design import Design
    from recombine.jobs.audit.parts import Decided, Values
    from recombine.jobs.listing import NearCounts
    from recombine.jobs.matters import WhatMatters


class CellsFinding(FindingKind["Decided"]):
    """A finding about the cells that carry ``verdict``; none is raised where it is known that none of them matters."""

    reads = "decided"
    verdict: ClassVar[Verdict]

    def counted(self, decided: Decided, count: int) -> dict[str, Any] | None:
        """Return the numbers of ``count`` cells; None where there are none, or none that matters."""
        matters = decided.matters
        if not count or (matters is not None and matters.exact and not matters.count(self.verdict)):
            return None
        targets = decided.listing.kind is ListingKind.TARGETS
        exact, concerned = decided.counts.exact or targets, _matters_clause(matters, self.verdict)
        return {"cells": count, "exact": exact, "targets": targets, "concerned": concerned}

    def listed(self, decided: Decided) -> int:
        """Return how many listed cells carry the verdict."""
        return int((decided.codes == self.verdict).sum())


def _count_in_words(evidence: FindingEvidence) -> str:
    """Write the number of cells; an estimate with two digits, because more would look like a count."""
    count = evidence["cells"]
    return written_count(count) if evidence["exact"] else f"about {written_count(round_estimate(count))}"


def _matters_clause(matters: WhatMatters | None, verdict: Verdict, which: str = "") -> str:
    """Say how many cells with a verdict matter, and how much; ``which`` says what they are. Empty if all are alike."""
    if matters is None:
        return ""
    count = matters.count(verdict)
    if not count:
        return "; none of the listed ones matters"
    lead = f"{plural(count, 'cell')} {which}" if which else f"{count:,} of them"
    share = part_of_what_matters(matters.share(verdict))
    return f"; {lead} matter{'s' * (count == 1)}, {share}{'' if matters.exact else ' among the listed cells'}"


class CellsNotDetermined(CellsFinding):
    code = "RC101"
    title = "cells not determined"
    severity = Severity.PROBLEM
    meaning = (
        "Some unseen combinations of known levels cannot be reached by any sum of seen ones, so that the data alone do "
        "not settle them. A value given for them, here or by any model, rests on more than the data: here on how much "
        "levels usually differ, and its range says so."
    )
    action = "Collect the combinations that the audit suggests; no model can replace them."
    verdict = Verdict.DISCONNECTED

    def check(self, decided: Decided) -> FindingEvidence | None:
        count = self.listed(decided) if decided.listing.kind is ListingKind.TARGETS else decided.counts[self.verdict]
        numbers = self.counted(decided, count)
        if numbers is None:
            return None
        near, parts = decided.departures, decided.design.space.parts
        mutants = bool(parts) and all(column.kind == "sequence" for column in parts)
        departures = "" if near is None else departures_sentence(near, mutants)
        needed, order = decided.identification.deficit, decided.choice.order
        named = {"order": order, "assumption": decided.choice.assumption}
        return FindingEvidence({**numbers, **named, "needed": needed, "departures": departures})

    def message(self, evidence: FindingEvidence) -> str:
        which = "target" if evidence["targets"] else "unseen"
        needed, departures = "", evidence["departures"]
        if evidence["needed"]:
            whom = "every cell of known levels" if evidence["targets"] else "them all"
            needed = f"; {plural(evidence['needed'], 'well-chosen cell')} would determine {whom}"
        return (
            f"{_count_in_words(evidence)} {which} {'cell is' if evidence['cells'] == 1 else 'cells are'} not settled "
            f"by the data, if {evidence['assumption']}{evidence['concerned']}{needed}{departures and f'. {departures}'}"
        )


def departures_sentence(near: NearCounts, mutants: bool = False) -> str:
    """Say what follows by number of departures from the commonest cell, and whether that cell mends the rest.

    Examples
    --------
    >>> from recombine.jobs.listing import NearCounts
    >>> print(departures_sentence(NearCounts("AAA", (0, 0, 66, 0), (1, 12, 66, 220), (2, 2), 1), mutants=True))
    By number of departures from the commonest levels (AAA), seen or determined are 0: none of 1; 1: none of 12; 2: all
        of 66; 3: none of 220. Every seen cell has exactly 2 departures, so their number cannot be told from the
        constant: double mutants alone determine no single mutant and no triple mutant, however many there are; one row
        of AAA itself mends it.
    """
    amounts = [
        f"{number}: {'none' if not told else 'all' if told == every else f'{told:,}'} of {every:,}"
        for number, (told, every) in enumerate(zip(near.told, near.every, strict=True))
    ]
    lead = f"By number of departures from the commonest levels ({near.common}), seen or determined are "
    lead += "; ".join(amounts)
    fewest, most = near.departures
    if fewest < most or fewest == 0:
        return f"{lead}."
    kinds = {1: "single", 2: "double", 3: "triple"}
    mutants = mutants and most in kinds
    seen = f"{kinds[most]} mutants" if mutants else f"cells with {plural(most, 'departure')}"
    others = [kinds.get(number, f"{number}-fold") for number in (most - 1, most + 1) if number]
    none = " and ".join(f"no {kind} {'mutant' if mutants else 'departure'}" for kind in others)
    mends = "one row of {} itself mends it" if near.deficit == 1 else "a row of {} itself is the first step"
    return (
        f"{lead}. Every seen cell has exactly {plural(most, 'departure')}, so their number cannot be told from the "
        f"constant: {seen} alone determine {none}, however many there are; {mends.format(near.common)}."
    )


class LevelNeverSeen(FindingKind["Decided"]):
    code = "RC102"
    title = "level never seen"
    severity = Severity.PROBLEM
    meaning = (
        "A level that the targets or the held-out rows use never occurs in training, so that the data alone do not "
        "settle any combination with it. Its value rests on the effects of the other factors, and its range says so."
    )
    action = "Collect at least one combination with that level, or leave it out of what is asked."
    reads = "decided"

    def check(self, decided: Decided) -> FindingEvidence | None:
        design, matters = decided.design, decided.matters
        missing = []
        for group in design.space.groups:
            factor = design.factors[group[0]]
            if factor.scale is not FactorScale.LABELS:
                continue
            counts = sum(np.bincount(design.seen[:, column], minlength=len(factor.levels)) for column in group)
            absent = np.flatnonzero(counts == 0)
            if matters is not None and matters.exact:
                absent = absent[np.isin(absent, matters.cells[:, list(group)])]
            missing += [f"{factor.name} {factor.labels[code]!r}" for code in absent]
        if not missing:
            return None
        concerned = _matters_clause(matters, Verdict.UNSEEN_LEVEL, "with an unseen level")
        return FindingEvidence({"concerned": concerned}, tuple(missing))

    def message(self, evidence: FindingEvidence) -> str:
        verb = "occurs" if len(evidence.subjects) == 1 else "occur"
        return f"{listing(evidence.subjects, 6)} never {verb} in training{evidence.numbers.get('concerned', '')}"


class CellsUndecided(CellsFinding):
    code = "RC105"
    title = "cells undecided"
    severity = Severity.WARNING
    meaning = (
        "Arithmetic could not tell whether some cells are determined. They are listed as undecided; a verdict is never "
        "guessed."
    )
    action = Verdict.UNDECIDED.action
    verdict = Verdict.UNDECIDED

    def check(self, decided: Decided) -> FindingEvidence | None:
        numbers = self.counted(decided, max(decided.counts[self.verdict], self.listed(decided)))
        return None if numbers is None else FindingEvidence(numbers)

    def message(self, evidence: FindingEvidence) -> str:
        cells = "cell" if evidence["cells"] == 1 else "cells"
        return f"{_count_in_words(evidence)} {cells} could not be decided{evidence['concerned']}; {self.action}"


class DeterminedButShaky(FindingKind["Values"]):
    code = "RC106"
    title = "determined but shaky"
    severity = Severity.NOTE
    meaning = (
        "Some determined cells rest on long chains of seen cells; noise adds up along the chain (leverage above 4 "
        "means the error of the prediction is more than twice that of one measurement)."
    )
    action = "Measure again along the chain, or collect a combination that makes it shorter, before you rely on them."
    reads = "values"

    def check(self, values: Values) -> FindingEvidence | None:
        decided, matters = values.decided, values.decided.matters
        determined = (decided.codes == Verdict.DETERMINED) & (True if matters is None else matters.weights > 0)
        leverage = np.where(determined, decided.leverage, np.nan)
        shaky = int((leverage > AUDIT_LIMITS.max_leverage).sum())
        if not shaky:
            return None
        shakiest = int(np.nanargmax(leverage))
        cell = decided.listing.cells[[shakiest]]
        ranges = values.ranges_of(cell, decided.leverage[[shakiest]])
        ends = [float(ranges.low[0]), float(ranges.high[0])]
        return FindingEvidence(
            {
                "cells": shaky,
                "of": int((~np.isnan(leverage)).sum()),
                "weighted": matters is not None,
                "largest": float(leverage[shakiest]),
                "cell": decided.design.label(cell[0]),
                "range": ends if np.isfinite(ends).all() else None,
            }
        )

    def message(self, evidence: FindingEvidence) -> str:
        ends = evidence["range"]
        return (
            f"{evidence['cells']:,} of {plural(evidence['of'], 'determined cell')} "
            f"{'that matter and were ' if evidence['weighted'] else ''}looked at "
            f"{'has' if evidence['cells'] == 1 else 'have'} leverage above {AUDIT_LIMITS.max_leverage:g} (largest "
            f"{evidence['largest']:.1f}: {evidence['cell']}"
            f"{'' if ends is None else f', 90 % range {ends[0]:.4g} to {ends[1]:.4g}'})"
        )


class BeyondRange(CellsFinding):
    code = "RC110"
    title = "beyond the seen range"
    severity = Severity.PROBLEM
    meaning = (
        "Combinations hold a value of an ordered or numeric factor outside the range seen in training, or lie further "
        "out on a curved scale than all seen ones. The data alone do not settle how a trend goes on there: a value "
        "given there rests on how much levels usually differ."
    )
    action = Verdict.BEYOND.action
    verdict = Verdict.BEYOND

    def check(self, decided: Decided) -> FindingEvidence | None:
        if not decided.choice.structure.is_sum:
            numbers = self.counted(decided, max(decided.counts[self.verdict], self.listed(decided)))
            return None if numbers is None else FindingEvidence({**numbers, "curve": decided.choice.assumption})
        numbers = self.counted(decided, self.listed(decided)) if decided.design.scales else None
        if numbers is None:
            return None
        ranges = _ranges_left(decided.design, decided.listing.cells[decided.codes == self.verdict])
        words = dict.fromkeys(word for words_of_factor in ranges.values() for word in words_of_factor)
        return FindingEvidence({**numbers, "curve": "", "ranges": tuple(words)}, tuple(ranges))

    def message(self, evidence: FindingEvidence) -> str:
        if not evidence["curve"]:
            count = plural(evidence["cells"], "listed cell is", "listed cells are")
            told = f"{count} not settled by the data: {'; '.join(evidence['ranges'])}"
            return f"{told}{evidence['concerned']}"
        which = "unseen cell lies" if evidence["cells"] == 1 else "unseen cells lie"
        text = f"if {evidence['curve']}, {_count_in_words(evidence)} {which} beyond every seen one"
        return f"{text}; nothing is certified there{evidence['concerned']}"


def _ranges_left(design: Design, cells: IntArray) -> dict[str, list[str]]:
    """Say of each factor on a scale whose seen range ``cells`` (N, C) leave how its furthest levels do so."""
    return {
        design.factors[factor].name: [text for cell in ends for text in outside_words(design, np.array(cell))]
        for factor, ends in furthest_outside(design, cells).items()
    }
