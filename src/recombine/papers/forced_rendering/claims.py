"""All claims of the paper, in the order of their numbers."""

from __future__ import annotations

from recombine.papers.forced_rendering.readings.decoders import CLAIMS as DECODERS
from recombine.papers.forced_rendering.readings.kernels import CLAIMS as KERNELS
from recombine.papers.forced_rendering.readings.remedies import CLAIMS as REMEDIES

CLAIMS = tuple(sorted((*KERNELS, *DECODERS, *REMEDIES), key=lambda claim: claim.place))
