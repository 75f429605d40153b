"""Gated linear networks: all claims. Figures and panels are those of the paper's only version (arXiv 2202.02649v1)."""

from __future__ import annotations

from recombine.lab.papers.claims import claims
from recombine.lab.papers.gated_linear.claims import files, gains, limits, shapes

CLAIMS = claims("gated-linear", *limits.CLAIMS, *files.CLAIMS, *gains.CLAIMS, *shapes.CLAIMS)
