"""Gated linear networks: when does the group norm beat plain norms? Bounds were set before, or a claim says so."""

from __future__ import annotations

from recombine.lab.papers.bounds import ClearlyAbove
from recombine.lab.papers.claims import Claim
from recombine.lab.papers.gated_linear.readings import gains

BEFORE = "expected from errors on MNIST (144 problems on the authors' images), before these runs"
DIGITS = "One set of images, the bundled 8x8 digits."
TOY = "Normal inputs, and a teacher with the very gates of the machine."

CLAIMS = (
    Claim(
        "24a",
        "Where one of 20 units decides the labels, the group norm errs less than either plain L2 norm.",
        says="ours",
        source="expected from the norm, which selects units, before these runs",
        reads="teachers",
        measure=gains.one_unit_decides,
        expect={"gain over SVM-L2": ClearlyAbove(0), "gain over L2 on zeta": ClearlyAbove(0)},
        figure="gains",
        risk=TOY,
    ),
    Claim(
        "24b",
        "The gain of the group norm over L2 is larger where one unit decides than where all 20 do.",
        says="ours",
        source="expected from the norm, which selects units, before these runs",
        reads="teachers",
        measure=gains.gain_by_deciding,
        expect={"gain, one decides less all": ClearlyAbove(0)},
        figure="gains",
        risk=TOY,
    ),
    Claim(
        "24c",
        "Where all 20 units decide, plain L2 on the weights of units errs less than the group norm.",
        says="ours",
        source="measured here",
        reads="teachers",
        measure=gains.plain_where_all_decide,
        expect={"L2 on zeta errs less by": ClearlyAbove(0)},
        figure="gains",
        exploratory=True,
        risk=TOY,
    ),
    Claim(
        "25a",
        "On digits, with 10 units and balanced gates the group norm errs less than L2 on the effective weights.",
        says="ours",
        source=BEFORE,
        reads="balance",
        measure=gains.few_balanced_units,
        expect={"gain over SVM-L2": ClearlyAbove(0)},
        figure="gains",
        risk=DIGITS,
    ),
    Claim(
        "25b",
        "On digits the gain of the group norm is smaller where gates are shut on 95% of images than where they halve "
        "them.",
        says="ours",
        source=BEFORE,
        reads="balance",
        measure=gains.gain_by_balance,
        expect={"gain, median less nearly shut": ClearlyAbove(0)},
        figure="gains",
        risk=DIGITS,
    ),
    Claim(
        "25c",
        "On digits the gain of the group norm is smaller with 100 units than with 10.",
        says="ours",
        source=BEFORE,
        reads="balance",
        measure=gains.gain_by_units,
        expect={"gain, 10 units less 100": ClearlyAbove(0)},
        figure="gains",
        risk=DIGITS,
    ),
    Claim(
        "25d",
        "On digits plain L2 on the weights of units errs less than the group norm, over all shapes together.",
        says="ours",
        source="measured here",
        reads="balance",
        measure=gains.plain_on_images,
        expect={"L2 on zeta errs less by": ClearlyAbove(0)},
        figure="gains",
        exploratory=True,
        risk=DIGITS,
    ),
)
