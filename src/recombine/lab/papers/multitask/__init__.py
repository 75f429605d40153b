"""Inductive biases of multi-task learning and finetuning (Lippl & Lindsey, NeurIPS 2024): experiments, claims, figures.

A network that has learned an auxiliary task, or learns it at the same time, finds some features cheap. What it then
makes of a main task follows from a penalty: its order says whether few features are preferred, its feature dependence
whether known ones are. Here the penalties are minimised exactly, and networks are trained to see whether they follow.
"""

from __future__ import annotations

from recombine.lab.papers.paper import Paper

WORDS = {
    "PT+FT": "pretraining on an auxiliary task, then finetuning on the main one",
    "MTL": "multi-task learning, both tasks at once",
    "STL": "single-task learning, the main task alone",
    "PR": "participation ratio, the effective number of dimensions of a layer",
    "ENSD": "effective number of shared dimensions, of a layer before and after finetuning",
    "m, s": "what pretrained weights are multiplied by before finetuning: m hidden weights of diagonal networks, s all",
    "n": "number of samples of the main task; in captions of figures, number of seeds behind a mean",
}

PAPER = Paper(
    name="multitask",
    title="Inductive biases of multi-task learning and finetuning: multiple regimes of feature reuse",
    citation="Lippl and Lindsey, NeurIPS 2024",
    package=__name__,
    words=WORDS,
)
