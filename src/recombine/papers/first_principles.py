"""Compositional generalization from first principles (Wiedemer et al., NeurIPS 2023): experiments, claims, figures.

If an image is composed from slots in a known way, a model that composes in the same way is determined on unseen
combinations once every value of every slot was seen, together with enough values of the others: the support is then
compositional and sufficient. Here the condition is tested as a rank, and decoders of sprites are trained on supports
that meet it and on some that do not.
"""

from __future__ import annotations

from recombine.papers.first_principles_check_claims import CLAIMS as CHECK_CLAIMS
from recombine.papers.first_principles_claims import CLAIMS as DECODER_CLAIMS
from recombine.papers.first_principles_figures import FIGURES as DECODER_FIGURES
from recombine.papers.first_principles_grids import EXPERIMENTS as DECODER_EXPERIMENTS
from recombine.papers.first_principles_grids import NAME
from recombine.papers.first_principles_theory import EXPERIMENTS as THEORY_EXPERIMENTS
from recombine.papers.first_principles_theory_claims import CLAIMS as THEORY_CLAIMS
from recombine.papers.first_principles_theory_figures import FIGURES as THEORY_FIGURES
from recombine.papers.paper import Paper

PAPER = Paper(
    name=NAME,
    title="Compositional generalization from first principles",
    citation="Wiedemer, Mayilvahanan, Bethge and Brendel, NeurIPS 2023",
    experiments=(*THEORY_EXPERIMENTS, *DECODER_EXPERIMENTS),
    claims=tuple(
        sorted((*THEORY_CLAIMS, *CHECK_CLAIMS, *DECODER_CLAIMS), key=lambda claim: claim.place),
    ),
    figures=(*DECODER_FIGURES, *THEORY_FIGURES),
)
