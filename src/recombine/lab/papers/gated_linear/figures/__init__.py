"""All figures of the paper, in the order they are shown."""

from __future__ import annotations

from recombine.lab.papers.gated_linear.figures import (
    authors,
    gains,
    one_layer,
    relu,
    scatter,
    small_problems,
    two_layers,
)

FIGURES = (
    *authors.FIGURES,
    *small_problems.FIGURES,
    *scatter.FIGURES,
    *two_layers.FIGURES,
    *one_layer.FIGURES,
    *relu.FIGURES,
    *gains.FIGURES,
)
