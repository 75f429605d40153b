"""All claims of the paper, and ours beside them; figures and panels are named as the authors released them."""

from __future__ import annotations

from recombine.lab.papers.claims import claims
from recombine.lab.papers.multitask.claims import atlas, diagonal, hidden_units, images, norms, released, students

CLAIMS = claims(
    "multitask",
    *diagonal.CLAIMS,
    *atlas.CLAIMS,
    *students.CLAIMS,
    *hidden_units.CLAIMS,
    *released.CLAIMS,
    *images.CLAIMS,
    *norms.CLAIMS,
)
