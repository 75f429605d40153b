"""Every word that outputs share, as data: verdicts, structures, causes, findings, states and phrases of the page.

``tools/build_vocabulary.py`` writes what the page shows to ``page/src/generated``, from where it takes its words.
"""

from __future__ import annotations

from typing import Any

from recombine.verdicts import Verdict

#: What says the values that follow, by the order at which effects add.
ADDING = ("", "adding", "adding pairs", "adding triples")
#: What may be true of the cells that are painted on the page.
TRUTHS = {
    "adding": "effects add",
    "curve": "effects add, then a curve",
    "context": "context dependence",
    "equivalence": "equivalence",
    "ordering": "ordering",
    "formula": "own formula",
    "table": "a table",
}

#: What the page says where cells are painted; holes are filled by the page, and pairs are of one cell and of several.
PHRASES = {
    "unmeasured": "Counted as seen; no value is known.",
    "unshown": "It follows from the seen cells, by a sum too long for the page.",
    "sum": "Never seen, but if {assumption}, seen cells give its value: {plus} added, {minus} taken away.",
    "neverSeen": "{level} was never seen with anything, so the seen cells do not settle its effect.",
    "nothingSeen": "Nothing was seen yet: drag over the first picture.",
    "open": [
        "1 cell does not follow from anything seen. Paint it in the first picture, and watch the ✕ go.",
        "{count} cells do not follow from anything seen. Paint one of them in the first picture, and watch the ✕ go.",
    ],
    "openLevel": [
        "1 cell has a level that was never seen. Paint it and watch.",
        "{count} cells have a level that was never seen. Paint one of them and watch.",
    ],
    "everythingFollows": [
        "Everything follows: 1 cell needs no measurement, if {assumption}. Erase seen cells until it breaks.",
        "Everything follows: {count} cells need no measurement, if {assumption}. Erase seen cells until it breaks.",
    ],
    "everythingSeen": "Everything was seen. Erase some cells and watch what still follows.",
    "sharpens": "{cell}: values that follow become surer (variance {share} % lower)",
    "settles": ["{cell}: settles {count} other cell", "{cell}: settles {count} other cells"],
    "settlesItself": "{cell}: settles itself only",
    "pointing": "Point at a cell, or use arrow keys: cells that add up to it are marked.",
    "oneOfMany": "One of many such sums; the value balances them all.",
    "gap": "network minus what follows, else minus the truth",
    "nothingToCollect": "Nothing to collect: everything follows.",
    "eraseValue": "Erase a cell that has a value to see how far off each prediction of it is.",
    "eraseSome": "Erase some cells to see how far off each prediction of them is.",
    "errors": "Root mean square error on unseen cells",
    "tooFewSlopes": "Eight determined cells are needed to tell how much of each effect reaches them.",
    "slopes": "Of each effect, this share reaches the determined cells: ",
    "used": "{used} of {rows} rows are used",
    "lacking": ["1 has no {column}", "{count} have no {column}"],
    "underHalf": "Only {used} of {rows} rows can be used; choose other columns, or tick the box.",
    "nevertheless": "Use it nevertheless",
    "naming": "Columns as levels, factor=outcome (--wide) ",
    "asWritten": "The table was read as it is written.",
    "shortcut": "moves predictions by {size} away from what follows.",
}

#: What the page says beside them where a program serves it with a table.
SERVED = {
    "table": "{rows}, {factors} factors, {cells} combinations that can exist{outcome}. Verdicts hold if {assumption}.",
    "outcome": ", outcome {outcome}",
    "sampled": 'There are too many combinations to count: numbers after "about" are from {count} drawn at random.',
    "readBy": "Read by: {command}",
    "findings": "What the audit found",
    "noFindings": "Nothing to report.",
    "collect": "Collect next",
    "noPlan": "Nothing was asked for, or nothing would help.",
    "stays": "This page asks only the program that serves it, on this machine. Nothing is uploaded.",
    "pointing": "Point at a cell, or move with the arrow keys, to see why; press it to keep it.",
    "ways": "Ways to look at the table",
    "way": ["What the data say", "Paint"],
    "copied": "The link is copied. It works in this browser only, while recombine explore runs.",
    "notCopied": "The link is in the address bar: copy it from there. It works in this browser only, while recombine "
    "explore runs.",
    "cell": "The cell asked about",
    "connected": "connected ones together",
    "whole": "The whole. Press where to look.",
    "map": "Map of verdicts. Arrow keys move, Enter asks.",
    "mapOf": "Map of verdicts, {window}. Arrow keys move, Page Up and Page Down turn, Enter asks.",
    "searching": "Looking for its certificate …",
    "apart": "Its rows and columns, which the window does not all hold:",
    "noLevel": "No level has this in its name.",
    "ended": "The program that serves this page has ended; start recombine explore again.",
}


def vocabulary() -> dict[str, Any]:
    """Return all words by kind; ``{assumption}`` in the meaning of a verdict stands for what a structure assumes.

    Examples
    --------
    >>> vocabulary()["verdicts"][2]["word"], vocabulary()["assumed"][2]
    ('disconnected', 'effects add up to interactions of 2 factors')
    """
    from recombine.jobs.findings import FINDINGS
    from recombine.jobs.score.causes import CAUSES
    from recombine.theory.structures.all_structures import STRUCTURES, sum_of
    from recombine.words.additivity import STATE_WORDS

    looks = ("word", "symbol", "colour", "meaning")
    return {
        "verdicts": [{"code": int(kind)} | {name: getattr(kind, name) for name in looks} for kind in Verdict],
        "actions": [kind.action for kind in Verdict],
        "assumed": ["", *(sum_of(order).assumption for order in (1, 2, 3))],
        "adding": ADDING,
        "truths": TRUTHS,
        "phrases": PHRASES,
        "served": SERVED,
        "structures": [{name: getattr(kind, name) for name in ("name", "assumption", "help")} for kind in STRUCTURES],
        "causes": [
            {name: getattr(kind, name) for name in ("name", "title", "meaning", "action", "of")} for kind in CAUSES
        ],
        "findings": [
            {name: getattr(kind, name) for name in ("code", "title", "meaning", "action")}
            | {"severity": kind.severity.word}
            for kind in FINDINGS
        ],
        "states": STATE_WORDS,
    }
