"""All claims of the paper, in the order of their numbers."""

from __future__ import annotations

from recombine.papers.gradient_resists.readings.images import CLAIMS as IMAGES
from recombine.papers.gradient_resists.readings.scan_and_plane import CLAIMS as SCAN

CLAIMS = tuple(sorted((*SCAN, *IMAGES), key=lambda claim: claim.place))
