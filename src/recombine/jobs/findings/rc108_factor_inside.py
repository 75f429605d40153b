"""RC108: factors that seem to lie inside others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.cells.arrays import product_size
from recombine.design.nesting import nesting_phrase
from recombine.jobs.findings.finding import FindingEvidence, FindingKind, Severity

if TYPE_CHECKING:
    from recombine.design.design import Design


class FactorInside(FindingKind["Design"]):
    """Nesting that was inferred."""

    code = "RC108"
    title = "a factor lies inside another"
    severity = Severity.WARNING
    meaning = (
        "Each level of a factor goes with one level of another only, as plants go with treatments, and chance does not "
        "explain it. Combinations that would take a level elsewhere are taken to be impossible: they are not counted, "
        "mapped or proposed. Only you know whether that is so."
    )
    action = "Confirm it with --nested, or say --crossed if such combinations can exist."
    part = "design"

    def check(self, design: Design) -> FindingEvidence | None:
        """Look for nesting that nobody named, and count what it rules out."""
        inferred = [item for item in design.nesting if item.inferred]
        if not inferred:
            return None
        every = product_size(design.sizes)
        numbers = {"nesting": inferred, "impossible": every - design.possible.span, "every": every}
        return FindingEvidence(numbers, tuple(f"{item.child}/{item.parent}" for item in inferred))

    def message(self, evidence: FindingEvidence) -> str:
        """Say what lies inside what, what that rules out, and how to confirm or deny it."""
        pairs = " ".join(f"--nested {pair}" for pair in evidence.subjects)
        return (
            f"{nesting_phrase(evidence['nesting'])}; {evidence['impossible']:,} of the {evidence['every']:,} "
            "combinations of levels would take a level out of the one it lies in and are taken to be impossible. To "
            f"confirm: {pairs}; if they can exist: --crossed"
        )


RC108 = FactorInside()
