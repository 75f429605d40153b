"""Which kernels take the shortcut in context dependence, and what the loss has to do with it."""

from __future__ import annotations

from recombine.lab.papers.bounds import Above, AtMost, Is
from recombine.lab.papers.claims import Claim
from recombine.lab.papers.kernel_theory.claims.themes import SHORTCUT
from recombine.lab.papers.kernel_theory.readings import context

CLAIMS = (
    Claim(
        "11",
        "On CD-k a kernel gets all unseen cells right or none, and one inequality says which.",
        says="follows from the paper",
        source="section 5.2 and figure 3d (the diagram of kernels); the inequality is ours",
        reads="phase",
        measure=context.phases,
        expect={"kernels that disagree": Is(0), "accuracies in between": Is(0), "kernels of CD-3": Above(100)},
        theme=SHORTCUT,
        figure="phase",
        risk="Compared with our own closed form. All 650 published points agreed too; they are not kept here.",
    ),
    Claim(
        "12",
        "Wide random ReLU networks to depth 5 take the shortcut on CD-3 under the hard margin, not under squared loss.",
        says="ours",
        source="the hard margin is that of figure 3d",
        reads="by-depth",
        measure=context.margins_by_depth,
        expect={"right under the hard margin": Is(0), "wrong under squared loss": Is(0)},
        theme=SHORTCUT,
        figure="phase",
        exploratory=True,
    ),
    Claim(
        "22",
        "The loss decides too: many kernels take the shortcut on CD-3 under the hard margin, not under squared loss.",
        says="ours",
        source="figure 3d shows the hard margin",
        reads="phase",
        measure=context.sides_taken,
        expect={"kernels that change sides": Above(0.01, "%"), "only under the hard margin": Is(0)},
        theme=SHORTCUT,
        figure="phase",
        exploratory=True,
        risk="Both fits are exact. The paper does not say that the loss is irrelevant: it draws one loss.",
    ),
    Claim(
        "24",
        "On CD-3 the failing kernel (ReLU depth 3) leans on context, the working one (quadratic) on the right pair.",
        says="paper",
        source="figure 3e",
        reads="conjunctions",
        measure=context.leaned_on,
        expect={"failing and working": Is(("context", "right"))},
        theme=SHORTCUT,
        figure="kinds",
        exploratory=True,
        risk="The order of the bars is judged, for the models' own values; claim 42 has their heights.",
    ),
    Claim(
        "42",
        "The heights of these bars are those of conjunctions that give the predicted labels.",
        says="ours",
        source="figure 3e has the bars; that labels were fitted, not outputs, is our reading",
        reads="conjunctions",
        measure=context.published_bars,
        expect={"labels, off by at most": AtMost(0.006)},
        theme=SHORTCUT,
        figure="kinds",
        exploratory=True,
        risk="Tried after outputs had not given them. All kernels that solve a task have the same labels.",
    ),
)
