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
        "verdicts": [{"code": int(kind)} | {name: getattr(kind.text, name) for name in looks} for kind in Verdict],
        "actions": [kind.text.action for kind in Verdict],
        "assumed": ["", *(sum_of(order).assumption for order in (1, 2, 3))],
        "adding": ADDING,
        "truths": TRUTHS,
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


def verdict_style() -> str:
    """Return the colours of the verdicts as variables of a style sheet: ``--v0`` and so on, by code."""
    return f":root {{ {' '.join(f'--v{int(kind)}: {kind.colour};' for kind in Verdict)} }}\n"
