"""All claims of the paper, in the order of their numbers."""

from __future__ import annotations

from recombine.papers.gated_linear.readings.images import CLAIMS as IMAGES
from recombine.papers.gated_linear.readings.norms import CLAIMS as NORMS
from recombine.papers.gated_linear.readings.small_problems import CLAIMS as SMALL

CLAIMS = tuple(sorted((*SMALL, *NORMS, *IMAGES), key=lambda claim: claim.place))
