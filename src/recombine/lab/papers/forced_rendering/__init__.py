"""Forced rendering of disentangled latents (Liang et al., ICML 2025): experiments, claims, figures.

A decoder gets perfectly disentangled coordinates and paints a bump there. Trained on a donut of places, where every x
and every y is seen, it is wrong in the hole: it pastes images it has seen instead of composing x and y. What helps is
whatever forces each factor to be drawn in pixel space. Here kernels are solved in closed form, decoders are trained
with and without the remedies, and each remedy is taken apart.
"""

from __future__ import annotations

from recombine.lab.papers.paper import Paper

WORDS = {
    "donut, hole": "the places of bumps that are trained on, and those in the middle that are not",
    "G, 1 - G": "a bright bump on black, and a dark one on white, which most released scripts paint",
    "population codes, ramps": "one unit or several per level of x and of y, and one number each",
    "peaks": "share of images whose brightest pixel lies within 1.5 pixels of the bump",
    "inner hole, inner peaks": "places at least four pixels from the edge of the hole, and peaks there",
    "error over blank": "mean squared error over that of an empty image",
    "pasted image": "the mean seen image of the column plus that of the row",
    "cross": "the seen places in the same column or row",
    "F": "how orthogonal the directions are in which two factors move a layer or image; 1 at most",
    "F_K": "how much of a kernel is a product of one kernel per factor; 1 at most",
    "area ratio": "the area that a unit square of places becomes in the hole, over that on the donut",
    "components": "outer products that a value's image is a sum of, counted by the entropy of their weights",
}

PAPER = Paper(
    name="forced-rendering",
    title="Compositional generalization via forced rendering of disentangled latents",
    citation="Liang, Qian, Ziyin and Fiete, ICML 2025",
    package=__name__,
    words=WORDS,
)
