"""All claims of the paper. Numbers 1 to 17 are the paper's or follow from its formulas; from 18 on they are ours."""

from __future__ import annotations

from recombine.papers.claims import claims
from recombine.papers.multitask.claims import diagonal, students_and_images

CLAIMS = claims("multitask", *diagonal.CLAIMS, *students_and_images.CLAIMS)
