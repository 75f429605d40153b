"""What the paper states and shows, each with the claims that judge it."""

from __future__ import annotations

from recombine.lab.papers.paper import PaperPanel

CHECKLIST: tuple[PaperPanel, ...] = (
    PaperPanel("Abstract", "the bias toward solutions that do not compose is caused by gradient descent", ("23a",)),
    PaperPanel(
        "Abstract",
        "architecture alone is unlikely to achieve compositionality",
        ("23b",),
        "architectures made for composition",
    ),
    PaperPanel("Section 3", "a model composes if output i depends on component i alone", ("5a", "19b")),
    PaperPanel("Section 3", "a lower loss raises I(Y; prediction)", ("22",), "of digits, whose losses were not kept"),
    PaperPanel("Proposition 1", "information is positive if and only if the derivative is not zero", ("15",)),
    PaperPanel(
        "Proposition 2", "if I(Y; prediction) rises, I(X; prediction) is positive", ("28",), "an identity, tested"
    ),
    PaperPanel("Proposition 3", "an input that tells about the loss gets a derivative", ("6a",)),
    PaperPanel("Proposition 4", "so does each component of the input", ("6a", "5a")),
    PaperPanel("Proposition 5", "of several outputs each depends on the components of the others", ("19a", "19b")),
    PaperPanel(
        "Theorem 1", "stated without an experiment", (), "what it says of trained networks is in the propositions"
    ),
    PaperPanel(
        "Theorem 2", "stated without an experiment", (), "what it says of trained networks is in the propositions"
    ),
    PaperPanel("Section 4", "the argument is local and linear, about early training", ("12",), "linear model of ours"),
    PaperPanel(
        "Section 5.1", "the network has three convolutions", ("27",), "on enlarged digits; the released code has two"
    ),
    PaperPanel("Figure 3a", "A fits and fails on other pairs, B does not fail", ("1",)),
    PaperPanel("Figure 3a", "A trains faster", ("2",)),
    PaperPanel("Figure 3a", "A generalises worse from early on", ("3",)),
    PaperPanel("Figure 3a, caption", "gradient descent uses the second input to train faster", ("2", "5a")),
    PaperPanel("Section 5.2", "the encoder has 16 units", ("21",), "B1 and B2; steps after the 500th"),
    PaperPanel("Section 5.2", "B: action words at random (B3)", ("8",)),
    PaperPanel("Appendix, SCAN", "B: 'jump' replaced by other words (B2)", ("8",)),
    PaperPanel("Released scripts", "B: every command once (B1)", ("8",)),
    PaperPanel("Table 1", "six examples of commands", (), "no claim: a test has four; two use a word that SCAN lacks"),
    PaperPanel("Figure 3b", "A learns its training rows and none of the test", ("8",)),
    PaperPanel("Figure 3b", "A trains faster at first", ("9a",)),
    PaperPanel("Figure 3b, caption", "gradient descent uses the second input to train faster", ("9b",)),
    PaperPanel("Figure 4", "samples seen and held out", ("29",), "of our samples; the figure's are not released"),
    PaperPanel("Figure 5", "the first epoch pushes the boundary to the middle of the unseen quadrant", ("11c",)),
    PaperPanel("Figure 5", "after that little changes", ("11d",)),
    PaperPanel("Figure 5", "after 1,024 epochs part of the quadrant is wrong", ("11a",)),
    PaperPanel("Figure 6", "other first weights end alike", ("11a", "11d"), "the authors' own seeds"),
    PaperPanel("Appendix C", "the network has two output nodes", ("20",)),
    PaperPanel("Text, on the cause", "it is not due to how the gradient is computed", ("17", "20"), "other optimisers"),
)
