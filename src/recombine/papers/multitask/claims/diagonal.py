"""Multi-task learning and pretraining: claims on diagonal linear networks, by theory and by training."""

from __future__ import annotations

from functools import partial

from recombine.papers.bounds import Above, AtLeast, Below, Between, Falls, Near, Rises
from recombine.papers.claims import Claim
from recombine.papers.multitask.readings import diagonal, theory

OURS = "derived from the protocol"
#: How near theory has to come to networks: half of them within 5%, each within a factor of two.
PREDICTED = {"median difference": Below(0.05, "%"), "largest difference": Below(1.0, "%")}

#: Claims on the same rows: where they are said, read and shown, unless they say otherwise.
_flow = partial(Claim, says="ours", source=OURS, reads="flow")
_penalties = partial(Claim, says="ours", source=OURS, reads="penalties", figure="penalties")
_limits = partial(Claim, says="ours", source=OURS, reads="limits")
_overlap = partial(
    Claim, says="authors' files", source="data of Fig. overlap", reads="overlap-networks", figure="samples"
)
_nested = partial(Claim, says="authors' files", source="data of Fig. nested", reads="nested", figure="nested")
_group_norm = partial(Claim, says="ours", source=OURS, reads="group-norm", figure="group-norm")
_rescaled = partial(Claim, says="ours", source="ours", reads="nested-networks", expect=PREDICTED)

CLAIMS = (
    Claim(
        "1",
        "The penalty q is quadratic near zero and z ln z far from it.",
        says="paper",
        source="Woodworth et al. 2020",
        reads="q-limits",
        measure=theory.q_ratios,
        expect={"near zero, over z^2 / 4": Near(1, 1e-6), "far away, over z ln z": Near(1, 0.1)},
    ),
    _flow(
        "2",
        "Gradient flow on a single task ends at the interpolator of least potential.",
        says="paper",
        source="Azulay et al. 2021",
        measure=partial(theory.flow_differences, kind="single task", starts=4),
        expect={"largest difference": Below(1e-8)},
    ),
    _flow(
        "3a",
        "After pretraining, gradient flow ends at the interpolator of least potential with the exact k and start.",
        measure=partial(theory.flow_differences, kind="PT+FT", starts=4),
        expect={"largest difference": Below(1e-8)},
    ),
    _flow(
        "3b",
        "After pretraining, finetuning minimises the published penalty, k = |B| + gamma^2.",
        says="authors' files",
        source="code of the figures",
        measure=theory.published_penalty,
        expect={"from the published penalty": Below(1e-8)},
        contradicted={"from the published penalty": AtLeast(0.1), "from the exact one": Below(1e-8)},
        means="Integrated gradient flow ends at the minimiser of k^2 = (m^2 alpha^2 + gamma^2)^2 + m^4 B^2 / 4, which "
        "is half the published k for small alpha and gamma. The published k is that of a network with both paths at "
        "sqrt|B|; pretraining leaves one of them at alpha^2 / sqrt|B|. Certain: two exact methods agree. Read in the "
        "code of the figures; the paper's text was not at hand",
    ),
    _flow(
        "3c",
        "The published penalty is exact where both paths carry sqrt|B|.",
        measure=partial(theory.flow_differences, kind="two equal paths", starts=1),
        expect={"largest difference": Below(1e-8)},
    ),
    _flow(
        "4a",
        "w^2 - v^2 is conserved by gradient flow.",
        measure=theory.conserved_drift,
        expect={"largest drift": Below(1e-9)},
    ),
    Claim(
        "4b",
        "With steps of finite size it drifts in proportion to them.",
        says="ours",
        source=OURS,
        reads="descent",
        measure=theory.drift_power,
        expect={"power": Near(1, 0.05)},
    ),
    _penalties(
        "5a",
        "Order and feature dependence add to one: MTL, PT+FT without readouts at the start, turning a ReLU unit.",
        says="paper",
        source="abstract: conservation law",
        measure=theory.law_differences,
        expect={"largest difference": Below(1e-5)},
    ),
    _penalties(
        "5b",
        "Readouts that start above zero break that law.",
        measure=theory.excess_with_readouts,
        expect={"largest excess over one": Above(1e-4), "smallest excess": Above(-1e-6)},
    ),
    _penalties(
        "6",
        "The order of PT+FT is above that of MTL wherever B < beta.",
        says="authors' files",
        source="code of Fig. order",
        measure=theory.penalty_orders,
        expect={"PT+FT": Near(1.151, 5e-4), "MTL": Near(1.001, 5e-4), "smallest difference": Above(0)},
    ),
    _limits(
        "7a",
        "Large scaling turns finetuning into linear probing.",
        measure=theory.probe_difference,
        expect={"largest difference, m = 100": Below(1e-5)},
    ),
    _limits(
        "7b",
        "Small scaling turns finetuning into basis pursuit with cheaper known features.",
        measure=theory.pursuit_cost,
        expect={"cost over the least, m = 1e-4": Between(0, 1e-3, "%")},
    ),
    _group_norm(
        "8a",
        "Multi-task training with vanishing weight decay ends at the least group norm.",
        measure=theory.decayed_norms,
        expect={
            "least and most with decay": Near(theory.GROUP_NORM, 1e-5),
            "cone program": Near(theory.GROUP_NORM, 1e-6),
        },
    ),
    _group_norm(
        "8b",
        "Multi-task gradient flow from small weights without decay does not; it moves away as weights shrink.",
        says="ours",
        source="ours",
        measure=theory.flow_norms,
        expect={
            "group norms": Rises(every_step=True),
            "from weights of 1e-6": Near(theory.FLOW_NORM, 0.005),
            "over the least": Above(1.1),
        },
    ),
    _overlap(
        "9a",
        "With 64 samples, pretraining on the same 40 of 1000 features leaves hardly any error, one task all (theory).",
        reads="overlap",
        measure=theory.shared_feature_losses,
        expect={"mean of PT+FT": Between(1e-6, 1e-4), "least of STL": Above(0.8)},
    ),
    _overlap(
        "9b",
        "With 64 samples, learning a task of the same 40 features alongside leaves little error, more than PT+FT.",
        measure=diagonal.joint_loss,
        expect={"mean of MTL": Between(1e-4, 1e-2), "smallest gap to PT+FT": Above(0)},
    ),
    _overlap(
        "10",
        "Where no feature is shared, a single task beats PT+FT and MTL with 256 samples, best test loss over training.",
        measure=diagonal.unshared_losses,
        expect={"over STL": Above(5)},
    ),
    _nested(
        "11",
        "Rescaled weights prefer few of the known features: error with 40 over error with 5 (theory).",
        measure=partial(theory.error_ratios, active=40, place="inside", scalings=(1.0, 0.1, 0.01)),
        expect={"ratio at m = 1": Below(10), "ratio at m = 0.1": Above(1e3), "ratio at m = 0.01": Above(1e5)},
    ),
    _nested(
        "12a",
        "Rescaled weights still prefer known features: error with 5 new over 5 known ones (theory).",
        measure=partial(theory.error_ratios, active=5, place="outside", scalings=(0.1, 0.01)),
        expect={"ratio at m = 0.1": Above(1e4), "ratio at m = 0.01": Above(1e4)},
    ),
    _nested(
        "12b",
        "Rescaling makes 5 new features learnable (theory).",
        measure=theory.new_feature_losses,
        expect={"loss": Falls(every_step=True), "at m = 1": Above(0.8), "at m = 0.01": Below(0.05)},
    ),
    Claim(
        "17",
        "The published test losses are the least over training: with nothing shared and 16 samples that halves them.",
        says="authors' files",
        source="data of Fig. overlap",
        reads="overlap-networks",
        measure=diagonal.final_and_least_loss,
        expect={"least over training": Near(1, 0.05), "final over least": Above(1.5)},
    ),
    _overlap(
        "18",
        "Theory predicts the test loss of PT+FT and STL networks trained to 1e-10: median and largest difference.",
        says="ours",
        source="ours",
        measure=diagonal.single_output_differences,
        expect=PREDICTED,
    ),
    Claim(
        "19",
        "The least group norm does not predict multi-task networks trained without decay: they do far better.",
        says="ours",
        source="ours",
        reads="overlap-networks",
        measure=diagonal.group_norm_loss,
        expect={"ratio": Above(10)},
    ),
    _rescaled(
        "21a",
        "Theory predicts PT+FT networks that learn new features from rescaled weights: median and largest difference.",
        measure=partial(diagonal.rescaled_differences, method="pt+ft", places=("outside",)),
        figure="nested",
    ),
    _rescaled(
        "21b",
        "Theory predicts networks that learn known features, at m = 1 or 20 and more: median and largest difference.",
        measure=partial(diagonal.rescaled_differences, method="pt+ft", places=("inside",)),
        figure="nested",
    ),
    Claim(
        "21c",
        "Theory predicts where flow that selects few known features (5 or 10) ends: median and largest difference.",
        says="ours",
        source="ours",
        reads="nested-flow",
        measure=diagonal.flow_end_differences,
        expect=PREDICTED,
    ),
    _rescaled(
        "21d",
        "Theory predicts networks that learn a single task from rescaled weights: median and largest difference.",
        measure=partial(diagonal.rescaled_differences, method="stl", places=("inside", "outside")),
    ),
    Claim(
        "22",
        "The published PT+FT penalty predicts a test loss that is far too low (64 samples, same 40 features).",
        says="ours",
        source="ours",
        reads="overlap",
        measure=theory.published_loss_ratio,
        expect={"least ratio": Above(10)},
    ),
)
