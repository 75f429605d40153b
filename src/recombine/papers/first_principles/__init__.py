"""Compositional generalization from first principles (Wiedemer et al., NeurIPS 2023): experiments, claims, figures.

If an image is composed from slots in a known way, a model that composes in the same way is determined on unseen
combinations once every value of every slot was seen, together with enough values of the others: the support is then
compositional and sufficient. Here the condition is tested as a rank, and decoders of sprites are trained on supports
that meet it and on some that do not.
"""

from __future__ import annotations

from recombine.papers.paper import Paper

PAPER = Paper(
    name="first-principles",
    title="Compositional generalization from first principles",
    citation="Wiedemer, Mayilvahanan, Bethge and Brendel, NeurIPS 2023",
    package=__name__,
)
