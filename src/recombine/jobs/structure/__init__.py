"""Structure: whether effects add, multiply, bend or interact in a table, by held-out seen cells, and what follows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.jobs.structure.choice import Choice as Choice
    from recombine.jobs.structure.choice import choose_structure as choose_structure
    from recombine.jobs.structure.choice import counts_under as counts_under
    from recombine.jobs.structure.choice import verdicts_under as verdicts_under
    from recombine.jobs.structure.held_out_ranges import HeldOutRanges as HeldOutRanges
    from recombine.jobs.structure.held_out_ranges import held_out_ranges as held_out_ranges

lazy_package(__name__)
