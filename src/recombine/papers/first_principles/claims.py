"""All claims of the paper, in the order of their numbers."""

from __future__ import annotations

from recombine.papers.first_principles.readings.checks import CLAIMS as CHECKS
from recombine.papers.first_principles.readings.decoders import CLAIMS as DECODERS
from recombine.papers.first_principles.readings.theory import CLAIMS as THEORY

CLAIMS = tuple(sorted((*THEORY, *CHECKS, *DECODERS), key=lambda claim: claim.place))
