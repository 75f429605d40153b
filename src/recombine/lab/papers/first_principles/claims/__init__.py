"""First principles: all claims. Decoders are judged at the largest scale that was run, by the bounds of that scale.

Tables and figures of the paper (arXiv 2307.05596) are named by what they show; the released table is the authors'
file with every seed of its twelve rows.
"""

from __future__ import annotations

from recombine.lab.papers.claims import claims
from recombine.lab.papers.first_principles.claims import assumptions, decoders, error_maps, lost_slots, routes, theory

CLAIMS = claims(
    "first-principles",
    *decoders.CLAIMS,
    *routes.CLAIMS,
    *theory.CLAIMS,
    *error_maps.CLAIMS,
    *assumptions.CLAIMS,
    *lost_slots.CLAIMS,
)
