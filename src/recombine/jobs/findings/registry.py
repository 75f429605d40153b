"""All findings by code, and those that hold of one result."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from recombine.jobs.findings.finding import Finding, FindingKind, ResultKind
from recombine.progress import tell
from recombine.registry import Registry

#: Files of findings, by name: a result looks up its findings here, and they name the result's type.
FAMILIES = (
    "recombine.jobs.findings.cells",
    "recombine.jobs.findings.reading",
    "recombine.jobs.findings.networks",
    "recombine.jobs.findings.additivity",
    "recombine.jobs.findings.leaks",
    "recombine.jobs.findings.changes",
    "recombine.jobs.findings.models",
)


def _kinds() -> list[FindingKind[Any]]:
    """One of every class with a code in the files of families, by code."""
    entries = (entry for family in FAMILIES for entry in vars(import_module(family)).values())
    classes = (entry for entry in entries if isinstance(entry, type) and issubclass(entry, FindingKind))
    return sorted((kind() for kind in classes if "code" in vars(kind)), key=lambda kind: kind.code)


FINDINGS: Registry[FindingKind[Any]] = Registry("finding", _kinds(), key=lambda kind: kind.code)


def find_all(result: object, of: ResultKind) -> tuple[Finding, ...]:
    """Return what is found in ``result``, worst first, then by number.

    Examples
    --------
    >>> import recombine as rc
    >>> find_all(rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]])), ResultKind.AUDIT)
    (Finding(RC302 additivity not checked, note),)
    """
    kinds = [kind for kind in FINDINGS if kind.of is of]
    raised = []
    for done, kind in enumerate(kinds):
        tell(kind.title, done / len(kinds))
        raised.append(kind.find(getattr(result, kind.part) if kind.part else result))
    return tuple(sorted(filter(None, raised), key=lambda finding: (-finding.severity, finding.code)))
