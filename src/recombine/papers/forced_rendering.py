"""Forced rendering of disentangled latents (Liang et al., ICML 2025): experiments, claims, figures.

A decoder gets perfectly disentangled coordinates and paints a bump there. Trained on a donut of places, where every x
and every y is seen, it is wrong in the hole: it pastes images it has seen instead of composing x and y. What helps is
whatever forces each factor to be drawn in pixel space. Here kernels are solved in closed form, decoders are trained
with and without the remedies, and each remedy is taken apart.
"""

from __future__ import annotations

from recombine.papers.forced_rendering_claims import CLAIMS as DECODER_CLAIMS
from recombine.papers.forced_rendering_figures import FIGURES
from recombine.papers.forced_rendering_grids import EXPERIMENTS as NETWORK_EXPERIMENTS
from recombine.papers.forced_rendering_grids import NAME
from recombine.papers.forced_rendering_kernel_claims import CLAIMS as KERNEL_CLAIMS
from recombine.papers.forced_rendering_kernels import EXPERIMENTS as KERNEL_EXPERIMENTS
from recombine.papers.forced_rendering_remedy_claims import CLAIMS as REMEDY_CLAIMS
from recombine.papers.paper import Paper

PAPER = Paper(
    name=NAME,
    title="Compositional generalization via forced rendering of disentangled latents",
    citation="Liang, Qian, Ziyin and Fiete, ICML 2025",
    experiments=(*KERNEL_EXPERIMENTS, *NETWORK_EXPERIMENTS),
    claims=tuple(sorted((*KERNEL_CLAIMS, *DECODER_CLAIMS, *REMEDY_CLAIMS), key=lambda claim: claim.place)),
    figures=FIGURES,
)
