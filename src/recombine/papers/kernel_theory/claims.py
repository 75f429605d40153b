"""All claims of the paper, in the order of their numbers."""

from __future__ import annotations

from recombine.papers.kernel_theory.readings.context import CLAIMS as CONTEXT
from recombine.papers.kernel_theory.readings.images import CLAIMS as IMAGES
from recombine.papers.kernel_theory.readings.kernels import CLAIMS as KERNELS
from recombine.papers.kernel_theory.readings.onehot import CLAIMS as ONEHOT

CLAIMS = tuple(sorted((*KERNELS, *CONTEXT, *ONEHOT, *IMAGES), key=lambda claim: claim.place))
