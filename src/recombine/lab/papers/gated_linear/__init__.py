"""The implicit bias of gradient descent on gated linear networks (Lippl, Abbott & Chung 2022): experiments and claims.

Where gates do not depend on trained weights, training ends in a maximum-margin classifier under a norm that the
architecture decides. Here those limits are solved exactly, with certificates, and put beside trained networks, beside
the authors' result files, and on the authors' own images and contexts, drawn again from their seeds.
"""

from __future__ import annotations

from recombine.lab.papers.paper import Paper

PAPER = Paper(
    name="gated-linear",
    title="The implicit bias of gradient descent on generalized gated linear networks",
    citation="Lippl, Abbott and Chung, 2022 (arXiv 2202.02649v1)",
    package=__name__,
    words={
        "gated linear network (GLN)": "a network whose input decides, by fixed gates, which weights act on it",
        "context": "what the gates of a unit say of an input; s hyperplanes make 2^s contexts",
        "zeta": "readout times hidden weights, by unit and context",
        "effective weights": "what multiplies the input in a joint context of all units: the sum of their zeta",
        "group norm": "over units, the sum of the root of the summed squares of a unit's zeta",
        "SVM-GLN": "the function of largest margin under the group norm: the limit of training two layers",
        "SVM-L2": "the same under the L2 norm of all effective weights: the architecture without its implicit bias",
        "as published": "by the formula of the released code, which differs from the norm it is named after",
        "inconsistency": "share of validation images on which limit and trained network differ",
        "chance": "what classifiers of these errors differ on if their mistakes are unrelated",
        "median thresholds": "each hyperplane halves the images; random ones are drawn from a normal distribution",
        "toy, G1": "the sixteen points of Fig. 1, and ten points of ours whose limit switches a unit off",
        "hard margin": "all training samples on the right side; where the architecture cannot, there is no limit",
    },
)
