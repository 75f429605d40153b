"""First principles: claims about the two ways to train decoders, alone and in a batch, which must not matter."""

from __future__ import annotations

from recombine.lab.papers.bounds import AtLeast, AtMost, Below
from recombine.lab.papers.claims import Claim
from recombine.lab.papers.first_principles.readings import routes

THEME = "Alone and in a batch"

CLAIMS = (
    Claim(
        "40a",
        "Step by step a decoder trained in a batch drifts from the same one trained alone as slowly as one whose first "
        "weights are rounded otherwise.",
        says="ours",
        source="a bar of ours, set before the runs",
        reads="route-steps",
        measure=routes.drifts,
        expect={"drift in a batch / rounded otherwise": AtMost(10, "x")},
        theme=THEME,
        risk="One seed on two bands. In results/decoders/routes.json, of another seed and known when the bar was set, "
        "it is 0.65 in float32 and 1.4 in bfloat16.",
    ),
    Claim(
        "40b",
        "On narrow bands as many decoders lose a slot when trained alone as in batches of three.",
        says="ours",
        source="a bar of ours, set before the runs: below 0.01 the two ways count as different",
        reads="routes",
        measure=routes.lost_networks,
        expect={"p of Fisher's exact test": AtLeast(0.01)},
        theme=THEME,
        risk="80 networks a way and length: 4 lost against 16 would count as different, 4 against 15 would not. In "
        "results/decoders/routes.json, of other seeds, 5 of 39 are lost alone and 2 of 36 in batches, p = 0.43.",
    ),
    Claim(
        "48a",
        "Rounding and not the first weights decides which decoders lose a slot: seeds lost alone are not those lost "
        "in a batch.",
        says="ours",
        source="a bar of ours, set when only counts were known: below 0.01 the same seeds are lost",
        reads="routes",
        measure=routes.seeds_lost_both_ways,
        expect={"p of as many by chance": AtLeast(0.01)},
        theme=THEME,
        risk="Few networks are lost. More are lost both ways than chance has on average, so that first weights may "
        "well have a part; they do not decide alone.",
    ),
    Claim(
        "48b",
        "A short training of 3,300 steps warns of the seeds that lose a slot within 19,600.",
        says="ours",
        source="a bar of ours, set when only counts were known: at least 0.01 is no warning",
        reads="routes",
        measure=routes.short_losses_as_warning,
        expect={"p of as many by chance": Below(0.01)},
        theme=THEME,
        risk="Five networks are lost in the short training, so that few in common decide.",
    ),
)
