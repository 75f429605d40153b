"""What the paper states and shows, each with the claims that judge it.

Theorems, propositions and sections are numbered as in the ICLR version, figures as in version 2 unless it says ICLR.
"""

from __future__ import annotations

from recombine.lab.papers.paper import PaperPanel

_ON_DIGITS = "small networks on 8x8 digits"

_THEOREMS = (
    PaperPanel("Theorem 4.2", "kernel models are sums of seen conjunctions on unseen cells", ("1", "1b")),
    PaperPanel("Section 4", "transitive equivalence cannot be learned by any kernel", ("9a",)),
    PaperPanel("Section 4", "transitive ordering can", ("10",)),
    PaperPanel("Section 4", "context dependence is in reach, through context and feature together", ("33",)),
    PaperPanel(
        "Proposition 4.1", "wide random networks keep the structure of their inputs", ("2b",), "two factors, ReLU"
    ),
    PaperPanel("Proposition B.2", "depth makes a lookup table", ("3",)),
    PaperPanel("Proposition 5.1, equation 3", "sums shrink by p S / (1 + (p - 2) S)", ("4", "5")),
    PaperPanel("Proposition 5.1", "interpolation and extrapolation shrink alike", ("6",)),
    PaperPanel("Section 5.2", "one inequality says which kernels take the shortcut", ("11",)),
    PaperPanel("Appendix A.5", "sums of conjunctions in expectation over random assignments", ("56",), "anchor sets"),
    PaperPanel("Appendix C", "a learned disentangled representation", (), "not run; its setup is not released"),
    PaperPanel(
        "Appendix E.2.3", "tasks that no sum expresses, and what kernels do there", ("18",), "one such task of the code"
    ),
)
_SMALL = (
    PaperPanel("Figure 2", "salience by depth and activation", ("3",)),
    PaperPanel("Figure 3a", "the leak by salience and anchors", ("4",)),
    PaperPanel("Figure 3b", "item values of a kernel", ("4",)),
    PaperPanel(
        "Figure 3d", "which kernels solve context dependence", ("11",), "650 published points were compared, not kept"
    ),
    PaperPanel("Figure 3e", "what a failing and a working kernel lean on", ("24",)),
    PaperPanel("Figure 7b", "error of dispersed addition by salience", ("17",)),
    PaperPanel("Figure 7a, c", "item values on dispersed sets", ("57",), "direction; drawn without numbers"),
    PaperPanel("Figure 8a", "additivity by initial scale", ("44",), "25 drawn means of 28"),
    PaperPanel(
        "Figure 8b", "similarity of cells before and after training", ("36",), "medians and spread, not the densities"
    ),
    PaperPanel(
        "Figure 8c",
        "item values of lazy and rich networks",
        ("8",),
        "slopes of three sets; the asymmetric curve is not judged",
    ),
    PaperPanel("Figure 8e", "additivity by depth", ("45",)),
    PaperPanel("Figure 8f", "item values by depth", ("27",), "extrapolation alone"),
    PaperPanel("Figure 11", "what deep networks lean on", ("26",), "claim 43 has the sixty bars"),
    PaperPanel("Figure 14", "deep networks on transitive equivalence", ("28",), "ends, not the time course"),
    PaperPanel("Figure 5a", "accuracy of lazy and rich networks on equivalence", ("9b",), "ends, not the time course"),
    PaperPanel("Figure 5", "four types of unit", ("34a",)),
    PaperPanel("Figure 5", "weights of equivalent items are equal, others opposite", ("34b",)),
)
_IMAGES = (
    PaperPanel("Figure 4", "untrained salience rises with distance", ("30",)),
    PaperPanel("Figure 4", "slopes rise with distance", ("15a",)),
    PaperPanel("Figure 5d", "ConvNets on equivalence, four anchors per class", ("29",), "25 of 50 networks"),
    PaperPanel("Figure 5d", "ConvNets on equivalence, one anchor per class", ("59",), _ON_DIGITS),
    PaperPanel("Figure 9a", "squared errors of sums by distance", ("15d", "46")),
    PaperPanel("Figure 9b", "additivity of sums by distance", ("39b",)),
    PaperPanel("Figure 9c", "slopes of item values", ("15e",), "two distances, two sets"),
    PaperPanel("Figure 9c", "two anchors shrink less than one", ("15b",)),
    PaperPanel("Figure 10a", "squared errors on CIFAR", ("47",), "the last epoch, three sets of four"),
    PaperPanel("Figure 10b", "additivity on CIFAR", ("48",), "three sets of four"),
    PaperPanel("Figure 10c", "item values on CIFAR", ("16a",), "30 of 80 networks; the asymmetric set was not run"),
    PaperPanel("Figure 12a", "accuracy on CD-1, CD-2 and CD-3 by distance", ("14",), "205 of 300 networks"),
    PaperPanel("Figure 12b", "additivity of context dependence by distance", ("39a",), "both ends"),
    PaperPanel("Figure 12c", "what ConvNets lean on", ("32",), "context over the right pair on CD-3; 15 of 75 bars"),
    PaperPanel("Figure 13a", "accuracy on CIFAR", ("16b", "49"), "the last epoch, 30 of 60 networks"),
    PaperPanel("Figure 13b", "additivity of context dependence on CIFAR", ("50",)),
    PaperPanel("Figure 13c", "what networks on CIFAR lean on", ("51",), "context over the right pair; 12 of 30 bars"),
    PaperPanel(
        "ICLR figure 5c",
        "slopes of ResNet and ViT by distance",
        ("60",),
        f"{_ON_DIGITS}; settings are not released",
    ),
    PaperPanel(
        "ICLR figure 5d", "slopes by the number of anchors", ("35",), "one-hot inputs, not the ConvNets of the figure"
    ),
)

CHECKLIST: tuple[PaperPanel, ...] = _THEOREMS + _SMALL + _IMAGES
