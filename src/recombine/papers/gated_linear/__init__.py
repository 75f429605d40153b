"""The implicit bias of gradient descent on gated linear networks (Lippl, Abbott & Chung 2022): experiments and claims.

Where gates do not depend on trained weights, training ends in a maximum-margin classifier under a norm that the
architecture decides. Here those limits are solved exactly, with certificates, and put beside trained networks; three
defects of the published pipeline are repeated on purpose, next to the numbers without them.
"""

from __future__ import annotations

from recombine.papers.paper import Paper

PAPER = Paper(
    name="gated-linear",
    title="The implicit bias of gradient descent on generalized gated linear networks",
    citation="Lippl, Abbott and Chung, 2022",
    package=__name__,
)
