"""What the paper states and shows, each with the claims that judge it.

From the abstract, the captions of figures 1 to 6, 8, 9 and 11 of the NeurIPS paper, and the figures and files that its
authors released; of figures 7 and 10 and of the text's theorems nothing was at hand.
"""

from __future__ import annotations

from recombine.lab.papers.paper import PaperPanel

ON_DIGITS = "small networks on 8x8 digits, few samples; CIFAR-100 as released needs a GPU"
GPU = "needs a GPU"
FEW_SEEDS = "three seeds of 50"
ANSATZ = "an ansatz of weight decay"
THREE_SEEDS = "three seeds, 300 of 1000 units; how the paper weighs units is not known"

CHECKLIST: tuple[PaperPanel, ...] = (
    PaperPanel("Abstract 1", "both ways are biased to reuse features", ("29a", "29d")),
    PaperPanel("Abstract 1", "both ways are biased to few new features", ("26a", "26b"), "diagonal MTL"),
    PaperPanel(
        "Abstract 1", "order and feature dependence trade off (a conservation law)", ("5b",), "an identity, tested"
    ),
    PaperPanel("Abstract 2", "PT+FT has a nested regime, neither lazy nor rich", ("11", "12a", "12b")),
    PaperPanel(
        "Abstract 2", "that regime is much narrower for MTL", ("6", "14c"), "only its order, and one ReLU sweep"
    ),
    PaperPanel("Abstract 3", "PT+FT of ReLU networks benefits from correlated features", ("30a", "13a")),
    PaperPanel("Abstract 3", "MTL of ReLU networks does not", ("30b",)),
    PaperPanel("Abstract", "rescaling after pretraining elicits the nested regime", ("11", "14d", "16b")),
    PaperPanel(
        "Abstract", "rescaling improves accuracy where it shows signatures of nested selection", ("32",), FEW_SEEDS
    ),
    PaperPanel("Abstract, version 1", "MTL is better with little data, PT+FT with more", ("25a", "25b", "25c")),
    PaperPanel("Figure 1a", "explicit penalty of MTL", ("8a", "8b", "6"), "not by size of beta"),
    PaperPanel("Figure 1b", "implicit penalty of PT+FT, diagonal networks", ("3b", "3c", "3d", "28")),
    PaperPanel("Figure 1c", "explicit penalty of PT+FT, ReLU networks, by cosine", ("38a",), ANSATZ),
    PaperPanel("Figure 2a", "few new features are easier, diagonal: PT+FT", ("26a",), "five of six numbers of samples"),
    PaperPanel("Figure 2a", "few new features are easier, diagonal: MTL", ("42",), "by its penalty, not trained"),
    PaperPanel("Figure 2b", "few new units are easier, ReLU: PT+FT, MTL", ("26b",), "64 samples alone"),
    PaperPanel("Figure 2c", "all features shared, diagonal: both better than a single task", ("29d", "9a", "9b")),
    PaperPanel("Figure 2c", "all features shared, diagonal: tangent kernel", ("39",), "theory"),
    PaperPanel("Figure 2d", "all units shared, ReLU: both better than a single task", ("29a",)),
    PaperPanel("Figure 2d", "all units shared: MTL ahead with few samples", ("13b", "27d")),
    PaperPanel("Figure 2d", "all units shared: PT+FT ahead with 128 samples", ("13c", "13e", "27e")),
    PaperPanel("Figure 2d", "all units shared: linear probe ahead with few samples", ("24a",)),
    PaperPanel("Figure 2e", "overlapping features, diagonal: benefit and new features", ("29e", "29f", "10")),
    PaperPanel("Figure 2f", "overlapping units, ReLU: benefit and new units", ("29b", "29c", "24b")),
    PaperPanel("Figure 3a", "order by auxiliary coefficient: PT+FT above MTL", ("6",)),
    PaperPanel("Figure 3a", "feature dependence by auxiliary coefficient", ("5b",), "as the rest to one"),
    PaperPanel("Figure 3b", "subsets of known features, diagonal: PT+FT", ("11",), "64 samples alone"),
    PaperPanel("Figure 3b", "subsets of known features, diagonal: MTL", ("40",), "64 samples alone"),
    PaperPanel("Figure 3c", "subsets of known features, rescaled weights", ("11", "21b", "21c")),
    PaperPanel("Figure 3d", "order and feature dependence, ReLU penalties", ("38b",), ANSATZ),
    PaperPanel("Figure 3e", "subsets of known units, ReLU: PT+FT", ("14a",), "64 samples alone"),
    PaperPanel("Figure 3e", "subsets of known units, ReLU: MTL", ("14c",), "64 samples alone"),
    PaperPanel("Figure 3f", "subsets of known units, weights times 10", ("14b",), "64 samples alone"),
    PaperPanel(
        "Figure 3f", "subsets of known units, weights times 0.1", ("14d",), "64 samples alone; a hundredth, 100 times"
    ),
    PaperPanel("Figure 4a", "cosine 0.9: PT+FT outperforms MTL and a single task", ("30a", "13a")),
    PaperPanel("Figure 4b", "PT+FT only outperforms if identical in direction or magnitude", ("20",)),
    PaperPanel("Figure 5a", "ResNet-18: accuracy of MTL and PT+FT", ("25b",), "the order of all three at each n"),
    PaperPanel(
        "Figure 5a", "ResNet-18: single task", ("37a",), "from 200 samples: with fewer, test-time statistics decide"
    ),
    PaperPanel("Figure 5b", "ResNet-18: an eighth of the weights", ("41a",), f"{ON_DIGITS}; 15a has another protocol"),
    PaperPanel("Figure 5b", "ResNet-18: a quarter of the weights", ("41b",), ON_DIGITS),
    PaperPanel("Figure 5b", "ResNet-18: half of the weights", ("41c", "15d"), f"{ON_DIGITS}; 15d has another protocol"),
    PaperPanel("Figure 5b", "ResNet-18: twice the weights", ("41d",), ON_DIGITS),
    PaperPanel("Figure 5c", "ResNet-18: dimensions of the last stage", ("16b", "16c", "16d")),
    PaperPanel("Figure 5c", "ResNet-18: dimensions of the other layers", ("16e",), FEW_SEEDS),
    PaperPanel("Figure 5d", "ViT: accuracy of MTL and PT+FT", ("25c",), f"more than few samples; {GPU}"),
    PaperPanel("Figure 5d", "ViT: single task", ("37b",), FEW_SEEDS),
    PaperPanel("Figure 5e", "ViT: no rescaling helps", ("15b",), FEW_SEEDS),
    PaperPanel("Figure 5f", "ViT: dimensions by block", ("16f",), "one block of seven"),
    PaperPanel("Figure 6a", "teachers of many units", (), f"40 units: {GPU}"),
    PaperPanel("Figure 6b", "teachers of 40 units by overlap, tangent kernel", (), GPU),
    PaperPanel("Figure 8a", "sparsity of hidden units, single task (k-means inertia)", ("35a",), THREE_SEEDS),
    PaperPanel("Figure 8b", "alignment with the teacher, single task", ("35b",), THREE_SEEDS),
    PaperPanel("Figure 8c", "inertia after PT+FT", ("35c",), THREE_SEEDS),
    PaperPanel("Figure 8d", "inertia after MTL", ("35d",), THREE_SEEDS),
    PaperPanel("Figure 8e", "alignment of MTL, PT+FT and a single task", ("35e",), THREE_SEEDS),
    PaperPanel("Figure 8f", "inertia by rescaling", ("35f",), THREE_SEEDS),
    PaperPanel("Figure 8g", "alignment by rescaling", ("35g",), THREE_SEEDS),
    PaperPanel(
        "Figure 9a", "five known or new features, diagonal, by rescaling", ("12a", "12b"), "whether the ratio shrinks"
    ),
    PaperPanel("Figure 9b", "one known or new unit, ReLU, by rescaling", ("31",)),
    PaperPanel("Figure 11a", "dimensions of ReLU students", ("36a",), THREE_SEEDS),
    PaperPanel("Figure 11b", "dimensions of ReLU students by rescaling", ("36b",), THREE_SEEDS),
    PaperPanel("Figure 11c", "dimensions before and after, and shared, ReLU", ("36c",), THREE_SEEDS),
    PaperPanel("Figure 11d", "the same of ResNet-18 by layer", ("16e",), "two of five factors"),
    PaperPanel("Figures 7, 10", "captions not at hand", (), "unknown what they show; no run can decide it"),
    PaperPanel("Result files", "losses of single tasks, seed by seed", ("27a", "17")),
    PaperPanel("Result files", "losses of PT+FT, seed by seed", ("27b", "28")),
    PaperPanel("Result files", "nothing shared: a single task is better", ("10",)),
)
