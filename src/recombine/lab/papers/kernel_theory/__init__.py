"""Kernel theory of compositional generalization (Lippl & Stachenfeld, ICLR 2025): experiments, claims, figures.

A model whose similarity of two cells depends only on what they share is a sum over seen conjunctions. What it says of
unseen cells then follows from the salience of each order: how much it shrinks sums (memorization leak) and whether it
falls for context (shortcut). Here kernels are solved exactly and networks are trained to see whether they follow.
"""

from __future__ import annotations

from recombine.lab.papers.paper import Paper

PAPER = Paper(
    name="kernel-theory",
    title="When does compositional structure yield compositional generalization? A kernel theory",
    citation="Lippl and Stachenfeld, ICLR 2025",
    package=__name__,
    words={
        "CD-1": "context dependence, one pair of features left out in both contexts",
        "CD-2": "context dependence, a block of 2 x 2 pairs of features left out",
        "CD-3": "context dependence, a block of 3 x 3 pairs of features left out",
        "NNGP": "kernel of a wide random network of which only the readout is trained",
        "NTK": "neural tangent kernel: all layers of a wide network are trained",
        "S(1;2)": "salience of single items among pairs",
        "SVC": "support vector classifier",
    },
)
