"""What the paper states and shows, each with the claims that judge it.

Of the text the abstract was at hand; figures, panels and sweeps are those of the released scripts and result files.
"""

from __future__ import annotations

from recombine.lab.papers.paper import PaperPanel

NEVER_TRAINED = "the cost is checked, no network of this kind is trained"
ON_DIGITS = "8x8 digits stand in for MNIST"
FEWER_SHAPES = "on other images than the authors', whose networks were not trained here"

CHECKLIST: tuple[PaperPanel, ...] = (
    PaperPanel("Abstract", "training of gated linear networks has a limit that can be derived", ("1a",)),
    PaperPanel("Theorem", "two layers: the largest margin under the group norm", ("1a",), "two small problems"),
    PaperPanel(
        "Theorem", "homogeneous polynomials of the parameters: the least norm that represents a function", ("7",)
    ),
    PaperPanel("Theorem", "what the flow conserves", ("2",)),
    PaperPanel("Corollary", "units that share their contexts: the limit of one layer", ("6",)),
    PaperPanel("Corollary", "deeper gated networks", ("7",), f"a chain of three layers; {NEVER_TRAINED}"),
    PaperPanel("Corollary", "gated convolutions", ("7",), NEVER_TRAINED),
    PaperPanel("Corollary", "weight sharing", ("28",), "two layers, filters shared over three places; small problems"),
    PaperPanel("Corollary", "ReLU networks with frozen gates", ("14", "26")),
    PaperPanel("Figure 1", "a gated problem of sixteen points and its solution", ("1a",)),
    PaperPanel("Abstract", "theory predicts trained networks on MNIST", ("9a", "19")),
    PaperPanel("Abstract", "architecture and implicit bias both affect accuracy", ("18", "23a")),
    PaperPanel("Abstract", "frozen gates capture a good part of the bias of ReLU networks", ("14",)),
    PaperPanel("Figure 2a", "error of SVM-GLN against that of networks", ("9a", "19"), FEWER_SHAPES),
    PaperPanel(
        "Figure 2a", "error of SVM-L2 against that of networks", ("19",), f"shown beside SVM-GLN; {FEWER_SHAPES}"
    ),
    PaperPanel("Figure 2b", "SVM-GLN disagrees with networks less often than SVM-L2", ("10a",), FEWER_SHAPES),
    PaperPanel("Figure 2b", "how often SVM-GLN disagrees with networks", ("9a",), "10 units and 500 images"),
    PaperPanel("Figure 2c", "best shape of two layers against one", ("13b",)),
    PaperPanel("Figure 2c", "best shape of SVM-GLN against SVM-L2", ("23a",)),
    PaperPanel("Figure 2c", "best shape of SVM-GLN against the trained network", ("27a",), FEWER_SHAPES),
    PaperPanel("Figure 2d", "SVM-GLN by number of units, median thresholds", ("20b",)),
    PaperPanel("Figure 2d", "SVM-L2 by number of units", ("18",), "10 units; the others are drawn"),
    PaperPanel("Figure 2d", "trained networks by number of units", ("27b",), f"up to 100 units; {FEWER_SHAPES}"),
    PaperPanel("Figure 3a", "error of three limits against that of ReLU networks", ("14",), "20 to 100 units"),
    PaperPanel("Figure 3b", "how often three limits disagree with ReLU networks", ("14",), "20 to 100 units"),
    PaperPanel("Figure 3c", "best shape of ReLU networks and of three limits", ("27c",), "up to 100 units"),
    PaperPanel("Figure 3c", "best shape of the trained gated network beside them", ("27d",), FEWER_SHAPES),
    PaperPanel("Figure 3d", "errors of ReLU networks and of three limits by units", ("14",), "their order"),
    PaperPanel("Figure 3d", "errors of ReLU networks on the authors' images", ("20c",)),
    PaperPanel("Supplement", "one layer: limits by number of hyperplanes", ("20a",)),
    PaperPanel("Supplement", "one layer: networks by number of hyperplanes", ("13a",), "median thresholds"),
    PaperPanel("Supplement", "one layer: networks with random thresholds", ("27e",)),
    PaperPanel("Supplement", "two layers: random thresholds against medians", ("12",)),
    PaperPanel("Supplement", "two layers: two hyperplanes in each unit", ("12", "20b")),
    PaperPanel("Supplement", "two layers: networks of 500 and 1000 units", ("29",), ON_DIGITS),
    PaperPanel("Supplement", "ReLU networks without momentum", ("26",)),
    PaperPanel("Result files", "largest margins on the gates alone", ("15a", "15b")),
    PaperPanel(
        "Result files", "bounds for one layer by leaving one out", ("30",), f"by support vectors alone; {ON_DIGITS}"
    ),
)
