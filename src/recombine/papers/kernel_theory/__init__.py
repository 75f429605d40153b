"""Kernel theory of compositional generalization (Lippl & Stachenfeld, ICLR 2025): experiments, claims, figures.

A model whose similarity of two cells depends only on what they share is a sum over seen conjunctions. What it says of
unseen cells then follows from the salience of each order: how much it shrinks sums (memorization leak) and whether it
falls for context (shortcut). Here kernels are solved exactly and networks are trained to see whether they follow.
"""

from __future__ import annotations

from recombine.papers.paper import Paper

PAPER = Paper(
    name="kernel-theory",
    title="When does compositional structure yield compositional generalization? A kernel theory",
    citation="Lippl and Stachenfeld, ICLR 2025",
    package=__name__,
)
