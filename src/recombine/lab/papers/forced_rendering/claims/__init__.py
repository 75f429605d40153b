"""All claims of the paper, of its authors' files, and ours beside them."""

from __future__ import annotations

from recombine.lab.papers.claims import claims
from recombine.lab.papers.forced_rendering.claims import decoders, demos, remedies

CLAIMS = claims("forced-rendering", *decoders.CLAIMS, *demos.CLAIMS, *remedies.CLAIMS)
