"""Multi-task learning and pretraining: claims on directions and dimensions of hidden units of ReLU students."""

from __future__ import annotations

from functools import partial

from recombine.lab.papers.bounds import Above, AtLeast, AtMost, Between, ClearlyAbove, Falls
from recombine.lab.papers.claims import Claim
from recombine.lab.papers.multitask.claims.students import THEME
from recombine.lab.papers.multitask.readings import hidden_units

CAPTION = "NeurIPS 2024, figure {}; its caption names the axes, what has to be seen follows from the sparsity it states"
_units = partial(
    Claim,
    says="follows from the paper",
    reads="hidden-units",
    figure="hidden-units",
    theme=THEME,
    risk="three seeds of students with 300 units (published 1000), 64 samples (256 where it says so), trained to a "
    "loss of 1e-5 for 8,000 steps at most; how the paper weighs units in its clusters is not known: here by weights",
)
TENTH = AtMost(0.1)

CLAIMS = (
    _units(
        "35a",
        "A single task makes as many directions as its teacher has units: so many clusters leave 10% of the spread.",
        source=CAPTION.format("8a"),
        measure=hidden_units.directions_of_single_tasks,
        expect={"as many clusters as units": TENTH, "one cluster, 6 units": AtLeast(0.5)},
    ),
    _units(
        "35b",
        "With more samples these directions are those of the teacher's units.",
        source=CAPTION.format("8b"),
        measure=hidden_units.alignment_by_samples,
        expect={"256 samples": AtLeast(0.9), "many less few, hundredths": ClearlyAbove(0)},
    ),
    _units(
        "35c",
        "After PT+FT, too, there are six directions, where features are shared or resemble the known ones.",
        source=CAPTION.format("8c"),
        measure=partial(hidden_units.directions_of_tasks, method="pt+ft", tasks=("1 x 6", "0.9 x 6")),
        expect={"six clusters": TENTH, "one cluster": AtLeast(0.5)},
    ),
    _units(
        "35d",
        "So there are after MTL where features are shared.",
        source=CAPTION.format("8d"),
        measure=partial(hidden_units.directions_of_tasks, method="mtl", tasks=("1 x 6",)),
        expect={"six clusters": TENTH, "one cluster": AtLeast(0.5)},
    ),
    _units(
        "35e",
        "With shared features directions after PT+FT and MTL fit the teacher better than those of a single task.",
        source=CAPTION.format("8e"),
        measure=hidden_units.alignment_by_method,
        expect={f"{name} over single task, hundredths": ClearlyAbove(0) for name in ("PT+FT", "MTL")},
    ),
    _units(
        "35f",
        "Where one of six known units is needed, finetuning from smaller weights leaves fewer directions.",
        source=CAPTION.format("8f"),
        measure=hidden_units.directions_by_factor,
        expect={"one cluster": Falls(every_step=True), "times 10 less times 0.1, hundredths": ClearlyAbove(0)},
    ),
    _units(
        "35g",
        "From weights scaled down to a tenth, the one direction is that of the unit that is needed.",
        source=CAPTION.format("8g"),
        measure=hidden_units.alignment_by_factor,
        expect={"at a tenth": AtLeast(0.9), "times 0.1 less times 10, hundredths": ClearlyAbove(0)},
    ),
    _units(
        "36a",
        "Students of six units use as many dimensions as their teacher's units do, give or take a quarter.",
        source=CAPTION.format("11a"),
        measure=hidden_units.dimensions_of_six,
        expect={"over the teacher's": Between(0.75, 1.25)},
    ),
    _units(
        "36b",
        "Small weight scaling decreases the dimensions after training.",
        says="paper",
        source="NeurIPS 2024, caption of figure 11b and c (nested sparsity task)",
        measure=hidden_units.dimensions_by_factor,
        expect={"dimensions": Falls(every_step=True), "times 10 less times 0.1, hundredths": ClearlyAbove(0)},
    ),
    _units(
        "36c",
        "The dimensions that are left after finetuning were there before, whatever the scale.",
        source=CAPTION.format("11c"),
        measure=hidden_units.shared_by_factor,
        expect={"shared over those after": Above(0.5)},
    ),
)
