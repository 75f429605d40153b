"""Multi-task learning and pretraining: claims on networks that learn images."""

from __future__ import annotations

from functools import partial

from recombine.lab.papers.bounds import Above, Below, Between, ClearlyAbove
from recombine.lab.papers.claims import Claim
from recombine.lab.papers.measured import Size
from recombine.lab.papers.multitask.readings import images

THEME = "ResNet-18 and ViT on CIFAR-100"
#: Above this much loss a task of 98 classes counts as not learned.
UNLEARNED = Above(3)
#: ENSD this many times that of the same layer with its neurons shuffled speaks for known features.
MIN_OVER_CHANCE = 1.5

#: Pretraining apart; weights from which batch norm was measured anew are ours.
NETWORKS = Size(4900, "networks on CIFAR-100", images.networks_as_released)

#: Claims on the same rows: where they are said, read and shown, unless they say otherwise.
_rescaling = partial(
    Claim,
    says="paper",
    source="NeurIPS 2024, figure “dnns”, panel b",
    reads="rescaling",
    size=NETWORKS,
    figure="rescaling",
    theme=THEME,
)
_layers = partial(
    Claim,
    says="ours",
    source="a control of 16b",
    reads="rescaling",
    size=NETWORKS,
    figure="layers",
    theme=THEME,
    risk="three seeds, one layer (the last stage), 1000 images",
)
_stop = partial(
    _rescaling,
    says="ours",
    source="found here in the stop rule of the released code",
    expect={"loss at n = 20": UNLEARNED, "loss at n = 100": UNLEARNED},
)

CLAIMS = (
    _rescaling(
        "15a",
        "ResNet-18 on CIFAR-100: finetuning from an eighth of the pretrained weights beats plain finetuning.",
        measure=partial(images.gain_of_an_eighth, method="pt+ft"),
        expect={"mean gain": ClearlyAbove(1.0)},
        risk="three seeds of 50. A large part is a dip of plain finetuning with 20 samples, where these seeds are "
        "worse than "
        "with 10; and plain finetuning is tested with old batch-norm statistics (15c)",
    ),
    _rescaling(
        "15b",
        "ViT on CIFAR-100: no rescaling beats plain finetuning.",
        source="NeurIPS 2024, figure “dnns”, panel e",
        measure=images.gains_of_plain,
        expect=dict.fromkeys(("over s = 0.125", "over s = 0.25", "over s = 0.5", "over s = 2"), ClearlyAbove(0.0)),
        risk="three seeds of 50 and 300 epochs of 1000: about half of the networks from an eighth or a quarter of "
        "the weights "
        "with up to 200 samples had not learned the training images",
    ),
    _rescaling(
        "15c",
        "The gain of 15a remains where plain finetuning, too, starts from batch-norm statistics of the main task.",
        says="ours",
        source="a control of 15a, with its bound",
        measure=partial(images.gain_of_an_eighth, method="pt+ft recalibrated"),
        expect={"mean gain": ClearlyAbove(1.0)},
        exploratory=True,
        risk="from 100 samples on three seeds cannot tell the gain from zero",
    ),
    _layers(
        "16b",
        "ResNet-18: from rescaled weights the last stage keeps few dimensions, with an ENSD as high as their number.",
        says="paper",
        source="NeurIPS 2024, figure “dnns”, panel c (not centred, 1000 samples)",
        measure=images.dimensions_kept,
        expect={
            "PR after / before, s = 1": Above(0.9),
            "PR after / before, s = 0.125": Below(0.5),
            "ENSD / PR after": Between(0.95, 1.35),
        },
    ),
    _layers(
        "16c",
        "The ENSD of 16b does not show that known features are kept: shuffled neurons have nearly the same.",
        measure=images.shared_over_chance,
        expect={"least and most over chance": Below(MIN_OVER_CHANCE)},
        exploratory=True,
        moved="the converse before, that ENSD is above that of shuffled neurons, with the same bar of 1.5",
    ),
    _layers(
        "16d",
        "Centred, ENSD does tell them apart: what little the last stage keeps lies where its activity varied before.",
        measure=images.centred_over_chance,
        expect={"least and most over chance": Above(MIN_OVER_CHANCE), "PR after / before, s = 0.125": Below(0.5)},
        exploratory=True,
    ),
    _stop(
        "23a",
        "Multi-task training of ResNet-18 that ends when the main task is learned leaves the auxiliary one unlearned.",
        measure=partial(images.auxiliary_losses, network="resnet"),
    ),
    _stop(
        "23b",
        "Multi-task training of ViT that ends when the main task is learned leaves the auxiliary one unlearned.",
        measure=partial(images.auxiliary_losses, network="vit"),
        risk="with 20 and 100 samples the rule never stopped it within 60 epochs",
    ),
    _rescaling(
        "25b",
        "ResNet-18 on CIFAR-100: MTL has the higher accuracy with little data, PT+FT with more.",
        says="paper",
        source="NeurIPS 2024, abstract and figure “dnns”, panel a (few: 20 samples, more: 100 and 1000)",
        measure=images.joint_over_finetuned,
        expect={"MTL ahead at 20": ClearlyAbove(0.0), "PT+FT ahead at 100 and 1000": ClearlyAbove(0.0)},
        exploratory=True,
        risk="three seeds of 50, and plain finetuning has a dip at 20; MTL stops before the auxiliary task is "
        "learned (23a)",
    ),
)
