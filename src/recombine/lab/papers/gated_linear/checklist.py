"""What the paper states and shows, each with the claims that judge it.

Of the text the abstract was at hand; figures, panels and sweeps are those of the released scripts and result files.
"""

from __future__ import annotations

from recombine.lab.papers.paper import PaperPanel

NEVER_TRAINED = "the cost is checked, no network of this kind is trained"
FEWER_SHAPES = "on other images than the authors', whose networks were not trained here"

CHECKLIST: tuple[Panel, ...] = (
    Panel("Abstract", "training of gated linear networks has a limit that can be derived", ("1a",)),
    Panel("Theorem", "two layers: the largest margin under the group norm", ("1a",), "two small problems"),
    Panel("Theorem", "homogeneous polynomials of the parameters: the least norm that represents a function", ("7",)),
    Panel("Theorem", "what the flow conserves", ("2",)),
    Panel("Corollary", "units that share their contexts: the limit of one layer", ("6",)),
    Panel("Corollary", "deeper gated networks", ("7",), f"a chain of three layers; {NEVER_TRAINED}"),
    Panel("Corollary", "gated convolutions", ("7",), NEVER_TRAINED),
    Panel("Corollary", "weight sharing", (), "no cost derived, none trained; `own_margin` could search for it"),
    Panel("Corollary", "ReLU networks with frozen gates", ("14", "26")),
    Panel("Figure 1", "a gated problem of sixteen points and its solution", ("1a",)),
    Panel("Abstract", "theory predicts trained networks on MNIST", ("9a", "19")),
    Panel("Abstract", "architecture and implicit bias both affect accuracy", ("18", "23a")),
    Panel("Abstract", "frozen gates capture a good part of the bias of ReLU networks", ("14",)),
    Panel("Figure 2a", "error of SVM-GLN against that of networks", ("9a", "19"), FEWER_SHAPES),
    Panel("Figure 2a", "error of SVM-L2 against that of networks", ("19",), f"shown beside SVM-GLN; {FEWER_SHAPES}"),
    Panel("Figure 2b", "SVM-GLN disagrees with networks less often than SVM-L2", ("10a",), FEWER_SHAPES),
    Panel("Figure 2b", "how often SVM-GLN disagrees with networks", ("9a",), "10 units and 500 images"),
    Panel("Figure 2c", "best shape of two layers against one", ("13b",)),
    Panel("Figure 2c", "best shape of SVM-GLN against SVM-L2", ("23a",)),
    Panel("Figure 2c", "best shape of SVM-GLN against the trained network", (), "drawn (figure best), not judged"),
    Panel("Figure 2d", "SVM-GLN by number of units, median thresholds", ("20b",)),
    Panel("Figure 2d", "SVM-L2 by number of units", ("18",), "10 units; the others are drawn"),
    Panel("Figure 2d", "trained networks by number of units", (), f"drawn (figure units); {FEWER_SHAPES}"),
    Panel("Figure 3a", "error of three limits against that of ReLU networks", ("14",), "20 to 100 units"),
    Panel("Figure 3b", "how often three limits disagree with ReLU networks", ("14",), "20 to 100 units"),
    Panel("Figure 3c", "best shape of ReLU networks and of three limits", (), "drawn (figure best), not judged"),
    Panel("Figure 3c", "best shape of the trained gated network beside them", (), "drawn (figure best), not judged"),
    Panel("Figure 3d", "errors of ReLU networks and of three limits by units", ("14",), "their order"),
    Panel("Figure 3d", "errors of ReLU networks on the authors' images", ("20c",), "1 of 36 shapes"),
    Panel("Supplement", "one layer: limits by number of hyperplanes", ("20a",)),
    Panel("Supplement", "one layer: networks by number of hyperplanes", ("13a",), "median thresholds"),
    Panel("Supplement", "one layer: networks with random thresholds", (), "reported under 13a, without a bound"),
    Panel("Supplement", "two layers: random thresholds against medians", ("12",)),
    Panel("Supplement", "two layers: two hyperplanes in each unit", ("12", "20b")),
    Panel("Supplement", "two layers: networks of 500 and 1000 units", (), "not trained here"),
    Panel("Supplement", "ReLU networks without momentum", ("26",)),
    Panel("Result files", "largest margins on the gates alone", ("15a", "15b")),
    Panel("Result files", "bounds for one layer by leaving one out", (), "vacuous in the files; not computed"),
)
