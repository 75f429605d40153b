"""All findings by code, and those that hold of one result."""

from __future__ import annotations

from typing import Any

from recombine.jobs import findings
from recombine.jobs.findings.finding import Finding, FindingKind, ResultKind
from recombine.progress import tell
from recombine.registry import Registry

#: Every finding that the package's table of contents lists.
FINDINGS: Registry[FindingKind[Any]] = Registry(
    "finding", (getattr(findings, name) for name in dir(findings) if name.startswith("RC")), key=lambda kind: kind.code
)


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
