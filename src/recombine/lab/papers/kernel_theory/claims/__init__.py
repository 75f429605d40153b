"""All claims of the paper. Theorems, propositions and equations are numbered as in the ICLR version, figures as in v2.

The three versions of the paper (arXiv version 1, version 2, ICLR) number their figures differently; where a figure is
in the ICLR version only, its source says so. New numbers are added at the end, so that old ones stay what they were.
"""

from __future__ import annotations

from recombine.lab.papers.claims import claims
from recombine.lab.papers.kernel_theory.claims import images, kernels, onehot, shortcut

CLAIMS = claims("kernel-theory", *kernels.CLAIMS, *shortcut.CLAIMS, *onehot.CLAIMS, *images.CLAIMS)
