"""Forced rendering: all claims. 5a and 6a to 6c are exact; from 18 on they are ours.

Bounds are for the released sizes (28 x 28 pixels, a hole of 17 x 17); where 16 x 16 pixels ask for another, it follows.
"""

from __future__ import annotations

import math

from recombine.papers.bounds import Above, AtLeast, Below, Between, Bound, ByScale, Falls, Is, Near, by_scale
from recombine.papers.claims import Claim, claims
from recombine.papers.forced_rendering.readings import decoders, efficiency, kernels, remedies
from recombine.papers.forced_rendering.readings.rows import PAPER_SIDE, PAPER_SIZE, SMALL

#: What counts as composing: share of peaks in the hole, and correlation with the truth (a sum of two stripes has 0.47).
IN_PLACE, COMPOSES = 0.95, 0.7
#: Share of peaks in the hole from which a low-rank network is said to compose.
PENALTY_WORKS = 0.85


def _by_size(paper: Bound, small: Bound) -> ByScale:
    return by_scale(**{PAPER_SIZE: paper, SMALL: small})


CLAIMS = claims(
    "forced-rendering",
    Claim(
        "1",
        "A convolutional decoder trained on the donut is wrong in the hole, whatever disentangled code it reads.",
        says="paper",
        source="abstract",
        reads="donut",
        measure=decoders.hole_errors,
        expect={
            "error over blank": Above(0.7),
            # At 16 pixels the inner hole has four places.
            "peaks in the inner hole": _by_size(Below(0.05), Below(0.2)),
            "error, hole over donut": Above(10),
            "codes": AtLeast(4),
        },
        figure=("codes", "error-maps"),
    ),
    Claim(
        "2",
        "The same decoders solve the donut.",
        says="paper",
        source="abstract",
        reads="donut",
        measure=decoders.donut_errors,
        expect={
            # At 16 pixels relative to a blank image, of which a bump covers more, and after few steps.
            "error": _by_size(Below(1e-3), Below(1e-3 * (PAPER_SIDE / 16) ** 2)),
            "error, one-hot and bump": by_scale(**{PAPER_SIZE: Below(1e-4)}),
            "peaks on the donut": Above(0.95),
        },
    ),
    Claim(
        "3",
        "With a one-hot code they paint, in the hole, a superposition of the images they saw in that column and row.",
        says="paper",
        source="abstract; statistics ours",
        reads="donut",
        measure=decoders.one_hot_superposition,
        expect={
            "correlation, pasted image": Above(0.7),
            # At 16 pixels more of the hole is rim.
            "correlation, right image": _by_size(Below(0.15), Below(0.3)),
            "energy in the span of the cross": Above(0.9),
            "on over off the cross": Above(3),
        },
        figure="pictures",
    ),
    Claim(
        "4",
        "Superposition of seen images is how decoders fail in the hole, whatever the code.",
        says="paper",
        source="abstract",
        reads="donut",
        measure=decoders.pasting_by_code,
        expect={"correlation, pasted image": Above(0.4)},
        contradicted={"highest of ramps": Below(0.2), "lowest of other codes": Above(0.4)},
        means="Only what is more than on the donut, where images are right, is pasting, and ramps do not paste at all: "
        "failure is general, pasting is not",
        figure=("codes", "pictures"),
    ),
    Claim(
        "5a",
        "Regression with the binary factorized kernel is least squares on indicators of levels: it can only add.",
        says="authors' files",
        source="released kernel analysis; ours",
        reads="identity",
        measure=kernels.least_squares_difference,
        expect={"largest difference": Below(1e-8)},
    ),
    Claim(
        "5b",
        "The additive (binary) kernel, fitted to a one-hot decoder's outputs on the donut, predicts those in the hole.",
        says="authors' files",
        source="README; ours",
        reads="donut",
        measure=decoders.additive_stand_in,
        expect={"share of the error left": Below(0.5)},
    ),
    Claim(
        "6a",
        "The kernel of a one-hot code of two factors is not a product: its best product has weight 0.6825 at side 28.",
        says="ours",
        source="ours, closed form",
        reads="one-hot-kernel",
        measure=kernels.one_hot_weight,
        expect={"weight": Near(0.6825, 1e-4), "from the closed form": Below(1e-10)},
    ),
    Claim(
        "6b",
        "The kernel of the true images is a product of one kernel per factor.",
        says="ours",
        source="ours, closed form",
        reads="representations",
        measure=kernels.image_weight,
        expect={"weight, away from 1": Below(1e-10)},
    ),
    Claim(
        "6c",
        "Two bumps one pixel apart have similarity exp(-1/4).",
        says="ours",
        source="ours, closed form",
        reads="representations",
        measure=kernels.pixel_similarity,
        expect={"similarity": Near(math.exp(-1 / 4), 5e-4)},
    ),
    Claim(
        "7",
        "The factorization metric F of a decoder's output tells whether it composes.",
        says="authors' files",
        source="released code",
        reads="layers",
        measure=decoders.output_geometry,
        expect={"composing less failing": Above(0.02)},
        contradicted={
            "composing less failing": Near(0, 0.02),
            "F, failing": _by_size(Above(0.96), Above(0.9)),
            "volume ratio, failing": _by_size(Below(0.35), Below(0.5)),
            "F of the code, away from 1": Below(1e-9),
        },
        means="F does not tell them apart; the volume ratio does, for CNNs of these codes",
        figure="layers",
    ),
    Claim(
        "8",
        "Convolutional decoders of bump codes re-entangle the factors: averaged over seeds, the share of main effects "
        "falls at every layer.",
        says="paper",
        source="abstract; measure and bounds ours",
        reads="layers",
        measure=decoders.main_effects_by_layer,
        expect={"code to image": Falls(every_step=True), "at the image": by_scale(**{PAPER_SIZE: Near(0.28, 0.1)})},
        figure="layers",
    ),
    Claim(
        "9a",
        "Showing each factor alone, as stripes, makes convolutional decoders of population codes compose.",
        says="authors' files",
        source="abstract; README",
        reads="stripes",
        measure=remedies.peaks_with_stripes,
        expect={"peaks in the hole": AtLeast(IN_PLACE), "correlation": AtLeast(COMPOSES)},
        figure=("stripes", "pictures"),
    ),
    Claim(
        "9b",
        "Without stripes the same decoders get a third of the hole right, or less.",
        says="ours",
        source="ours",
        reads="stripes",
        measure=remedies.peaks_without_stripes,
        expect=dict.fromkeys(("peaks in the hole", "correlation"), _by_size(Below(0.35), Below(0.6))),
        figure="stripes",
    ),
    Claim(
        "10",
        "Stripes do not rescue MLPs, nor codes that are ramps.",
        says="ours",
        source="ours",
        reads="stripes",
        measure=remedies.peaks_with_stripes_elsewhere,
        expect={"peaks in the hole": Below(0.8), "correlation": Below(0.6)},
        figure="stripes",
    ),
    Claim(
        "11",
        "The released stripe script shows what stripes do.",
        says="authors' files",
        source="released code",
        reads="canvas",
        measure=remedies.peaks_by_canvas,
        expect={"more with the canvas": Above(0.1)},
        contradicted={"more with the canvas": Near(0, 0.1)},
        means="The script draws centres on a larger canvas and crops it, so what it adds are blank images: there is no "
        "stripe among them",
    ),
    Claim(
        "12a",
        "Entropy and variance penalties together make the low-rank pixel-embedding network compose.",
        says="authors' files",
        source="abstract; released notebook",
        reads="low-rank",
        measure=remedies.peaks_with_penalties,
        # At 16 pixels networks are trained for 600 steps.
        expect={"peaks, no penalty": Below(0.35), "peaks, both": _by_size(Above(PENALTY_WORKS), Above(0.4))},
        figure="penalties",
    ),
    Claim(
        "12b",
        "Low rank (one component per value) makes it compose.",
        says="paper",
        source="abstract",
        reads="low-rank",
        measure=remedies.peaks_with_one_penalty,
        expect={"peaks, entropy alone": Above(PENALTY_WORKS)},
        contradicted={
            "peaks, entropy alone": Below(0.5),
            "components, entropy alone": Below(2),
            "peaks, variance alone": _by_size(Above(PENALTY_WORKS), Above(0.7)),
            "worst with variance less best with entropy": Above(0),
        },
        means="Pressing each value's image to one component is not enough; pressing its vectors to be constant along "
        "pixels, which makes images stripes (rank one by shape), is. Whether low rank is needed was not tested. The "
        "bar of variance alone is that of 12a; before it was run it was 0.98",
        figure="penalties",
    ),
    Claim(
        "13",
        "Standard architectures without a remedy fail in the hole.",
        says="paper",
        source="abstract",
        reads="tokens",
        measure=decoders.pixel_mlp,
        expect={"peaks in the hole": Below(0.45)},
        contradicted={"peaks in the hole": Above(IN_PLACE), "correlation": Above(COMPOSES)},
        means="Each pixel compares its own place with the code, which one may call a remedy built in. Before it was "
        "run, the bar was an error below 1e-4 in every network",
    ),
    Claim(
        "14",
        "A hole five bump widths wide is interpolated; from nine on it is not.",
        says="ours",
        source="ours",
        reads="hole",
        measure=decoders.peaks_by_hole,
        # At 16 pixels the sides are 4 and 10.
        expect={
            "peaks, narrow hole": Above(IN_PLACE),
            "peaks, wider holes": Below(IN_PLACE),
            "peaks, widest hole": _by_size(Below(0.45), Below(0.6)),
        },
        figure="hole-size",
    ),
    Claim(
        "15a",
        "Stripes cut the bumps that are needed at least fourfold.",
        says="authors' files",
        source="README",
        reads="efficiency",
        measure=efficiency.stripe_saving,
        expect={"times fewer bumps": AtLeast(4)},
        figure="efficiency",
    ),
    Claim(
        "15b",
        "The bumps needed without stripes grow with the cube of the side.",
        says="authors' files",
        source="README",
        reads="efficiency",
        measure=efficiency.bumps_exponent,
        expect={"exponent": Near(3, 0.5)},
        contradicted={"exponent": Between(1.4, 2.3), "95 % interval": Below(3)},
        means="The interval of the exponent lies below 3: the bumps needed grow more slowly than the cube",
        figure="efficiency",
    ),
    Claim(
        "16",
        "A decoder of angles blends the edges of a gap instead of rotating through it.",
        says="authors' files",
        source="released notebook",
        reads="rotation",
        measure=remedies.gap_blends,
        expect={"error to blend over truth": Below(0.5)},
    ),
    Claim(
        "17",
        "The other direction fails too: an encoder trained on the donut misreads images in the hole.",
        says="authors' files",
        source="released code; bound ours",
        reads="encoder",
        measure=remedies.encoder_errors,
        expect={"error, hole over donut": Above(10), "places right on the donut": Above(0.95)},
    ),
    Claim(
        "18",
        "A model that can only add is worse in the hole than a blank image.",
        says="ours",
        source="ours",
        reads="additive-kernel",
        measure=kernels.additive_errors,
        expect={
            "error, seen places": Near(0.00255, 1e-5),
            "error, hole": Near(0.00589, 1e-5),
            "hole over blank": Above(1),
            "correlation, right image": Near(0.036, 1e-3),
            "peaks in the hole": Is(0),
            "from least squares": Below(1e-8),
        },
    ),
    Claim(
        "19",
        "What it paints in the hole is the mean of seen images of the column plus that of the row.",
        says="ours",
        source="ours",
        reads="additive-kernel",
        measure=kernels.additive_pasting,
        expect={"correlation": Above(0.9)},
    ),
    Claim(
        "20",
        "A product kernel on the code does not compose either: it knows nothing where nothing was seen.",
        says="ours",
        source="ours",
        reads="product-kernel",
        measure=kernels.product_errors,
        expect={"correlation, right image": Below(0.4), "error over blank": Above(0.75)},
    ),
    Claim(
        "21",
        "A radial Gaussian is the product of two of its own length, so fitting either to a network's outputs, as the "
        "released script does, cannot tell a factorised network from another.",
        says="ours",
        source="ours, on the released kernel analysis",
        reads="product-kernel",
        measure=kernels.radial_difference,
        expect={"largest difference": Below(1e-12)},
    ),
    Claim(
        "22",
        "Every code keeps factors orthogonal and is additive; the images they must become are not additive.",
        says="authors' files",
        source="Sec. on codes; share ours",
        reads="representations",
        measure=kernels.code_additivity,
        expect={
            "codes, away from 1": Below(1e-9),
            "F of images": Near(0.99995, 1e-5),
            "share of images": Near(0.2188, 1e-4),
        },
    ),
    Claim(
        "23",
        "Depth does not help: convolutional decoders of any depth fail in the hole.",
        says="authors' files",
        source="abstract; depth sweep of the released code",
        reads="depth",
        measure=decoders.peaks_by_depth,
        expect={"peaks in the hole": _by_size(Below(0.5), Below(0.6)), "depths": AtLeast(2)},
    ),
    Claim(
        "24",
        "The error lies in the hole and is largest far from its edge.",
        says="ours",
        source="ours",
        reads="pictures",
        measure=decoders.error_places,
        expect={"error on the donut": Below(0.25), "inside less rim": Above(0)},
        figure="error-maps",
    ),
)
