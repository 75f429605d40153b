"""Findings: what may be wrong with a table, a split, a comparison, a score or a probe, each numbered, one class each.

Whoever adds one writes a class into the file of its family; outputs, ``--fail-on`` and documentation read the registry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.jobs.findings.fail_on import FailOn as FailOn
    from recombine.jobs.findings.finding import Finding as Finding
    from recombine.jobs.findings.finding import FindingEvidence as FindingEvidence
    from recombine.jobs.findings.finding import FindingKind as FindingKind
    from recombine.jobs.findings.finding import ResultKind as ResultKind
    from recombine.jobs.findings.finding import Severity as Severity
    from recombine.jobs.findings.registry import FINDINGS as FINDINGS
    from recombine.jobs.findings.registry import find_all as find_all

lazy_package(__name__)
