"""Multi-task learning and pretraining: claims on ReLU students and on networks that learn images."""

from __future__ import annotations

from functools import partial

from recombine.papers.bounds import Above, AtLeast, Below, Between, ClearlyAbove
from recombine.papers.claims import Claim
from recombine.papers.multitask.readings import images, students

#: Above this much loss a task of 98 classes counts as not learned.
UNLEARNED = Above(3)
#: ENSD must be so many times that of the same layer with its neurons shuffled to speak for known features.
ABOVE_CHANCE = Above(1.5)

#: Claims on the same rows: where they are said, read and shown, unless they say otherwise.
_relu = partial(
    Claim, says="authors' files", source="data of Fig. ReLU correlation", reads="relu-correlation", figure="relu"
)
_units = partial(
    Claim, says="authors' files", source="data of Fig. ReLU units", reads="relu-units", figure="relu-units"
)
_rescaling = partial(
    Claim, says="authors' files", source="data of Fig. CIFAR-100", reads="rescaling", figure="rescaling"
)
_layers = partial(Claim, says="ours", source="ours, a control of 16b", reads="rescaling", figure="layers")
#: Where two methods change places in every seed, the paper is contradicted.
SWAPPED = "In every seed the method that should have less loss has more"
_pair = partial(_relu, contradicted={"largest of a seed": Below(1)}, means=SWAPPED)

CLAIMS = (
    _pair(
        "13a",
        "With features correlated at 0.9 and 256 samples, PT+FT has less than a hundredth of MTL's loss.",
        measure=partial(students.loss_ratio, correlation="0.9 x 6", n=256, better="pt+ft", worse="mtl"),
        expect={"ratio": Above(100)},
    ),
    _pair(
        "13b",
        "With the same features and 16 samples, MTL has less than a third of PT+FT's loss.",
        measure=partial(students.loss_ratio, correlation="1 x 6", n=16, better="mtl", worse="pt+ft"),
        expect={"ratio": Above(3)},
    ),
    _pair(
        "13c",
        "With the same features and 128 samples, PT+FT has less than a fifth of MTL's loss.",
        measure=partial(students.loss_ratio, correlation="1 x 6", n=128, better="pt+ft", worse="mtl"),
        expect={"ratio": Above(5)},
    ),
    _relu(
        "13d",
        "MTL that has converged, at a rate of 0.3, has less than a third of PT+FT's loss with 16 samples as in 13b.",
        says="ours",
        source="ours, a control of 13b",
        exploratory=True,
        measure=partial(students.loss_ratio, correlation="1 x 6", n=16, better="slow mtl", worse="pt+ft"),
        expect={"ratio": Above(3)},
    ),
    _relu(
        "13e",
        "PT+FT has less than a fifth of the loss of MTL that has converged, with 128 samples as in 13c.",
        says="ours",
        source="ours, a control of 13c",
        exploratory=True,
        measure=partial(students.loss_ratio, correlation="1 x 6", n=128, better="pt+ft", worse="slow mtl"),
        expect={"ratio": Above(5)},
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
        measure=partial(students.losses_by_units, method="pt+ft", scaling=10.0),
        expect={"6 units over 1": Below(1), "slope": Below(0)},
    ),
    _units(
        "14c",
        "Nor does MTL: its error falls.",
        measure=partial(students.losses_by_units, method="mtl", scaling=1.0),
        expect={"6 units over 1": Below(1), "slope": Below(0)},
    ),
    _rescaling(
        "15a",
        "ResNet-18 on CIFAR-100: finetuning from an eighth of the pretrained weights beats plain finetuning.",
        measure=partial(images.gain_of_an_eighth, method="pt+ft"),
        expect={"mean gain": ClearlyAbove(1.0)},
    ),
    _rescaling(
        "15b",
        "ViT on CIFAR-100: no rescaling beats plain finetuning.",
        measure=images.gains_of_plain,
        expect=dict.fromkeys(("over s = 0.125", "over s = 0.25", "over s = 0.5", "over s = 2"), ClearlyAbove(0.0)),
    ),
    _rescaling(
        "15c",
        "The same where plain finetuning, too, starts from batch-norm statistics of the main task's samples.",
        says="ours",
        source="ours, a control of 15a",
        measure=partial(images.gain_of_an_eighth, method="pt+ft recalibrated"),
        expect={"mean gain": ClearlyAbove(1.0)},
    ),
    Claim(
        "16a",
        "ENSD of a representation with itself is its PR; it is symmetric and blind to scale and to a common rotation.",
        says="ours",
        source="definition",
        reads="dimensions",
        measure=images.ensd_identities,
        expect={"largest difference": Below(1e-9), "change with one side turned": Above(1e-3, "%")},
    ),
    _layers(
        "16b",
        "ResNet-18: from rescaled weights the last stage keeps few dimensions, with an ENSD as high as their number.",
        says="authors' files",
        source="data of Fig. ENSD",
        measure=images.dimensions_kept,
        expect={
            "PR after / before, s = 1": Above(0.9),
            "PR after / before, s = 0.125": Below(0.5),
            "ENSD / PR after": Between(0.95, 1.35),
        },
    ),
    _layers(
        "16c",
        "There, the ENSD of 16b tells known features from others: it is above that of shuffled neurons.",
        measure=images.shared_over_chance,
        expect={"least and most over chance": ABOVE_CHANCE},
    ),
    _layers(
        "16d",
        "Centred, ENSD does tell them apart: what little the last stage keeps lies where its activity varied before.",
        measure=images.centred_over_chance,
        expect={"least and most over chance": ABOVE_CHANCE, "PR after / before, s = 0.125": Below(0.5)},
    ),
    Claim(
        "20",
        "With 128 samples, correlated features help PT+FT only if the main task is as large as the auxiliary one.",
        says="authors' files",
        source="data of Fig. ReLU magnitude",
        reads="relu-magnitude",
        measure=students.losses_by_magnitude,
        expect={"magnitude 1": Below(0.05), "small over large": Above(3)},
        figure="relu-magnitude",
    ),
    _rescaling(
        "23a",
        "Multi-task training of ResNet-18 that ends when the main task is learned leaves the auxiliary one unlearned.",
        says="ours",
        source="ours, on the stop rule of the code",
        measure=partial(images.auxiliary_losses, network="resnet"),
        expect={"loss at n = 20": UNLEARNED, "loss at n = 100": UNLEARNED},
    ),
    _rescaling(
        "23b",
        "Multi-task training of ViT that ends when the main task is learned leaves the auxiliary one unlearned.",
        says="ours",
        source="ours, on the stop rule of the code",
        measure=partial(images.auxiliary_losses, network="vit"),
        expect={"loss at n = 20": UNLEARNED, "loss at n = 100": UNLEARNED},
    ),
    _relu(
        "24a",
        "With the same features and up to 64 samples, a linear probe has less loss than PT+FT and MTL.",
        measure=partial(students.leads, correlation="1 x 6", better="pt+ft probe", others=("pt+ft", "mtl")),
        expect={"ratios": Above(1), "pairs ahead": AtLeast(0.9, "%")},
    ),
    _relu(
        "24b",
        "With five known features and a new one, and 32 to 256 samples, MTL has less loss than PT+FT.",
        measure=partial(students.leads, correlation="1 x 5, 0", better="mtl", others=("pt+ft",)),
        expect={"ratios": Above(1), "pairs ahead": AtLeast(0.9, "%")},
    ),
)
