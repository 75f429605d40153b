"""Gradient descent resists compositionality (Li et al. 2020): experiments, claims, figures.

An output that one input component decides can still come to depend on another that is redundant in training. Three
comparisons: in setting A the redundant component helps in training and misleads in the test; in setting B it is random
in training. What depends on what is measured as information beyond chance and as a share of the gradient.
"""

from __future__ import annotations

from recombine.lab.papers.paper import Paper

PAPER = Paper(
    name="gradient-resists",
    title="Gradient descent resists compositionality",
    citation="Li, Zhao, Hestness, Church and Elhoseiny, 2020",
    package=__name__,
    words={
        "SCAN": "a made-up language of commands such as 'jump twice and walk left', with the actions they ask for",
        "MNIST": "handwritten digits of 28 x 28 pixels, 60,000 to train on and 10,000 to test",
    },
)
