"""Forced rendering of disentangled latents (Liang et al., ICML 2025): experiments, claims, figures.

A decoder gets perfectly disentangled coordinates and paints a bump there. Trained on a donut of places, where every x
and every y is seen, it is wrong in the hole: it pastes images it has seen instead of composing x and y. What helps is
whatever forces each factor to be drawn in pixel space. Here kernels are solved in closed form, decoders are trained
with and without the remedies, and each remedy is taken apart.
"""

from __future__ import annotations

from recombine.papers.paper import Paper

PAPER = Paper(
    name="forced-rendering",
    title="Compositional generalization via forced rendering of disentangled latents",
    citation="Liang, Qian, Ziyin and Fiete, ICML 2025",
    package=__name__,
)
