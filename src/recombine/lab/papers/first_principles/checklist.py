"""What the paper states and shows, each with the claims that judge it."""

from __future__ import annotations

from recombine.lab.papers.paper import PaperPanel

TABLE, NOTEBOOK = "table of results", "released notebook"
NO_WEIGHTS = "the weights of networks of the paper's length were not kept"

CHECKLIST: tuple[Panel, ...] = (
    Panel("Definition 1", "compositional representation", (), "a definition, used throughout"),
    Panel("Definition 2", "compositional support: every value of every slot was seen", ("6b",)),
    Panel("Definition 3", "sufficient support: stacked Jacobians of full rank", ("7a", "6b")),
    Panel("Theorem 1", "both conditions are enough", ("14", "13a")),
    Panel("Theorem 1, A1", "what a rule or renderer that is not differentiable costs", (), "nothing was run"),
    Panel("Theorem 1, A2", "a gap in one slot's values", ("4a",)),
    Panel("Theorem 1, A3", "too few anchors leave something open", ("7a", "8a")),
    Panel("Theorem 1, A4", "components known at one point", ("14",)),
    Panel("Theorem 1", "the rule is known", (), "an unknown or wrong rule was not tried at the paper's size"),
    Panel("Section on theory", "the conditions are not necessary", ("7b", "10")),
    Panel("Section on theory", "for addition one connected set of pairs is enough", ("13b",)),
    Panel(
        "Section on theory", "stacked slots need no variability", ("16a",), "a plain network's score is not reproduced"
    ),
    Panel("Section on theory", "soft occlusion has full rank with one anchor", ("7b",)),
    Panel("Section on theory", "alpha compositing never has full rank", ("7a",)),
    Panel("Figure of supports", "random, orthogonal, diagonal, gap", ("6b",)),
    Panel("Figure of supports", "which pixels a support leaves open", ("7a", "6")),
    Panel(TABLE, "Random, compositional", ("1", "23")),
    Panel(TABLE, "Random, monolithic", ("1", "23")),
    Panel(TABLE, "Orthogonal, compositional", ("2", "23")),
    Panel(TABLE, "Orthogonal, monolithic", ("2", "23")),
    Panel(TABLE, "Orthogonal Normal", ("3", "23"), "three of five seeds"),
    Panel(TABLE, "Orthogonal+", ("21", "23")),
    Panel(TABLE, "Orthogonal*", ("8a", "23")),
    Panel(TABLE, "Orthogonal Gap", ("4a", "4d", "23")),
    Panel(TABLE, "Diagonal 0.2", ("3", "23")),
    Panel(TABLE, "Diagonal 0.1", ("21", "23", "24")),
    Panel(TABLE, "Diagonal 0.05", ("5a", "23", "24")),
    Panel(TABLE, "Orthogonal, RGBa", ("10",)),
    Panel(TABLE, "order of the rows", ("21",)),
    Panel(TABLE, "standard deviations over seeds", ("20",), "five seeds of each row: we have three or four"),
    Panel(TABLE, "two outcomes on the narrow diagonal", ("5b",), "five seeds: we have four"),
    Panel(TABLE, "RGBa has three of five seeds", ("9a", "9b")),
    Panel(TABLE, "which images were trained and scored on", ("17",)),
    Panel("Figure of reconstructions", "on the support", ("2",), "pictures are of short runs: " + NO_WEIGHTS),
    Panel("Figure of reconstructions", "any combination", ("2",), "pictures are of short runs: " + NO_WEIGHTS),
    Panel("Map of errors", "a band at the gap", ("4a",), "the map itself is of a short run: " + NO_WEIGHTS),
    Panel("Map of errors", "the same for every x of the other sprite", ("4b",)),
    Panel("Map of errors", "45 panels over all pairs of latents", (), "one panel is drawn: " + NO_WEIGHTS),
    Panel("Discussion", "does an inductive bias close a gap", (), "shared components were not tried"),
    Panel("Discussion", "without supervision; real data", (), "not tried"),
    Panel(NOTEBOOK + " rank_condition", "the opacity of a back sprite has no effect on an opaque canvas", ("7a",)),
    Panel(NOTEBOOK + " numerical_simulation", "exact diagonal", ("16a",)),
    Panel(NOTEBOOK + " numerical_simulation", "orthogonal", ("16b",)),
    Panel(NOTEBOOK + " numerical_simulation", "random, and small training sets", ("16a", "16c")),
    Panel(NOTEBOOK + " regularizers", "penalties that push a plain network to compose", (), "not run"),
    Panel(NOTEBOOK + " hessian", "a penalty on second derivatives", (), "not run"),
)
