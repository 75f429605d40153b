"""What the paper states and shows, each with the claims that judge it."""

from __future__ import annotations

from recombine.lab.papers.paper import PaperPanel

CHECKLIST: tuple[Panel, ...] = (
    Panel("Abstract", "the bias toward solutions that do not compose is caused by gradient descent", ("23a",)),
    Panel(
        "Abstract",
        "architecture alone is unlikely to achieve compositionality",
        ("23b",),
        "architectures made for composition",
    ),
    Panel("Section 3", "a model composes if output i depends on component i alone", ("5a", "19b")),
    Panel("Section 3", "a lower loss raises I(Y; prediction)", ("22",), "of digits, whose losses were not kept"),
    Panel("Proposition 1", "information is positive if and only if the derivative is not zero", ("15",)),
    Panel("Proposition 2", "if I(Y; prediction) rises, I(X; prediction) is positive", (), "true of any numbers"),
    Panel("Proposition 3", "an input that tells about the loss gets a derivative", ("6a",)),
    Panel("Proposition 4", "so does each component of the input", ("6a", "5a")),
    Panel("Proposition 5", "of several outputs each depends on the components of the others", ("19a", "19b")),
    Panel("Theorem 1", "stated without an experiment", (), "what it says of trained networks is in the propositions"),
    Panel("Theorem 2", "stated without an experiment", (), "what it says of trained networks is in the propositions"),
    Panel("Section 4", "the argument is local and linear, about early training", ("12",), "linear model of ours"),
    Panel(
        "Section 5.1", "the network has three convolutions", (), "not run: the released code has two, and so have we"
    ),
    Panel("Figure 3a", "A fits and fails on other pairs, B does not fail", ("1",)),
    Panel("Figure 3a", "A trains faster", ("2",)),
    Panel("Figure 3a", "A generalises worse from early on", ("3",)),
    Panel("Figure 3a, caption", "gradient descent uses the second input to train faster", ("2", "5a")),
    Panel("Section 5.2", "the encoder has 16 units", ("21",), "B1 and B2; steps after the 500th"),
    Panel("Section 5.2", "B: action words at random (B3)", ("8",)),
    Panel("Appendix, SCAN", "B: 'jump' replaced by other words (B2)", ("8",)),
    Panel("Released scripts", "B: every command once (B1)", ("8",)),
    Panel("Table 1", "six examples of commands", (), "no claim: a test has four; two use a word that SCAN lacks"),
    Panel("Figure 3b", "A learns its training rows and none of the test", ("8",)),
    Panel("Figure 3b", "A trains faster at first", ("9a",)),
    Panel("Figure 3b, caption", "gradient descent uses the second input to train faster", ("9b",)),
    Panel("Figure 4", "samples seen and held out", (), "nothing to judge: ours are drawn in a figure"),
    Panel("Figure 5", "the first epoch pushes the boundary to the middle of the unseen quadrant", ("11c",)),
    Panel("Figure 5", "after that little changes", ("11d",)),
    Panel("Figure 5", "after 1,024 epochs part of the quadrant is wrong", ("11a",)),
    Panel("Figure 6", "other first weights end alike", ("11a", "11d"), "the authors' own seeds"),
    Panel("Appendix C", "the network has two output nodes", ("20",)),
    Panel("Text, on the cause", "it is not due to how the gradient is computed", ("17", "20"), "other optimisers"),
)
