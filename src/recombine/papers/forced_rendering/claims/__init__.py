"""All claims of the paper, of its authors' files, and ours beside them."""

from __future__ import annotations

from recombine.papers.claims import claims
from recombine.papers.forced_rendering.claims import decoders, remedies

CLAIMS = claims("forced-rendering", *decoders.CLAIMS, *remedies.CLAIMS)
