"""What matters in words: sentences and columns that outputs add where cells are weighted by importance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.verdicts import Verdict
from recombine.words.verdicts import NO_FINDINGS, UNSEEN
from recombine.writing import join_words, share

if TYPE_CHECKING:
    from recombine.jobs.audit.audit import Audit


def importance_sentence(audit: Audit) -> str:
    """Say how much of what matters carries each verdict; empty where all cells matter alike.

    Examples
    --------
    >>> import pandas as pd
    >>> import recombine as rc
    >>> design = rc.Design.from_cells([[0, 0], [0, 1], [1, 0], [2, 2]], names=["colour", "shape"])
    >>> table = pd.DataFrame({"colour": [1, 2], "shape": [1, 0], "importance": [3, 1]})
    >>> importance_sentence(rc.audit(design, importance=table))
    'Of what matters, 75.0 % is determined and 25.0 % is disconnected.'
    """
    found = audit.matters
    if found is None:
        return ""
    whose = "targets" if found.scope == "targets" else "combinations"
    if not found.unseen:
        return f"No unseen combination {'that is listed ' * (not found.exact)}matters."
    if found.share(Verdict.DETERMINED) == 1:
        return f"All that matters of the unseen {whose} is determined{_listed(audit)}."
    parts = [f"{share(part)} {_is(verdict)}" for verdict, part in importance_shares(audit)]
    none = "" if found.share(Verdict.DETERMINED) else "none is determined, "
    return f"Of what matters, {none}{join_words(parts)}{_listed(audit)}."


def _is(verdict: Verdict) -> str:
    if verdict is Verdict.UNSEEN_LEVEL:
        return "has an unseen level"
    return "lies beyond the seen range" if verdict is Verdict.BEYOND else f"is {verdict.word}"


def _listed(audit: Audit) -> str:
    return "" if audit.matters is None or audit.matters.exact else ", among the listed combinations"


def importance_column(audit: Audit, verdict: Verdict) -> str:
    """Write the share of what matters that carries ``verdict``, to stand beside its count; empty without importance."""
    found = audit.matters
    if found is None or verdict is Verdict.SEEN or not found.unseen:
        return ""
    return f"{share(found.share(verdict))} of what matters"


def importance_shares(audit: Audit) -> list[tuple[Verdict, float]]:
    """Return the verdicts that something that matters has, each with its share; empty without importance."""
    found = audit.matters
    return [] if found is None else [(verdict, found.share(verdict)) for verdict in UNSEEN if found.share(verdict)]


def no_findings(audit: Audit) -> str:
    """Say that nothing was found, and of which cells that holds."""
    if audit.matters is None or not audit.matters.exact:
        return NO_FINDINGS
    return NO_FINDINGS.replace("every unseen combination", "every unseen combination that matters")
