"""Multi-task learning and pretraining: claims of ours on the scale to finetune from, on inputs of real data."""

from __future__ import annotations

from functools import partial

from recombine.lab.papers.bounds import AtLeast, AtMost, Below, ClearlyAbove
from recombine.lab.papers.claims import Claim
from recombine.lab.papers.multitask.readings import atlas

SCALES = "Diagonal networks on real inputs: from which scale to finetune"
CHOSEN_APART = (
    "two sets judge; the rule's orders and the constants were chosen on two others. Inputs are real, tasks are drawn"
)

_atlas = partial(
    Claim,
    says="ours",
    source="our question; the orders of penalties are the paper's, the scale that gives them follows from its theory",
    reads="atlas",
    figure="atlas",
    theme=SCALES,
    risk=CHOSEN_APART,
)

CLAIMS = (
    _atlas(
        "33a",
        "Four scales win where theory says (all known features, few known, few new, all): each on its kind of task.",
        measure=atlas.scales_by_task,
        expect={"won by the scale made for them": AtLeast(7)},
    ),
    _atlas(
        "33b",
        "Who knows which kind of task it is comes near the best scale by the rule, whatever the size of labels.",
        measure=atlas.rule_and_constant,
        expect={"rule over the least error": AtMost(1.25), "rule within a quarter of the least": AtLeast(0.7)},
    ),
    _atlas(
        "33c",
        "The rule is better than a constant scale for each kind of task, with labels from a hundredth to 100 times.",
        measure=atlas.rule_and_constant,
        expect={"constant over rule, % more error": ClearlyAbove(0)},
    ),
    _atlas(
        "33d",
        "With labels as large as those of the auxiliary task, a constant for each kind of task is as good as the rule.",
        measure=atlas.rule_at_one_size,
        expect={"rule over constant": AtMost(1.05)},
    ),
    _atlas(
        "33e",
        "Who does not know the kind of task can let samples that are left out choose among the rule's four scales.",
        measure=atlas.chosen_by_samples,
        expect={
            "chosen over the best of four": AtMost(1.25),
            "plain finetuning over chosen, % more error": ClearlyAbove(20),
        },
    ),
    _atlas(
        "33f",
        "The scale for all known features leaves more of them in use than that for few; both leave new ones alone.",
        measure=atlas.features_in_use,
        expect={
            "known in use, lazy over nested, %": ClearlyAbove(0),
            "share on new, rich or ridge less lazy or nested, points": ClearlyAbove(0),
        },
    ),
    _atlas(
        "34",
        "Networks trained from these scales end where theory says.",
        reads="atlas-networks",
        measure=atlas.network_differences,
        expect={"median difference": Below(0.01, "%"), "largest difference": Below(0.05, "%")},
        risk="gradient flow of all weights; a pilot of eight networks on these inputs was known before",
    ),
)
