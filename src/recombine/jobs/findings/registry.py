"""All findings by code, and those that hold of one result."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from recombine.jobs.findings.finding import Finding, FindingKind, ResultKind
from recombine.progress import tell
from recombine.registry import Registry

#: Files of findings, by the results they are about: these look up their findings here, and findings name their types.
FAMILIES = {
    ResultKind.AUDIT: (
        "recombine.jobs.findings.cells",
        "recombine.jobs.findings.reading",
        "recombine.jobs.findings.networks",
        "recombine.jobs.findings.additivity",
    ),
    ResultKind.SPLIT: ("recombine.jobs.findings.leaks",),
    ResultKind.AUDIT_CHANGES: ("recombine.jobs.findings.changes",),
    ResultKind.SCORE_CHANGES: ("recombine.jobs.findings.changes",),
    ResultKind.SCORE: ("recombine.jobs.findings.models",),
    ResultKind.PROBE: ("recombine.jobs.findings.models",),
}
FINDINGS: Registry[FindingKind[Any]]


def __getattr__(name: str) -> Any:
    """Make the registry when it is first asked for: what looks for its own findings loads no others."""
    if name != "FINDINGS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _registry()


@cache
def _registry() -> Registry[FindingKind[Any]]:
    kinds = {kind.code: kind for of in FAMILIES for kind in _kinds(of)}
    return Registry("finding", [kinds[code] for code in sorted(kinds)], key=lambda kind: kind.code)


@cache
def _kinds(of: ResultKind) -> list[FindingKind[Any]]:
    """One of every class with a code in the files about a kind of results, by code."""
    entries = (entry for family in FAMILIES[of] for entry in vars(import_module(family)).values())
    classes = (entry for entry in entries if isinstance(entry, type) and issubclass(entry, FindingKind))
    return sorted((kind() for kind in classes if "code" in vars(kind)), key=lambda kind: kind.code)


def find_all(result: object, of: ResultKind) -> tuple[Finding, ...]:
    """Return what is found in ``result``, worst first, then by number.

    Examples
    --------
    >>> import recombine as rc
    >>> find_all(rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]])), ResultKind.AUDIT)
    (Finding(RC302 additivity not checked, note),)
    """
    # Where nobody has asked for the registry, nobody has added to it.
    kinds = [kind for kind in (_registry() if _registry.cache_info().currsize else _kinds(of)) if kind.of is of]
    raised = []
    for done, kind in enumerate(kinds):
        tell(kind.title, done / len(kinds))
        raised.append(kind.find(getattr(result, kind.reads) if kind.reads else result))
    return tuple(sorted(filter(None, raised), key=lambda finding: (-finding.severity, finding.code)))
