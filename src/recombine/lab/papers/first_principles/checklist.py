"""What the paper states and shows, each with the claims that judge it."""

from __future__ import annotations

from recombine.lab.papers.paper import PaperPanel

TABLE, NOTEBOOK = "table of results", "released notebook"
ON_BLOBS = "small networks on blobs of 12 pixels"
SHORTER = "600 steps, one weight of the penalty"
NO_WEIGHTS = "the weights of networks of the paper's length were not kept"

CHECKLIST: tuple[PaperPanel, ...] = (
    PaperPanel("Definition 1", "compositional representation", (), "a definition, used throughout"),
    PaperPanel("Definition 2", "compositional support: every value of every slot was seen", ("6b",)),
    PaperPanel("Definition 3", "sufficient support: stacked Jacobians of full rank", ("7a", "6b")),
    PaperPanel("Theorem 1", "both conditions are enough", ("14", "13a")),
    PaperPanel(
        "Theorem 1, A1",
        "what a rule or renderer that is not differentiable costs",
        ("43",),
        f"a renderer in steps, no such rule; {ON_BLOBS}",
    ),
    PaperPanel("Theorem 1, A2", "a gap in one slot's values", ("4a",)),
    PaperPanel("Theorem 1, A3", "too few anchors leave something open", ("7a", "8a")),
    PaperPanel("Theorem 1, A4", "components known at one point", ("14",)),
    PaperPanel("Theorem 1", "the rule is known", ("42",), f"a wrong rule, not an unknown one; {ON_BLOBS}"),
    PaperPanel("Section on theory", "the conditions are not necessary", ("7b", "10")),
    PaperPanel("Section on theory", "for addition one connected set of pairs is enough", ("13b",)),
    PaperPanel(
        "Section on theory", "stacked slots need no variability", ("16a",), "a plain network's score is not reproduced"
    ),
    PaperPanel("Section on theory", "soft occlusion has full rank with one anchor", ("7b",)),
    PaperPanel("Section on theory", "alpha compositing never has full rank", ("7a",)),
    PaperPanel("Figure of supports", "random, orthogonal, diagonal, gap", ("6b",)),
    PaperPanel("Figure of supports", "which pixels a support leaves open", ("7a", "6")),
    PaperPanel(TABLE, "Random, compositional", ("1", "23")),
    PaperPanel(TABLE, "Random, monolithic", ("1", "23")),
    PaperPanel(TABLE, "Orthogonal, compositional", ("2", "23")),
    PaperPanel(TABLE, "Orthogonal, monolithic", ("2", "23")),
    PaperPanel(TABLE, "Orthogonal Normal", ("3", "23"), "four of five seeds"),
    PaperPanel(TABLE, "Orthogonal+", ("21", "23")),
    PaperPanel(TABLE, "Orthogonal*", ("8a", "23")),
    PaperPanel(TABLE, "Orthogonal Gap", ("4a", "4d", "23")),
    PaperPanel(TABLE, "Diagonal 0.2", ("3", "23")),
    PaperPanel(TABLE, "Diagonal 0.1", ("21", "23", "24")),
    PaperPanel(TABLE, "Diagonal 0.05", ("5a", "23", "24")),
    PaperPanel(TABLE, "Orthogonal, RGBa", ("10",)),
    PaperPanel(TABLE, "order of the rows", ("21",)),
    PaperPanel(TABLE, "standard deviations over seeds", ("20",), "four seeds of five on some rows"),
    PaperPanel(TABLE, "two outcomes on the narrow diagonal", ("5b",)),
    PaperPanel(TABLE, "RGBa has three of five seeds", ("9a", "9b")),
    PaperPanel(TABLE, "which images were trained and scored on", ("17",)),
    PaperPanel("Figure of reconstructions", "on the support", ("2",), "pictures are of short runs: " + NO_WEIGHTS),
    PaperPanel("Figure of reconstructions", "any combination", ("2",), "pictures are of short runs: " + NO_WEIGHTS),
    PaperPanel("Map of errors", "a band at the gap", ("4a",), "the map itself is of a short run: " + NO_WEIGHTS),
    PaperPanel("Map of errors", "the same for every x of the other sprite", ("4b",)),
    PaperPanel("Map of errors", "45 panels over all pairs of latents", ("45",), f"15 panels; {ON_BLOBS}"),
    PaperPanel("Discussion", "does an inductive bias close a gap", ("44",), f"shared components; {ON_BLOBS}"),
    PaperPanel("Discussion", "without supervision; real data", (), "not tried"),
    PaperPanel(NOTEBOOK + " rank_condition", "the opacity of a back sprite has no effect on an opaque canvas", ("7a",)),
    PaperPanel(NOTEBOOK + " numerical_simulation", "exact diagonal", ("16a",)),
    PaperPanel(NOTEBOOK + " numerical_simulation", "orthogonal", ("16b",)),
    PaperPanel(NOTEBOOK + " numerical_simulation", "random, and small training sets", ("16a", "16c")),
    PaperPanel(NOTEBOOK + " regularizers", "penalties that push a plain network to compose", ("46",), SHORTER),
    PaperPanel(NOTEBOOK + " hessian", "a penalty on second derivatives", ("47",), SHORTER),
)
