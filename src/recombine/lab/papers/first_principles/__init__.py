"""Compositional generalization from first principles (Wiedemer et al., NeurIPS 2023): experiments, claims, figures.

If an image is composed from slots in a known way, a model that composes in the same way is determined on unseen
combinations once every value of every slot was seen, together with enough values of the others: the support is then
compositional and sufficient. Here the condition is tested as a rank, and decoders of sprites are trained on supports
that meet it and on some that do not.
"""

from __future__ import annotations

from recombine.lab.papers.paper import Paper

PAPER = Paper(
    name="first-principles",
    title="Compositional generalization from first principles",
    citation="Wiedemer, Mayilvahanan, Bethge and Brendel, NeurIPS 2023 (arXiv 2307.05596)",
    package=__name__,
    words={
        "slot": "one of the things an image is made of, here a sprite with five latents (x, y, shape, size, hue)",
        "component": "what a slot's latents are turned into before slots are composed, here a sprite alone on black",
        "support": "where in the space of latents the training data lie",
        "compositional support": "every value of every slot occurs somewhere in it",
        "sufficient support": "at every value of a slot, Jacobians of the composition, stacked, have full column rank",
        "anchor": "what the other slots are held at while one varies; O and H in front, B behind",
        "random": "the whole cube of latents",
        "orthogonal": "three planes: the front sprite varies with B behind; the back one with O and with H in front",
        "orthogonal*, orthogonal+": "one plane for each slot; two planes for each slot",
        "orthogonal gap": "the planes without a range of the front sprite's x",
        "diagonal 0.05": "a band around equal latents of both sprites, by its half-width",
        "soft occlusion": "the model's rule: the front's sum of channels decides smoothly how much of the back is seen",
        "RGBa": "a model whose components have an opacity, clamped to 0 and 1, composed as layers",
        "R2 on all": "share of the variance of images of all combinations that is explained, as published",
        "tiny, short, annealed, full": "blobs; 3,300 steps; 19,600 with the whole schedule; the paper's 392,000",
    },
)
